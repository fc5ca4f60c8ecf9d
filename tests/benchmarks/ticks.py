"""A 5 ms timer of the GUI thread while a short kernel runs flat out and a million samples show.

It ticks on while the run is stopped and while all its samples are shown again.
"""

import time

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer

from tests.benchmarks.bench import choose, spin, window_with_devices
from tests.benchmarks.rows import row

_SAMPLES = 1_000_000
_SECONDS = 20
_AFTER_SECONDS = 3


class Ticks(QObject):
    """How late a 5 ms timer is."""

    def __init__(self) -> None:
        super().__init__()
        self._late: list[float] = []
        self._before = time.perf_counter()
        self._timer = QTimer(self, interval=5, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timeout)
        self._timer.start()

    def _on_timeout(self) -> None:
        now = time.perf_counter()
        self._late.append(now - self._before)
        self._before = now

    def taken(self) -> np.ndarray:
        """The delays since the last call in milliseconds; the timer ticks on."""
        late, self._late = self._late, []
        return 1e3 * np.array(late) - 5


def main() -> None:
    window = window_with_devices()
    state = window.state
    choose(state, "Portable", "tiled", 32)
    state.start()
    while state.shown is None or len(state.shown.buffer) < _SAMPLES:
        spin(0.25)
    ticks = Ticks()
    spin(_SECONDS)
    running = ticks.taken()
    row("delay of a 5 ms tick, a million samples shown, p99",
        float(np.quantile(running, 0.99)), "ms", 10)  # fmt: skip
    row("the same, latest", float(running.max()), "ms", 50)
    run = state.shown
    state.stop()
    spin(_AFTER_SECONDS)
    row("the same while the run is stopped, latest", float(ticks.taken().max()), "ms", 50)
    state.show(None)
    state.show(run)
    spin(_AFTER_SECONDS)
    row("the same while it is shown again, latest", float(ticks.taken().max()), "ms", 50)
    window.close()


if __name__ == "__main__":
    main()
