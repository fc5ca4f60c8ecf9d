"""The finished runs: rows to tick, one of them the baseline."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from gemmviz.app.runs import Run
from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.library_share import Question, Timing, fastest_libraries, library_share
from gemmviz.core.model import DeviceKey
from gemmviz.core.result_figures import Row, figures, to_csv
from gemmviz.core.roofline import above_ceiling, bandwidth_share, bytes_per_second

MOST_TICKED = 40
"""So many runs are ticked by themselves: more would be no comparison that one can read."""


class ResultBook(QObject):
    """Finished runs in the order they ended; those that worked are ticked to compare at first.

    ``run_marked`` names the row whose tick changed; ``baseline_pinned`` the rows of the old and the
    new baseline, -1 for none. ``marks_changed`` follows either. ``figures_changed`` follows when
    the traffic of a run or the ceilings of a device became known, and when a library has run.
    """

    run_added = Signal(int)
    run_marked = Signal(int)
    baseline_pinned = Signal(int, int)
    marks_changed = Signal()
    cleared = Signal()
    figures_changed = Signal()
    baseline_refused = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs: list[Run] = []
        self.baseline: Run | None = None
        self._rows: dict[int, int] = {}
        self._ticked: set[int] = set()
        self._traffic: dict[int, int] = {}
        self._ceilings: dict[DeviceKey, CeilingTable] = {}
        self._libraries: dict[Question, Timing] = {}

    @property
    def ticked(self) -> tuple[Run, ...]:
        """The runs to compare, oldest first; only those with a sample."""
        return tuple(self.runs[row] for row in sorted(self._ticked))

    def is_ticked(self, run: Run) -> bool:
        """Whether a run takes part in the comparison."""
        return self._rows.get(run.job.id) in self._ticked

    def add(self, run: Run) -> None:
        """Add a finished run; one without a sample or that ended early is not ticked.

        A wrong answer is: bars show it hatched beside those of right ones. Once many are ticked,
        further ones wait for a person to tick them.
        """
        row = self._rows[run.job.id] = len(self.runs)
        if run.summary is not None and not run.ended_early and len(self._ticked) < MOST_TICKED:
            self._ticked.add(row)
        self.runs.append(run)
        self.run_added.emit(row)
        timing = _timing(run)
        if timing is not None and run.job.variant.library:
            self._libraries = fastest_libraries([*self._libraries.values(), timing])
            self.figures_changed.emit()

    def tick(self, run: Run, ticked: bool) -> None:
        """Take a run into the comparison or out of it."""
        row = self._rows[run.job.id]
        if ticked and run.summary is not None:
            self._ticked.add(row)
        else:
            self._ticked.discard(row)
        self.run_marked.emit(row)
        self.marks_changed.emit()

    def pin_baseline(self, run: Run | None) -> None:
        """Measure the others against ``run``; the same one again or None ends that.

        A run that cannot be a baseline leaves all as it was; ``baseline_refused`` says why.
        """
        reason = _not_a_baseline(run) if run is not None and run is not self.baseline else ""
        if reason:
            self.baseline_refused.emit(reason)
            return
        before, self.baseline = self.baseline, None if run is self.baseline else run
        self.baseline_pinned.emit(self._row(before), self._row(self.baseline))
        self.marks_changed.emit()

    def clear(self) -> None:
        """Forget every run."""
        self.runs.clear()
        self._rows.clear()
        self._ticked.clear()
        self._traffic.clear()
        self._libraries.clear()
        self.baseline = None
        self.cleared.emit()

    def speed_up(self, run: Run) -> float | None:
        """How many times faster than the baseline, by the median of one launch.

        None without a baseline, for another problem, and where either run failed or is wrong.
        """
        base = self.baseline
        if base is None or base.summary is None or run.summary is None:
            return None
        if not (base.valid and run.valid) or _work(base) != _work(run):
            return None
        return base.summary.median / run.summary.median

    def learn_traffic(self, run: Run, traffic_bytes: int) -> None:
        """Know what a run's source asks of global memory in one launch, in bytes."""
        if self._rows.get(run.job.id) is not None:
            self._traffic[run.job.id] = traffic_bytes
            self.figures_changed.emit()

    def learn_ceilings(self, table: CeilingTable) -> None:
        """Know the measured ceilings of a device."""
        self._ceilings[table.device] = table
        self.figures_changed.emit()

    def traffic_bytes(self, run: Run) -> int | None:
        """What a run's source asks of global memory in one launch, once that is known."""
        return self._traffic.get(run.job.id)

    def ceilings_of(self, run: Run) -> CeilingTable | None:
        """The measured ceilings of a run's device, if known."""
        return self._ceilings.get(run.device.key)

    def bytes_per_second(self, run: Run) -> float | None:
        """The bandwidth that a run achieved by what its source asks for."""
        moved = self.traffic_bytes(run)
        if moved is None or run.summary is None:
            return None
        return bytes_per_second(moved, run.summary.median)

    def bandwidth_share(self, run: Run) -> float | None:
        """That bandwidth over the measured one of global memory; above 1 where caches serve it."""
        moved, table = self.traffic_bytes(run), self.ceilings_of(run)
        if moved is None or table is None or run.summary is None:
            return None
        return bandwidth_share(moved, run.summary.median, table)

    def library_share(self, run: Run) -> float | None:
        """How fast a run is against the device's fastest library that ran the same problem."""
        timing = _timing(run)
        return library_share(timing, self._libraries) if timing is not None else None

    def suspicion(self, run: Run) -> str:
        """Why a run's time cannot be right, as a sentence, or "": it beats a measured ceiling."""
        if run.summary is None:
            return ""
        job = run.job
        return above_ceiling(job.variant, job.problem, run.summary.median, self.ceilings_of(run))

    def _row(self, run: Run | None) -> int:
        return self._rows.get(run.job.id, -1) if run is not None else -1

    def to_csv(self) -> str:
        """Every run as CSV in SI base units, full precision; the header first."""
        return to_csv(self._row_of(place, run) for place, run in enumerate(self.runs, start=1))

    def _row_of(self, place: int, run: Run) -> Row:
        """The figures of a run, and those that only the session tells."""
        return {
            **figures(run.known, run.statistics),
            "id": place,
            "occupancy": run.estimate.occupancy if run.estimate is not None else None,
            "speed_up": self.speed_up(run),
            "bytes_per_second": self.bytes_per_second(run),
            "bandwidth_share": self.bandwidth_share(run),
            "library_share": self.library_share(run),
        }


def _not_a_baseline(run: Run) -> str:
    """Why nothing can be measured against a run, or ""."""
    if run.result is None:
        return "The baseline must be a finished run, and this one still goes on."
    if run.wrong:
        return "The baseline must be right, and this run's answer is wrong."
    if run.ended_early:
        return "The baseline must be a whole run, and this one ended early."
    if run.summary is None:
        return "The baseline needs samples, and this run has none."
    return ""


def _timing(run: Run) -> Timing | None:
    """A run as a library is compared with it; None for one without figures that count."""
    if run.result is None or run.summary is None or run.failure is not None:
        return None
    return Timing(run.job, run.summary.median, run.result.verdict)


def _work(run: Run) -> tuple[object, ...]:
    return run.job.variant.operation, replace(run.job.problem, seed=0)
