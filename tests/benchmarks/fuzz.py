"""Kernels broken at random, run on PoCL: what comes of them, and does the host ever hang?

Usage: ``fuzz [COUNT [SEED]]``, 2,000 kernels by default.
"""

import os
import random
import re
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from gemmviz.core.feasibility import refusal
from gemmviz.core.model import Device, Job, Result, Variant
from gemmviz.core.policy import fixed
from gemmviz.engine.plan import Engine
from tests.benchmarks.rows import row
from tests.engine.runs import KERNELS, finish, make_job

_SIZE = 32
_LAUNCH_LIMIT_SECONDS = 2.0
# A compiler may take long over a broken loop: then the run is stopped, as a person would.
_PATIENCE_SECONDS = 30.0
_STOP_SECONDS = 15.0

_TOKEN = re.compile(r"\w+|[^\w\s]")
_LOOP = re.compile(r"for\s*\(([^;]*);([^;]*);")
_INDEX = re.compile(r"\[([^\[\]]+)\]")
_BARRIER = re.compile(r"barrier\([^)]*\);")


def _replaced(dice: random.Random, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str],
              source: str) -> str:  # fmt: skip
    """``source`` with one of the matches replaced."""
    found = list(pattern.finditer(source))
    if not found:
        return source
    match = dice.choice(found)
    return source[: match.start()] + new(match) + source[match.end() :]


def _swap_tokens(dice: random.Random, source: str) -> str:
    first, other = sorted(dice.sample(list(_TOKEN.finditer(source)), 2), key=re.Match.start)
    return (source[: first.start()] + other[0] + source[first.end() : other.start()] + first[0]
            + source[other.end() :])  # fmt: skip


def _change_token(dice: random.Random, source: str) -> str:
    choices = (*"+-*/%<>=;,0123", "&", "|", "!", "<=", ">=", "==", "1000000000", "-1", "M", "N",
               "K", "real", "int", "get_local_id", "get_global_id", "for (;;)")  # fmt: skip
    return _replaced(dice, _TOKEN, lambda _: dice.choice(choices), source)


def _drop_line(dice: random.Random, source: str) -> str:
    lines = source.splitlines(keepends=True)
    del lines[dice.randrange(len(lines))]
    return "".join(lines)


def _move_index(dice: random.Random, source: str) -> str:
    by = dice.choice((1, -1, 7, -64, 4096, 10**6, 10**9))
    return _replaced(dice, _INDEX, lambda match: f"[{match[1]} + ({by})]", source)


def _change_bound(dice: random.Random, source: str) -> str:
    bounds = ("{} + 1", "{} - 1", "{} * 3", "1", "({}) || 1", "{} << 20")
    return _replaced(
        dice, _LOOP,
        lambda match: f"for ({match[1]};{dice.choice(bounds).format(match[2])};", source,
    )  # fmt: skip


def _drop_barrier(dice: random.Random, source: str) -> str:
    return _replaced(dice, _BARRIER, lambda _: "", source)


def _guard_barrier(dice: random.Random, source: str) -> str:
    return _replaced(
        dice, _BARRIER, lambda match: f"if (get_local_id(0) % 2) {match[0]}", source
    )  # fmt: skip


def _drop_brace(dice: random.Random, source: str) -> str:
    return _replaced(dice, re.compile(r"[{}]"), lambda _: "", source)


_MUTATIONS = (_swap_tokens, _change_token, _change_token, _drop_line, _drop_line, _move_index,
              _move_index, _change_bound, _drop_barrier, _guard_barrier, _drop_brace)  # fmt: skip


def mutated(dice: random.Random, variant: Variant) -> Variant:
    """``variant`` with one to three faults in its code; the metadata stay as they are."""
    # Behind the header comment, which nobody compiles.
    start = variant.source.find("*/") + 2 if variant.source.startswith("/*") else 0
    head, code = variant.source[:start], variant.source[start:]
    for _ in range(dice.choice((1, 1, 2, 3))):
        code = dice.choice(_MUTATIONS)(dice, code)
    return replace(variant, source=head + code)


class Fuzz:
    """Hands out broken kernels to threads and counts what comes of them."""

    def __init__(self, device: Device, count: int, seed: int) -> None:
        self._device, self._left = device, count
        self._dice = random.Random(seed)
        self._lock = threading.Lock()
        self.outcomes: Counter[str] = Counter()
        self.longest_seconds = 0.0
        self.hung = 0
        # What cannot run at this size even when it is whole would tell nothing.
        self._variants = [v for v in KERNELS if self._runs(v)]

    def _runs(self, variant: Variant) -> bool:
        job = make_job(self._device, variant, (_SIZE,) * 3)
        return refusal(job.variant, job.parameters, job.problem, self._device) is None

    def _next(self) -> Job | None:
        with self._lock:
            if not self._left:
                return None
            self._left -= 1
            if self._left % 100 == 0:
                print(f"{self._left} to go: {dict(self.outcomes)}", file=sys.stderr)
            variant = mutated(self._dice, self._dice.choice(self._variants))
            return make_job(self._device, variant, (_SIZE,) * 3, policy=fixed(2),
                            launch_limit_seconds=_LAUNCH_LIMIT_SECONDS)  # fmt: skip

    def work(self) -> None:
        """Runs kernels until none is left, and then a good one."""
        engine = Engine()
        while (job := self._next()) is not None and not self.hung:
            self._run(engine, job)
        if not self.hung:
            good = finish(engine, make_job(self._device), self._device)
            self._count("good ones verified afterwards", good.verdict == "verified")
        engine.close()

    def _run(self, engine: Engine, job: Job) -> None:
        results: list[Result] = []
        run = threading.Thread(
            target=lambda: results.append(finish(engine, job, self._device)), daemon=True
        )
        begun = time.monotonic()
        run.start()
        run.join(_PATIENCE_SECONDS)
        if run.is_alive():
            engine.stop(job.id)
            run.join(_STOP_SECONDS)
        with self._lock:
            self.longest_seconds = max(self.longest_seconds, time.monotonic() - begun)
        if not results:
            self.hung += 1
            print(f"the host hung, or gave no result, with:\n{job.variant.source}", file=sys.stderr)
            return
        (result,) = results
        failure = result.failure
        kind = failure.kind if failure is not None else str(result.verdict)
        self._count("stopped" if result.stopped else kind)

    def _count(self, name: str, times: int = 1) -> None:
        with self._lock:
            self.outcomes[name] += times


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # hundreds of them crash
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache  # PoCL keeps every kernel that it built
        engine = Engine()
        listing = engine.list_devices()
        engine.close()
        pocl = next(p for p in listing.platforms if "Portable" in p.name).devices[0]
        fuzz = Fuzz(pocl, count, seed)
        begun = time.monotonic()
        workers = [threading.Thread(target=fuzz.work) for _ in range(min(4, os.cpu_count() or 1))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        passed = time.monotonic() - begun
    good = fuzz.outcomes.pop("good ones verified afterwards", 0)
    for name, times in fuzz.outcomes.most_common():
        print(f"{name:<16}{times:>6}", file=sys.stderr)
    row("broken kernels run to an outcome", fuzz.outcomes.total(), "of those wanted", count,
        most=False)  # fmt: skip
    row("runs in which the host hung", fuzz.hung, "", 0)
    row("longest that one kept the host", fuzz.longest_seconds, "s",
        _PATIENCE_SECONDS + _STOP_SECONDS)  # fmt: skip
    row("good kernels verified afterwards", good, "one a thread", len(workers), most=False)
    row("broken kernels a minute", 60 * count / passed, "1/min", 100, most=False)


if __name__ == "__main__":
    main()
