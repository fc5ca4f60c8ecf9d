"""Measures without end into a results file, until it is killed; prints how far it has come."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir
from tests.app.archives import open_in
from tests.app.fake_engine import FakeEngine, endless_run


def main() -> None:
    """Starts a run once the devices are listed."""
    app = QCoreApplication([])
    state = AppState(Workers(FakeEngine(script=endless_run)), data_dir("kernels"))
    assert open_in(state, Path(sys.argv[1])) == ""
    state.load_kernels()
    state.devices_listed.connect(lambda: state.start() if state.listing is not None else None)
    state.list_devices()
    tick = QTimer(interval=20)
    tick.timeout.connect(lambda: print(len(state.shown.buffer) if state.shown else 0, flush=True))
    tick.start()
    app.exec()


if __name__ == "__main__":
    main()
