"""Makes experiments: each is a plan of runs and requests, and ends in one Outcome."""

from __future__ import annotations

import traceback
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from gemmviz.core.experiments import (
    CheckRaces,
    ClimbLadder,
    CompareDevices,
    Experiment,
    Finding,
    MeasureCeilings,
    MeasureResidency,
    Outcome,
    RaceDevices,
    RunSuite,
    RunSweep,
    Throttle,
    TryClaims,
)
from gemmviz.core.messages import Message
from gemmviz.core.model import Failure
from gemmviz.engine.ceiling_table import measure_ceilings
from gemmviz.engine.claims import try_claims
from gemmviz.engine.climbing import climb_ladder
from gemmviz.engine.comparing import compare_devices
from gemmviz.engine.failed import ExperimentFailed
from gemmviz.engine.oclgrind import check_races
from gemmviz.engine.racing import race_devices
from gemmviz.engine.residency_plan import measure_residency
from gemmviz.engine.suites import run_suite
from gemmviz.engine.sweeping import run_sweep
from gemmviz.engine.throttling import throttle

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine


def perform(experiment: Experiment, engine: Engine) -> Iterator[Message | Outcome]:
    """Yields what an experiment says of its progress and last its Outcome, whatever happens."""
    answer: Finding | None
    failure: Failure | None = None
    try:
        answer = yield from _plan(experiment, engine)
    except ExperimentFailed as failed:
        answer, failure = failed.answer, failed.failure
    except Exception as error:  # noqa: BLE001 (whoever asked must hear of any fault)
        answer = None
        failure = Failure("crash", f"The experiment failed: {error}.", traceback.format_exc())
    stopped = engine.was_stopped(experiment.job_id)
    yield Outcome(experiment, answer, None if stopped else failure, stopped)


def _plan(experiment: Experiment, engine: Engine) -> Generator[Message, None, Finding]:
    match experiment:
        case MeasureCeilings():
            return (yield from measure_ceilings(experiment, engine))
        case MeasureResidency():
            return (yield from measure_residency(experiment, engine))
        case Throttle():
            return (yield from throttle(experiment, engine))
        case CheckRaces():
            return (yield from check_races(experiment, engine))
        case TryClaims():
            return (yield from try_claims(experiment, engine))
        case ClimbLadder():
            return (yield from climb_ladder(experiment, engine))
        case RunSuite():
            return (yield from run_suite(experiment, engine))
        case CompareDevices():
            return (yield from compare_devices(experiment, engine))
        case RaceDevices():
            return (yield from race_devices(experiment, engine))
        case RunSweep():
            return (yield from run_sweep(experiment, engine))
