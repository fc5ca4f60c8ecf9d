from __future__ import annotations

from gemmviz.app.claim_trials import ClaimTrials
from gemmviz.app.ladder import LadderClimb
from gemmviz.core.claims import ClaimResult
from gemmviz.core.experiments import MeasureCeilings
from gemmviz.core.messages import ClaimTried, Progressed
from tests.app.fake_engine import H200, POCL

RESULT = ClaimResult("some", "A document", "It holds.", "holds", "Measured.", "So it is.")


def test_only_the_experiment_that_was_started_is_followed(qtbot, state, engine):
    """Another one on the same laboratory tells of itself meanwhile."""
    engine.endless_experiments = True
    state.select_device(POCL)
    trials, climb = ClaimTrials(state), LadderClimb(state)
    trials.start()
    qtbot.waitUntil(lambda: trials.note == "half")
    assert trials.share == 0.5
    assert (climb.running, climb.note, climb.share) == (False, "", 0.0)
    laboratory = state.laboratory
    other = MeasureCeilings(laboratory.next_id(), H200)
    laboratory.start(other)
    qtbot.waitUntil(lambda: other.job_id in laboratory.begun)
    stray = (Progressed(other.job_id, 0.9, "another"), ClaimTried(other.job_id, RESULT))
    laboratory.experiment_advanced.emit(other.job_id, stray)
    assert (trials.note, trials.share) == ("half", 0.5)
    assert trials.result("some") is None
    laboratory.stop(other.job_id)
    qtbot.waitUntil(lambda: other.job_id not in laboratory.busy)
    assert trials.running
    trials.stop()
    qtbot.waitUntil(lambda: not trials.running)
    assert (trials.note, trials.share, trials.failed) == ("Stopped", 0.0, False)
