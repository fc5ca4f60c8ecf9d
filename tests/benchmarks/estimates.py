"""A parameter is changed: how long until the occupancy and everything that shows it is new."""

import statistics
import time

from gemmviz.core.limits import named_limits
from tests.benchmarks.bench import choose, spin, window_with_devices
from tests.benchmarks.rows import row


def main() -> None:
    window = window_with_devices()
    state = window.state
    choose(state, "Portable", "register_2d", 512)
    state.choose_what_if(named_limits("CC 9.0"))
    spin(0.5)
    times = []
    for step in range(200):
        setup = state.setup.with_parameter("BK", (8, 16, 32)[step % 3])
        begun = time.perf_counter()
        state.change(setup)
        times.append(time.perf_counter() - begun)
        if step % 20 == 0:
            spin(0.05)
    row("parameter changed to occupancy shown, median", 1e3 * statistics.median(times), "ms", 5)
    p95 = statistics.quantiles(times, n=20)[-1]
    row("the same, 95th percentile", 1e3 * p95, "ms", 5)
    window.close()


if __name__ == "__main__":
    main()
