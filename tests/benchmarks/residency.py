"""A grid of local bytes x group size x registers on the first GPU: groups counted and estimated.

``python -m tests.benchmarks.residency``. Prints the cells in which the two differ and the totals,
and ends with 1 where any do. It needs numpy, pyopencl, platformdirs and a GPU.
"""

import itertools
import os
import sys
import time
from dataclasses import dataclass

# Without a driver cache each build tells its registers; read when the driver loads.
os.environ["CUDA_CACHE_DISABLE"] = "1"

from gemmviz.core.counting import groups_to_launch, pools
from gemmviz.core.launch import Geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device
from gemmviz.core.occupancy import estimate
from gemmviz.core.probe import ENTRY, Probe, probe_source
from gemmviz.engine.compiler import parse_registers
from gemmviz.engine.discovery import DriverError, list_platforms
from gemmviz.engine.opencl import Session
from gemmviz.engine.residency import Counters, launch_probe

LOCAL_BYTES = (0, 1000, 2048, 4096, 8192, 16384, 33792, 49152, 100000, 166912)
GROUP_SIZES = (32, 64, 128, 256, 512, 1024)
LIVE_VALUES = (0, 24, 52, 116)


@dataclass(frozen=True, slots=True)
class Cell:
    """One probe: what it takes, and its groups on a unit as counted and as estimated."""

    group_size: int
    local_bytes: int
    reported_bytes: int | None
    registers: int | None
    counted: int
    foreseen: int
    limiters: str


def main() -> None:
    device = next(
        (
            device
            for platform in list_platforms()
            for device in platform.devices
            if device.type == "GPU" and limits_for(device) is not None
        ),
        None,
    )
    if device is None:
        sys.exit("There is no GPU of which limits are known.")
    begun = time.perf_counter()
    cells = measured(device)
    seconds = time.perf_counter() - begun
    wrong = [cell for cell in cells if cell.counted != cell.foreseen]
    form = "{:>8}{:>10}{:>10}{:>11}{:>9}{:>10}  {}"
    print(form.format("items", "local B", "driver B", "registers", "counted", "estimate", "limit"))
    for cell in wrong:
        print(
            form.format(
                cell.group_size, cell.local_bytes, f"{cell.reported_bytes}", f"{cell.registers}",
                cell.counted, cell.foreseen, cell.limiters,
            )
        )  # fmt: skip
    limits = {name: sum(name in cell.limiters for cell in cells)
              for name in ("slots", "groups", "local memory", "registers")}  # fmt: skip
    print(
        f"{device.name}: {len(cells) - len(wrong)} of {len(cells)} cells equal in {seconds:.1f} s"
    )
    print("cells by limit:", ", ".join(f"{name} {count}" for name, count in limits.items()))
    print("registers met:", sorted({cell.registers for cell in cells if cell.registers}))
    sys.exit(1 if wrong else 0)


def measured(device: Device) -> list[Cell]:
    """Every cell of the grid in which one group may run at all."""
    row = limits_for(device)
    assert row is not None
    session = Session(device.key)
    nvidia = device.compute_capability is not None
    counters = Counters(session, nvidia=nvidia)
    cells = []
    for size, local_bytes, live in itertools.product(GROUP_SIZES, LOCAL_BYTES, LIVE_VALUES):
        if size > row.max_group_size or local_bytes > row.per_group_bytes:
            continue
        source = probe_source(Probe((size,), local_bytes, live), cpu=False, nvidia=nvidia)
        options = ["-cl-nv-verbose"] if nvidia else ["-cl-std=CL1.2"]
        kernel, _ = session.build(source, options, ENTRY)
        registers = parse_registers(kernel.log).registers
        reported = kernel.facts().local_bytes
        foreseen = estimate(row, size, local_bytes if reported is None else reported, registers)
        kernel.bind([counters.buffer])
        shape = Geometry((size,), (size,), (1, 1), local_bytes)
        groups = groups_to_launch(device, shape)
        try:
            found = counters.count(
                launch_probe(session, kernel, (size,), groups), cancelled=lambda: False
            )
            on_unit = found.most_on_unit
            counted = -(-found.most // pools(device, row)) if on_unit is None else on_unit
        except DriverError as error:
            print(f"{size} items, {local_bytes} B, {registers} registers: {error.failure.sentence}")
            counted = 0
        limiters = " and ".join(foreseen.limiters)
        cells.append(
            Cell(size, local_bytes, reported, registers, counted, foreseen.groups_per_unit or 0,
                 limiters)
        )  # fmt: skip
    return cells


if __name__ == "__main__":
    main()
