"""``gemmviz sweep``: tries the configurations of a file and recommends one."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemmviz.cli.measuring import Progress, drain
from gemmviz.cli.picture import add_png, check_picture, save_picture
from gemmviz.cli.selection import SelectionError, find_device, find_variant, say
from gemmviz.cli.sweep_report import sweep_json, sweep_lines
from gemmviz.core.defaults import DefaultsError, save_defaults
from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.messages import CellMeasured, Message, Progressed
from gemmviz.core.model import Failure
from gemmviz.core.store import ResultStore, StoreError
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_file import identity, read_sweep_file
from gemmviz.core.sweep_plan import SweepError, SweepPlan, expected, foreseen_seconds, plan
from gemmviz.core.units import duration
from gemmviz.core.winners import cells_of, describe_configuration
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

_SWEEP = 1
_PICTURE = (1200, 800)
_EMPTY = SweepReport(())


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "sweep",
        help="try many configurations and recommend one",
        description="Every configuration is built, checked and timed; the fastest take turns until "
        "it is known which of them differ. Exit code: 0 it was done, 1 an answer is wrong, 2 it "
        "could not run or was stopped.",
        epilog="Keys of FILE.toml: kernels, and sizes or shapes; optionally parameters, elements, "
        "devices, policy (quick, standard, careful), strategy (racing, exhaustive, model), budget "
        "(how many configurations of a kernel the model may try; a quarter), seed.",
        allow_abbrev=False,
    )
    parser.add_argument("file", type=Path, metavar="FILE.toml", help="what to try")
    parser.add_argument("--results", type=Path, metavar="FILE",
                        help="save every result into this file as it comes")  # fmt: skip
    parser.add_argument("--resume", action="store_true",
                        help="go on where --results ends, and measure nothing twice")  # fmt: skip
    parser.add_argument("--save-default", action="store_true",
                        help="make what is recommended the default of `gemmviz run`")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_png(parser, "draw the speeds over the first two parameters")
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Runs the sweep and prints what came of it."""
    engine = Engine()
    store: ResultStore | None = None
    try:
        check_picture("--png", arguments.png)
        sweep = _sweep(arguments.file, engine)
        planned = plan(sweep)
        store = _opened(arguments)
        saver = _Saver(store, sweep)
        done = saver.known(sweep) if arguments.resume else ()
        if arguments.resume and not done:
            say(f"{arguments.results} has nothing of this very sweep yet.")
        _announce(sweep, planned, done)
        experiment = RunSweep(_SWEEP, sweep, done)
        outcome = drain(engine, engine.perform(experiment), _SWEEP, saver)
        assert isinstance(outcome, Outcome)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except (SweepError, StoreError) as error:
        return _unable(arguments, Failure("refused", str(error)))
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the first configuration."))
    finally:
        engine.close()
        if store is not None:
            store.close()
    return _told(arguments, sweep, outcome, done)


def _opened(arguments: argparse.Namespace) -> ResultStore | None:
    """The results file, or None where none is named.

    Raises:
        SelectionError: One is needed to resume.
        StoreError: It cannot be written.
    """
    if arguments.results is None:
        if arguments.resume:
            raise SelectionError("--resume needs --results with the file to go on with.", "refused")
        return None
    store = ResultStore.open(arguments.results)
    if store.read_only:
        store.close()
        raise StoreError(store.problem or f"{arguments.results} cannot be written.")
    return store


def _sweep(file: Path, engine: Engine) -> Sweep:
    """The sweep of a file.

    Raises:
        SweepError: The file is wrong.
        SelectionError: It names a kernel or a device that there is not.
    """
    asked = read_sweep_file(file)
    names = [
        str(file.parent / name) if name.endswith(".toml") or "/" in name else name
        for name in asked.kernels
    ]
    variants = [find_variant(name) for name in names]
    listing = engine.list_devices()
    devices = [find_device(listing, text) for text in asked.devices or (None,)]
    return asked.sweep(variants, tuple(dict.fromkeys(devices)))


def _announce(sweep: Sweep, planned: SweepPlan, done: tuple[SweepCell, ...]) -> None:
    count, refused = len(planned.configurations), len(planned.refused)
    ruled_out = f", {refused} more cannot run" if refused else ""
    tried = expected(sweep, planned.configurations)
    share = f", about {tried:,} of them will be tried" if tried < count else ""
    known = sum(cell.tried for cell in done)
    resumed = f", {known} known" if known else ""
    seconds = foreseen_seconds(sweep, planned, os.cpu_count() or 1)
    many = f"{count} configuration{'s' * (count != 1)}"
    say(f"{many}{ruled_out}{share}{resumed}; about {duration(seconds)} if none is built.")


class _Saver(Progress):
    """Shows how far a sweep has come, and saves what was measured."""

    def __init__(self, store: ResultStore | None, sweep: Sweep) -> None:
        super().__init__()
        self._store, self._started = store, time.monotonic()
        self._sweep = store.put_sweep(identity(sweep)) if store is not None else None
        self._rewritten = False

    def known(self, sweep: Sweep) -> tuple[SweepCell, ...]:
        """The cells that the file has of this very sweep."""
        if self._store is None:
            return ()
        return cells_of(sweep, (result for _, result in self._store.results(self._sweep)))

    def show(self, message: Message) -> None:
        """Shows or saves what a message tells."""
        if isinstance(message, CellMeasured):
            self._save(message)
            self._say(_line(message.cell))
        elif isinstance(message, Progressed) and sys.stderr is not None and sys.stderr.isatty():
            say(f"\r\x1b[K[{time.monotonic() - self._started:6.1f} s] {message.text}", end="")
            self._rewritten = True

    def end(self) -> None:
        """Ends the line that is rewritten."""
        if self._rewritten:
            say("\r\x1b[K", end="")
        self._rewritten = False

    def _say(self, text: str) -> None:
        self.end()
        say(f"[{time.monotonic() - self._started:6.1f} s] {text}")

    def _save(self, message: CellMeasured) -> None:
        if self._store is None:
            return
        try:
            self._store.add(message.result, self._sweep)
        except StoreError as error:
            self._store = None
            self._say(f"Nothing more is saved: {error}")


def _line(cell: SweepCell) -> str:
    name = describe_configuration(cell.configuration)
    took = f"{duration(cell.seconds)}, " if cell.seconds is not None else ""
    state = "in the best set" if cell.best else cell.state
    why = f": {cell.why_not}" if cell.state in ("failed", "wrong") else ""
    return f"{name}: {took}{state}{why}"


def _told(
    arguments: argparse.Namespace, sweep: Sweep, outcome: Outcome, done: tuple[SweepCell, ...]
) -> int:
    """Prints what came of a sweep, draws and saves what is asked for; the exit code."""
    report = outcome.answer if isinstance(outcome.answer, SweepReport) else _EMPTY
    planned = {cell.configuration for cell in report.cells}
    resumed = sum(cell.configuration in planned and cell.tried for cell in done)
    if arguments.json:
        told = sweep_json(
            sweep, report, resumed=resumed, stopped=outcome.stopped, failure=outcome.failure
        )
        print(json.dumps(told, indent=2))
    elif report.cells:
        print("\n".join(sweep_lines(sweep, report)))
    if outcome.failure is not None:
        say(outcome.failure.sentence)
    if outcome.stopped:
        again = " Go on with --resume." if arguments.results is not None else ""
        say(f"Stopped before all was measured.{again}")
    fine = outcome.failure is None and not outcome.stopped
    if arguments.save_default:
        fine = _save_default(sweep, report) and fine
    if arguments.png is not None:
        fine = save_picture(arguments, lambda: _chart(sweep, report), _PICTURE) and fine
    if not fine:
        return 2
    return 1 if any(cell.state == "wrong" for cell in report.cells) else 0


def _save_default(sweep: Sweep, report: SweepReport) -> bool:
    if not report.winners:
        say("Nothing is recommended, so no default was saved.")
        return False
    try:
        file = save_defaults(sweep, report.winners)
    except DefaultsError as error:
        say(str(error))
        return False
    names = ", ".join(
        dict.fromkeys(describe_configuration(winner.recommended) for winner in report.winners)
    )
    say(f"Saved as defaults in {file}: {names}")
    return True


def _chart(sweep: Sweep, report: SweepReport) -> Chart:
    """The chart that ``--png`` asks for."""
    from gemmviz.core.sweep_dimensions import dimensions  # noqa: PLC0415
    from gemmviz.core.sweep_grid import sweep_grid  # noqa: PLC0415
    from gemmviz.views.charts.heading import Line  # noqa: PLC0415 (Qt only where it is needed)
    from gemmviz.views.charts.heat_map import HeatMapChart  # noqa: PLC0415

    names = [each.name for each in dimensions(sweep)]
    axes = (*names[:2], "", "")[:2]
    chart = HeatMapChart()
    chart.set_grid(sweep_grid(sweep, report, (axes[0], axes[1])))
    kernels = ", ".join(variant.title for variant in sweep.variants)
    chart.set_heading(kernels, tuple(Line(winner.words, "text") for winner in report.winners))
    return chart


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why there is no sweep; with ``--json`` in the same keys."""
    if arguments.json:
        empty = Sweep((), (), (), ())
        told = sweep_json(empty, _EMPTY, resumed=0, stopped=False, failure=failure)
        print(json.dumps(told, indent=2))
    else:
        say(failure.sentence)
    return 2
