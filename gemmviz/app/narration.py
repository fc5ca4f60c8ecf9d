"""What the log says of a run, line by line."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gemmviz.app.runs import Run
from gemmviz.core.labels import device_label
from gemmviz.core.messages import Built, Checked
from gemmviz.core.model import Result
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
                f"{run.label}  {run.shape} {problem.element}  seed {problem.seed}  "
                f"on {device_label(run.device)}"
            )
            return (Line(now, "run", text),)
        case Built(seconds=seconds, log=log):
            line = Line(now, "build", f"{run.job.variant.id}.cl  ok in {duration(seconds)}")
            return (line, *_details(now, "build", _warnings(log)))
        case Checked(check=check):
            return (Line(now, "check", describe(check), check.verdict == "wrong"),)
        case Result():
            return _ending(run, event, now)
        case _:
            return ()


def _ending(run: Run, result: Result, now: float) -> tuple[Line, ...]:
    lines: list[Line] = []
    if run.summary is not None and run.flops_per_second is not None:
        text = (
            f"{run.status}: {run.buffer.launch_count} launches, median "
            f"{duration(run.summary.median)}, {throughput(run.flops_per_second)}"
        )
        lines.append(Line(now, "run", text + ("  (wrong result)" if run.wrong else "")))
    elif result.stopped:
        lines.append(Line(now, "run", "stopped before the first sample"))
    if result.discarded:
        text = f"{result.discarded} launches had an end before their start and were discarded"
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
