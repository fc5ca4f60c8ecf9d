"""Following the first advice again and again: how close to the fastest does it come, and how soon?

It starts from the ladder's first rung and measures each step. Then the whole ladder, every kernel
at its defaults and with a few other macros, and the steps taken are measured again in turns: the
end of the path against the fastest of them all. Usage: ``advice [DEVICE] [SIZE]``, a GPU if there
is one, else PoCL; 512, on a GPU 2048.
"""

import sys
from collections.abc import Iterable

from gemmviz.core.access.machine import machine_for
from gemmviz.core.advice.advise import advise
from gemmviz.core.advice.situation import Measurement, Situation, measurement_of
from gemmviz.core.catalog import load_catalog
from gemmviz.core.choice import default_device, matching_devices
from gemmviz.core.comparison import Comparison
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import default_parameters, describe_parameters, flop, merge_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Job, Parameters, Problem, Result, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import Policy
from gemmviz.core.units import throughput
from gemmviz.engine.ceiling_table import kept_ceilings
from gemmviz.engine.plan import Engine
from tests.benchmarks.rows import row

_WITHIN = 1.05
_STEP = Policy(1, 5, 0.1, 0.02, 2.0)
_TOGETHER = Policy(1, 7, 0.1, 0.02, 30.0)
# Macros that many rungs share, as a person would try them; what a rung has not is left out.
_FEW: tuple[dict[str, int], ...] = (
    {"TS": 32}, {"TS": 8}, {"WPT": 4}, {"TM": 8, "TN": 8}, {"TM": 4, "TN": 4},
    {"BM": 128, "BN": 128, "TM": 8, "TN": 8}, {"BM": 128, "BN": 64, "TM": 8, "TN": 8},
)  # fmt: skip
_SLOW = 20.0  # times slower than the fastest step at hand: not worth measuring in turns

Configuration = tuple[Variant, Parameters]


def main() -> None:
    engine = Engine()
    try:
        _run(engine)
    finally:
        engine.close()


def _run(engine: Engine) -> None:
    listing = engine.list_devices()
    devices = [device for platform in listing.platforms for device in platform.devices]
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    device = matching_devices(devices, wanted)[0] if wanted else default_device(devices)
    assert device is not None
    usual = 2048 if device.type == "GPU" else 512
    size = int(sys.argv[2]) if len(sys.argv) > 2 else usual
    problem = Problem(size, size, size, seed=1)
    variants = load_catalog(data_dir("kernels")).variants
    ladder = sorted((v for v in variants if v.family == "ladder"), key=lambda v: v.rung)
    path, moves = _follow(engine, device, problem, ladder)
    best = min(path, key=lambda m: m.seconds or 0.0)
    steps = moves[path.index(best)]
    others = _others(ladder, device, problem)
    end: Configuration = best.variant, best.parameters
    taken = [
        (m.variant, m.parameters) for m in path if (m.seconds or 1.0) < _SLOW * (best.seconds or 0)
    ]
    together = list(dict.fromkeys([end, *taken, *others]))
    medians = _in_turns(engine, device, problem, together)
    for configuration, seconds in sorted(medians.items(), key=lambda item: item[1]):
        print(f"{_name(configuration)}: {_rate(configuration, problem, seconds)}", file=sys.stderr)
    where = f"{device.name} {size}"
    row(f"advice followed on {where}: over the fastest", medians[end] / min(medians.values()), "x",
        _WITHIN)  # fmt: skip
    row(f"advice followed on {where}: steps", steps, "steps", len(ladder))


def _follow(
    engine: Engine, device: Device, problem: Problem, ladder: list[Variant]
) -> tuple[list[Measurement], list[int]]:
    """Everything that was reached, measured, and after how many steps each, those back included.

    The path ends without advice, or after as many steps as the ladder has rungs.
    """
    limits = limits_for(device)
    configuration: Configuration = ladder[0], default_parameters(ladder[0])
    path: list[Measurement] = []
    moves: list[int] = []
    timer = None
    for move in range(len(ladder) + 1):
        found = next((m for m in path if (m.variant, m.parameters) == configuration), None)
        if found is None:
            job = _job(len(path) + 1, device, configuration, problem, _STEP)
            *_, result = engine.run(job, device)
            assert isinstance(result, Result)
            assert result.failure is None, result.failure
            found, timer = measurement_of(result), result.timer
            path.append(found)
            moves.append(move)
            rate = _rate(configuration, problem, found.seconds or 1.0)
            print(f"step {move}: {_name(configuration)}: {rate}", file=sys.stderr)
        situation = Situation(
            device, limits, *configuration, problem, tuple(ladder), machine_for(device, limits),
            measured=tuple(path), timer=timer, ceilings=kept_ceilings(device),
        )  # fmt: skip
        first = next(
            (
                finding
                for finding in advise(situation)
                if finding.kernel and (finding.variant, finding.parameters) != configuration
            ),
            None,
        )
        if first is None:
            break
        print(f"  {first.rule}: {first.action} {first.gain_text}", file=sys.stderr)
        variant = next(v for v in ladder if v.id == first.kernel)
        configuration = variant, first.parameters
    return path, moves


def _others(ladder: list[Variant], device: Device, problem: Problem) -> list[Configuration]:
    """The ladder at its defaults and with a few macros, as far as the device can run it."""
    found: list[Configuration] = []
    for variant in ladder:
        names = {parameter.name: parameter.values for parameter in variant.parameters}
        found += [
            (variant, merge_parameters(variant, few))
            for few in ({}, *_FEW)
            if all(value in names.get(name, ()) for name, value in few.items())
        ]
    return [(v, p) for v, p in found if refusal(v, p, problem, device, limits_for(device)) is None]


def _in_turns(
    engine: Engine, device: Device, problem: Problem, configurations: list[Configuration]
) -> dict[Configuration, float]:
    """Median seconds of each, measured in turns; only those that a first look found fast.

    A turn takes the sum of all, so the slowest would leave the others too few.
    """
    rough = {}
    for number, configuration in enumerate(configurations, start=1):
        job = _job(number, device, configuration, problem, Policy(1, 2, 0.0, 1.0, 1.0))
        *_, result = engine.run(job, device)
        assert isinstance(result, Result)
        seconds = measurement_of(result).seconds
        if seconds is not None and result.failure is None:
            rough[configuration] = seconds
    fast = [each for each in rough if rough[each] < 2 * min(rough.values())]
    chosen = list(dict.fromkeys([configurations[0], *fast]))
    jobs = [
        _job(number, device, each, problem, _TOGETHER)
        for number, each in enumerate(chosen, start=1)
    ]
    *_, outcome = engine.compare(jobs, [device] * len(jobs), 0)
    assert isinstance(outcome, Comparison)
    assert outcome.failure is None, outcome.failure
    medians = _medians(outcome.results)
    return {**rough, **dict(zip(chosen, medians, strict=True))}


def _medians(results: Iterable[Result]) -> list[float]:
    found = []
    for result in results:
        seconds = measurement_of(result).seconds
        assert seconds is not None
        found.append(seconds)
    return found


def _job(
    number: int, device: Device, configuration: Configuration, problem: Problem, policy: Policy
) -> Job:
    variant, parameters = configuration
    return Job(number, device.key, variant, parameters, problem, policy, check=False)


def _name(configuration: Configuration) -> str:
    return f"{configuration[0].id} {describe_parameters(configuration[1])}"


def _rate(configuration: Configuration, problem: Problem, seconds: float) -> str:
    return throughput(flop(configuration[0], problem) / seconds)


if __name__ == "__main__":
    main()
