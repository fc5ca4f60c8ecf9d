"""Measures inside the child what a device can do at most: bandwidths and peak rates."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gemmviz.core.ceilings import FMA, LOCAL_READ, NEAR_READ, STRIDES, Ceiling, local_stride
from gemmviz.core.messages import CeilingRead, Finished, Progressed, ReadCeilings
from gemmviz.core.model import ELEMENTS, Failure
from gemmviz.engine.bench import Cancelled, Emit
from gemmviz.engine.ceiling_kernels import (
    Access,
    Shape,
    fma_flop,
    fma_source,
    local_bytes,
    local_source,
    stream_source,
)
from gemmviz.engine.ceiling_plan import Plan, Span
from gemmviz.engine.ceiling_probe import Loop, Probe, Stopped
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.opencl import Session

BUDGET_SECONDS = 5.5
"""What all of a device's ceilings may take; the last trial begun overruns it a little."""

_ACCESSES: tuple[Access, ...] = ("copy", "read", "write")
# Ways to multiply and add differ most; all strides are one kernel.
_MUCH, _LITTLE = 3.0, 0.3
_LEAST_BUFFER_BYTES = 16 * 2**20
_NUMBERS = {"half": np.float16, "float": np.float32, "double": np.float64}


@dataclass(slots=True)
class _Trial:
    """One way to do an item: its best rate so far, and how to look for a better one."""

    rate: float
    steady: bool
    detail: str
    again: Callable[[], tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class _Item:
    """One ceiling to find: each of ``ways`` tries one way when it is asked for.

    ``weight`` is its share of the time; ``least`` of the ways are tried even where that is short.
    """

    name: str
    element: str
    unit: Literal["B/s", "FLOP/s"]
    ways: Iterator[_Trial]
    weight: float = 1.0
    least: int = 1


def read_ceilings(
    request: ReadCeilings,
    session: Session,
    emit: Emit,
    cancelled: Cancelled,
    budget_seconds: float = BUDGET_SECONDS,
) -> None:
    """Measures every ceiling of a device; each is sent as soon as it is known.

    Args:
        request: The device, as it was listed.
        session: It, open.
        emit: Sends a message to the host.
        cancelled: Whether the host asked for an end; looked at before every launch.
        budget_seconds: How long all may take. However short, each ceiling is measured once; what
            time buys is other ways to write the same loop, and launches that nothing disturbs.

    Raises:
        DriverError: The device is a simulator, or refused a kernel.
    """
    device = request.device
    if device.type == "simulator":
        raise DriverError(
            Failure("refused", f"{device.name} is a simulator, whose speed says nothing.")
        )
    deadline = time.perf_counter() + budget_seconds
    plan = Plan(device, session.fact("NATIVE_VECTOR_WIDTH_FLOAT"))
    probe = Probe(request.job_id, session, emit, cancelled, gpu=plan.gpu)
    try:
        items = _Bench(plan, probe).items()
        for place, item in enumerate(items):
            weights = [each.weight for each in items[place:]]
            begun = time.perf_counter()
            text = f"{item.name}, {item.element}"
            emit(Progressed(request.job_id, place / len(items), text))
            # What earlier items left over is shared among those to come.
            rate, detail = _best(item, begun + (deadline - begun) * weights[0] / sum(weights))
            seconds = time.perf_counter() - begun
            ceiling = Ceiling(item.name, item.element, rate, item.unit, seconds, detail)
            emit(CeilingRead(request.job_id, ceiling))
        emit(Progressed(request.job_id, 1.0, f"{device.name} is measured"))
        emit(Finished(request.job_id))
    except Stopped:
        emit(Finished(request.job_id, stopped=True, reason="stopped"))


def _best(item: _Item, until: float) -> tuple[float, str]:
    """The best rate of an item's ways: as many as time allows, then the best of them again."""
    best: _Trial | None = None
    for tried, trial in enumerate(item.ways, start=1):
        if best is None or trial.rate > best.rate:
            best = trial
        if tried >= item.least and time.perf_counter() >= until:
            break
    assert best is not None  # every item has a way
    while not best.steady and time.perf_counter() < until:
        rate, best.steady = best.again()
        best.rate = max(best.rate, rate)
    return best.rate, best.detail


class _Bench:
    """The items of a device over its buffers."""

    def __init__(self, plan: Plan, probe: Probe) -> None:
        self._plan, self._probe = plan, probe
        self._pair: tuple[Any, Any] | None = None
        self._pair_bytes = 0
        self._sums: Any = None

    def items(self) -> list[_Item]:
        """Every ceiling to find; nothing is done before its ways are asked for."""
        items = [_Item(f"global {a}", "float", "B/s", self._far(a)) for a in _ACCESSES]
        items += [_Item(f"cache {a}", "float", "B/s", self._cached(a)) for a in _ACCESSES]
        items.append(_Item(NEAR_READ, "float", "B/s", self._near()))
        if self._plan.has_local_room:
            items.append(_Item(LOCAL_READ, "float", "B/s", self._local_wide()))
            items += [
                _Item(local_stride(stride), "float", "B/s", self._local(stride), _LITTLE)
                for stride in STRIDES
            ]
        items += [
            _Item(FMA, element, "FLOP/s", self._fma(element), _MUCH, least=2)
            for element in self._plan.elements
        ]
        return items

    def _buffers(self) -> tuple[Any, Any]:
        """Two touched buffers larger than any cache, as large as the device has room for."""
        self._outcomes()  # is given its room before these take what there is
        size = self._plan.global_bytes
        while self._pair is None:
            try:
                self._pair, self._pair_bytes = (
                    (self._probe.fill(size), self._probe.fill(size)),
                    size,
                )
            except DriverError as error:
                if error.failure.kind != "out_of_memory" or size <= _LEAST_BUFFER_BYTES:
                    raise
                size //= 2
        return self._pair

    def _outcomes(self) -> Any:
        """A buffer in which every work-item can store what it came to."""
        if self._sums is None:
            self._sums = self._probe.fill(self._plan.sums_bytes)
        return self._sums

    def _far(self, access: Access) -> Iterator[_Trial]:
        self._buffers()
        for shape in self._plan.stream_shapes():
            yield self._stream(shape, access, self._plan.far(shape, self._pair_bytes), far=True)

    def _cached(self, access: Access) -> Iterator[_Trial]:
        self._buffers()
        for shape in self._plan.stream_shapes():
            for span in self._plan.cached(shape, access, self._pair_bytes):
                yield self._stream(shape, access, span)

    def _near(self) -> Iterator[_Trial]:
        self._buffers()
        for shape in self._plan.stream_shapes():
            yield self._stream(shape, "read", self._plan.near(shape, self._pair_bytes))

    def _stream(self, shape: Shape, access: Access, span: Span, *, far: bool = False) -> _Trial:
        kernel = self._probe.build(stream_source(shape, access), "stream")
        source, target = self._buffers()
        arguments = [source, target, np.uint32(span.each), np.uint32(span.turn)]
        arrays = 2 if access == "copy" else 1
        text = f"{arrays} × {span.text}" if arrays > 1 else span.text
        moved = arrays * span.bytes
        detail = f"{text}, {shape.vector}"
        loop = Loop(kernel, arguments, span.groups * shape.group, shape.group)
        return self._trial(loop, moved, detail, once=far)

    def _local_wide(self) -> Iterator[_Trial]:
        for shape in self._plan.local_shapes():
            yield self._local_trial(shape, 1)

    def _local(self, stride: int) -> Iterator[_Trial]:
        yield self._local_trial(self._plan.word_shape, stride)

    def _local_trial(self, shape: Shape, stride: int) -> _Trial:
        kernel = self._probe.build(local_source(shape), "local_read")
        groups = self._plan.groups_for(shape)
        total = groups * shape.group
        moved = total * local_bytes(shape, ELEMENTS[shape.element].bytes)
        arguments = [self._outcomes(), np.uint32(stride)]
        return self._trial(Loop(kernel, arguments, total, shape.group), moved, shape.vector)

    def _fma(self, element: str) -> Iterator[_Trial]:
        number = _NUMBERS[element]
        for shape in self._plan.fma_shapes(element):
            kernel = self._probe.build(fma_source(shape), "fma_peak")
            total = self._plan.groups_for(shape) * shape.group
            # Every sum walks towards 1: no number that is slow or not one.
            arguments = [self._outcomes(), number(0.5), number(0.5)]
            detail = f"{shape.vector}, {shape.chains} chains"
            loop = Loop(kernel, arguments, total, shape.group)
            yield self._trial(loop, total * fma_flop(shape), detail)

    def _trial(self, loop: Loop, work: int, detail: str, *, once: bool = False) -> _Trial:
        """One way, timed: ``work`` is what a round does; ``once`` makes no more than one round."""
        rounds = 1 if once else self._probe.rounds(loop)

        def again() -> tuple[float, bool]:
            seconds, steady = self._probe.best(loop, rounds)
            return work * rounds / seconds, steady

        rate, steady = again()
        return _Trial(rate, steady, detail, again)
