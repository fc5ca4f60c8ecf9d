from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.app.sweep_defaults import saving_words, winners_with
from gemmviz.app.sweep_draft import (
    DraftError,
    SweepDraft,
    draft_from,
    draft_of,
    read_shapes,
    sweep_of,
)
from gemmviz.app.sweep_files import last_draft, sweep_text
from gemmviz.app.sweeping import SweepTrial
from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.messages import CellMeasured, Progressed, SweepAdvanced
from gemmviz.core.model import Failure, Job, Problem, Result, Samples
from gemmviz.core.policy import QUICK, UNTIL_STOPPED
from gemmviz.core.store import ResultStore
from gemmviz.core.sweep import SweepReport
from gemmviz.core.sweep_file import identity
from gemmviz.core.tuned import own_file
from tests.app.fake_engine import BROKEN, H200, POCL, RIGHT
from tests.core.sweeps import kernel, make_report, make_sweep


@pytest.fixture
def trial(qtbot, state):
    state.select_device(POCL)
    state.choose_variant(kernel("register_2d"))
    state.change(state.setup.with_all_sizes(256))
    made = SweepTrial(state)
    yield made
    made.close()


def counted(qtbot, trial: SweepTrial) -> str:
    """The words of the draft once it is counted."""
    trial.watch(True)
    qtbot.waitUntil(lambda: trial.count is not None, timeout=10_000)
    return trial.words


def result_of(experiment: RunSweep, report: SweepReport, place: int) -> Result:
    cell, device = report.cells[place], experiment.sweep.devices[0]
    configuration = cell.configuration
    variant = experiment.sweep.variants[0]
    job = Job(
        experiment.job_id, device.key, variant, configuration.parameters, configuration.problem
    )
    return Result(job, device, Samples((1,) * 5, (1e-3,) * 5, (1e-3,) * 5), check=RIGHT)


# --- drafts


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("512", [(512, 512, 512)]),
        (" 64, 128;256\n64", [(64, 64, 64), (128, 128, 128), (256, 256, 256)]),
        ("1024x64x512, 8 × 16 × 32 4*5*6", [(1024, 64, 512), (8, 16, 32), (4, 5, 6)]),
    ],
)
def test_shapes_are_read_as_a_person_writes_them(text, shapes):
    assert list(read_shapes(text)) == shapes


@pytest.mark.parametrize(
    ("text", "part"),
    [("", "no size"), ("big", "'big' is no size"), ("1x2", "'1x2'"), ("0", "out of range"),
     ("999999999", "out of range"), ("-4", "'-4'")],
)  # fmt: skip
def test_what_is_no_shape_is_named(text, part):
    with pytest.raises(DraftError, match=part):
        read_shapes(text)


def test_a_draft_starts_from_the_setup_bar_and_follows_it(qtbot, state, trial):
    assert trial.draft.kernels == ("register_2d",)
    assert trial.draft.shapes == "256"
    assert trial.draft.devices == (POCL.key,)
    assert trial.drafted.axes[0][1][0] == ("BM", (32, 64, 128))
    state.choose_variant(kernel("tiled"))
    assert trial.draft.kernels == ("tiled",)
    trial.change(trial.draft.with_kernel("register_2d", True))
    state.change(state.setup.with_all_sizes(64))
    assert trial.draft.shapes == "256"
    trial.preset()
    assert (trial.draft.kernels, trial.draft.shapes) == (("tiled",), "64")


def test_ticks_make_the_sweep(state):
    state.choose_variant(kernel("tiled"))
    draft = draft_of(state.setup, [POCL]).with_value(("tiled", "TS", 4), False)
    draft = replace(draft, shapes="64 8x16x32").with_element("double", True)
    draft = draft.with_device(H200.key, True)
    sweep = sweep_of(draft, state.catalog.variants, state.devices, 7)
    assert sweep.axes == (("tiled", (("TS", (8, 16, 32)),)),)
    assert [(each.m, each.k, each.element, each.seed) for each in sweep.problems] == [
        (64, 64, "float", 7), (8, 32, "float", 7), (64, 64, "double", 7), (8, 32, "double", 7),
    ]  # fmt: skip
    assert set(sweep.devices) == {POCL, H200}
    again = draft_from(sweep)
    assert sweep_of(again, state.catalog.variants, state.devices, 8) == sweep  # its seed is kept
    assert draft.with_value(("tiled", "TS", 4), True).left_out == frozenset()


def test_a_budget_is_a_model_s_alone_and_is_written(state):
    draft = SweepDraft(("tiled",), devices=(POCL.key,), strategy="model", budget=40)
    sweep = sweep_of(draft, state.catalog.variants, state.devices, 0)
    assert (sweep.strategy, sweep.budget) == ("model", 40)
    assert draft_from(sweep) == replace(draft, seed=0)
    assert 'strategy = "model"\nseed = 0\nbudget = 40\n' in sweep_text(sweep, state.devices)
    racing = replace(draft, strategy="racing")
    assert sweep_of(racing, state.catalog.variants, state.devices, 0).budget == 0


def test_transposes_and_beta_of_the_setup_are_kept(state):
    like = replace(Problem(1, 1, 1), transpose="tn", beta=2.0)
    draft = SweepDraft(("tiled",), devices=(POCL.key,), shapes="64", like=like)
    sweep = sweep_of(draft, state.catalog.variants, state.devices, 0)
    assert sweep.problems == (Problem(64, 64, 64, transpose="tn", beta=2.0),)
    assert draft_from(sweep) == replace(draft, seed=0)
    with pytest.raises(DraftError, match="transposes"):
        sweep_text(sweep, state.devices)
    plain = replace(draft, like=Problem(1, 1, 1))
    written = sweep_text(sweep_of(plain, state.catalog.variants, state.devices, 0), state.devices)
    assert 'devices = ["Portable Computing Language OpenCL 2.0 pocl 3.0-rc2"]' in written


def test_what_is_missing_is_said(state):
    good = SweepDraft(("tiled",), devices=(POCL.key,), policy=QUICK)

    def why(draft: SweepDraft) -> str:
        with pytest.raises(DraftError) as caught:
            sweep_of(draft, state.catalog.variants, state.devices, 0)
        return str(caught.value)

    assert "kernel" in why(replace(good, kernels=()))
    assert "device" in why(replace(good, devices=()))
    assert "element type" in why(replace(good, elements=()))
    assert "ends by itself" in why(replace(good, policy=UNTIL_STOPPED))
    none = frozenset(("tiled", "TS", value) for value in (4, 8, 16, 32))
    assert "value of TS" in why(replace(good, left_out=none))
    endless = replace(state.setup, policy=UNTIL_STOPPED)
    assert draft_of(endless, [POCL]).policy == QUICK


# --- counting


def test_a_draft_is_counted_in_another_process_while_somebody_looks(qtbot, state, trial):
    assert trial.count is None
    words = counted(qtbot, trial)
    assert words.startswith("972 configurations, ")
    assert "cannot run (kernel's rules " in words
    assert words.endswith("on pthread-cpu · PoCL 3.0-rc2")
    trial.change(replace(trial.draft, kernels=("tiled",)))
    assert trial.words == "Counting the configurations..."
    assert counted(qtbot, trial).startswith("4 configurations, about ")
    trial.change(trial.draft.with_device(H200.key, True))
    assert counted(qtbot, trial).endswith("on 2 devices")
    trial.watch(False)
    assert not trial._process.running


def test_why_it_cannot_start_is_said(qtbot, state, trial):
    trial.change(replace(trial.draft, devices=(BROKEN.key,)))
    assert "the linker ld" in trial.refusal
    trial.change(replace(trial.draft, devices=()))
    assert trial.refusal == trial.words == "Tick at least one device."
    trial.start()
    assert not trial.running
    trial.change(replace(trial.draft, devices=(POCL.key,), kernels=("tiled",), shapes="90000"))
    counted(qtbot, trial)
    assert trial.refusal == "No configuration can run: tick other values."


# --- measuring


def test_cells_come_as_they_are_measured_and_the_answer_stays(qtbot, state, engine, trial):
    reports = []

    def perform(experiment):
        assert isinstance(experiment, RunSweep)
        half = make_report(experiment.sweep, 0.5)
        yield Progressed(experiment.job_id, 0.5, "40 of 81")
        yield CellMeasured(experiment.job_id, half.cells[0], result_of(experiment, half, 0))
        yield SweepAdvanced(experiment.job_id, half)
        while not engine.wait_stopped(experiment.job_id, 0.002) and len(reports) < 2:
            pass
        yield Outcome(experiment, make_report(experiment.sweep))

    engine.perform = perform
    trial.report_changed.connect(lambda: reports.append(trial.report))
    wanted = trial.drafted
    trial.start()
    assert trial.refusal == "A sweep is under way."
    qtbot.waitUntil(lambda: not trial.running, timeout=10_000)
    assert trial.sweep == wanted
    assert trial.report == make_report(wanted)
    assert make_report(wanted, 0.5) in reports
    first = trial.report.cells[0].configuration
    assert list(trial.results) == [first]
    assert not trial.paused
    trial.open(first)
    trial.open(first)
    (run,) = state.book.runs
    assert state.shown is run
    assert run.job.parameters == first.parameters


def test_a_pause_keeps_the_cells_and_resume_goes_on_with_them(qtbot, state, engine, trial):
    asked = []

    def perform(experiment):
        asked.append(experiment)
        yield SweepAdvanced(experiment.job_id, make_report(experiment.sweep, 0.5))
        while len(asked) == 1 and not engine.wait_stopped(experiment.job_id, 0.002):
            pass
        stopped = len(asked) == 1
        report = make_report(experiment.sweep, 0.5 if stopped else 1.0)
        yield Outcome(experiment, report, stopped=stopped)

    engine.perform = perform
    trial.start()
    qtbot.waitUntil(lambda: bool(trial.report.cells))
    trial.resume()
    assert len(asked) == 1
    trial.pause()
    qtbot.waitUntil(lambda: not trial.running)
    assert trial.paused
    assert "Resume" in trial.note
    trial.resume()
    qtbot.waitUntil(lambda: not trial.running)
    assert not trial.paused
    first, again = asked
    assert again.sweep == first.sweep
    half = make_report(first.sweep, 0.5).cells
    assert again.done == tuple(cell for cell in half if cell.state != "planned")
    assert {cell.state for cell in again.done} >= {"measured", "dropped", "failed", "wrong"}


def test_a_cancelled_sweep_is_not_resumed(qtbot, state, engine, trial):
    engine.endless_experiments = True
    trial.start()
    qtbot.waitUntil(lambda: trial.note == "half")
    trial.stop()
    qtbot.waitUntil(lambda: not trial.running)
    assert not trial.paused
    assert trial.note == "Cancelled; what was measured stays"
    engine.endless_experiments = False
    engine.failure = Failure("crash", "The device is gone.")
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    assert trial.failed
    assert trial.note == "The device is gone."


def test_what_won_is_told_of_what_is_looked_at(trial):
    trial.sweep = make_sweep(sizes=(64, 256))
    trial.report = make_report(trial.sweep)
    small, large = (winner.words for winner in trial.report.winners)
    assert trial.winner_words({"Shape": "256³"}) == large
    assert trial.winner_words({"BM": 32}) == f"{small} {large}"


def test_a_configuration_goes_into_the_setup_bar(state, trial):
    trial.sweep = make_sweep(sizes=(64,))
    configuration = make_report(trial.sweep).cells[3].configuration
    state.choose_variant(kernel("tiled"))
    trial.use(configuration)
    assert state.setup.variant.id == "register_2d"
    assert state.setup.parameters == configuration.parameters
    assert (state.setup.m, state.setup.square, state.setup.element) == (64, True, "float")
    assert state.device == trial.sweep.devices[0]


# --- what is kept


def test_a_sweep_that_an_earlier_session_began_goes_on(qtbot, state, engine, trial, tmp_path):
    assert not state.archive.open(tmp_path / "results.gemmviz")
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64", policy=QUICK))
    sweep = trial.drafted
    report = make_report(sweep)
    store = state.archive.store
    number = store.put_sweep(identity(sweep))
    experiment = RunSweep(1, sweep)
    for place in (0, 2):
        store.add(result_of(experiment, report, place), number)
    words = counted(qtbot, trial)
    assert words.endswith("; 2 measured before")
    assert {cell.configuration for cell in trial.kept} == {
        report.cells[place].configuration for place in (0, 2)
    }
    engine.finding = report
    trial.resume()
    qtbot.waitUntil(lambda: not trial.running)
    (asked,) = engine.performed
    assert asked.sweep == sweep
    assert len(asked.done) == 2
    first, other = (report.cells[place].configuration for place in (0, 1))
    assert trial.can_open(first)
    assert not trial.can_open(other)
    trial.open(first)
    assert state.shown.job.parameters == first.parameters
    trial.change(replace(trial.draft, shapes="128"))
    assert not trial.kept
    assert trial.can_open(first)  # the sweep that is shown is still the other one
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    assert not engine.performed[-1].done
    assert not trial.can_open(first)


def test_the_last_sweep_of_the_file_fills_the_form(state, trial, tmp_path):
    assert not state.archive.open(tmp_path / "results.gemmviz")
    with pytest.raises(DraftError, match="has no sweep"):
        last_draft(state)
    draft = replace(trial.draft, kernels=("tiled",), shapes="64, 8x16x32", policy=QUICK)
    trial.change(draft.with_value(("tiled", "TS", 4), False))
    sweep = trial.drafted
    store = state.archive.store
    store.put_sweep(identity(sweep))
    trial.preset()
    trial.change(last_draft(state))
    assert trial.drafted == sweep
    store.put_sweep(identity(sweep).replace('"id": "tiled"', '"id": "../tiled.toml"'))
    with pytest.raises(DraftError, match="no kernel"):
        last_draft(state)
    store.put_sweep("{}")
    with pytest.raises(DraftError, match="cannot be read"):
        last_draft(state)


def test_numbers_of_another_file_or_device_open_nothing(qtbot, state, engine, trial, tmp_path):
    assert not state.archive.open(tmp_path / "results.gemmviz")
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64", policy=QUICK))
    sweep = trial.drafted
    report = make_report(sweep)
    store = state.archive.store
    store.add(result_of(RunSweep(1, sweep), report, 0), store.put_sweep(identity(sweep)))
    assert counted(qtbot, trial).endswith("; 1 measured before")
    first = report.cells[0].configuration
    assert not trial.can_open(first)  # of what is shown, which is nothing yet
    engine.finding = report
    trial.resume()
    qtbot.waitUntil(lambda: not trial.running)
    assert trial.can_open(first)
    assert not state.archive.open(tmp_path / "other.gemmviz")
    assert not trial.can_open(first)
    assert not trial.kept
    assert not counted(qtbot, trial).endswith("before")


def test_what_the_window_measures_is_saved_as_part_of_the_sweep(
    qtbot, state, engine, trial, tmp_path
):
    file = tmp_path / "results.gemmviz"
    assert not state.archive.open(file)
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64"))

    def perform(experiment):
        report = make_report(experiment.sweep)
        yield CellMeasured(experiment.job_id, report.cells[1], result_of(experiment, report, 1))
        yield Outcome(experiment, report)

    engine.perform = perform
    sweep = trial.drafted
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    state.archive.close()
    with_store = ResultStore.open(file)
    ((number, text),) = with_store.sweeps()
    assert text == identity(sweep)
    ((_, result),) = with_store.results(number)
    assert result.job.parameters == make_report(sweep).cells[1].configuration.parameters
    with_store.close()


def test_what_becomes_the_default_is_said_before():
    sweep = make_sweep(sizes=(64, 256))
    report = make_report(sweep)
    text = saving_words(sweep, report.winners)
    first, other, where = text.split("\n")
    assert first.startswith("2-D register blocking will start with BM=64")
    assert "on pthread-cpu · PoCL 3.0-rc2 (measured at 64 × 64 × 64 float)." in first
    assert "256 × 256 × 256 float" in other
    assert "each for the shapes nearest to it" in where
    assert str(own_file()) in where
    one = report.winners[0]
    assert "for all shapes" in saving_words(sweep, [one])
    assert "cannot be told apart" not in saving_words(
        sweep, [replace(one, best_set=(one.recommended,))]
    )
    tied = replace(
        one, best_set=(one.recommended, *(cell.configuration for cell in report.cells[:2]))
    )
    assert "float; 2 others cannot be told apart from it)." in saving_words(sweep, [tied])
    last = one.best_set[-1]
    (chosen,) = winners_with(report, last)
    assert chosen.recommended == last
    slow = report.cells[0].configuration
    assert not winners_with(report, slow)
    assert not saving_words(sweep, ())
