"""``gemmviz sweep``: tries the configurations of a file and recommends one."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gemmviz.cli.measuring import Progress, drain
from gemmviz.cli.picture import add_png, check_picture, draw_files, say_drawn
from gemmviz.cli.selection import SelectionError, find_device, find_variant, say
from gemmviz.cli.sweep_report import sweep_json, sweep_lines
from gemmviz.core.defaults import DefaultsError, save_defaults
from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.kept_sweep import KeptSweep
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.messages import CellMeasured, Message, Progressed, SweepAdvanced
from gemmviz.core.model import Failure, Result
from gemmviz.core.store import ResultStore, StoreError
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_count import about
from gemmviz.core.sweep_file import identity, kernel_file, read_sweep_file
from gemmviz.core.sweep_plan import SweepError, SweepPlan, expected, foreseen_seconds, plan
from gemmviz.core.sweep_progress import SweepProgress
from gemmviz.core.units import duration
from gemmviz.core.winners import BEST_WORDS, cells_of, describe_configuration
from gemmviz.engine.plan import Engine

_SWEEP = 1
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
    add_png(
        parser,
        "draw the speeds over the two parameters that matter most; with several devices or "
        "problems a picture of each, whose names are said: map.png becomes map-intel-512.png",
    )
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
        saver.expect(expected(sweep, planned.configurations), done)
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
    return _told(arguments, sweep, outcome, done, saver.results)


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
    names = [kernel_file(name, file.parent) or name for name in asked.kernels]
    variants = [find_variant(str(name)) for name in names]
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
    time_taken = f"; about {duration(seconds)} if none is built" if count else ""
    say(f"{many}{ruled_out}{share}{resumed}{time_taken}.")


class _Saver(Progress):
    """Shows how far a sweep has come, and saves what was measured."""

    def __init__(self, store: ResultStore | None, sweep: Sweep) -> None:
        super().__init__()
        self._store, self._started, self._of = store, time.monotonic(), sweep
        self._sweep = store.put_sweep(identity(sweep)) if store is not None else None
        self._rewritten = False
        self._tried: set[Configuration] = set()
        self._most = 0
        self._times = SweepProgress(sweep)
        self.results: list[Result] = []  # all that the sweep is made of, oldest first

    def known(self, sweep: Sweep) -> tuple[SweepCell, ...]:
        """The cells that the file has of this very sweep."""
        if self._store is None:
            return ()
        self.results = [result for _, result in self._store.results(self._sweep)]
        return cells_of(sweep, self.results)

    def expect(self, most: int, done: Iterable[SweepCell]) -> None:
        """Takes how many configurations will be tried, and the cells that are known before."""
        self._most = most
        self._times = SweepProgress(self._of, done)
        self._tried = {cell.configuration for cell in done if cell.tried}

    def show(self, message: Message) -> None:
        """Shows or saves what a message tells."""
        if isinstance(message, CellMeasured):
            self._save(message)
            self._tried.add(message.cell.configuration)
            self._say(f"{len(self._tried)} of {self._most}, {_line(self._of, message.cell)}")
        elif isinstance(message, SweepAdvanced):
            self._times.take(message.report)
        elif isinstance(message, Progressed) and sys.stderr is not None and sys.stderr.isatty():
            left = self._times.left_seconds
            rest = f", {about(left)} left" if left is not None else ""
            say(f"\r\x1b[K[{time.monotonic() - self._started:6.1f} s] {message.text}{rest}", end="")
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
        self.results.append(message.result)
        if self._store is None:
            return
        try:
            self._store.add(message.result, self._sweep)
        except StoreError as error:
            self._store = None
            self._say(f"Nothing more is saved: {error}")


def _line(sweep: Sweep, cell: SweepCell) -> str:
    """What came of one configuration; where there are several races, of which it is one."""
    configuration = cell.configuration
    name = describe_configuration(configuration)
    if len(sweep.problems) > 1:
        name += f" at {problem_label(configuration.problem)}"
    if len(sweep.devices) > 1:
        name += f" on {device_label(sweep.devices[configuration.device])}"
    took = f"{duration(cell.seconds)}, " if cell.seconds is not None else ""
    state = BEST_WORDS if cell.best else cell.state
    why = f": {cell.why_not}" if cell.state in ("failed", "wrong") else ""
    return f"{name}: {took}{state}{why}"


def _told(
    arguments: argparse.Namespace,
    sweep: Sweep,
    outcome: Outcome,
    done: tuple[SweepCell, ...],
    results: Sequence[Result],
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
        fine = _draw(arguments, KeptSweep(sweep, report, tuple(results))) and fine
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


def _draw(arguments: argparse.Namespace, kept: KeptSweep) -> bool:
    """Draws the maps that ``--png`` asks for; says on stderr what came of it."""
    if not kept.report.cells:
        return say_drawn((), "Nothing was measured, so no picture was drawn.")

    def draw() -> Sequence[Path]:
        from gemmviz.views.charts.picture import save_drawings  # noqa: PLC0415 (loads Qt)
        from gemmviz.views.charts.sweep_pictures import heat_maps  # noqa: PLC0415

        return save_drawings(heat_maps(kept), arguments.png, scale=arguments.scale,
                             theme=arguments.theme)  # fmt: skip

    return say_drawn(*draw_files(draw))


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why there is no sweep; with ``--json`` in the same keys."""
    if arguments.json:
        empty = Sweep((), (), (), ())
        told = sweep_json(empty, _EMPTY, resumed=0, stopped=False, failure=failure)
        print(json.dumps(told, indent=2))
    else:
        say(failure.sentence)
    return 2
