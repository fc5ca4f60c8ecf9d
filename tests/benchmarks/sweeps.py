"""Sweeps against Kernel Tuner on the same space, and how well they agree with one another.

``sweeps duel [ROUNDS] [PYTHON]`` tunes the same kernel over the same 12 configurations with Kernel
Tuner 1.5 in an environment of its own, which is made here unless the interpreter of one is named,
and with a sweep, cold (nothing was built before) and warm, one after the other. ``sweeps agree
[TIMES] [--busy]`` makes the same sweep several times and measures what it recommended once more in
turns. Both print their details on stderr.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gemmviz.core.catalog import load_variant
from gemmviz.core.choice import matching_devices
from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.messages import CellMeasured, Message
from gemmviz.core.model import Device, Job, Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import QUICK, STANDARD
from gemmviz.core.sweep import Configuration, Sweep, SweepReport
from gemmviz.core.winners import describe_configuration
from gemmviz.engine.plan import Engine
from tests.benchmarks.rows import row

_PACKAGES = ("kernel_tuner==1.5.0", "pyopencl==2026.1.4", "pocl-binary-distribution==3.0")
_SIZE = 512
_COLD, _WARM = 3.0, 4.0  # times as many configurations a second
_AGREE_PERCENT = 2.0
_SPINNER = "while True: pass"


def main() -> None:
    mode, *words = sys.argv[1:] or ["duel"]
    number = next((int(word) for word in words if word.isdigit()), None)
    with tempfile.TemporaryDirectory(prefix="gemmviz-sweeps-") as folder:
        if mode == "duel":
            python = next((Path(word) for word in words if "/" in word), None)
            _duel(Path(folder), number or 3, python)
        elif mode == "agree":
            with _busy("--busy" in words):
                _agree(Path(folder), number or 5)
        elif mode == "once":
            print(json.dumps(_once(Path(words[0]))))
        else:
            sys.exit(__doc__)


def _duel(folder: Path, rounds: int, python: Path | None) -> None:
    tuner = python or _environment_with_tuner(folder)
    kernel = _kernel(folder)
    seconds: dict[tuple[str, str], list[float]] = {}
    best: dict[str, Counter[str]] = {"tuner": Counter(), "sweep": Counter()}
    source = [str(kernel.with_suffix(".cl")), str(_SIZE)]
    script = str(Path(__file__).parent / "kernel_tuner_run.py")
    commands = {
        "tuner": [str(tuner), script, *source],
        "sweep": [sys.executable, "-m", "tests.benchmarks.sweeps", "once", str(kernel)],
    }
    for number in range(rounds):
        for name, command in commands.items():
            caches = folder / f"{name}-{number}"
            (caches / "pocl").mkdir(parents=True)
            environment = {**os.environ, "XDG_CACHE_HOME": str(caches),
                           "POCL_CACHE_DIR": str(caches / "pocl")}  # fmt: skip
            for state in ("cold", "warm"):
                done = subprocess.run(
                    command, env=environment, stdout=subprocess.PIPE,
                    text=True, check=True,
                )  # fmt: skip
                found = json.loads(done.stdout.splitlines()[-1])
                seconds.setdefault((name, state), []).append(found["seconds"] / found["count"])
                best[name][found["best"]] += 1
                told = f"{name} {state}: {found['seconds']:.2f} s, {found['best']}"
                print(told, file=sys.stderr)
    for state, target in (("cold", _COLD), ("warm", _WARM)):
        tuners, sweeps = (statistics.median(seconds[name, state]) for name in commands)
        row(f"Kernel Tuner's time a configuration over a sweep's, {state}", tuners / sweeps, "",
            target, most=False)  # fmt: skip
    for name, counts in best.items():
        print(f"winners of the {name}: {dict(counts)}", file=sys.stderr)
    row("different winners of the sweep", len(best["sweep"]), "", 1)


def _environment_with_tuner(folder: Path) -> Path:
    """The interpreter of a fresh environment that holds Kernel Tuner."""
    print("installing Kernel Tuner ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "tuner")], check=True)
    python = folder / "tuner" / "bin" / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", *_PACKAGES],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return python


def _kernel(folder: Path) -> Path:
    """A copy of work_1d over the space that both try: TS 4 to 32, and 1, 2 or 4 cells an item."""
    original = data_dir("kernels") / "work_1d.toml"
    text = original.read_text().replace("values = [8, 16, 32, 64]", "values = [4, 8, 16, 32]")
    text = text.replace("values = [1, 2, 4, 8]", "values = [1, 2, 4]")
    text = text.replace("default = 8", "default = 4")
    file = folder / "work_1d.toml"
    file.write_text(text)
    file.with_suffix(".cl").write_text(original.with_suffix(".cl").read_text())
    return file


def _once(kernel: Path) -> dict[str, object]:
    """One sweep; the time is that of everything after the devices are listed."""
    engine = Engine()
    try:
        sweep = _sweep(kernel, _pocl(engine))
        begun = time.perf_counter()
        report = _made(engine, sweep)
        seconds = time.perf_counter() - begun
    finally:
        engine.close()
    taken = describe_configuration(report.winners[0].recommended)
    assert all(cell.state in ("measured", "dropped") for cell in report.cells)
    assert all(cell.samples for cell in report.cells)
    return {"seconds": seconds, "best": taken.partition(" ")[2], "count": len(report.cells)}


def _agree(folder: Path, times: int) -> None:
    """The same sweep again and again; what it recommends is compared in turns at the end."""
    engine = Engine()
    try:
        device = _pocl(engine)
        sweep = replace(_sweep(_kernel(folder), device), policy=STANDARD)
        taken: list[Configuration] = []
        for _ in range(times):
            winner = _made(engine, sweep).winners[0]
            taken.append(winner.recommended)
            print(winner.words, file=sys.stderr)
        different = list(dict.fromkeys(taken))
        row("within one another when measured again", _spread_percent(engine, sweep, different),
            "%", _AGREE_PERCENT)  # fmt: skip
    finally:
        engine.close()


def _spread_percent(engine: Engine, sweep: Sweep, names: list[Configuration]) -> float:
    """How much longer the slowest of some configurations takes than the fastest, in turns."""
    if len(names) == 1:
        return 0.0
    device = sweep.devices[0]
    jobs = [
        Job(place, device.key, sweep.variants[0], name.parameters, name.problem, STANDARD)
        for place, name in enumerate(names, start=1)
    ]
    *_, outcome = engine.compare(jobs, [device] * len(jobs), 0)
    assert isinstance(outcome, Comparison)
    ratios = [1.0, *(versus.ratio for versus in outcome.versus)]
    return 100 * (max(ratios) / min(ratios) - 1)


def _pocl(engine: Engine) -> Device:
    listing = engine.list_devices()
    return matching_devices([d for p in listing.platforms for d in p.devices], "portable")[0]


def _sweep(kernel: Path, device: Device) -> Sweep:
    problem = Problem(_SIZE, _SIZE, _SIZE)
    return Sweep((load_variant(kernel),), (), (problem,), (device,), QUICK)


def _made(engine: Engine, sweep: Sweep) -> SweepReport:
    outcome: Message | Outcome | None = None
    for outcome in engine.perform(RunSweep(1, sweep)):
        if isinstance(outcome, CellMeasured):
            check = outcome.result.check
            assert check is not None
            assert check.verdict == "verified"
    assert isinstance(outcome, Outcome)
    assert isinstance(outcome.answer, SweepReport), outcome.failure
    return outcome.answer


@contextmanager
def _busy(wanted: bool) -> Iterator[None]:
    """Something else that wants a processor all the time, if so wanted."""
    other = subprocess.Popen([sys.executable, "-c", _SPINNER]) if wanted else None
    try:
        yield
    finally:
        if other is not None:
            other.kill()
            other.wait()


if __name__ == "__main__":
    main()
