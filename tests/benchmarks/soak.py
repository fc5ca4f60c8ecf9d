"""Runs started and stopped at random for an hour: is anything left over?

Driven through the app's state as the window does. Usage: ``soak [MINUTES]``, 60 by default.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, QTimer, Slot

from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import QUICK, UNTIL_STOPPED, fixed
from gemmviz.engine.plan import Engine
from tests.benchmarks.rows import row
from tests.engine.runs import own_kernel

_WARM_UP_SECONDS = 60.0
_REPORT_SECONDS = 300.0
_LONGEST_RUN_SECONDS = 4.0
_ROWS = 200  # the book is emptied beyond, so that what grows is a leak
_TROUBLE = {
    "endless": "volatile __global real *c = C; while (c[0] != 12345) c[row * N + col] += 1;",
    "far": "C[(long)row * 100000000 + 777777777] = 1;",
    "broken": "this is no C;",
}


class Figures:
    """What a process holds: threads, file descriptors and memory; and all processes of engines."""

    def __init__(self) -> None:
        status = Path("/proc/self/status").read_text()
        field = dict(line.split(":", 1) for line in status.splitlines())
        self.threads = int(field["Threads"])
        self.memory_mib = int(field["VmRSS"].split()[0]) / 1024
        self.files = len(list(Path("/proc/self/fd").iterdir()))
        # By name: most are born of a process of ours, and would be nobody's once that has ended.
        listed = subprocess.run(
            ["pgrep", "-c", "-f", "gemmviz[.]engine"], capture_output=True, text=True, check=False
        )
        self.children = int(listed.stdout)

    def __str__(self) -> str:
        return (
            f"{self.threads} threads, {self.children} children, {self.files} files, "
            f"{self.memory_mib:.0f} MiB"
        )


class Soak(QObject):
    """Starts, stops and compares at random."""

    def __init__(self, state: AppState, seed: int) -> None:
        super().__init__()
        self.state, self.counts = state, Counter[str]()
        self._random = random.Random(seed)
        state.book.run_added.connect(self._on_run_added)
        state.comparison_ended.connect(self._on_comparison_ended)

    @Slot(int)
    def _on_run_added(self, place: int) -> None:
        run: Run = self.state.book.runs[place]
        failure = run.failure
        self.counts["ended" if failure is None else f"ended: {failure.kind}"] += 1

    @Slot(object)
    def _on_comparison_ended(self, outcome: object) -> None:
        self.counts["comparisons"] += 1

    def turn(self) -> None:
        """One run or comparison, ended by itself or by a stop."""
        state, choose = self.state, self._random
        if len(state.book.runs) > _ROWS:
            state.book.clear()
        runs = list(state.book.runs[-6:])
        if choose.random() < 0.1 and len(runs) > 1 and not state.comparison_refusal(runs[-2:]):
            state.change(replace(state.setup, policy=QUICK))
            state.compare(runs[-2:])
        else:
            self._begin()
        limit = time.monotonic() + choose.uniform(0.05, _LONGEST_RUN_SECONDS)
        while state.active or state.comparing:
            spin(0.05)
            if time.monotonic() > limit:
                self.counts["stopped"] += 1
                state.stop()
                limit = time.monotonic() + 5

    def visit_every_device(self) -> None:
        """A short run on each, so that what each device keeps is there before the count."""
        state = self.state
        for device in state.devices:
            state.select_device(device)
            state.change(replace(state.setup.with_all_sizes(32), policy=fixed(20)))
            state.start()
            while state.active:
                spin(0.05)

    def _begin(self) -> None:
        state, choose = self.state, self._random
        state.select_device(choose.choice(state.devices))
        variants = [v for v in state.catalog.variants if v.family not in ("user", "library")]
        trouble = [v for v in state.catalog.variants if v.family == "user"]
        state.choose_variant(choose.choice(trouble if choose.random() < 0.1 else variants))
        size = choose.choice((16, 32, 64, 96, 128, 256))
        policy = choose.choice((QUICK, UNTIL_STOPPED, fixed(20), replace(QUICK, per_launch=True)))
        state.change(replace(state.setup.with_all_sizes(size), policy=policy,
                             launch_limit_seconds=1.0))  # fmt: skip
        if state.can_run:
            self.counts["started"] += 1
            state.start()
        else:
            self.counts["refused in advance"] += 1


def spin(seconds: float) -> None:
    """Runs the event loop for a while.

    Of one loop and one timer: Qt's binding keeps a little of each call of QTimer.singleShot.
    """
    loop, timer = _clock()
    timer.start(round(1000 * seconds))
    loop.exec()


@cache
def _clock() -> tuple[QEventLoop, QTimer]:
    loop, timer = QEventLoop(), QTimer(singleShot=True)
    timer.timeout.connect(loop.quit)
    return loop, timer


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    app = QCoreApplication([])
    state = AppState(Workers(Engine()), data_dir("kernels"))
    state.list_devices()
    state.load_kernels()
    while not state.devices:
        spin(0.05)
    with tempfile.TemporaryDirectory() as folder:
        for stem, body in _TROUBLE.items():
            own_kernel(Path(folder), body, stem=stem, extra='entry = "own"')
            problem = state.open_kernel(Path(folder) / f"{stem}.toml")
            assert not problem, problem
        soak = Soak(state, seed)
        soak.visit_every_device()
        begun = time.monotonic()
        while time.monotonic() - begun < min(_WARM_UP_SECONDS, 20 * minutes):
            soak.turn()
        before, said = Figures(), time.monotonic()
        print(f"after the warm-up: {before}", file=sys.stderr)
        while time.monotonic() - begun < 60 * minutes:
            soak.turn()
            if time.monotonic() - said > _REPORT_SECONDS:
                said = time.monotonic()
                passed = (said - begun) / 60
                print(f"{passed:5.1f} min: {Figures()}  {dict(soak.counts)}", file=sys.stderr)
        state.book.clear()
        after = Figures()
        print(f"at the end: {after}  {dict(soak.counts)}", file=sys.stderr)
        state.close()
        closed = Figures()
        print(f"closed: {closed}", file=sys.stderr)
    row("runs started", soak.counts["started"], f"in {minutes:g} min", 1, most=False)
    row("threads more than after the warm-up", after.threads - before.threads, "", 0)
    row("files more", after.files - before.files, "", 0)
    row("memory more", after.memory_mib - before.memory_mib, "MiB", 20)
    row("children left when closed", closed.children, "", 0)
    del app


if __name__ == "__main__":
    main()
