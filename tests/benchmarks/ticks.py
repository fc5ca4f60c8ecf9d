"""A 5 ms timer of the GUI thread while a short kernel runs flat out and a million samples show."""

import time

import numpy as np
from PySide6.QtCore import Qt, QTimer

from tests.benchmarks.bench import choose, row, spin, window_with_devices

_SAMPLES = 1_000_000
_SECONDS = 20


def main() -> None:
    window = window_with_devices()
    state = window.state
    choose(state, "Portable", "tiled", 32)
    state.start()
    while state.shown is None or len(state.shown.buffer) < _SAMPLES:
        spin(0.25)
    late: list[float] = []
    before = time.perf_counter()

    def tick() -> None:
        nonlocal before
        now = time.perf_counter()
        late.append(now - before)
        before = now

    timer = QTimer(window, interval=5, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start()
    spin(_SECONDS)
    timer.stop()
    state.stop()
    milliseconds = 1e3 * np.array(late[1:]) - 5
    p99 = float(np.quantile(milliseconds, 0.99))
    row("delay of a 5 ms tick, a million samples shown, p99", p99, "ms", 10)
    row("the same, latest", float(milliseconds.max()), "ms", 50)
    window.close()


if __name__ == "__main__":
    main()
