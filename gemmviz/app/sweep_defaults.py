"""What a sweep's winners become as the defaults of their kernels, in words before it is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.sweep import Configuration, Sweep, SweepReport, Winner
from gemmviz.core.tuned import own_file


def winners_with(report: SweepReport, configuration: Configuration) -> tuple[Winner, ...]:
    """The race that a configuration won or tied in, with it as the one to take; () without one."""
    return tuple(
        replace(winner, recommended=configuration)
        for winner in report.winners
        if configuration in winner.best_set
    )


def saving_words(sweep: Sweep, winners: Iterable[Winner]) -> str:
    """What saving these winners will do, in sentences."""
    titles = {variant.id: variant.title for variant in sweep.variants}
    lines = []
    for winner in winners:
        taken = winner.recommended
        what = describe_parameters(taken.parameters) or "its only configuration"
        lines.append(
            f"{titles.get(taken.variant, taken.variant)} will start with {what} on "
            f"{device_label(sweep.devices[winner.device])} "
            f"(measured at {problem_label(winner.problem, '×')}{_doubt(winner)})."
        )
    shapes = "each for the shapes nearest to it" if len(lines) > 1 else "for all shapes"
    where = (
        f"This holds in the window and for gemmviz run, {shapes}, and replaces what was saved of "
        f"the same kernel, device and element type. It is written to {own_file()}."
    )
    return "\n".join([*lines, where]) if lines else ""


def _doubt(winner: Winner) -> str:
    """What is not known of a winner, to stand behind where it was measured."""
    others = len(winner.best_set) - 1
    if others < 1:
        return ""
    return f"; {others} other{'s' * (others > 1)} cannot be told apart from it"
