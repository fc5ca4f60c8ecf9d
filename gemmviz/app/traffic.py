"""Gives finished runs what the access lens says of their traffic."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from gemmviz.app.access_lens import AccessLens
from gemmviz.app.book import ResultBook
from gemmviz.app.runs import Run
from gemmviz.core.access.machine import machine_for
from gemmviz.core.access.report import AccessReport
from gemmviz.core.limits import limits_for

_AT_ONCE = 16  # questions that wait; the lens forgets older ones


class Traffic(QObject):
    """Asks the lens for each run that ended, while nothing is timed, and tells the book.

    ``catch_up`` is called, or connected to, when a run ends, a report is ready, or a measurement
    that must not be disturbed is over.
    """

    def __init__(
        self,
        book: ResultBook,
        lens: AccessLens,
        busy: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._book, self._lens, self._busy = book, lens, busy
        self._open: list[Run] = []
        book.run_added.connect(self._on_run_added)
        book.cleared.connect(self._on_cleared)
        lens.report_ready.connect(self.catch_up)

    @Slot()
    def catch_up(self) -> None:
        """Asks for what is not known yet, the newest first."""
        if self._busy():  # the lens needs a processor that may be the one that is timed
            return
        for run in self._open[-_AT_ONCE:][::-1]:
            machine = machine_for(run.device, limits_for(run.device))
            job = run.job
            answer = self._lens.report(job.variant, job.parameters, job.problem, machine)
            if answer is None:
                continue
            self._open.remove(run)
            # What could not be followed is missing from the sum: no figure is better than less.
            if isinstance(answer, AccessReport) and not answer.unknowns:
                self._book.learn_traffic(run, answer.global_traffic_bytes)

    @Slot(int)
    def _on_run_added(self, row: int) -> None:
        run = self._book.runs[row]
        if run.summary is not None:
            self._open.append(run)
            self.catch_up()

    @Slot()
    def _on_cleared(self) -> None:
        self._open.clear()
