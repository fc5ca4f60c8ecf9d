"""What a child does between the rounds of a sweep: builds ahead, and who needs how many samples."""

import pytest

from gemmviz.core.messages import Began, Built, Checked, Failed, Finished, Message, Phase, TakeTurns
from gemmviz.core.model import Device, Job, Problem
from gemmviz.core.policy import fixed
from gemmviz.engine.plan import Engine
from gemmviz.engine.turns import _still_wanted
from tests.engine.runs import CATALOG, RIGHT, own_kernel

PROBLEM = Problem(24, 40, 17, seed=3)


def asked(engine: Engine, job: Job, rounds: int) -> list[Message]:
    request = TakeTurns(900, (job,), rounds)
    return list(engine.ask(request, 900, [job.device]))


def test_without_rounds_it_is_built_and_nothing_is_launched(engine: Engine, pocl: Device) -> None:
    variant = CATALOG.find("tiled")
    job = Job(901, pocl.key, variant, (("TS", 8),), PROBLEM, fixed(2))
    ahead = asked(engine, job, 0)
    assert [type(message) for message in ahead if not isinstance(message, Phase)] == [Finished]
    assert {message.name for message in ahead if isinstance(message, Phase)} == {"build", "prepare"}
    told = asked(engine, job, 2)
    assert not any(isinstance(m, Phase) and m.name == "build" for m in told)
    kinds = [type(message) for message in told]
    assert kinds.index(Began) < kinds.index(Built) < kinds.index(Checked)
    assert kinds.count(Began) == kinds.count(Built) == 1


def test_what_cannot_be_built_says_so_when_it_is_to_launch(
    engine: Engine, pocl: Device, tmp_path_factory: pytest.TempPathFactory
) -> None:
    variant = own_kernel(tmp_path_factory.mktemp("kernels"), f'{RIGHT}\n#error "never"\n')
    job = Job(902, pocl.key, variant, (), PROBLEM, fixed(2))
    assert not any(isinstance(message, Failed) for message in asked(engine, job, 0))
    (failed,) = (message for message in asked(engine, job, 2) if isinstance(message, Failed))
    assert failed.job_id == job.id
    assert failed.failure.kind == "build"


def test_who_is_far_behind_needs_fewer_samples() -> None:
    assert _still_wanted(3, 1.0, 1.0) == 2
    assert _still_wanted(3, 1.9, 1.0) == 2
    assert _still_wanted(3, 2.1, 1.0) == 1
    assert _still_wanted(3, 4.1, 1.0) == 0


def test_an_interrupted_short_launch_gets_another_chance() -> None:
    assert _still_wanted(3, 24e-3, 0.2e-3) == 2
