"""When to redraw a chart of a run that goes on: seldom, and the more seldom the longer it takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer, Signal

REST_SHARE = 80
"""Between two redraws pass at least this many times the last one's own time."""
_LONGEST_SECONDS = 0.0125  # one that was held up itself does not stop the chart


class Pace(QObject):
    """Emits ``due`` some time after ``ask``: many wishes meanwhile are one."""

    due = Signal()

    def __init__(self, parent: QObject, usual_milliseconds: int) -> None:
        super().__init__(parent)
        self._usual = usual_milliseconds
        self._seconds = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.due)

    def ask(self) -> None:
        """Redraw when it is time, unless that is already to come."""
        if not self._timer.isActive():
            self._timer.start(max(self._usual, round(1000 * REST_SHARE * self._seconds)))

    def cancel(self) -> None:
        """Nothing is to be redrawn any more."""
        self._timer.stop()

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Takes the time of the redraw that happens inside."""
        begun = time.perf_counter()
        yield
        self._seconds = min(_LONGEST_SECONDS, time.perf_counter() - begun)
