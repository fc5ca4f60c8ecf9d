"""Stop is pressed: how long until the run has ended, whatever its kernel does."""

import tempfile
import time
from pathlib import Path

from tests.benchmarks.bench import choose, spin, spin_until, window_with_devices
from tests.benchmarks.rows import row
from tests.engine.runs import own_kernel

_BODIES = {
    "short launches": None,
    "launches of some seconds": "real s = 0; for (long i = 0; i < 3000000000L; i++) "
    "s += A[i & 3]; C[row * N + col] = s;",
    "a kernel that never ends": "volatile __global real *c = C; "
    "while (c[0] != 12345) c[row * N + col] += 1;",
}


def main() -> None:
    window = window_with_devices()
    state = window.state
    with tempfile.TemporaryDirectory() as folder:
        for index, (name, body) in enumerate(_BODIES.items()):
            choose(state, "Portable", "tiled", 64 if body is None else 4)
            if body is not None:
                own_kernel(Path(folder), body, stem=f"slow{index}")
                assert state.open_kernel(Path(folder) / f"slow{index}.toml") == ""
            state.start()
            spin(2.5)
            run = state.shown
            assert run is not None
            assert run.began is not None
            begun = time.perf_counter()
            state.stop()
            spin_until(lambda: not state.active)
            row(f"stop of {name}", time.perf_counter() - begun, "s", 0.5)
    window.close()


if __name__ == "__main__":
    main()
