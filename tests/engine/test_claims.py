"""Statements tried on PoCL: by runs, sources and the simulator; told one by one, and stoppable."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.access import lens
from gemmviz.core.claim_list import CLAIMS
from gemmviz.core.claims import ClaimResult
from gemmviz.core.experiments import Outcome, TryClaims
from gemmviz.core.messages import ClaimTried, Listing, Progressed
from gemmviz.core.model import Device
from gemmviz.engine import claims
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, own_kernel

IDS = ("naive-loads", "tiling-right", "zero-fill", "groups-apart", "no-launch", "gemm2-whole")


def tried(engine: Engine, device: Device, *ids: str, job_id: int = 40) -> list[object]:
    return list(engine.perform(TryClaims(job_id, device, CATALOG.variants, ids)))


@pytest.fixture(scope="module")
def items(engine: Engine, pocl: Device) -> list[object]:
    return tried(engine, pocl, *IDS)


def test_every_result_is_told_at_once_and_again_in_the_answer(items: list[object]) -> None:
    outcome = items[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.failure is None
    told = tuple(item.result for item in items if isinstance(item, ClaimTried))
    assert outcome.answer == told
    listed = [claim.id for claim in CLAIMS if claim.id in IDS]
    assert [result.id for result in told] == listed
    assert all(isinstance(item, Progressed | ClaimTried | Outcome) for item in items)


def test_progress_never_goes_back(items: list[object]) -> None:
    shares = [item.share for item in items if isinstance(item, Progressed)]
    assert all(share is not None for share in shares)
    assert shares == sorted(shares)  # type: ignore[type-var]
    assert shares[-1] == 1.0
    texts = [item.text for item in items if isinstance(item, Progressed)]
    assert "Simulating across_groups TS=8" in texts


def test_outcomes_on_pocl(items: list[object]) -> None:
    found = {item.result.id: item.result for item in items if isinstance(item, ClaimTried)}
    outcomes = {claim_id: result.outcome for claim_id, result in found.items()}
    assert outcomes == {
        "naive-loads": "does not hold here",
        "tiling-right": "does not hold here",
        "zero-fill": "holds",
        "groups-apart": "holds",
        "no-launch": "does not hold here",
        "gemm2-whole": "does not hold here",
    }
    assert "2304 of 2304 cells" in found["tiling-right"].measured
    assert "answer is right" in found["no-launch"].measured
    for result in found.values():
        assert result.measured
        assert result.reason


def test_what_several_statements_rest_on_is_measured_once(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "_SIZE", 64)
    items = tried(engine, pocl, "naive-waits", "event-times", "little-on-cpus", "by-local-memory")
    texts = [item.text for item in items if isinstance(item, Progressed)]
    assert sum(text.startswith("Measuring in turns") for text in texts) == 1
    results = [item.result for item in items if isinstance(item, ClaimTried)]
    assert len(results) == 4
    assert all("at 64." in result.measured for result in results if result.id != "event-times")


def test_a_kernel_of_ones_own_stands_for_no_published_one(
    engine: Engine, pocl: Device, tmp_path: Path
) -> None:
    own = own_kernel(tmp_path, "C[0] = 1;", stem="mygemm_2")
    library = replace(own, id="tiled", library="blas")
    experiment = TryClaims(43, pocl, (*CATALOG.variants, own, library), ("gemm2-whole",))
    (result,) = (i.result for i in engine.perform(experiment) if isinstance(i, ClaimTried))
    (expected,) = (
        i.result for i in tried(engine, pocl, "gemm2-whole") if isinstance(i, ClaimTried)
    )
    assert result == expected
    trials = claims._Trials(experiment, engine)
    assert trials._chosen(claims.Choice("tiled"))[0] == CATALOG.find("tiled")


def test_sources_are_looked_at_by_another_process_and_before_anything_is_timed(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("the lens ran in this process")

    monkeypatch.setattr(lens, "analyse", refuse)
    monkeypatch.setattr(claims, "_SIZE", 64)
    items = tried(engine, pocl, "naive-waits", "coalesced-staging")
    texts = [item.text for item in items if isinstance(item, Progressed)]
    looking = [text.startswith("Looking at the source of") for text in texts]
    timing = [text.startswith("Measuring in turns") for text in texts]
    assert looking.index(True) < timing.index(True)
    found = {item.result.id: item.result for item in items if isinstance(item, ClaimTried)}
    assert "16 sectors of A" in found["coalesced-staging"].measured


def test_a_stop_while_a_source_is_looked_at_ends_it(engine: Engine, pocl: Device) -> None:
    outcome = None
    for item in engine.perform(TryClaims(44, pocl, CATALOG.variants)):
        if isinstance(item, Progressed) and item.text.startswith("Looking"):
            engine.stop(44)
        outcome = item
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert outcome.answer == ()


def test_a_stop_ends_it_with_what_was_judged_before(engine: Engine, pocl: Device) -> None:
    plan = engine.perform(TryClaims(41, pocl, CATALOG.variants))
    outcome = None
    for item in plan:
        if isinstance(item, ClaimTried):
            engine.stop(41)
        outcome = item
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert isinstance(outcome.answer, tuple)
    assert [result.id for result in outcome.answer if isinstance(result, ClaimResult)] == [
        CLAIMS[0].id
    ]
    again = tried(engine, pocl, "gemm2-whole", job_id=42)[-1]
    assert isinstance(again, Outcome)
    assert not again.stopped


def test_an_unknown_statement_and_a_simulator_are_refused(
    engine: Engine, pocl: Device, listing: Listing
) -> None:
    outcome = tried(engine, pocl, "nothing")[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.failure is not None
    assert "no statement nothing" in outcome.failure.sentence
    simulator = claims.find_simulator(listing)
    assert simulator is not None
    outcome = tried(engine, simulator, "gemm2-whole")[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.failure is not None
    assert outcome.failure.kind == "refused"


@pytest.fixture
def without_simulator(monkeypatch: pytest.MonkeyPatch, listing: Listing) -> Iterator[Engine]:
    engine = Engine()
    monkeypatch.setattr(engine, "list_devices", lambda: Listing(-1, ()))
    yield engine
    engine.close()


def test_without_the_simulator_its_statements_cannot_be_tested(
    without_simulator: Engine, pocl: Device
) -> None:
    items = tried(without_simulator, pocl, "divergent-barrier", "gemm2-whole")
    first, second = (item.result for item in items if isinstance(item, ClaimTried))
    assert first.outcome == "cannot be tested here"
    assert "gemmviz[oclgrind]" in first.reason
    assert second.outcome == "does not hold here"
