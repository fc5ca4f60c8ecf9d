from __future__ import annotations

import threading
import time

import pytest

from gemmviz.app.lane import merge
from gemmviz.app.worker import Workers
from gemmviz.core.catalog import load_catalog
from gemmviz.core.launch import default_parameters
from gemmviz.core.messages import Built, Phase, SampleBatch
from gemmviz.core.model import Job, KernelFacts, Problem, Result, Samples
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import UNTIL_STOPPED, fixed
from tests.app.fake_engine import H200, INTEL, POCL, FakeEngine, batch, endless_run


@pytest.fixture
def variant():
    return load_catalog(data_dir("kernels")).find("tiled")


@pytest.fixture
def workers(qtbot, engine):
    made = Workers(engine)
    yield made
    made.close()


class Heard:
    """What the workers said, in order."""

    def __init__(self, workers: Workers) -> None:
        self.batches: list[tuple[int, tuple[object, ...], float]] = []
        self.threads: set[int] = set()
        workers.batch_arrived.connect(self.take)

    def take(self, job_id: int, events: tuple[object, ...]) -> None:
        self.threads.add(threading.get_ident())
        self.batches.append((job_id, events, time.monotonic()))

    def results(self) -> list[Result]:
        return [e for _, events, _ in self.batches for e in events if isinstance(e, Result)]


def job_of(variant, number: int, device=POCL, launches: int | None = 100) -> Job:
    return Job(number, device.key, variant, default_parameters(variant), Problem(64, 64, 64),
               UNTIL_STOPPED if launches is None else fixed(launches))  # fmt: skip


def test_runs_on_another_thread_and_reports_on_this_one(qtbot, workers, engine, variant):
    heard = Heard(workers)
    workers.submit(job_of(variant, 1), POCL)
    qtbot.waitUntil(lambda: bool(heard.results()))
    assert engine.threads[1] != threading.get_ident()
    assert heard.threads == {threading.get_ident()}
    assert len(heard.results()[0].samples) == 100


def test_many_batches_reach_the_gui_about_thirty_times_a_second(qtbot, workers, engine, variant):
    def flood(engine, job):
        until = time.monotonic() + 0.6
        value = 0.0
        while time.monotonic() < until:
            value += 1.0
            yield batch(job, (value,))
            time.sleep(0.0005)

    engine.script = flood
    heard = Heard(workers)
    workers.submit(job_of(variant, 1), POCL)
    qtbot.waitUntil(lambda: bool(heard.results()), timeout=10_000)
    span = heard.batches[-1][2] - heard.batches[0][2]
    assert len(heard.batches) <= 2 + span * 31
    seconds = [value for _, events, _ in heard.batches for event in events
               if isinstance(event, SampleBatch) for value in event.samples.seconds]  # fmt: skip
    assert seconds == [float(n) for n in range(1, len(seconds) + 1)]
    assert len(seconds) > 3 * len(heard.batches)


def test_devices_on_the_same_hardware_take_turns(qtbot, workers, engine, variant):
    heard = Heard(workers)
    workers.submit(job_of(variant, 1, POCL), POCL)
    workers.submit(job_of(variant, 2, INTEL), INTEL)
    workers.submit(job_of(variant, 3, POCL), POCL)
    qtbot.waitUntil(lambda: len(heard.results()) == 3)
    ends = [engine.spans[n] for n in (1, 2, 3)]
    assert ends[0][1] <= ends[1][0]
    assert ends[1][1] <= ends[2][0]


def test_separate_hardware_runs_at_the_same_time(qtbot, workers, engine, variant):
    engine.script = endless_run
    heard = Heard(workers)
    workers.submit(job_of(variant, 1, POCL, None), POCL)
    workers.submit(job_of(variant, 2, H200, None), H200)
    qtbot.waitUntil(lambda: {number for number, _, _ in heard.batches} == {1, 2})
    assert not heard.results()
    workers.stop(1)
    workers.stop(2)
    qtbot.waitUntil(lambda: len(heard.results()) == 2)
    assert all(result.stopped for result in heard.results())


def test_a_waiting_job_is_taken_out_of_the_queue(qtbot, workers, engine, variant):
    engine.script = endless_run
    heard = Heard(workers)
    workers.submit(job_of(variant, 1, POCL, None), POCL)
    workers.submit(job_of(variant, 2, INTEL, None), INTEL)
    qtbot.waitUntil(lambda: bool(heard.batches))
    workers.stop(2)
    workers.stop(1)
    qtbot.waitUntil(lambda: bool(heard.results()))
    assert [result.job.id for result in heard.results()] == [1]
    assert 2 not in engine.threads


def test_an_engine_that_raises_still_ends_the_job(qtbot, workers, engine, variant):
    def broken(engine, job):
        yield Phase(job.id, "build", limited=False)
        raise RuntimeError("a mistake of ours")

    engine.script = broken
    heard = Heard(workers)
    with qtbot.captureExceptions() as raised:
        workers.submit(job_of(variant, 1), POCL)
        qtbot.waitUntil(lambda: bool(heard.results()))
    assert "a mistake of ours" in str(raised[0][1])
    failure = heard.results()[0].failure
    assert failure is not None
    assert failure.kind == "crash"


def test_close_ends_a_job_that_never_ends(qtbot, engine, variant):
    engine.script = endless_run
    workers = Workers(engine)
    heard = Heard(workers)
    workers.submit(job_of(variant, 1, POCL, None), POCL)
    qtbot.waitUntil(lambda: bool(heard.batches))
    workers.close()
    assert engine.closed


def test_only_the_newest_waiting_question_for_registers_is_asked(qtbot, engine, variant):
    gate = threading.Event()

    class Slow(FakeEngine):
        def registers(self, job, device):
            self.asked.append(job)
            gate.wait(5)
            return self.answer

    slow = Slow()
    workers = Workers(slow)
    answers = []

    def take(job, registers):
        answers.append(job.id)

    workers.registers_read.connect(take)
    try:
        for number in (1, 2, 3, 4):
            workers.read_registers(job_of(variant, number, H200), H200)
        gate.set()
        qtbot.waitUntil(lambda: len(answers) == 2)
        assert answers == [1, 4]
    finally:
        workers.close()


def test_merge_joins_neighbouring_samples_and_keeps_the_order():
    def one(value):
        return SampleBatch(7, Samples((1,), (value,), (value,)))

    built = Built(7, KernelFacts(), "", 0.1)
    assert merge([one(1.0), one(2.0), built, one(3.0)]) == (
        SampleBatch(7, Samples((1, 1), (1.0, 2.0), (1.0, 2.0))),
        built,
        one(3.0),
    )
    assert merge([]) == ()


def test_merge_keeps_samples_of_different_jobs_apart():
    def one(job_id, value):
        return SampleBatch(job_id, Samples((1,), (value,), (value,)))

    assert merge([one(1, 1.0), one(1, 2.0), one(2, 3.0), one(1, 4.0)]) == (
        SampleBatch(1, Samples((1, 1), (1.0, 2.0), (1.0, 2.0))),
        one(2, 3.0),
        one(1, 4.0),
    )
