"""Comparisons of devices that nobody measured, for tests of what is made of one."""

from __future__ import annotations

from gemmviz.core.device_comparison import DeviceComparison, DeviceDuel, DeviceFigure
from gemmviz.core.model import Device
from gemmviz.core.paired import Versus, Word

GPU = Device(
    "NVIDIA CUDA", "OpenCL 3.0 CUDA 12.8.1", "NVIDIA H200", "GPU", compute_units=132,
    clock_hz=1_980_000_000, local_mem_bytes=49152, local_mem_type="LOCAL", hardware="PCI 1",
)  # fmt: skip
CPU = Device(
    "Portable Computing Language", "OpenCL 3.0 PoCL 6.0", "pthread-cpu", "CPU", compute_units=2,
    local_mem_bytes=2**20, local_mem_type="GLOBAL", hardware="host processor",
)  # fmt: skip
SIMULATOR = Device(
    "Oclgrind", "OpenCL 1.2 (Oclgrind 21.10)", "Oclgrind Simulator", "simulator",
    compute_units=1, local_mem_bytes=2**15, local_mem_type="LOCAL", hardware="host processor",
)  # fmt: skip


def make_versus(word: Word, ratio: float, spread: float = 0.05, worth: int = 40) -> Versus:
    """A ratio with an interval on both sides of it."""
    return Versus(word, ratio, ratio * (1 - spread), ratio * (1 + spread), 0.02, worth, worth)


def make_figure(device: Device, size: int, seconds: float, **changes: object) -> DeviceFigure:
    """A device at a size, as it may have been measured."""
    fields: dict[str, object] = {
        "device": device.key, "size": size, "variant": "tiled", "title": "Tiled",
        "parameters": (("TS", 16),), "flop": 2 * size**3, "seconds": seconds,
        "low": 0.95 * seconds, "high": 1.1 * seconds, "samples": 30, "group_size": 256,
        "groups": size * size // 256, "local_bytes": 2048, **changes,
    }  # fmt: skip
    return DeviceFigure(**fields)  # type: ignore[arg-type]


def make_comparison(**changes: object) -> DeviceComparison:
    """A CPU that is faster at 64, a GPU that is at 512, and a simulator that is asked once."""
    fields: dict[str, object] = {
        "devices": (SIMULATOR, GPU, CPU), "sizes": (64, 128, 512), "element": "float",
        "kernel": "Tiled", "whole": True,
        "figures": (
            make_figure(GPU, 64, 4e-6, resident=8, occupancy=1.0, binding="slots",
                        ceiling=1e12, roof="cache",
                        library=make_versus("slower", 0.5), library_title="cuBLAS"),
            make_figure(CPU, 64, 2e-6),
            make_figure(SIMULATOR, 64, 0.2),
            make_figure(GPU, 128, 6e-6), make_figure(CPU, 128, 6.1e-6),
            DeviceFigure(SIMULATOR.key, 128, why_not="simulators are asked only up to 64"),
            make_figure(GPU, 512, 2e-5), make_figure(CPU, 512, 8e-4),
            DeviceFigure(SIMULATOR.key, 512, why_not="simulators are asked only up to 64"),
        ),
        "duels": (
            DeviceDuel(64, GPU.key, CPU.key, make_versus("faster", 2.0), in_turns=False),
            DeviceDuel(128, GPU.key, CPU.key, make_versus("same", 0.99, 0.005), in_turns=False),
            DeviceDuel(512, GPU.key, CPU.key, make_versus("slower", 0.025), in_turns=False),
        ),
        **changes,
    }  # fmt: skip
    return DeviceComparison(**fields)  # type: ignore[arg-type]
