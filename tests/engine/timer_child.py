"""A real child whose device has a faulty clock: python timer_child.py FAULT."""

import os
import sys
from collections.abc import Callable

from gemmviz.engine.environment import prepare_environment

Stamp = tuple[int, int]
FAULTS: dict[str, Callable[[Stamp], Stamp]] = {
    "slow": lambda stamp: (int(stamp[0] * 0.024), int(stamp[1] * 0.024)),  # 24 of 1000, as known
    # So fast that a busy host, which waits longer than the device works, cannot hide it.
    "fast": lambda stamp: (stamp[0] * 50, stamp[1] * 50),
    "zero": lambda _: (0, 0),
    "reversed": lambda stamp: (stamp[1], stamp[0]),
    "coarse": lambda stamp: (stamp[0] // 10**6 * 10**6, stamp[1] // 10**6 * 10**6),
    "none": lambda stamp: stamp,
}


class LateFault:
    """Reverses the clock from its 2000th launch on."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, stamp: Stamp) -> Stamp:
        self.count += 1
        return stamp if self.count < 2000 else (stamp[1], stamp[0])


def main() -> None:
    prepare_environment(os.environ)
    from gemmviz.engine import child, opencl  # noqa: PLC0415

    fault = LateFault() if sys.argv[1] == "late" else FAULTS[sys.argv[1]]
    honest = opencl.Session.time_launches

    def faulty(self: opencl.Session, *arguments: object) -> opencl.Launches:
        done = honest(self, *arguments)  # type: ignore[arg-type]
        return opencl.Launches(tuple(map(fault, done.stamps)), done.wall_seconds)

    opencl.Session.time_launches = faulty  # type: ignore[method-assign]
    child.main()


if __name__ == "__main__":
    main()
