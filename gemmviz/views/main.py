"""Wires engine, threads, state and window together and runs Qt's event loop."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from gemmviz.app.collector import GarbageCollector
from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import RESULTS_SUFFIX, data_dir
from gemmviz.engine.plan import Engine
from gemmviz.views.main_window import MainWindow, chosen_theme
from gemmviz.views.theme import apply_theme

_SIZE = (1440, 900)
# Threads that decode samples hand Python over sooner than after the usual 5 ms, which would add up
# to visible pauses while the GUI thread draws.
_SWITCH_SECONDS = 0.0005


def open_window(argv: Sequence[str]) -> int:
    """Shows the window until it is closed; returns the exit code of the process.

    Args:
        argv: The arguments behind ``gemmviz``: kernels and results to open, and ``--theme``.
    """
    window = make_window(argv)
    code = QApplication.exec()
    del window
    return code


def make_window(argv: Sequence[str]) -> MainWindow:
    """Makes the application and shows its window; the devices follow once the event loop runs.

    Args:
        argv: See :func:`open_window`.
    """
    parser = argparse.ArgumentParser("gemmviz", description="A profiler for OpenCL GEMM kernels.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE",
                        help="kernels (.toml), a results file (.gemmviz), pictures and JSON with "
                        "results to open")  # fmt: skip
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep results in this file")
    parser.add_argument("--theme", choices=("light", "dark", "system"), default="system")
    arguments = parser.parse_args(argv)
    # A person at the terminal may end the app there; children end with it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.setswitchinterval(_SWITCH_SECONDS)
    app = QApplication(["gemmviz"])
    collector = GarbageCollector(app)
    app.setApplicationName("gemmviz")
    app.setDesktopFileName("gemmviz")
    theme = chosen_theme(arguments.theme)
    apply_theme(app, theme)
    state = AppState(Workers(Engine()), data_dir("kernels"))
    state.theme = arguments.theme
    window = MainWindow(state, theme)
    fit_to_screen(window)
    # Queued: what was painted reaches the screen first.
    window.painted.connect(window.complete, Qt.ConnectionType.QueuedConnection)
    window.painted.connect(collector.settle, Qt.ConnectionType.QueuedConnection)
    window.show()
    # Drivers answer in another process while the rest of the window is made.
    QTimer.singleShot(0, state, state.list_devices)
    state.load_kernels()
    chosen: list[Path] = [arguments.results] if arguments.results is not None else []
    chosen += [path for path in arguments.files if path.suffix == RESULTS_SUFFIX]
    state.archive.open_first(chosen)  # before what may take long to read
    window.drop.open_files([path for path in arguments.files if path.suffix != RESULTS_SUFFIX])
    return window


def fit_to_screen(window: MainWindow) -> None:
    """Give the window its usual size, or the screen's where that is smaller."""
    room = window.screen().availableGeometry()
    window.resize(min(_SIZE[0], room.width()), min(_SIZE[1], room.height()))
