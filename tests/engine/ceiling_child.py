"""What the tests of ceilings ask of a real device, in a process of its own: lines of JSON."""

import json
import os
import sys

import numpy as np

from gemmviz.core.codec import encode_line
from gemmviz.core.messages import ReadCeilings
from gemmviz.core.model import Device
from gemmviz.engine.ceiling_kernels import Shape, fma_source, local_source, stream_source
from gemmviz.engine.ceilings import read_ceilings
from gemmviz.engine.discovery import DriverError, list_platforms
from gemmviz.engine.environment import prepare_environment
from gemmviz.engine.opencl import Session


def device_of(platform: str) -> Device:
    return next(d for p in list_platforms() if platform in p.name for d in p.devices)


def read(platform: str, most_launches: str) -> None:
    """Reads the ceilings without any time to spend; cancelled after so many looks, if any."""
    device = device_of(platform)
    looks = 0

    def cancelled() -> bool:
        nonlocal looks
        looks += 1
        return most_launches != "all" and looks > int(most_launches)

    try:
        read_ceilings(
            ReadCeilings(7, device), Session(device.key), lambda m: print(encode_line(m)),
            cancelled, budget_seconds=0.0,
        )  # fmt: skip
    except DriverError as error:
        print(json.dumps({"type": "Failed", "sentence": error.failure.sentence}))


def launch(session: Session, source: str, arguments: list[object], shape: Shape, groups: int
           ) -> None:  # fmt: skip
    entry = next(name for name in ("stream", "fma_peak", "local_read") if f" {name}(" in source)
    kernel, _ = session.build(source, ["-cl-std=CL1.2"], entry)
    kernel.bind(arguments)
    session.time_launches([kernel], (groups * shape.group,), (shape.group,))


def kernels(platform: str) -> None:
    """Launches each kernel once and prints the sums and counts of what it stored."""
    session = Session(device_of(platform).key)
    said: dict[str, object] = {}
    for group, width in ((1, 8), (16, 4)):
        shape, groups, each = Shape("float", width, group), 3, 2
        count = groups * each * 8 * group * width  # eight vectors are under way at once
        content = np.arange(1, count + 65, dtype=np.float32)
        for access in ("copy", "read", "write"):
            for turn in (0, 1):
                source = session.buffer(content)
                target = session.buffer(np.zeros_like(content))
                numbers = [np.uint32(each), np.uint32(turn), np.uint32(2)]
                launch(session, stream_source(shape, access),
                       [source, target, *numbers], shape, groups)  # fmt: skip
                got = np.empty_like(content)
                session.read(target, got)
                said[f"{access} {group} {width} {turn}"] = {
                    "count": count, "stored": int(np.count_nonzero(got)),
                    "equal": bool(np.array_equal(got[:count], content[:count])),
                    "sum": float(got.sum(dtype=np.float64)),
                    "expected": 2.0 * float(content[:count].sum(dtype=np.float64)),
                }  # fmt: skip
    shape = Shape("double", 2, 4, 3)
    target = session.buffer(np.zeros(64, np.float64))
    launch(session, fma_source(shape),
           [target, np.float64(1.0), np.float64(0.5), np.uint32(3)], shape, 2)  # fmt: skip
    got = np.empty(64, np.float64)
    session.read(target, got)
    said["fma"] = got[:16].tolist()
    shape = Shape("float", 1, 32)
    for stride in (1, 33):
        target = session.buffer(np.zeros(64, np.float32))
        launch(session, local_source(shape),
               [target, np.uint32(stride), np.uint32(2)], shape, 1)  # fmt: skip
        got = np.empty(64, np.float32)
        session.read(target, got)
        said[f"local {stride}"] = got[:32].tolist()
    print(json.dumps(said))


if __name__ == "__main__":
    prepare_environment(os.environ)
    {"read": read, "kernels": kernels}[sys.argv[1]](*sys.argv[2:])
