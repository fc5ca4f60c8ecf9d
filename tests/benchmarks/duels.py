"""A kernel against itself and against one slowed by 3 %, on a busy machine: how often is it right?

The slow one does the same work with a K that is 3 % longer. Launches are short against the time
that a busy machine gives a thread at a stretch, so most of them are not interrupted: a millisecond
each would need minutes. Usage: ``duels [TRIALS]``, 100 of each.
"""

import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

from gemmviz.core.catalog import load_catalog
from gemmviz.core.comparison import Comparison
from gemmviz.core.launch import merge_parameters
from gemmviz.core.model import Device, Job, Problem, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import CAREFUL
from gemmviz.engine.plan import Engine
from tests.benchmarks.rows import row

_SIDE, _DEPTH, _TS = 32, 128, 4  # 32 steps along K, and one more is 3 %
_LIMIT_SECONDS = 10.0
# What is not measuring: building, checking, calibrating.
_POLICY = replace(CAREFUL, limit_seconds=8.0)
_SPINNER = "while True: pass"


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    tiled = load_catalog(data_dir("kernels")).find("tiled")
    engine = Engine()
    listing = engine.list_devices()
    pocl = next(p for p in listing.platforms if "Portable" in p.name).devices[0]
    words: dict[str, Counter[str]] = {"itself": Counter(), "3 % slower": Counter()}
    ratios: dict[str, list[float]] = {"itself": [], "3 % slower": []}
    longest = 0.0
    busy = subprocess.Popen([sys.executable, "-c", _SPINNER])
    try:
        for trial in range(trials):
            for name, longer in (("itself", 0), ("3 % slower", _TS)):
                begun = time.perf_counter()
                outcome = _compare(engine, pocl, tiled, longer, trial)
                longest = max(longest, time.perf_counter() - begun)
                words[name][outcome.versus[0].word] += 1
                ratios[name].append(outcome.versus[0].ratio)
    finally:
        busy.kill()
        busy.wait()
        engine.close()
    for name, counts in words.items():
        spread = f"{min(ratios[name]):.4f} to {max(ratios[name]):.4f}"
        print(f"against {name}: {dict(counts)}, ratios {spread}", file=sys.stderr)
    settled = words["itself"]["same"] + words["itself"]["undecided"]
    row("the same kernel: same or undecided", 100 * settled / trials, "%", 99, most=False)
    slower = 100 * words["3 % slower"]["slower"] / trials
    row("one slowed by 3 %: slower", slower, "%", 95, most=False)
    row("the longest trial", longest, "s", _LIMIT_SECONDS)


def _compare(
    engine: Engine, device: Device, variant: Variant, longer: int, seed: int
) -> Comparison:
    jobs = [
        Job(
            number, device.key, variant, merge_parameters(variant, {"TS": _TS}),
            Problem(_SIDE, _SIDE, _DEPTH + extra, seed=seed), policy=_POLICY,
        )
        for number, extra in enumerate((0, longer), start=1)
    ]  # fmt: skip
    *_, outcome = engine.compare(jobs, [device] * len(jobs), 0)
    assert isinstance(outcome, Comparison)
    assert outcome.failure is None, outcome.failure
    return outcome


if __name__ == "__main__":
    main()
