"""Ceilings on a real device, and the table of them as the host keeps it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.codec import decode_line
from gemmviz.core.experiments import MeasureCeilings, Outcome
from gemmviz.core.messages import CeilingRead, Failed, Finished, Message, Phase, Progressed
from gemmviz.core.model import ELEMENTS, Device, Failure
from gemmviz.engine import ceiling_table
from gemmviz.engine.ceiling_kernels import Shape, fma_flop, local_bytes
from gemmviz.engine.ceiling_plan import Plan
from gemmviz.engine.ceiling_probe import Loop
from gemmviz.engine.ceiling_table import kept_ceilings, measure_ceilings
from gemmviz.engine.ceilings import _Bench
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.failed import ExperimentFailed
from gemmviz.engine.plan import Engine
from tests.app.fake_engine import H200, POCL

NAMES = [
    "global copy", "global read", "global write", "cache copy", "cache read", "cache write",
    "near cache read", "local read", "local stride 1", "local stride 2", "local stride 4",
    "local stride 8", "local stride 16", "local stride 32", "local stride 33",
]  # fmt: skip


def child(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.ceiling_child", *arguments],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout.splitlines()


def _read(messages: Iterable[object]) -> list[Ceiling]:
    return [message.ceiling for message in messages if isinstance(message, CeilingRead)]


def test_every_ceiling_is_measured_however_short_the_time(pocl: Device) -> None:
    messages = [decode_line(line) for line in child("read", "Portable", "all")]
    found = _read(messages)
    assert [(each.name, each.element) for each in found] == [
        *((name, "float") for name in NAMES),
        *(("fma", element) for element in pocl.elements),
    ]
    assert {each.unit for each in found if each.name == "fma"} == {"FLOP/s"}
    for each in found:
        # Slower than any device, faster than any: only what was not done at all would be outside.
        assert 1e7 < each.value < 1e16, each
        assert each.seconds > 0
        assert each.detail
    assert messages[-1] == Finished(7)
    shares = [message.share for message in messages if isinstance(message, Progressed)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    kinds = {message.name for message in messages if isinstance(message, Phase)}
    assert kinds == {"build", "prepare", "probe"}
    assert all(m.limited == (m.name == "probe") for m in messages if isinstance(m, Phase))


def test_a_stop_is_heard_before_the_next_launch() -> None:
    messages = [decode_line(line) for line in child("read", "Portable", "20")]
    messages = [decode_line(line) for line in child("read", "Portable", "20")]
    assert messages[-1] == Finished(7, stopped=True, reason="stopped")
    # Of twenty looks each launch takes one, and no way is timed with less than five launches.
    assert len(_read(messages)) <= 3


def test_a_simulator_is_refused() -> None:
    (line,) = child("read", "Oclgrind", "all")
    assert json.loads(line)["sentence"].endswith("is a simulator, whose speed says nothing.")


def test_kernels_do_the_work_that_is_counted() -> None:
    said = json.loads(child("kernels", "Portable")[-1])
    for name, got in said.items():
        access, _, tail = name.partition(" ")
        if access == "copy":
            assert got["equal"]
            assert got["stored"] == got["count"], name
        elif access == "read":
            # Two rounds: with or without turns every block is read twice.
            assert got["sum"] == pytest.approx(got["expected"], rel=1e-5), (name, tail)
        elif access == "write":
            assert got["stored"] == got["count"], name
    shape = Shape("double", 2, 4, 3)
    steps = 3 * fma_flop(shape) // (2 * shape.width * shape.chains)
    for item in range(8):
        # Times one, plus a half a step, in each of three sums that begin at 0, 1 and 2 past it.
        expected = sum((item & 7) + place + 0.5 * steps for place in range(3))
        assert said["fma"][2 * item : 2 * item + 2] == [expected, expected]
    loads = 2 * local_bytes(Shape("float", 1, 32), 4) // 4
    for stride in (1, 33):
        got = said[f"local {stride}"]
        # Loads lie multiples of 64 apart, so an item reads one and the same number, mod 8.
        assert got == [loads * ((item * stride) & 7) for item in range(32)]


@pytest.mark.parametrize("device", [H200, POCL])
def test_spans_are_beyond_the_cache_or_within(device: Device) -> None:
    plan = Plan(device, 16)
    shape = plan.stream_shapes()[0]
    far = plan.far(shape, plan.global_bytes)
    assert far.bytes >= 0.9 * plan.global_bytes
    assert far.bytes <= plan.global_bytes
    assert plan.global_bytes >= 4 * (device.global_cache_bytes or 0)
    for access in ("copy", "read", "write"):
        for span in plan.cached(shape, access, plan.global_bytes):
            assert span.bytes <= plan.global_bytes
            assert span.turn < span.groups
            assert span.each * shape.ahead * shape.group * shape.width * 4 == span.block_bytes
    assert plan.near(shape, plan.global_bytes).bytes <= plan.global_bytes


def test_shapes_follow_the_device() -> None:
    gpu, cpu = Plan(H200, 1), Plan(POCL, 16)
    assert {shape.group for shape in gpu.fma_shapes("float")} == {256}
    first, second, *rest = cpu.fma_shapes("float")
    assert (first.width, first.group) == (16, 1)
    assert second.width == 8
    assert rest[-1].group > 1
    assert cpu.fma_shapes("double")[0].width == 8
    assert len({(s.width, s.chains, s.group) for s in cpu.fma_shapes("float")}) == len(rest) + 2
    small = Plan(replace(H200, max_work_group_size=64, local_mem_bytes=2**13), None)
    assert {shape.group for shape in small.fma_shapes("float")} == {64}
    assert not small.has_local_room


class SmallMemory:
    """A probe of a device with room for buffers up to ``most_bytes``; a buffer is its size."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.launched: set[str] = set()

    def fill(self, size_bytes: int) -> int:
        if size_bytes > self.most_bytes:
            raise DriverError(Failure("out_of_memory", "The device ran out of memory."))
        return size_bytes

    def build(self, source: str, entry: str) -> tuple[str, str, int]:
        vector = re.search("typedef (half|float|double)([0-9]*) V;", source)
        assert vector is not None
        return entry, source, ELEMENTS[vector[1]].bytes * int(vector[2] or 1)

    def rounds(self, loop: Loop) -> int:
        return 1

    def best(self, loop: Loop, rounds: int) -> tuple[float, bool]:
        """Everything that the kernel reaches must lie inside its buffers."""
        entry, source, vector_bytes = loop.kernel  # type: ignore[misc]
        self.launched.add(entry)
        if entry == "stream":
            *buffers, each, _ = loop.arguments
            steps = max(1, len(set(re.findall(r"at \+ ([0-9]+) \* GROUP", source))))
            reached = loop.total * int(each) * steps * vector_bytes
            assert reached <= min(buffers), (reached, buffers)
        else:
            assert loop.total * vector_bytes <= loop.arguments[0], (entry, loop)
        return 1.0, True


MANY_CORES = replace(POCL, compute_units=256, global_cache_bytes=2**24)


@pytest.mark.parametrize("device", [H200, POCL, MANY_CORES])
@pytest.mark.parametrize("most_mib", [60, 8192])
def test_no_kernel_reaches_beyond_its_buffers_where_memory_is_short(
    device: Device, most_mib: int
) -> None:
    probe = SmallMemory(most_mib * 2**20)
    for item in _Bench(Plan(device, 16), probe).items():  # type: ignore[arg-type]
        assert list(item.ways)
    assert probe.launched == {"stream", "local_read", "fma_peak"}


COPY = Ceiling("global copy", "float", 1e10, "B/s", 0.1, "2 × 128 MiB, float16")


class Asked:
    """An engine that answers with what a test writes down."""

    def __init__(self, *messages: Message, stopped: bool = False) -> None:
        self.messages, self.stopped, self.requests = messages, stopped, 0

    def ask(self, request: object, job_id: int, devices: object) -> Iterator[Message]:
        self.requests += 1
        yield from self.messages

    def was_stopped(self, job_id: int) -> bool:
        return self.stopped


GOOD = (Progressed(1, 0.0, "global copy"), CeilingRead(1, COPY), Finished(1))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceiling_table, "cache_dir", lambda: tmp_path)


def measured(engine: Asked, *, again: bool = False, device: Device = POCL) -> CeilingTable:
    generator = measure_ceilings(MeasureCeilings(1, device, again), engine)  # type: ignore[arg-type]
    try:
        while True:
            next(generator)
    except StopIteration as done:
        assert isinstance(done.value, CeilingTable)
        return done.value


def test_a_table_is_measured_once_and_kept_by_driver_and_device() -> None:
    engine = Asked(*GOOD)
    first = measured(engine)
    assert first.ceilings == (COPY,)
    assert first.measured_at > 0
    assert measured(engine) == first
    assert engine.requests == 1
    measured(engine, again=True)
    measured(engine, device=replace(POCL, driver_version="4.0"))
    measured(engine, device=replace(POCL, ordinal=1))
    assert engine.requests == 4
    assert kept_ceilings(POCL) is not None
    assert kept_ceilings(H200) is None


def test_neither_a_full_disk_nor_a_broken_file_is_a_failure(tmp_path: Path) -> None:
    folder = tmp_path / "ceilings"
    folder.write_text("a file where the folder should be")
    assert measured(Asked(*GOOD)).ceilings == (COPY,)
    folder.unlink()
    measured(Asked(*GOOD))
    for path in folder.iterdir():
        path.write_text("{")
    assert kept_ceilings(POCL) is None
    engine = Asked(*GOOD)
    assert measured(engine).ceilings == (COPY,)
    assert engine.requests == 1


def test_what_was_stopped_or_failed_is_not_kept() -> None:
    assert measured(Asked(*GOOD, stopped=True)).ceilings == (COPY,)
    assert kept_ceilings(POCL) is None
    failure = Failure("launch", "The driver refused a launch.")
    engine = Asked(CeilingRead(1, COPY), Failed(1, failure))
    with pytest.raises(ExperimentFailed) as failed:
        measured(engine)
    assert failed.value.failure == failure
    assert isinstance(failed.value.answer, CeilingTable)
    assert failed.value.answer.ceilings == (COPY,)
    assert kept_ceilings(POCL) is None


def test_the_engine_measures_a_device_and_stops(engine: Engine, pocl: Device) -> None:
    heard: list[Message | Outcome] = []
    for message in engine.perform(MeasureCeilings(90, pocl, again=True)):
        heard.append(message)
        if isinstance(message, CeilingRead):
            engine.stop(90)
    outcome = heard[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert outcome.failure is None
    assert isinstance(outcome.answer, CeilingTable)
    assert 1 <= len(outcome.answer.ceilings) < len(NAMES)
    assert outcome.answer.device == pocl.key
    assert kept_ceilings(pocl) is None
