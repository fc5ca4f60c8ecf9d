from __future__ import annotations

from collections.abc import Iterator

import pytest

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir
from tests.app.fake_engine import FakeEngine


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
