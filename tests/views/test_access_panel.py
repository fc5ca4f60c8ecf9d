from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, QPersistentModelIndex, Qt, Signal

from gemmviz.app.access_table import TONE_ROLE, AccessTableModel, PadTableModel
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.report import Pad, Unknown
from gemmviz.core.experiments import MeasureCeilings
from gemmviz.core.limits import named_limits
from gemmviz.views.access_panel import AccessPanel
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import H200, POCL
from tests.views.access_scenes import mygemm_1, report, transposed_tile, variant

PADS = (
    Pad(0, ((3, 8), (4, 1)), 900, 2048),
    Pad(1, ((3, 1), (4, 1)), 200, 2176),
    Pad(2, ((3, 1), (4, 1)), 200, 2304),
)


class FakeLens(QObject):
    """Knows what a test puts into it, and notes what it was asked."""

    report_ready = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.scene = transposed_tile()
        self.answer = None
        self.touches = None
        self.found_pads = None
        self.machines = []

    def know(self, scene=None, pads=PADS) -> None:
        """Let the answers be there."""
        self.scene = scene or self.scene
        self.answer, self.touches = self.scene.report, self.scene.touches
        self.found_pads = pads
        self.report_ready.emit()

    def report(self, *about):
        self.machines.append(about[-1])
        return self.answer

    def picture(self, *about):
        return self.touches

    def pads(self, *about):
        return self.found_pads

    def known(self, *about):
        return None, None, None

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def lens(state) -> FakeLens:
    state.lens = FakeLens()
    state.change(replace(state.setup.with_variant(variant("tiled")), m=128, n=128, k=128))
    return state.lens


@pytest.fixture
def panel(qtbot, state, lens) -> AccessPanel:
    panel = AccessPanel(state)
    qtbot.addWidget(panel)
    panel.set_theme(DARK)
    panel.resize(830, 540)
    panel.show()
    return panel


def test_it_says_that_it_works_then_shows_the_answer(panel, lens):
    assert "Working out" in panel.chart.empty_text
    assert panel.chart.is_empty()
    lens.know()
    assert not panel.chart.is_empty()
    assert "4 FLOP/B" in panel.totals.text()
    assert panel.machine.text().startswith("32 lanes and 32 banks: assumed")
    assert panel.table.model().rowCount() == 5
    assert panel.pads.model.rowCount() == 3
    assert panel.pads.verdict.text() == "Pad +1: 200 passes instead of 900"
    assert panel.unknown.isHidden()


def test_the_report_stands_while_the_picture_is_still_drawn_up(panel, lens):
    lens.answer = lens.scene.report
    lens.report_ready.emit()
    assert panel.table.model().rowCount() == 5
    assert panel.chart.is_empty()
    lens.know()
    assert panel.chart.steps == 128


def test_why_nothing_can_be_said_is_one_sentence(panel, lens):
    lens.answer = LensError("Line 3 cannot be parsed: a struct.", 3)
    lens.report_ready.emit()
    assert panel.chart.empty_text == "Line 3 cannot be parsed: a struct."
    assert panel.chart.is_empty()
    assert panel.table.isHidden()
    assert panel.title() is None


def test_nothing_is_asked_while_no_one_looks(panel, state, lens):
    panel.hide()
    asked = len(lens.machines)
    state.change(state.setup.with_parameter("TS", 8))
    assert len(lens.machines) == asked
    panel.show()
    assert len(lens.machines) > asked


def test_nothing_is_asked_while_a_kernel_is_timed_in_quiet(panel, state, lens, monkeypatch):
    asked = len(lens.machines)
    monkeypatch.setattr(type(state), "quiet", property(lambda _: True))
    state.change(state.setup.with_parameter("TS", 8))
    assert len(lens.machines) == asked
    assert "waits" in panel.chart.empty_text
    monkeypatch.undo()
    state.job_ended.emit(1)
    assert len(lens.machines) > asked
    assert "Working out" in panel.chart.empty_text


def test_nothing_is_asked_while_an_experiment_goes_on(qtbot, panel, state, lens, engine):
    asked = len(lens.machines)
    engine.endless_experiments = True
    number = state.laboratory.next_id()
    with qtbot.waitSignal(state.laboratory.experiment_started):
        state.laboratory.start(MeasureCeilings(number, state.device))
    state.change(state.setup.with_parameter("TS", 8))
    assert len(lens.machines) == asked
    assert "waits" in panel.chart.empty_text
    with qtbot.waitSignal(state.laboratory.experiment_ended):
        state.laboratory.stop(number)
    assert len(lens.machines) > asked


def test_the_machine_follows_the_gpu_and_what_if(panel, state, lens):
    state.select_device(H200)
    assert lens.machines[-1].vendor == "NVIDIA"
    assert "9.0" in lens.machines[-1].source
    state.choose_what_if(named_limits("gfx90a"))
    assert lens.machines[-1].warp == 64
    state.choose_what_if(None)
    state.select_device(POCL)
    assert lens.machines[-1].source.startswith("assumed")
    lens.know()
    assert "CPU" in panel.machine.text()


def test_choosing_a_row_shows_that_access(panel, lens):
    lens.know()
    panel.table.selectRow(4)
    assert panel.table.chosen == 4
    assert "Bsub" in panel.chart._bank_heading.text[1][1].text
    assert "Bsub, line 41" in panel.steps.position.text()


def test_warps_and_steps_move_the_picture(panel, lens):
    lens.know()
    assert panel.steps.warp.count() == 9
    panel.steps.warp.setCurrentIndex(3)
    assert panel.chart._matrices.shown["C"].cells.rows.min() == 6
    panel.steps.warp.setCurrentIndex(8)
    assert len(panel.chart._matrices.shown["C"].cells.rows) == 256
    panel.steps.slider.setValue(20)
    assert "execution 21 of 128" in panel.steps.position.text()


def test_playing_goes_round_and_ends_when_hidden(qtbot, panel, lens):
    lens.know()
    panel.steps.slider.setValue(127)
    panel.steps._timer.setInterval(1)
    panel.steps.play.click()
    assert panel.steps.playing
    qtbot.waitUntil(lambda: panel.steps.slider.value() < 100)
    panel.hide()
    assert not panel.steps.playing
    panel.show()
    panel.steps.play.click()
    panel.steps.play.click()
    assert not panel.steps.playing


def test_a_kernel_of_one_step_has_nothing_to_play(panel, lens):
    scene = mygemm_1()
    parts = tuple(replace(part, elements=part.elements[:1]) for part in scene.touches)
    lens.know(replace(scene, touches=parts))
    assert not panel.steps.play.isEnabled()
    assert panel.steps.slider.maximum() == 0


def test_what_is_unknown_is_a_warning_with_its_line(panel, lens):
    scene = transposed_tile()
    unknown = (Unknown(31, "async copies cannot be followed"),)
    lens.know(replace(scene, report=replace(scene.report, unknowns=unknown)))
    assert "Line 31: async copies cannot be followed" in panel.unknown.text()
    assert not panel.unknown.isHidden()
    assert any(line.tone == "warn" for line in panel.title()[1])


def test_a_low_panel_shows_one_part_at_a_time(panel, lens):
    lens.know()
    assert panel.part.isHidden()
    panel.resize(532, 280)
    assert not panel.part.isHidden()
    seen = []
    for word in ("Cells", "Banks", "Table", "Pads"):
        panel.part.buttons[word].click()
        parts = panel.chart, panel.table, panel.pads
        seen.append(tuple(part.isVisible() for part in parts))
    assert seen == [(True, False, False), (True, False, False), (False, True, False),
                    (False, False, True)]  # fmt: skip
    panel.part.buttons["Banks"].click()
    panel.chart.settle()
    assert panel.chart._banks.isVisible()
    assert not panel.chart._matrices.isVisible()
    lens.know(pads=())
    assert not panel.part.buttons["Pads"].isEnabled()


def test_a_conflict_marks_the_parts_that_are_out_of_sight(panel, lens):
    lens.know()
    panel.resize(532, 280)
    for word in ("Banks", "Table"):
        button = panel.part.buttons[word]
        assert button.accessibleName() == f"{word}: 8-way bank conflict"
        assert button.toolTip() == "8-way bank conflict: Asub[...], line 40"
        assert not button.icon().isNull()
    assert panel.part.buttons["Cells"].icon().isNull()
    lens.know(transposed_tile(pad=1))
    for word in ("Banks", "Table"):
        button = panel.part.buttons[word]
        assert button.accessibleName() == word
        assert button.icon().isNull()
        assert "room for one" in button.toolTip()
    panel.part.buttons["Banks"].click()
    assert panel.part.word == "Banks"


def test_the_headline_gives_way_by_whole_parts(panel, lens):
    lens.know()
    headline = panel.totals
    assert headline.text().startswith("8-way bank conflict  ·  global 1 MiB asked, 4 MiB moved")
    shown = []
    for width in (1600, 700, 300, 40):
        headline.resize(width, 20)
        shown.append(headline.shown())
    assert shown[0] == headline.text()
    assert shown[0].startswith(shown[1])
    assert shown[1].endswith(" naive") or shown[1].endswith("FLOP/B")
    assert shown[2].startswith("8-way conflict  ·  25 % used")
    assert shown[3] == "8-way conflict"
    assert headline.toolTip() == headline.text()


def test_what_would_be_wrong_or_refused_is_a_line(panel, state, lens):
    lens.know()
    assert panel.caution.isHidden()
    changed = state.setup.with_variant(variant("barriers_tiled"))
    lens.scene = replace(lens.scene, report=replace(lens.scene.report))  # another answer
    lens.answer = lens.scene.report
    state.change(changed)
    assert not panel.caution.isHidden()
    assert panel.caution.text().startswith("The answer is wrong at this shape.")
    assert any("The answer is wrong" in line.text for line in panel.title()[1])


def test_no_pattern_is_cut(panel, lens):
    long = "a few words more than any column would ever have room for in a window of this size"
    scene = transposed_tile()
    accesses = replace(scene.report.accesses[0], pattern=long), *scene.report.accesses[1:]
    lens.know(replace(scene, report=replace(scene.report, accesses=accesses)))
    last = panel.table.model().columnCount() - 1
    needed = panel.table.fontMetrics().horizontalAdvance(long)
    assert panel.table.columnWidth(last) >= needed
    tip = panel.table.model().index(0, last).data(Qt.ItemDataRole.ToolTipRole)
    assert long in tip


def test_a_kernel_without_local_memory_has_no_pads(panel, lens):
    lens.know(mygemm_1(), pads=())
    assert panel.pads.isHidden()
    assert panel.table.isVisible()


def test_the_export_is_titled_with_kernel_and_totals(panel, lens):
    lens.know()
    title, lines = panel.title()
    assert title == "Tiled in local memory TS=16, 128 × 128 × 128 float"
    assert "FLOP/B" in lines[0].text
    assert panel.chart.export_title == f"Access of {title}"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("size", [(830, 540), (532, 280), (360, 240)])
def test_it_paints_at_every_size_in_both_themes(panel, lens, theme, size):
    lens.know()
    panel.set_theme(theme)
    panel.resize(*size)
    assert panel.chart.theme is theme
    image = panel.grab().toImage()
    spots = [(x, y) for x in range(0, size[0], 3) for y in range(0, size[1], 3)]
    seen = {image.pixelColor(*spot).name() for spot in spots}
    assert len(seen) > 20


# Models


def test_the_models_keep_qts_rules(qtmodeltester):
    accesses, pads = AccessTableModel(), PadTableModel()
    made = transposed_tile().report
    accesses.set_report(made)
    pads.set_pads(PADS, made)
    for model in (accesses, pads):
        qtmodeltester.check(model)


def test_an_access_is_a_row_with_its_cost_and_what_is_thought_of_it(qtbot):
    model = AccessTableModel()
    model.set_report(mygemm_1(swapped=True).report)
    row = [model.index(1, column).data() for column in range(model.columnCount())]
    assert row == ["33", "B[...]", "global load", "16 sectors", "2", "1 KiB", "some words"]
    assert [model.index(row, 0).data(TONE_ROLE) for row in range(3)] == ["good", "bad", "bad"]
    model.set_report(transposed_tile().report)
    assert model.index(3, 3).data() == "8 passes"
    tip = model.index(3, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "local memory" in tip
    assert "worst warp 8 passes" in tip
    assert QPersistentModelIndex(model.index(0, 0)).isValid()
    model.set_report(None)
    assert model.rowCount() == 0


def test_the_best_pad_has_the_fewest_passes_then_bytes(qtbot):
    model = PadTableModel()
    model.set_pads(PADS, transposed_tile().report)
    assert model.best is PADS[1]
    assert model.index(1, 0).data() == "✓ +1"
    assert model.index(0, 2).data() == "8"
    assert model.index(1, 1).data(TONE_ROLE) == "good"
    assert "Asub[...], line 40: 8 passes" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    model.set_pads((), report())
    assert model.best is None
