"""What came of a sweep, as JSON and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gemmviz.core.codec import to_json
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Failure
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, SweepReport, Winner
from gemmviz.core.units import duration, memory, percent, throughput
from gemmviz.core.winners import describe_configuration, race_of

_NONE = "–"
_MOST_ROWS = 24
_HEADER = ("", "kernel", "parameters", "speed", "a launch", "from", "to", "samples", "registers",
           "local", "occupancy")  # fmt: skip
_TEXTS = range(3)
_BROKEN = ("failed", "wrong")


def sweep_json(
    sweep: Sweep, report: SweepReport, *, resumed: int, stopped: bool, failure: Failure | None
) -> dict[str, Any]:
    """The whole as JSON; keys are only ever added.

    Args:
        sweep: What was asked for.
        report: What came of it.
        resumed: How many cells were known before.
        stopped: Whether it was ended before it was done.
        failure: Why it could not go on, or None.
    """
    known = sum(cell.tried for cell in report.cells)
    cells = {cell.configuration: cell for cell in report.cells}
    winners = [_winner(sweep, winner, cells) for winner in report.winners]
    return {
        "planned": len(report.cells),
        "refused": report.refused,
        "measured": known - resumed,
        "resumed": resumed,
        "failed": [
            {**_named(sweep, cell.configuration), "state": cell.state, "why": cell.why_not}
            for cell in report.cells
            if cell.state in _BROKEN
        ],
        "best_set": [entry for winner in winners for entry in winner["best_set"]],
        "recommended": winners[0]["recommended"] if winners else None,
        "confidence": winners[0]["confidence"] if winners else None,
        "winners": winners,
        "cells": [_cell(sweep, cell) for cell in report.cells],
        "seconds": report.seconds,
        "stopped": stopped,
        "failure": to_json(failure),
    }


def _winner(sweep: Sweep, winner: Winner, cells: dict[Configuration, SweepCell]) -> dict[str, Any]:
    return {
        "device": device_label(sweep.devices[winner.device]),
        "problem": to_json(winner.problem),
        "best_set": [_cell(sweep, cells[name]) for name in winner.best_set],
        "recommended": _cell(sweep, cells[winner.recommended]),
        "confidence": winner.confidence,
        "words": winner.words,
    }


def _named(sweep: Sweep, configuration: Configuration) -> dict[str, Any]:
    problem = configuration.problem
    return {
        "kernel": configuration.variant,
        "parameters": dict(configuration.parameters),
        "device": device_label(sweep.devices[configuration.device]),
        "m": problem.m,
        "n": problem.n,
        "k": problem.k,
        "element": problem.element,
    }


def _cell(sweep: Sweep, cell: SweepCell) -> dict[str, Any]:
    data: dict[str, Any] = to_json(cell)
    del data["configuration"]
    return {
        **_named(sweep, cell.configuration),
        **data,
        "flops_per_second": cell.flops_per_second,
    }


def sweep_lines(sweep: Sweep, report: SweepReport) -> list[str]:
    """The tables that a person reads, one for each problem and device, and what is recommended."""
    lines: list[str] = []
    winners = {(winner.device, winner.problem): winner for winner in report.winners}
    for race in dict.fromkeys(race_of(cell.configuration) for cell in report.cells):
        members = [cell for cell in report.cells if race_of(cell.configuration) == race]
        where = f"{problem_label(race[1])} on {device_label(sweep.devices[race[0]])}"
        lines.append(f"{where}, {len(members)} configuration{'s' * (len(members) != 1)}")
        winner = winners.get(race)
        lines += _table(members, winner)
        lines += _broken(members)
        lines.append(winner.words if winner is not None else "Nothing is decided here.")
        lines.append("")
    if report.refused:
        many = "configuration cannot" if report.refused == 1 else "configurations cannot"
        were = "was" if report.refused == 1 else "were"
        lines.append(f"{report.refused} {many} run there and {were} not built.")
    known = sum(cell.tried for cell in report.cells)
    lines.append(f"{known} of {len(report.cells)} measured in {duration(report.seconds)}.")
    return lines


def _table(cells: Sequence[SweepCell], winner: Winner | None) -> list[str]:
    timed = [cell for cell in cells if cell.seconds is not None and cell.state not in _BROKEN]
    timed.sort(key=lambda cell: (not cell.best, -(cell.ratio or 0), cell.seconds))
    rows = [_HEADER, *(_row(cell, winner) for cell in timed[:_MOST_ROWS])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows if timed else []:
        cells_of_row = [
            text.ljust(width) if column in _TEXTS else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells_of_row).rstrip())
    if len(timed) > _MOST_ROWS:
        lines.append(f"and {len(timed) - _MOST_ROWS} slower ones")
    return lines


def _row(cell: SweepCell, winner: Winner | None) -> tuple[str, ...]:
    name = cell.configuration
    taken = winner is not None and name == winner.recommended
    speed = cell.flops_per_second
    return (
        "take" if taken else "tied" if cell.best else "",
        name.variant,
        describe_parameters(name.parameters),
        throughput(speed) if speed else _NONE,
        *(duration(value) if value else _NONE for value in (cell.seconds, cell.low, cell.high)),
        f"{cell.samples}",
        f"{cell.registers}" if cell.registers is not None else _NONE,
        memory(cell.local_bytes) if cell.local_bytes is not None else _NONE,
        percent(cell.occupancy) if cell.occupancy is not None else _NONE,
    )


def _broken(cells: Sequence[SweepCell]) -> list[str]:
    """What failed or is wrong, gathered by the reason."""
    reasons = Counter(cell.why_not for cell in cells if cell.state in _BROKEN)
    lines = []
    for reason, count in reasons.items():
        first = next(cell for cell in cells if cell.why_not == reason and cell.state in _BROKEN)
        more = f" and {count - 1} more" if count > 1 else ""
        lines.append(f"{describe_configuration(first.configuration)}{more}: {reason}")
    return lines
