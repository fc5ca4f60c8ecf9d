"""What the log says of a run, line by line."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gemmviz.app.duels import match_of
from gemmviz.app.runs import Run
from gemmviz.core.comparison import Comparison
from gemmviz.core.labels import device_label
from gemmviz.core.measurement_words import timer_text
from gemmviz.core.messages import Built, Checked, ErrorsMapped
from gemmviz.core.model import Result
from gemmviz.core.policy import STOP_WORDS
from gemmviz.core.trust import DeviceTimer
from gemmviz.core.units import duration, throughput
from gemmviz.core.verdict import describe

_DETAIL_LINES = 60


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log: when (seconds since the Unix epoch), of what kind, and the text."""

    at: float
    kind: str
    text: str
    bad: bool = False


def narrate(run: Run, event: object) -> tuple[Line, ...]:
    """The lines that a message of a run is worth; None as the message is the run's start."""
    now = time.time()
    match event:
        case None:
            problem = run.job.problem
            text = (
                f"{run.label}  {run.problem_text}  seed {problem.seed}  "
                f"on {device_label(run.device)}"
            )
            return (Line(now, "run", text),)
        case Built(seconds=seconds, log=log):
            line = Line(now, "build", f"{run.job.variant.id}.cl  ok in {duration(seconds)}")
            return (line, *_details(now, "build", _warnings(log)))
        case Checked(check=check):
            return (Line(now, "check", describe(check), check.verdict == "wrong"),)
        case ErrorsMapped(error_map=error_map):
            return (Line(now, "check", error_map.pattern, bad=True),) if error_map.pattern else ()
        case Result():
            return _ending(run, event, now)
        case _:
            return ()


def narrate_timer(run: Run, timer: DeviceTimer) -> Line:
    """The line for what launching and timing was found to cost on a run's device."""
    return Line(time.time(), "timer", f"{device_label(run.device)}: {timer_text(timer)}")


def narrate_comparison(comparison: Comparison) -> tuple[Line, ...]:
    """The lines that the end of a comparison is worth: a sentence for each kernel."""
    now = time.time()
    if not comparison.results:
        failure = comparison.failure
        text = failure.sentence if failure is not None else "stopped before the first round"
        return (Line(now, "compare", text, failure is not None),)
    match = match_of(comparison)
    lines = match.to_text().splitlines()
    return tuple(Line(now, "compare", line, match.failed) for line in lines)


def _ending(run: Run, result: Result, now: float) -> tuple[Line, ...]:
    lines: list[Line] = []
    if run.summary is not None and run.flops_per_second is not None:
        text = (
            f"{run.status}: {run.buffer.launch_count} launches, median "
            f"{duration(run.summary.median)}, {throughput(run.flops_per_second)}"
        )
        text += "  (wrong result)" if run.wrong else ""
        why = STOP_WORDS.get(run.stop_reason, "") if not result.stopped else ""
        lines.append(Line(now, "run", f"{text}: {why}" if why else text))
    elif result.stopped:
        lines.append(Line(now, "run", "stopped before the first sample"))
    trust = result.trust
    if trust is not None and trust.badge != "events trusted":
        lines.append(Line(now, "timer", f"{trust.badge}: {trust.sentence}", bad=True))
    if result.discarded:
        text = f"{result.discarded} launches did not end after their start and were discarded"
        lines.append(Line(now, "timer", text, bad=True))
    if result.failure is not None:
        if result.failure.kind != "wrong":  # the check has said so already
            lines.append(Line(now, result.failure.kind, result.failure.sentence, bad=True))
        lines.extend(_details(now, result.failure.kind, result.failure.detail))
    return tuple(lines)


def _warnings(log: str) -> str:
    """What a compiler warns of; some drivers also remark on every good build."""
    return "\n".join(line for line in log.splitlines() if "warning" in line.lower())


def _details(now: float, kind: str, text: str) -> list[Line]:
    """Raw text as lines of the log, cut where it would flood it."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    cut = lines[:_DETAIL_LINES]
    if len(lines) > len(cut):
        cut.append(f"... {len(lines) - len(cut)} more lines")
    return [Line(now, kind, f"    {line}") for line in cut]
