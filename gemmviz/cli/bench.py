"""``gemmviz bench``: the fastest kernels against the libraries, on whatever is present."""

from __future__ import annotations

import argparse
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gemmviz.cli.measuring import Progress, drain
from gemmviz.cli.saving import Saver, add_results
from gemmviz.cli.selection import SelectionError, find_device, say
from gemmviz.core.catalog import load_catalog
from gemmviz.core.codec import to_json
from gemmviz.core.experiments import Outcome, RunSuite
from gemmviz.core.messages import Listing, Message, RowMeasured
from gemmviz.core.model import Device, Failure
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import QUICK, STANDARD
from gemmviz.core.suite import (
    SUITES,
    BenchReport,
    BenchRow,
    SuiteError,
    SuiteRow,
    find_suite,
    summary_of,
)
from gemmviz.core.units import duration
from gemmviz.engine.plan import Engine

_SUITE = 1
_NEAR_FLOOR = 10  # a launch that takes no more than so many empty ones is told beside one
_RATIO_COLUMNS = 34


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "bench",
        help="measure the fastest kernels against the libraries",
        description="Ratios of interleaved medians, the library's time over the kernel's: above 1 "
        "the kernel is faster. Exit code: 0 it was done, 1 an answer is wrong, 2 nothing could be "
        "measured or it was stopped.",
        allow_abbrev=False,
    )
    parser.add_argument("--suite", metavar="cpu|gpu|FILE.toml",
                        help="one suite alone, or your own (default: cpu and gpu)")  # fmt: skip
    parser.add_argument("--device", metavar="TEXT", help="part of a platform's or device's name")
    parser.add_argument("--quick", action="store_true", help="a handful of rows, each less surely")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_results(parser)
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Runs the suites and prints their ratios."""
    engine = Engine()
    try:
        suites = SUITES if arguments.suite is None else (arguments.suite,)
        rows = _rows(suites, quick=arguments.quick)
        devices = _devices(engine.list_devices(), arguments.device)
        experiment = RunSuite(
            _SUITE,
            devices,
            load_catalog(data_dir("kernels")).variants,
            rows,
            QUICK if arguments.quick else STANDARD,
            secrets.randbelow(2**31),
        )
        saver = Saver(arguments.results)
        items = _told(saver.followed(engine.perform(experiment)))
        outcome = drain(engine, items, _SUITE, Progress())
        assert isinstance(outcome, Outcome)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except SuiteError as error:
        return _unable(arguments, Failure("refused", f"{str(error).rstrip('.')}."))
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the first row."))
    finally:
        engine.close()
    saved = saver.finish()
    report = outcome.answer
    if outcome.failure is not None or not isinstance(report, BenchReport):
        failure = outcome.failure or Failure("stopped", "Stopped before the first row.")
        return _unable(arguments, failure)
    if arguments.json:
        print(json.dumps(_report(report, suites, experiment, outcome), indent=2))
    else:
        _print(report)
    if outcome.stopped:
        say("Stopped: these are the rows that were done.")
    if outcome.stopped or not (saved and report.measured):
        return 2
    return 1 if any(row.why_not for row in report.measured) else 0


def _told(items: Iterable[Message | Outcome]) -> Iterator[Message | Outcome]:
    """The same items; each row is said on stderr as it comes, before all are printed."""
    for item in items:
        if isinstance(item, RowMeasured) and item.row.ratio is not None:
            say(f"  {item.row.name}  {_figures(item.row)}")
        yield item


def _rows(suites: Sequence[str], *, quick: bool) -> tuple[SuiteRow, ...]:
    rows = [row for name in suites for row in find_suite(name)]
    return tuple(row for row in rows if row.quick or not quick)


def _devices(listing: Listing, text: str | None) -> tuple[Device, ...]:
    """The device that was named, or all but simulators.

    Raises:
        SelectionError: The named one is not there, or is a simulator.
    """
    if text is not None:
        device = find_device(listing, text)
        if device.type == "simulator":
            sentence = "A simulator's speed says nothing of a device: choose a real one."
            raise SelectionError(sentence, "refused")
        return (device,)
    devices = [device for platform in listing.platforms for device in platform.devices]
    return tuple(device for device in devices if device.type != "simulator")


def _report(
    report: BenchReport, suites: Sequence[str], experiment: RunSuite, outcome: Outcome
) -> dict[str, Any]:
    """The whole as JSON; keys are only ever added."""
    rows = [{**to_json(row), "parameters": dict(row.parameters)} for row in report.rows]
    return {
        "suites": list(suites),
        "policy": to_json(experiment.policy),
        "seed": experiment.seed,
        "context": to_json(report.context),
        "rows": rows,
        "summary": summary_of(report),
        "too_busy": any(row.busy for row in report.rows),
        "stopped": outcome.stopped,
        "failure": None,
    }


def _print(report: BenchReport) -> None:
    """The ratios by device, then what could not run, gathered by its reason."""
    context = report.context
    if context is not None:
        load = f", load {context.load:.2g}" if context.load is not None else ""
        print(f"{context.system}, {context.cores} processors{load}, gemmviz {context.app_version}")
    for device in dict.fromkeys(row.device for row in report.measured):
        rows = [row for row in report.measured if row.device == device]
        libraries = dict.fromkeys(row.library for row in rows if row.library)
        print(f"{device}{': against ' if libraries else ''}{'; '.join(libraries)}")
        width = max(len(row.name) for row in rows)
        for row in rows:
            print(f"  {row.name.ljust(width)}  {_figures(row)}")
    absent = [row for row in report.rows if row.ratio is None]
    if absent:
        print("Not run:")
    for reason in dict.fromkeys(row.why_not for row in absent):
        rows = [row for row in absent if row.why_not == reason]
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        print(f"  {rows[0].name}{more}: {reason}")
    print(summary_of(report))


def _figures(row: BenchRow) -> str:
    """The ratio of a row with its interval, its target, and what to know."""
    figures = f"{row.ratio:6.3f} ({row.ratio_low:.3f} to {row.ratio_high:.3f})"
    parts = [figures.ljust(_RATIO_COLUMNS - 8)]
    if row.why_not:
        return f"{parts[0]} does not count: {row.why_not}"
    if row.target is not None:
        word = {True: "met", False: "missed", None: "not judged"}[row.met]
        parts.append(f"target {row.target:.2f} {word}")
    if row.busy:
        parts.append(f"too busy to judge: {row.busy}")
    # In double the reference is this very library's, so that its own error is nothing.
    if row.error is not None and row.library_error and row.error > row.library_error:
        parts.append(f"error {row.error:.2g} against {row.library_error:.2g}")
    floor, seconds = row.floor_seconds, row.seconds
    # A row without a target is there to show how near to the floor it comes.
    near = row.target is None or (floor is not None and (seconds or 0) < _NEAR_FLOOR * floor)
    if floor is not None and seconds is not None and near:
        parts.append(f"{duration(seconds)} a launch, an empty one {duration(floor)}")
    return "  ".join(parts)


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why nothing was measured; with ``--json`` in the same keys."""
    if arguments.json:
        print(json.dumps({"rows": [], "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2
