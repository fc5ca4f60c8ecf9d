"""What every experiment has in common, seen with a plan that a test writes down."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from gemmviz.core.codec import decode_line, encode_line
from gemmviz.core.experiments import MeasureCeilings, Outcome, Throttle
from gemmviz.core.messages import Finished, Progressed, ReadRegisters, RegistersRead
from gemmviz.core.model import Failure, Registers
from gemmviz.core.policy import CAREFUL
from gemmviz.engine import ceiling_table, kept_builds, plan
from gemmviz.engine.failed import ExperimentFailed
from tests.app.fake_engine import H200
from tests.engine.runs import make_job


@pytest.fixture
def planned(monkeypatch):
    """Replaces the plan of MeasureCeilings by the one that is given."""

    def put(made) -> None:
        monkeypatch.setattr(ceiling_table, "measure_ceilings", made)

    return put


def test_a_failure_ends_it_with_what_was_found(engine, pocl, planned):
    failure = Failure("refused", "No.")

    def fails(experiment, engine):
        yield Progressed(experiment.job_id, 0.5, "half")
        raise ExperimentFailed(failure, ())

    planned(fails)
    experiment = MeasureCeilings(5, pocl)
    said = list(engine.perform(experiment))
    assert said == [Progressed(5, 0.5, "half"), Outcome(experiment, (), failure)]


def test_a_stop_ends_every_run_of_an_experiment(engine, pocl, planned):
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

    planned(runs)
    stopper = threading.Thread(target=stop)
    stopper.start()
    *_, outcome = engine.perform(MeasureCeilings(7, pocl))
    stopper.join()
    assert outcome.stopped
    assert outcome.failure is None
    assert len(endings) == 3
    assert all(ending.stopped for ending in endings)
    assert not engine.was_stopped(7)


class SlowCompiler:
    """A child that reads registers, one request after the other, as slowly as it is told."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.most = 0
        self._open: list[tuple[float, int]] = []
        self._alive = True

    def send(self, line: str) -> None:
        request = decode_line(line)
        if isinstance(request, ReadRegisters):
            self._open.append((time.monotonic() + self.seconds, request.job.id))
            self.most = max(self.most, len(self._open))

    def receive(self, timeout: float) -> str | None:
        if self._open and time.monotonic() >= self._open[0][0]:
            _, job_id = self._open.pop(0)
            return encode_line(RegistersRead(job_id, Registers(32, 0, 0)))
        time.sleep(0.005)
        return None

    def alive(self) -> bool:
        return self._alive

    def kill(self) -> None:
        self._alive = False

    def remarks(self) -> str:
        return ""

    def forget_remarks(self) -> None:
        pass


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    monkeypatch.setattr(kept_builds, "cache_dir", lambda: tmp_path)
    return SlowCompiler(0.1)


def asked(engine, kernel, number, experiment_id=None):
    """An answer to be, on a thread of its own."""
    job = replace(make_job(H200, kernel), id=number)
    answers: list[object] = []
    thread = threading.Thread(
        target=lambda: answers.append(engine.registers(job, H200, experiment_id))
    )
    thread.start()
    return thread, answers


def test_a_person_and_an_experiment_may_ask_for_registers_at_once(compiler):
    engine = plan.Engine(lambda _: compiler)
    open_ones = [asked(engine, "tiled", 1), asked(engine, "work_1d", 2, experiment_id=9)]
    for thread, answers in open_ones:
        thread.join(30)
        assert answers == [Registers(32, 0, 0)]
    assert compiler.most == 1


def test_a_stop_ends_the_wait_for_registers(compiler):
    compiler.seconds = 1e9
    engine = plan.Engine(lambda _: compiler)
    endless, nothing = asked(engine, "tiled", 1, experiment_id=8)
    waiting, answers = asked(engine, "work_1d", 2, experiment_id=9)
    engine.stop(9)
    waiting.join(30)
    assert answers == [None]
    assert not nothing
    engine.stop(8)
    endless.join(30)
    assert nothing == [None]


def test_any_fault_becomes_a_failure(engine, pocl, planned):
    def fails(experiment, engine):
        yield Progressed(experiment.job_id, 0.5, "half")
        raise ZeroDivisionError("no time at all")

    planned(fails)
    *_, outcome = engine.perform(MeasureCeilings(5, pocl))
    assert outcome.failure.kind == "crash"
    assert "no time at all" in outcome.failure.sentence
    assert "ZeroDivisionError" in outcome.failure.detail


def test_a_throttling_that_is_stopped_leaves_no_curve(engine, pocl):
    experiment = Throttle(11, make_job(pocl, policy=CAREFUL), pocl)
    for item in engine.perform(experiment):
        if isinstance(item, Progressed) and item.text == "measuring in turns":
            engine.stop(11)  # every point has had a sample by now
        last = item
    assert last == Outcome(experiment, None, None, stopped=True)
