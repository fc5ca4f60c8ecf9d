"""What the benchmarks of the window share: its event loop, and real devices in it."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEventLoop, QTimer

from gemmviz.app.state import AppState
from gemmviz.core.model import Device
from gemmviz.core.policy import UNTIL_STOPPED
from gemmviz.views.main import make_window
from gemmviz.views.main_window import MainWindow


def spin(seconds: float) -> None:
    """Runs the event loop for a while."""
    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


def spin_until(done: Callable[[], object]) -> None:
    """Runs the event loop until ``done``; QSignalSpy would hold back the other threads."""
    while not done():
        spin(0.002)


def window_with_devices() -> MainWindow:
    """The window on the screen, its devices listed and its charts made."""
    window = make_window([])
    spin_until(lambda: window.state.devices)
    spin(0.5)
    return window


def choose(state: AppState, platform: str, kernel: str, size: int) -> Device:
    """Selects a device and a kernel at a square size; each launch is a sample, until stopped."""
    device = next(device for device in state.devices if platform in device.platform)
    state.select_device(device)
    state.choose_variant(state.catalog.find(kernel))
    policy = replace(UNTIL_STOPPED, per_launch=True)
    state.change(replace(state.setup.with_all_sizes(size), policy=policy))
    return device
