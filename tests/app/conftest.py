from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gemmviz.app.state import AppState
from gemmviz.app.sweeping import SweepTrial
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir
from tests.app.fake_engine import POCL, FakeEngine
from tests.core.sweeps import kernel


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def state(qtbot, engine: FakeEngine) -> Iterator[AppState]:
    """The app's state over the fake engine, its devices listed and its kernels loaded."""
    made = AppState(Workers(engine), data_dir("kernels"))
    made.load_kernels()
    made.list_devices()
    qtbot.waitUntil(lambda: made.listing is not None)
    yield made
    made.close()


@pytest.fixture
def finish(qtbot, state: AppState):
    """Starts what is set up and waits until nothing runs any more."""

    def run() -> None:
        state.start()
        qtbot.waitUntil(lambda: not state.active, timeout=10_000)

    return run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a results file may be made."""
    return tmp_path / "a.gemmviz"


@pytest.fixture
def trial(qtbot, state: AppState) -> Iterator[SweepTrial]:
    """A sweep in the making: all of ``register_2d`` at 256 on PoCL."""
    state.select_device(POCL)
    state.choose_variant(kernel("register_2d"))
    state.change(state.setup.with_all_sizes(256))
    made = SweepTrial(state)
    yield made
    made.close()
