"""Collects Python's cyclic garbage on the GUI thread alone."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_MILLISECONDS = 1000


class GarbageCollector(QObject):
    """Takes over from Python, which would collect on whichever thread happens to allocate.

    A widget in a cycle of references would then be destroyed on a thread that decodes samples, and
    Qt crashes.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        timer = QTimer(self)
        timer.timeout.connect(self._on_timeout)
        timer.start(_MILLISECONDS)

    @Slot()
    def settle(self) -> None:
        """Never look again at what is there now: modules and kernels, which stay to the end."""
        gc.freeze()

    @Slot()
    def _on_timeout(self) -> None:
        """Collect the oldest generation whose threshold is passed, as Python itself would."""
        passed = [
            generation
            for generation, (count, threshold) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            if count > threshold
        ]
        if passed:
            gc.collect(passed[-1])
