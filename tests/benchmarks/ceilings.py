"""The measured ceilings of a CPU against a native loop of multiply-adds, and how long they take.

The native peer is C with the compiler's own vectors, built for this very processor. Both take turns
in short launches and the best of each counts: on a busy machine nothing else is comparable.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.experiments import MeasureCeilings, Outcome
from gemmviz.core.messages import CeilingRead
from gemmviz.core.model import Device
from gemmviz.core.units import throughput
from gemmviz.engine.plan import Engine
from tests.benchmarks.rows import row

_ROUNDS = 100_000  # about a millisecond
_CHAINS = 12
_TYPES = {"float": 4, "double": 8}
_SECONDS = 1.5
_FUNCTION = """
typedef {type} v{type}{bytes} __attribute__((vector_size({bytes})));
double run_{type}_{bytes}(long rounds, double first, double second) {{
  v{type}{bytes} a = (v{type}{bytes}){{}} + ({type})first;
  v{type}{bytes} b = (v{type}{bytes}){{}} + ({type})second;
  {declared}
  for (long r = 0; r < rounds; ++r) {{ {steps} }}
  v{type}{bytes} s = {total};
  return s[0];
}}
"""


def build(folder: Path) -> ctypes.CDLL:
    """Every type with vectors of 16, 32 and 64 bytes; the processor decides which is best."""
    functions = []
    for kind in _TYPES:
        for size in (16, 32, 64):
            names = [f"x{place}" for place in range(_CHAINS)]
            functions.append(
                _FUNCTION.format(
                    type=kind, bytes=size,
                    declared=" ".join(
                        f"v{kind}{size} {name} = (v{kind}{size}){{}} + {place};"
                        for place, name in enumerate(names)
                    ),
                    steps=" ".join(f"{name} = {name} * a + b;" for name in names),
                    total=" + ".join(names),
                )
            )  # fmt: skip
    source, library = folder / "peer.c", folder / "peer.so"
    source.write_text("\n".join(functions))
    subprocess.run(
        ["cc", "-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", "-o",
         str(library), str(source)], check=True,
    )  # fmt: skip
    return ctypes.CDLL(str(library))


def native_rate(peer: ctypes.CDLL, kind: str, size: int) -> float:
    """FLOP a second of one short launch on every core."""
    function = getattr(peer, f"run_{kind}_{size}")
    function.restype = ctypes.c_double
    cores = os.sched_getaffinity(0)
    start, spans = threading.Barrier(len(cores)), []

    def work(core: int) -> None:
        os.sched_setaffinity(0, {core})
        start.wait()
        begun = time.perf_counter()
        function(ctypes.c_long(_ROUNDS), ctypes.c_double(0.5), ctypes.c_double(0.5))
        spans.append((begun, time.perf_counter()))

    threads = [threading.Thread(target=work, args=(core,)) for core in cores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = max(end for _, end in spans) - min(begun for begun, _ in spans)
    return 2 * _CHAINS * (size // _TYPES[kind]) * _ROUNDS * len(cores) / seconds


def best_native(peer: ctypes.CDLL, kind: str, before: float, seconds: float = _SECONDS) -> float:
    """The best launch of a while, and of all before."""
    until = time.perf_counter() + seconds
    best = before
    while time.perf_counter() < until:
        for size in (16, 32, 64):
            best = max(best, native_rate(peer, kind, size))
    return best


def measure(engine: Engine, device: Device, job_id: int) -> tuple[CeilingTable, float]:
    begun = time.perf_counter()
    *messages, outcome = engine.perform(MeasureCeilings(job_id, device, again=True))
    assert isinstance(outcome, Outcome)
    assert isinstance(outcome.answer, CeilingTable), outcome.failure
    assert sum(isinstance(message, CeilingRead) for message in messages)
    return outcome.answer, time.perf_counter() - begun


def main(rounds: int = 3) -> None:
    native: dict[str, float] = dict.fromkeys(_TYPES, 0.0)
    ours: dict[str, dict[str, float]] = {}
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # what a driver has compiled before is not there
        engine = Engine()
        peer = build(Path(folder))
        devices = [
            device
            for platform in engine.list_devices().platforms
            for device in platform.devices
            if device.type == "CPU" and device.unavailable is None
        ]
        for turn in range(rounds):
            for kind in _TYPES:
                native[kind] = best_native(peer, kind, native[kind])
            for device in devices:
                table, seconds = measure(engine, device, turn)
                times.setdefault(device.platform, []).append(seconds)
                best = ours.setdefault(device.platform, dict.fromkeys(_TYPES, 0.0))
                for kind in _TYPES:
                    best[kind] = max(best[kind], table.peak(kind) or 0.0)
        engine.close()
    for kind, rate in native.items():
        print(f"native {kind}: {throughput(rate)}", file=sys.stderr)
    for platform, best in ours.items():
        short = platform.split("(")[0].split()[0]
        for kind in _TYPES:
            name = f"FMA {kind} of {short} over the native loop"
            row(name, best[kind] / native[kind], "", 0.85, most=False)
        row(f"all ceilings of {short}, nothing compiled before", times[platform][0], "s", 10)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
