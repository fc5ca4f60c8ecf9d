"""What commands measure is in the file before they end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz.cli.saving import Saver
from gemmviz.core.messages import DevicesMeasured, RowMeasured, TimerChosen
from gemmviz.core.store import ResultStore, StoreError
from gemmviz.core.suite import BenchRow
from tests.app.fake_engine import TRUSTED, FakeEngine, batch, good_run
from tests.core.store.saved import saved

ROW = BenchRow("a row", "a device", "tiled", (), "float", 16, 16, 16, "blas")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.gemmviz"


def in_file(path: Path) -> list[tuple[bool, int]]:
    """Whether each result goes on, and how many samples it has."""
    store = ResultStore.open(path, read_only=True)
    try:
        return [(row.running, row.samples) for row in store.rows()]
    finally:
        store.close()


def test_samples_are_written_while_they_come(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.cli.saving._EVERY_SECONDS", 0.0)
    result = saved()
    job = result.job
    saver = Saver(path, [job], [result.device])
    seen = [
        in_file(path)
        for message in saver.followed(
            [*list(good_run(FakeEngine(), job))[:9], batch(job, (1e-3,) * 5),
             batch(job, (1e-3,) * 3), TimerChosen(job.id, TRUSTED), batch(job, (1e-3,) * 4)]
        )
        if hasattr(message, "samples") or hasattr(message, "trust")
    ]  # fmt: skip
    assert seen == [[], [(True, 5)], [(True, 8)], [(True, 0)], [(True, 4)]]
    assert saver.finish([result])
    assert in_file(path) == [(False, 12)]


def test_rows_and_sizes_are_saved_as_they_come(path: Path) -> None:
    saver = Saver(path)
    items = saver.followed(
        [RowMeasured(1, ROW, (saved(2), saved(3))), DevicesMeasured(1, None, (saved(4),))]
    )  # type: ignore[arg-type]
    assert [len(in_file(path)) for _ in items] == [2, 3]
    assert saver.finish()


def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets nothing be written."""

    def refuse(self: ResultStore) -> None:
        raise StoreError("the disk is full.", "full")

    monkeypatch.setattr(ResultStore, "batch", refuse)


def test_a_full_disk_is_said_and_what_it_refused_is_saved_in_the_end(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saver = Saver(path)
    full_disk(monkeypatch)
    items = [RowMeasured(1, ROW, (saved(),))] * 2
    assert list(saver.followed(items)) == items
    assert capsys.readouterr().err == "The results are not saved: the disk is full.\n"
    monkeypatch.undo()
    assert saver.finish()
    assert len(in_file(path)) == 2


def test_a_disk_that_stays_full_is_said_in_the_end_too(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saver = Saver(path)
    full_disk(monkeypatch)
    assert not saver.finish([saved()])
    assert capsys.readouterr().err == "The results were not saved: the disk is full.\n"


def test_a_killed_command_leaves_its_samples(path: Path) -> None:
    words = [
        sys.executable, "-m", "gemmviz", "run", "tiled", "--size", "64", "--device", "portable",
        "--quiet", "on", "--launches", "100000000", "--results", str(path),
    ]  # fmt: skip
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, env=os.environ.copy()) as process:
        found: list[tuple[bool, int]] = []
        while not found and process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)  # whoever measures needs the processor
            with contextlib.suppress(StoreError):  # there is none, or it is being made
                found = [each for each in in_file(path) if each[1]]
        process.send_signal(signal.SIGKILL)
    store = ResultStore.open(path)
    result = store.result(1)
    store.close()
    assert len(result.samples) > 0
    assert result.check is not None
