from __future__ import annotations

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QMessageBox

from gemmviz.core.claim_list import CLAIMS
from gemmviz.core.claims import OUTCOMES, ClaimResult
from gemmviz.core.experiments import Outcome, TryClaims
from gemmviz.core.messages import ClaimTried, Progressed
from gemmviz.core.model import Failure
from gemmviz.views.charts.claims import ClaimsChart
from gemmviz.views.claims_panel import ClaimsPanel
from gemmviz.views.export import save_png
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import H200, POCL
from tests.views.window_parts import shown_tabs

HOLDS, FAILS, OPEN = OUTCOMES


def tried(number: int, outcome: str = HOLDS) -> ClaimResult:
    claim = CLAIMS[number]
    return ClaimResult(
        claim.id, claim.document, claim.statement, outcome,  # type: ignore[arg-type]
        f"Measured {number}.", f"Because {number}.",
    )  # fmt: skip


RESULTS = (tried(0, FAILS), tried(1), tried(2, OPEN))


@pytest.fixture
def panel(qtbot, state):
    state.select_device(POCL)
    panel = ClaimsPanel(state)
    qtbot.addWidget(panel)
    panel.set_theme(DARK)
    panel.resize(720, 480)
    panel.show()
    return panel


def wait_until_idle(qtbot, panel):
    qtbot.waitUntil(lambda: not panel.trials.running)


def test_every_statement_is_listed_below_its_document(panel):
    tree = panel.tree
    documents = [tree.topLevelItem(index) for index in range(tree.topLevelItemCount())]
    assert [item.text(0) for item in documents] == list(
        dict.fromkeys(claim.document for claim in CLAIMS)
    )
    assert sum(item.childCount() for item in documents) == len(CLAIMS)
    assert panel.chosen == CLAIMS[0]
    assert panel.outcome.text() == "Not tried"
    assert not panel.report.isEnabled()
    assert not panel.stop.isEnabled()


def test_run_all_fills_the_list_and_the_details(qtbot, panel, engine):
    engine.finding = RESULTS
    panel.run_all.click()
    wait_until_idle(qtbot, panel)
    (experiment,) = engine.performed
    assert isinstance(experiment, TryClaims)
    assert (experiment.ids, experiment.device) == ((), POCL)
    assert {variant.id for variant in experiment.variants} >= {"tiled", "mygemm_1b"}
    texts = [panel._items[result.id].text(1) for result in RESULTS]
    assert texts == [FAILS, HOLDS, OPEN]
    assert panel._items[CLAIMS[3].id].text(1) == ""
    inks = [panel._items[r.id].foreground(1).color().name() for r in RESULTS]
    assert inks == [DARK.bad, DARK.good, DARK.muted]
    assert not panel._items[CLAIMS[0].id].icon(1).isNull()
    assert panel.outcome.text() == "Does not hold here"
    assert panel.outcome.property("state") == "bad"
    assert panel.measured.text() == "Measured 0."
    assert panel.reason.text() == "Because 0."
    assert "1 holds, 1 does not hold here, 1 cannot be tested here" in panel.note.text()
    panel.tree.setCurrentItem(panel._items[CLAIMS[2].id])
    assert panel.outcome.text() == "Cannot be tested here"
    assert panel.reason.text() == "Because 2."


def test_run_tries_the_chosen_statement_alone(qtbot, panel, engine):
    engine.finding = (tried(4),)
    panel.tree.setCurrentItem(panel._items[CLAIMS[4].id])
    panel.run.click()
    wait_until_idle(qtbot, panel)
    assert engine.performed[0].ids == (CLAIMS[4].id,)
    assert panel._items[CLAIMS[4].id].text(1) == HOLDS


def test_results_come_one_by_one_and_a_stop_keeps_them(qtbot, panel, engine):
    def perform(experiment):
        yield Progressed(experiment.job_id, 0.25, "Simulating tiled")
        yield ClaimTried(experiment.job_id, RESULTS[0])
        while not engine.wait_stopped(experiment.job_id, 0.002):
            pass
        yield Outcome(experiment, RESULTS[:1], stopped=True)

    engine.perform = perform
    panel.run_all.click()
    qtbot.waitUntil(lambda: panel._items[CLAIMS[0].id].text(1) == FAILS)
    assert panel.trials.running
    assert panel.note.text() == "Simulating tiled"
    assert panel.meter.isVisible()
    assert panel.meter.value() == 250
    assert not panel.run.isEnabled()
    assert "being tried" in panel.run.toolTip()
    panel.stop.click()
    wait_until_idle(qtbot, panel)
    assert panel.note.text() == "Stopped"
    assert panel._items[CLAIMS[0].id].text(1) == FAILS
    assert panel.run.isEnabled()
    assert not panel.meter.isVisible()


def test_a_failure_is_said_and_the_next_trial_forgets_it(qtbot, panel, engine):
    engine.failure = Failure("refused", "A simulator's speed says nothing.")
    panel.run.click()
    wait_until_idle(qtbot, panel)
    assert panel.note.text() == "A simulator's speed says nothing."
    assert panel.note.property("state") == "bad"
    engine.failure, engine.finding = None, RESULTS
    panel.run_all.click()
    wait_until_idle(qtbot, panel)
    assert panel.note.property("state") == ""
    assert panel.note.text().startswith("On pthread-cpu")


def test_each_device_has_results_of_its_own(qtbot, panel, engine, state):
    engine.finding = RESULTS
    panel.run_all.click()
    wait_until_idle(qtbot, panel)
    state.select_device(H200)
    assert panel.trials.results == ()
    assert panel._items[CLAIMS[0].id].text(1) == ""
    assert panel.outcome.text() == "Not tried"
    assert "to be tried on NVIDIA H200" in panel.note.text()
    state.select_device(POCL)
    assert panel.trials.results == RESULTS


def test_the_page_is_written_and_a_folder_that_is_missing_is_said(
    qtbot, panel, engine, tmp_path, monkeypatch
):
    engine.finding = RESULTS
    panel.run_all.click()
    wait_until_idle(qtbot, panel)
    assert panel.report.isEnabled()
    with qtbot.waitSignal(panel.told) as told:
        panel.save_report(tmp_path / "claims.html")
    assert told.args == [f"Saved {tmp_path / 'claims.html'}"]
    page = (tmp_path / "claims.html").read_text(encoding="utf-8")
    assert "Measured 0." in page
    assert "pthread-cpu" in page
    warned: list[str] = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *parts: warned.append(parts[-1]))
    panel.save_report(tmp_path / "nowhere" / "claims.html")
    assert "nowhere" in warned[0]


def test_the_picture_has_every_row_at_a_size_to_read(qtbot, panel, engine, tmp_path):
    engine.finding = RESULTS
    panel.run_all.click()
    wait_until_idle(qtbot, panel)
    panel.catch_up()
    assert panel.chart.results == RESULTS
    assert not panel.chart.isVisible()
    assert panel.title() is None
    assert panel.chart.export_title == "Claims on pthread-cpu · PoCL 3.0-rc2"
    save_png(panel.chart, tmp_path / "claims.png", theme=LIGHT)
    image = QImage(str(tmp_path / "claims.png"))
    assert image.width() >= 1300
    inks = {image.pixelColor(x, y).name() for x in range(200) for y in range(image.height())}
    assert LIGHT.bad in inks
    assert LIGHT.good in inks


def test_an_empty_chart_says_so(qtbot):
    chart = ClaimsChart(theme=LIGHT)
    qtbot.addWidget(chart)
    assert chart.is_empty()
    chart.set_results(RESULTS, "here")
    assert not chart.is_empty()
    assert chart.minimumHeight() < 300


def test_the_tab_is_there_and_exports_its_chart(qtbot, state):
    tabs = shown_tabs(qtbot, state)
    tabs.setCurrentWidget(tabs.claims)
    assert tabs.tabText(tabs.currentIndex()) == "Claims"
    assert tabs.chart is tabs.claims.chart
