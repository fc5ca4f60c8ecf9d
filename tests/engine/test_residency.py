"""Counting and throttling on real devices, with the kernels as they are."""

from dataclasses import replace

import pytest

from gemmviz.core.counting import own_job
from gemmviz.core.experiments import MeasureResidency, Outcome, Throttle
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import expected_verdict, geometry
from gemmviz.core.messages import Built, Checked, Listing, Message
from gemmviz.core.model import Device, Variant
from gemmviz.core.probe import COUNTERS, ENTRY, Probe, probe_source
from gemmviz.core.residency import Residency
from gemmviz.core.throttle import ThrottleCurve
from gemmviz.engine.bench import Bench
from gemmviz.engine.matrices import Matrices
from gemmviz.engine.opencl import Session
from gemmviz.engine.plan import Engine
from gemmviz.engine.residency import Counters, launch_probe
from tests.engine.runs import CATALOG, make_job

SHAPE = {"any": (17, 33, 29), "square": (64, 64, 64), "exact": (64, 64, 64)}
VARIANTS = [variant for variant in CATALOG.variants if not variant.library]
CPU_SAYS = "The estimate does not apply to a CPU"


@pytest.fixture(scope="module")
def session(pocl: Device) -> Session:
    return Session(pocl.key)


def made(engine: Engine, experiment: MeasureResidency | Throttle) -> Outcome:
    *_, outcome = engine.perform(experiment)
    assert isinstance(outcome, Outcome)
    return outcome


@pytest.mark.parametrize("instrumented", [False, True])
def test_groups_are_counted_on_a_cpu(engine: Engine, pocl: Device, instrumented: bool) -> None:
    found = made(engine, MeasureResidency(make_job(pocl), pocl, instrumented)).answer
    assert isinstance(found, Residency)
    assert found.groups_per_unit == 1
    assert found.most_at_once is not None
    assert 1 <= found.most_at_once <= found.units
    assert found.repeats >= 2
    assert (found.group_size, found.local_bytes) == (256, 2048)
    assert found.instrumented is instrumented
    assert found.difference.startswith(CPU_SAYS)


def test_a_kernel_that_cannot_count_is_stood_in_for(engine: Engine, pocl: Device) -> None:
    job = make_job(pocl, "tiling_naive")
    found = made(engine, MeasureResidency(job, pocl, instrumented=True)).answer
    assert isinstance(found, Residency)
    assert not found.instrumented
    assert "stood in" in found.difference
    assert found.groups_per_unit == 1


def test_a_simulator_and_an_impossible_group_are_refused(
    engine: Engine, pocl: Device, listing: Listing
) -> None:
    simulator = next(
        device
        for platform in listing.platforms
        for device in platform.devices
        if device.type == "simulator"
    )
    for experiment in (
        MeasureResidency(make_job(simulator), simulator),
        Throttle(1, make_job(simulator), simulator),
    ):
        outcome = made(engine, experiment)
        assert outcome.answer is None
        assert outcome.failure is not None
        assert outcome.failure.kind == "refused"
    for experiment in (
        MeasureResidency(make_job(pocl, "blas"), pocl),
        Throttle(2, make_job(pocl, "blas"), pocl),
    ):
        outcome = made(engine, experiment)
        assert outcome.failure is not None
        assert "its own" in outcome.failure.sentence
    small = replace(pocl, max_work_group_size=64)
    outcome = made(engine, MeasureResidency(make_job(pocl), small))
    assert outcome.failure is not None
    assert "256 work-items" in outcome.failure.sentence


@pytest.mark.parametrize("live_values", [0, 40])
@pytest.mark.parametrize("local_bytes", [0, 100, 40_000])
def test_a_probe_counts_no_more_than_ran_and_all_out(
    pocl: Device, session: Session, live_values: int, local_bytes: int
) -> None:
    counters = Counters(session, nvidia=False)
    source = probe_source(Probe((8, 4), local_bytes, live_values), cpu=True, nvidia=False)
    kernel, _ = session.build(source, ["-cl-std=CL1.2"], ENTRY)
    kernel.bind([counters.buffer])
    assert kernel.facts().local_bytes == local_bytes
    found = counters.count(launch_probe(session, kernel, (8, 4), 6), lambda: False)
    assert 1 <= found.most <= (pocl.compute_units or 1)
    assert found.most_on_unit is None


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_every_kernel_is_as_right_with_dummy_memory_and_counters(
    pocl: Device, session: Session, variant: Variant
) -> None:
    """Built once with both, or with the dummy alone where an item may leave early."""
    job = make_job(pocl, variant, SHAPE[variant.shapes], dummy_local_bytes=3000)
    if refusal(variant, job.parameters, job.problem, pocl) is not None:
        assert variant.needs or variant.shapes != "any"
        return
    counting = own_job(job, pocl)
    counters = Counters(session, nvidia=False)
    matrices = Matrices(session, variant, job.problem)
    if counting is not None:
        job = replace(job, variant=counting.variant)
        matrices.buffers[COUNTERS] = counters.buffer
    said: list[Message] = []
    bench = Bench(job, session, said.append, matrices)
    bench.check(lambda: False)
    (checked,) = (message.check for message in said if isinstance(message, Checked))
    assert checked.verdict == expected_verdict(variant, job.parameters, job.problem)
    (facts,) = (message.facts for message in said if isinstance(message, Built))
    plain = geometry(variant, job.parameters, job.problem).local_bytes
    assert facts.local_bytes is not None
    assert plain + 3000 <= facts.local_bytes <= plain + 3100
    if counting is not None:
        found = counters.count(lambda: bench.launch(1), lambda: False)
        assert 1 <= found.most <= (pocl.compute_units or 1)


def test_dummy_memory_makes_points_of_a_curve(engine: Engine, pocl: Device) -> None:
    outcome = made(engine, Throttle(7, make_job(pocl, shape=(64, 64, 64), launches=3), pocl))
    curve = outcome.answer
    assert isinstance(curve, ThrottleCurve), outcome.failure
    assert [point.groups_per_unit for point in curve.points] == [1, 1, 1]
    assert curve.points[0].dummy_bytes == 0 < curve.points[1].dummy_bytes
    assert all(point.flops_low <= point.flops <= point.flops_high for point in curve.points)
    assert "does not apply to a CPU" in curve.sentence


def test_a_kernel_without_a_body_is_not_throttled(engine: Engine, pocl: Device) -> None:
    variant = CATALOG.find("tiled")
    hidden = replace(variant, source="#define ALL __kernel void tiled() { }\nALL\n")
    outcome = made(engine, Throttle(8, make_job(pocl, hidden), pocl))
    assert outcome.failure is not None
    assert "not to be found" in outcome.failure.sentence
