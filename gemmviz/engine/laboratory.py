"""Makes experiments: each is a plan of runs and requests, and ends in one Outcome."""

from __future__ import annotations

import importlib
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
from gemmviz.engine.failed import ExperimentFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine


# Each is imported when it is first asked for: all together take a tenth of a second.
_PLANS: dict[type, tuple[str, str]] = {
    MeasureCeilings: ("ceiling_table", "measure_ceilings"),
    MeasureResidency: ("residency_plan", "measure_residency"),
    Throttle: ("throttling", "throttle"),
    CheckRaces: ("oclgrind", "check_races"),
    TryClaims: ("claims", "try_claims"),
    ClimbLadder: ("climbing", "climb_ladder"),
    RunSuite: ("suites", "run_suite"),
    CompareDevices: ("comparing", "compare_devices"),
    RaceDevices: ("racing", "race_devices"),
    RunSweep: ("sweeping", "run_sweep"),
}


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
    module, name = _PLANS[type(experiment)]
    plan = getattr(importlib.import_module(f"gemmviz.engine.{module}"), name)
    answer: Finding = yield from plan(experiment, engine)
    return answer
