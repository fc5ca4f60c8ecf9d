"""What of an access is good and what is bad, and how both are said in a few words."""

from __future__ import annotations

from gemmviz.core.access.report import Access, AccessReport

_BAD_SECTORS = 2.0  # times the ideal: half of what is fetched is thrown away
_FULL_WARP = 4  # sectors of 32 floats in a row: fewer are cheap, however little of them is used


def sector_tone(sectors: int, ideal: int) -> str:
    """Judge sectors: "good" at the ideal, "warn" above it, "bad" from twice as many sectors on.

    What costs no more than 32 floats in a row is never bad.
    """
    if sectors <= ideal:
        return "good"
    return "bad" if sectors >= _BAD_SECTORS * ideal and sectors > _FULL_WARP else "warn"


def pass_tone(passes: int, ideal: int) -> str:
    """Judge passes: "good" without a bank conflict, else "bad": two already halve the speed."""
    return "good" if passes <= ideal else "bad"


def access_tone(access: Access) -> str:
    """Judge the worst warp of an access: "good", "warn" or "bad"; "" where it cannot be told."""
    if access.space == "local":
        return pass_tone(access.passes, access.ideal_passes or 1) if access.passes else ""
    if access.sectors is None or access.ideal_sectors is None:
        return ""
    return sector_tone(access.sectors, access.ideal_sectors)


def worst_conflict(report: AccessReport) -> Access | None:
    """The local access with the most passes for each it needs, if any has a bank conflict."""
    conflicts = [
        access
        for access in report.accesses
        if access.passes is not None and access.passes > (access.ideal_passes or 1)
    ]
    return max(
        conflicts,
        key=lambda access: (access.passes or 0) / (access.ideal_passes or 1),
        default=None,
    )


def conflict_words(access: Access) -> str:
    """The bank conflict of an access in a few words: "8-way bank conflict"."""
    degree = (access.passes or 0) / (access.ideal_passes or 1)
    return f"{degree:.3g}-way bank conflict"


def used_share(report: AccessReport) -> float | None:
    """The share of the bytes moved in whole sectors that was asked for; None without any.

    None where something could not be followed, too: what is missing has a share of its own.
    """
    if report.unknowns or not report.sector_bytes:
        return None
    return min(1.0, report.global_traffic_bytes / report.sector_bytes)


def not_followed_words(report: AccessReport) -> str:
    """Where the lens could not follow: "line 12 could not be followed"; "" where it could."""
    lines = sorted({unknown.line for unknown in report.unknowns})
    if not lines:
        return ""
    listed = ", ".join(map(str, lines))
    return f"line{'s' * (len(lines) != 1)} {listed} could not be followed"


def sector_words(sectors: int, ideal: int | None) -> str:
    """Sectors in words: "16 sectors, ideal 2", or "2 sectors: ideal"."""
    count = f"{sectors} sector{'s' * (sectors != 1)}"
    if ideal is None:
        return count
    return f"{count}: ideal" if sectors <= ideal else f"{count}, ideal {ideal}"


def pass_words(passes: int, ideal: int, *, broadcast: bool = False) -> str:
    """Passes in words: "1 pass, broadcast", "4 passes: ideal", "8 passes: 8-way conflict"."""
    if passes > ideal:
        return f"{passes} passes" + (
            f": {passes}-way conflict" if ideal == 1 else f", ideal {ideal}"
        )
    count = f"{passes} passes: ideal" if passes > 1 else "1 pass"
    return f"{count}, broadcast" if broadcast else count
