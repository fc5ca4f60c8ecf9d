"""Tunes a kernel with Kernel Tuner; prints seconds and times as JSON.

Run by the interpreter that has Kernel Tuner, which knows nothing of gemmviz: ``kernel_tuner_run.py
SOURCE SIZE``.
"""

import json
import sys
import time
from pathlib import Path

import kernel_tuner  # type: ignore[import-not-found]
import numpy as np

# As its own documentation has it: the macros of a group's sizes are parameters as well.
_SPACE = {"TS": [4, 8, 16, 32], "WPT": [1, 2, 4], "GROUP_Y": [1, 2, 4, 8, 16, 32]}


def main() -> None:
    source, size = Path(sys.argv[1]).read_text(), int(sys.argv[2])
    generator = np.random.default_rng(0)
    a, b = (generator.random((size, size), dtype=np.float32) * 2 - 1 for _ in "AB")
    answer = (a.astype(np.float64) @ b).astype(np.float32)
    c, edge = np.zeros((size, size), np.float32), np.int32(size)
    begun = time.perf_counter()
    results, _ = kernel_tuner.tune_kernel(
        "work_1d", source, (size, size), [a, b, c, edge, edge, edge], _SPACE,
        restrictions=["GROUP_Y == TS // WPT"], block_size_names=["TS", "GROUP_Y", "NONE"],
        grid_div_x=["TS"], grid_div_y=["TS"], lang="opencl", quiet=True,
        answer=[None, None, answer, None, None, None], atol=1e-4 * size**0.5,
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    times = {f"TS={each['TS']} WPT={each['WPT']}": each["time"] for each in results}
    print(json.dumps({"seconds": seconds, "best": min(times, key=times.__getitem__),
                      "count": len(times)}))  # fmt: skip


if __name__ == "__main__":
    main()
