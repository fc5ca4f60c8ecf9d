"""From the command to the window on the screen, and from there to the devices listed."""

import time

from tests.benchmarks.bench import spin_until
from tests.benchmarks.rows import row


def main() -> None:
    from gemmviz.views.main import make_window  # noqa: PLC0415 (its import is part of the start)

    window = make_window([])
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    handle = window.windowHandle()
    while not handle.isExposed():
        QApplication.processEvents()
    window.repaint()
    shown, cpu = time.monotonic(), time.process_time()
    spin_until(lambda: window.state.devices)
    row("window on the screen, CPU time of the process", cpu, "s", 1.0)
    row("devices listed after it", time.monotonic() - shown, "s", 1.0)
    window.close()


if __name__ == "__main__":
    main()
