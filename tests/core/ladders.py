"""Ladders that nobody measured, for tests of what is made of one."""

from __future__ import annotations

from gemmviz.core.ladder import Ladder, LibrarySpeed, Rung
from gemmviz.core.model import DeviceKey, Problem
from gemmviz.core.paired import Versus

HERE = DeviceKey("NVIDIA CUDA", "OpenCL 3.0 CUDA 12.8.1", "NVIDIA H200")
LIBRARY = LibrarySpeed("cublas", "cuBLAS", 51.0e12)
PEAK = 65.3e12

# Title, TFLOP/s, registers, local bytes, occupancy.
_FIGURES = (
    ("Naive, strided", 0.97, 32, 0, 1.0),
    ("Naive, coalesced", 5.3, 32, 0, 1.0),
    ("Tiled in local memory", 6.5, 32, 2048, 1.0),
    ("Tiled, transposed and padded", 6.1, 32, 2176, 1.0),
    ("Several cells a work-item", 14.2, 48, 8192, 0.75),
    ("2-D register blocking", 39.4, 63, 4224, 0.5),
    ("Vectors of four", 43.9, 155, 6272, 0.375),
    ("Swizzled tile of A", 43.7, 155, 12544, 0.375),
    ("Double buffering", 46.7, 128, 25088, 0.25),
    ("Values read ahead", 49.0, 155, 25088, 0.1875),
    ("Warp tiles", 50.1, 255, 33792, 0.125),
    ("The pipeline at any shape", 51.2, 233, 50893, 0.125),
)


def versus(ratio: float, spread: float = 0.004) -> Versus:
    """A ratio with an interval on both sides of it."""
    word = "same" if abs(ratio - 1) < 0.015 else "faster" if ratio > 1 else "slower"
    return Versus(word, ratio, ratio * (1 - spread), ratio * (1 + spread), 0.02, 60, 60)  # type: ignore[arg-type]


def make_rung(number: int) -> Rung:
    """The rung of a number from 1 on, as an H200 may have it."""
    title, speed, registers, local, occupancy = _FIGURES[number - 1]
    rate = speed * 1e12
    before = _FIGURES[number - 2][1] if number > 1 else None
    return Rung(
        f"rung_{number}", title, number, (("TS", 16),), rate, rate * 0.99, rate * 1.01,
        gain=versus(speed / before) if before else None,
        against=f"rung_{number - 1}" if before else "",
        library=versus(rate / LIBRARY.flops_per_second),
        ceiling_share=rate / PEAK, registers=registers, spill_bytes=0, local_bytes=local,
        group_size=256, occupancy=occupancy,
    )  # fmt: skip


def make_ladder(size: int = len(_FIGURES), **changes: object) -> Ladder:
    """The lowest ``size`` rungs."""
    rungs = tuple(make_rung(number) for number in range(1, size + 1))
    fields: dict[str, object] = {
        "device": HERE, "problem": Problem(4096, 4096, 4096), "rungs": rungs, "library": LIBRARY,
        "peak": PEAK, "whole": size == len(_FIGURES), **changes,
    }  # fmt: skip
    return Ladder(**fields)  # type: ignore[arg-type]
