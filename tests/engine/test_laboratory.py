"""What every experiment has in common, seen with a plan that a test writes down."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from gemmviz.core.experiments import MeasureCeilings, Outcome
from gemmviz.core.messages import Finished, Progressed
from gemmviz.core.model import Failure
from gemmviz.engine import laboratory
from gemmviz.engine.failed import ExperimentFailed
from tests.engine.runs import make_job


@pytest.fixture
def plan(monkeypatch):
    """Replaces the plan of MeasureCeilings by the one that is given."""

    def put(made) -> None:
        monkeypatch.setattr(laboratory, "measure_ceilings", made)

    return put


def test_a_failure_ends_it_with_what_was_found(engine, pocl, plan):
    failure = Failure("refused", "No.")

    def fails(experiment, engine):
        yield Progressed(experiment.job_id, 0.5, "half")
        raise ExperimentFailed(failure, ())

    plan(fails)
    experiment = MeasureCeilings(5, pocl)
    said = list(engine.perform(experiment))
    assert said == [Progressed(5, 0.5, "half"), Outcome(experiment, (), failure)]


def test_a_stop_ends_every_run_of_an_experiment(engine, pocl, plan):
    begun = threading.Event()
    endings: list[Finished] = []

    def runs(experiment, engine):
        for _ in range(3):
            job = replace(make_job(pocl, launches=None), id=experiment.job_id)
            for message in engine.run(job, pocl):
                if isinstance(message, Finished):
                    endings.append(message)
                begun.set()
            yield Progressed(experiment.job_id, None, "one more")
        return ()

    def stop() -> None:
        assert begun.wait(60)
        engine.stop(7)

    plan(runs)
    stopper = threading.Thread(target=stop)
    stopper.start()
    *_, outcome = engine.perform(MeasureCeilings(7, pocl))
    stopper.join()
    assert outcome.stopped
    assert outcome.failure is None
    assert len(endings) == 3
    assert all(ending.stopped for ending in endings)
    assert not engine.was_stopped(7)
