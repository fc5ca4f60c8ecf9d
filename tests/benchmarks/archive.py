"""A results file of 100,000 results and 10^8 samples: opened, filtered and shown in the window.

``python -m tests.benchmarks.archive [RESULTS [SAMPLES]]``: how many results, and how many samples
each has. The file is made in a temporary folder and takes about 1.3 GB.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QApplication

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.model import Problem, Samples
from gemmviz.core.paths import data_dir
from gemmviz.core.store import Filter, ResultStore
from gemmviz.views.history_panel import HistoryPanel
from tests.app.archives import open_in
from tests.app.fake_engine import H200, INTEL, POCL, FakeEngine
from tests.benchmarks.rows import row
from tests.core.store.saved import saved

_RESULTS, _SAMPLES = 100_000, 1000
_MEASURED = 1000  # results that are made one by one; the rest are these again
_KILLS, _KILLED_SECONDS = 3, 2.6
_BYTES_PER_SAMPLE = 30  # room that is asked for: the file, its log of changes and a margin
_FILTERS = (
    Filter(),
    Filter(text="tiled float"),
    Filter(text="no such word"),
    Filter(text="512x512x512 verified"),
    Filter(devices=("NVIDIA H200 · CUDA 12.8.1",)),
    Filter(kernel="tiled", shape=(512, 512, 512)),
    Filter(verdict="wrong"),
    Filter(tag="paper"),
    Filter(devices=("pthread-cpu · PoCL 3.0-rc2",), text="note", verdict="verified"),
    Filter(order="fastest"),
    Filter(order="size"),
)


def _result(number: int, samples: int):
    generator = np.random.default_rng(number)
    ticks = generator.lognormal(13.8, 0.03, samples).astype(np.int64)
    ends = np.cumsum(ticks) * 1e-9 + generator.random(samples) * 1e-6
    size = 16 * (1 + number % 64)
    result = saved(device=(POCL, INTEL, H200)[number % 3])
    job = replace(
        result.job, problem=Problem(size, size, size), device=result.device.key,
        parameters=(("TS", (8, 16, 32)[number % 3]),),
    )  # fmt: skip
    values = Samples(np.ones(samples, np.int32), ticks * 1e-9, np.maximum.accumulate(ends))
    return replace(result, job=job, samples=values, finished_at=1.7e9 + number)


def _make(path: Path, results: int, samples: int) -> float:
    """Makes the file; returns how many results a second are saved one by one."""
    store = ResultStore.open(path)
    measured = [_result(number, samples) for number in range(min(results, _MEASURED))]
    begun = time.perf_counter()
    with store.batch():
        for result in measured:
            store.add(result)
    speed = len(measured) / (time.perf_counter() - begun)
    store.annotate(range(1, len(measured), 7), note="a note on it", tags=["paper"])
    with store._writing() as connection:
        columns = (
            "running, moment, sweep, kernel, title, parameters, device, m, n, k, size, element, "
        )
        columns += "form, verdict, median, low, high, flops, samples, launches, version, note, "
        columns += "tags, deleted, search, remarks"
        for start in range(len(measured), results, len(measured)):
            more = min(len(measured), results - start)
            queries = (
                f"INSERT INTO results (id, {columns}) SELECT id + ?, {columns} FROM results "
                "WHERE id <= ?",
                "INSERT INTO bodies SELECT result + ?, source, variant, device, context, log, data "
                "FROM bodies WHERE result <= ?",
                "INSERT INTO parts SELECT result + ?, place, count, data FROM parts "
                "WHERE result <= ?",
            )
            for query in queries:
                connection.execute(query, (start, more))
    store.close()
    return speed


def _seconds(act) -> float:
    """How long something takes, the shortest of three times: others use this machine too."""
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        act()
        times.append(time.perf_counter() - begun)
    return min(times)


def _look(path: Path) -> None:
    """Opens, filters and shows it, in a process of its own."""
    begun = time.perf_counter()
    store = ResultStore.open(path)
    rows = store.rows()
    store.choices()
    assert rows[0].id == len(rows)
    row("open a file of 100,000 results", time.perf_counter() - begun, "s", 2.0)
    slowest = max(_seconds(lambda each=each: store.rows(each)[:40]) for each in _FILTERS)
    row("the slowest filter", 1e3 * slowest, "ms", 100.0)
    begun = time.perf_counter()
    result = store.result(len(rows) // 2)
    assert len(result.samples)
    row("read a result with its samples", 1e3 * (time.perf_counter() - begun), "ms", 50.0)
    store.close()
    _look_in_window(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row("memory at its highest, with a window", peak, "MiB", 500.0)


def _look_in_window(path: Path) -> None:
    app = QApplication.instance() or QApplication([])
    state = AppState(Workers(FakeEngine()), data_dir("kernels"))
    panel = HistoryPanel(state)
    panel.resize(900, 600)
    panel.show()
    app.processEvents()
    begun = time.perf_counter()
    assert open_in(state, path) == ""
    panel.grab()
    row("open it in the window and draw its list", time.perf_counter() - begun, "s", 2.0)

    def search() -> None:
        panel.filters.words.setText("tiled 512")
        panel.filters.changed.emit()
        panel.grab()

    row("search in the window and draw", 1e3 * _seconds(search), "ms", 150.0)

    def select() -> None:
        panel.table.clearSelection()
        panel.table.selectAll()
        panel.grab()

    row("select all of them and draw", 1e3 * _seconds(select), "ms", 500.0)
    state.archive.show_saved([1, 2, 3])
    state.close()


def _lost(folder: Path) -> float:
    """Seconds of samples that are gone when a process that measures is killed."""
    path = folder / "killed.gemmviz"
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.app.archive_child", str(path)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    heard: list[tuple[float, int]] = []
    for line in child.stdout:
        if int(line):
            heard.append((time.perf_counter(), int(line)))
        if heard and heard[-1][0] - heard[0][0] > _KILLED_SECONDS:
            break
    child.kill()
    child.wait()
    child.stdout.close()
    store = ResultStore.open(path)
    saved_samples = len(store.result(1).samples)
    store.close()
    return next((heard[-1][0] - at for at, count in heard if count >= saved_samples), 0.0)


def main(results: int, samples: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < results * samples * _BYTES_PER_SAMPLE:
            sys.exit(f"{folder} has only {free / 1e9:.1f} GB of room")
        path = Path(folder) / "large.gemmviz"
        speed = _make(path, results, samples)
        row("results saved a second", speed, "", 200.0, most=False)
        size = path.stat().st_size / (results * samples)
        row("bytes in the file for each sample", size, "B", 16.0)
        row(
            "samples lost by kill -9",
            max(_lost(Path(tempfile.mkdtemp(dir=folder))) for _ in range(_KILLS)),
            "s",
            1.0,
        )
        subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.archive", "--look", str(path)], check=True
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--look"]:
        _look(Path(sys.argv[2]))
    else:
        main(*(int(word) for word in (sys.argv[1:] + [_RESULTS, _SAMPLES][len(sys.argv) - 1 :])))
