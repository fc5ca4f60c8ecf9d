"""What is said of a kernel's accesses as a whole, above their picture."""

from __future__ import annotations

from gemmviz.core.access.cautions import cautions
from gemmviz.core.access.marks import conflict_words, used_share, worst_conflict
from gemmviz.core.access.report import AccessReport, Machine, Pad, Touches
from gemmviz.core.labels import problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Parameters, Problem, Variant
from gemmviz.core.units import memory, percent, scaled
from gemmviz.views.charts.access_cells import access_scene
from gemmviz.views.charts.access_map import AccessMapChart
from gemmviz.views.charts.heading import Line

_MOST_UNKNOWNS = 3


SEPARATOR = "  ·  "


def total_parts(report: AccessReport) -> tuple[tuple[str, str], ...]:
    """What a launch comes to, the most telling first: words, and fewer for a narrow place."""
    at_least, least = ("at least ", "≥ ") if report.unknowns else ("", "")
    conflict = worst_conflict(report)
    parts = []
    if conflict is not None:
        degree = conflict_words(conflict)
        parts.append((degree, degree.replace("bank ", "")))
    asked, moved = memory(report.global_traffic_bytes), memory(report.sector_bytes)
    used = used_share(report)
    if used is not None:
        words = f"global {asked} asked, {moved} moved in whole sectors ({percent(used)} used)"
        parts.append((words, f"{percent(used)} used"))
    elif report.sector_bytes:
        words = f"global {at_least}{asked} asked, {at_least}{moved} moved in whole sectors"
        parts.append((words, f"{least}{moved} moved"))
    if report.intensity is not None:
        parts.append((f"{report.intensity:.3g} FLOP/B",) * 2)
    if report.reuse is not None:
        parts.append((f"reuse {report.reuse:.3g} × naive", f"reuse {report.reuse:.3g} ×"))
    if report.local_traffic_bytes:
        local = memory(report.local_traffic_bytes)
        parts.append((f"local {at_least}{local}", f"local {least}{local}"))
    return (*parts, (" ".join(scaled(report.flop, "FLOP")),) * 2)


def totals(report: AccessReport) -> str:
    """Conflicts, traffic, intensity, reuse and work of a launch on one line."""
    return SEPARATOR.join(words for words, _ in total_parts(report))


def machine_words(machine: Machine) -> str:
    """Lanes and banks, and where they are known from: "32 lanes and 32 banks: assumed"."""
    source = machine.source.partition(":")[0]  # what follows says the same
    return f"{machine.warp} lanes and {machine.banks} banks: {source}"


def unknown_lines(report: AccessReport) -> tuple[str, ...]:
    """What could not be followed, a line each, and that the totals leave it out."""
    found = [f"Line {unknown.line}: {unknown.reason}" for unknown in report.unknowns]
    if not found:
        return ()
    more = len(found) - _MOST_UNKNOWNS
    if more > 0:
        found[_MOST_UNKNOWNS:] = [f"and {more} more"]
    return ("Not followed, so bytes are lower bounds, and intensity and reuse are not known:",
            *found)  # fmt: skip


def pad_words(pads: tuple[Pad, ...], best: Pad | None) -> str:
    """What the best pad gives: "Pad +1: 2,048 passes instead of 16,384"; "" without pads."""
    now = next((pad for pad in pads if pad.pad == 0), None)
    if best is None or now is None:
        return ""
    if best.total_passes >= now.total_passes:
        return f"No pad does better than none: {now.total_passes:,} passes"
    return f"Pad +{best.pad}: {best.total_passes:,} passes instead of {now.total_passes:,}"


def subject(variant: Variant, parameters: Parameters, problem: Problem) -> str:
    """Kernel, parameters, shape and element: "Tiled TS=16, 512 × 512 × 512 float"."""
    what = f"{variant.title} {describe_parameters(parameters)}".strip()
    return f"{what}, {problem_label(problem, '×')}"


def heading_lines(report: AccessReport, warned: tuple[str, ...] = ()) -> tuple[Line, ...]:
    """Totals, machine, cautions and what is unknown as the lines below a title."""
    return (
        Line(totals(report), "text"),
        Line(machine_words(report.machine)),
        *(Line(text, "warn") for text in warned),
        *(Line(text, "warn") for text in unknown_lines(report)),
    )


def access_chart(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    report: AccessReport,
    touches: tuple[Touches, ...],
) -> AccessMapChart:
    """The chart of a kernel's first warp at its first step, with all that is said above it."""
    chart = AccessMapChart()
    chart.set_scene(access_scene(variant, problem, report, touches))
    warned = cautions(variant, parameters, problem)
    chart.set_heading(subject(variant, parameters, problem), heading_lines(report, warned))
    chart.export_title = f"Access of {subject(variant, parameters, problem)}"
    return chart
