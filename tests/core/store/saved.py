"""Results to save, small and large."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gemmviz.core.model import Job, Problem, Result, Samples, Variant
from gemmviz.core.store import ResultStore
from tests.app.fake_engine import CONTEXT, FACTS, POCL, QUANTILES, RIGHT, TIMER, TRUSTED

KERNEL = Variant(
    id="tiled", title="Tiled in local memory", summary="A tile a step.", family="ladder",
    order="row", arguments=(), group=("TS", "TS"), tile_rows="TS", tile_cols="TS",
    dims=("cols", "rows"), local_bytes="2 * TS * TS * element_bytes", shapes="any",
    source="__kernel void tiled() {}\n", entry="tiled",
)  # fmt: skip


def saved(size: int = 64, seconds: float = 1e-3, count: int = 12, device=POCL, **fields) -> Result:
    """A verified result of ``count`` samples of about ``seconds``."""
    job = Job(1, device.key, KERNEL, (("TS", 16),), Problem(size, size, size, seed=7))
    times = tuple(seconds + 1e-9 * (number % 5) for number in range(count))
    ends = tuple(seconds * (number + 1) for number in range(count))
    result = Result(
        job, device, Samples((1,) * count, times, ends), check=RIGHT, facts=FACTS,
        build_log="one warning", finished_at=1_700_000_000.0 + size, stop_reason="steady",
        timer=TIMER, trust=TRUSTED, quantiles=QUANTILES, context=CONTEXT,
    )  # fmt: skip
    return replace(result, **fields)


def filled(path: Path, count: int) -> list[int]:
    """A file of ``count`` results of different sizes, closed again; returns their ids."""
    store = ResultStore.open(path)
    with store.batch():
        ids = [store.add(saved(size)) for size in range(1, count + 1)]
    store.close()
    return ids


def same(first: Result, other: Result) -> bool:
    """Whether two results are equal, be their samples tuples or arrays."""
    return plain(first) == plain(other)


def plain(result: Result) -> Result:
    """The result with tuples for samples."""
    samples = result.samples
    return replace(
        result,
        samples=Samples(tuple(samples.launches), tuple(samples.seconds), tuple(samples.at)),
    )
