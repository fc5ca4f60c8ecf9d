"""What the tests of a sweep in the window share."""

from __future__ import annotations

from gemmviz.app.sweeping import SweepTrial
from gemmviz.core.experiments import RunSweep
from gemmviz.core.model import Job, Result, Samples
from gemmviz.core.sweep import SweepReport
from tests.app.fake_engine import RIGHT


def counted(qtbot, trial: SweepTrial) -> str:  # type: ignore[no-untyped-def]
    """The words of the draft once it is counted."""
    trial.watch(True)
    qtbot.waitUntil(lambda: trial.count is not None, timeout=10_000)
    return trial.words


def result_of(experiment: RunSweep, report: SweepReport, place: int) -> Result:
    """A result that stands behind one of a report's cells."""
    cell, device = report.cells[place], experiment.sweep.devices[0]
    configuration = cell.configuration
    variant = experiment.sweep.variants[0]
    job = Job(
        experiment.job_id, device.key, variant, configuration.parameters, configuration.problem
    )
    return Result(job, device, Samples((1,) * 5, (1e-3,) * 5, (1e-3,) * 5), check=RIGHT)
