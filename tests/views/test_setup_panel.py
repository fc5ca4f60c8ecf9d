from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLabel, QWidget

from gemmviz.core.catalog import Catalog
from gemmviz.core.policy import CAREFUL, QUICK, STANDARD, UNTIL_STOPPED, Policy, fixed
from gemmviz.views.menus import Menus
from gemmviz.views.option_combo import TRAIL_ROLE
from gemmviz.views.settings_dialog import SettingsDialog
from gemmviz.views.setup_bar import SetupBar
from tests.app.fake_engine import (
    H200,
    INTEL,
    POCL,
    endless_run,
)


@pytest.fixture
def bar(qtbot, state):
    menus = Menus(state, state)
    made = SetupBar(state, menus.run, menus.stop)
    qtbot.addWidget(made)
    made.show()
    return made


def texts(combo):
    return [combo.itemText(row) for row in range(combo.count())]


def enabled(combo, row):
    return bool(combo.model().item(row).flags() & Qt.ItemFlag.ItemIsEnabled)


def test_kernels_are_grouped_and_carry_their_verdict(bar, state):
    combo = bar.kernel
    headings = [row for row in range(combo.count()) if not combo.model().item(row).flags()]
    assert {combo.itemText(row) for row in headings} == {
        "Ladder: one idea a step",
        "As published",
        "For CPUs",
        "Tensor cores",
        "Libraries to compare with",
    }
    row = next(row for row, text in enumerate(texts(combo)) if text.startswith("Tiling article: t"))
    assert combo.itemData(row, TRAIL_ROLE) == "✗ wrong"
    assert "diagonal" in combo.itemData(row, Qt.ItemDataRole.ToolTipRole)


def test_a_library_that_cannot_run_is_greyed_and_says_why(bar, state):
    combo = bar.kernel

    def of(variant_id):
        row = combo._rows.index(state.catalog.find(variant_id))
        return enabled(combo, row), combo.itemData(row, Qt.ItemDataRole.ToolTipRole)

    state.select_device(POCL)
    assert of("blas")[0]
    possible, why = of("cublas")
    assert not possible
    assert why == f"cuBLAS runs on an NVIDIA device alone, and {POCL.name} is none."
    state.select_device(H200)
    assert of("blas") == (False, f"numpy's BLAS runs on a CPU alone, and {H200.name} is none.")
    assert of("tiled")[0]


def test_choosing_a_kernel_shows_its_parameters_and_badge(qtbot, bar, state):
    variant = state.catalog.find("mygemm_2")
    bar.kernel.activated.emit(bar.kernel._rows.index(variant))
    assert state.setup.variant is variant
    assert list(bar._parameters) == ["TS", "PAD"]
    assert bar.badge.isVisible()
    assert bar.badge.text() == "△ right where TS divides M, N, K"
    assert bar.summary.text() == variant.summary
    assert not bar.message.isVisible()


def test_impossible_parameters_are_greyed_with_the_reason(bar, state):
    state.select_device(replace(POCL, max_work_group_size=256))
    combo = bar._parameters["TS"]
    row = texts(combo).index("32")
    assert not enabled(combo, row)
    assert "1024" in combo.itemData(row, TRAIL_ROLE)
    assert "256" in combo.itemData(row, Qt.ItemDataRole.ToolTipRole)
    assert enabled(combo, texts(combo).index("16"))


def test_element_types_that_the_device_lacks_are_greyed(bar, state):
    assert not enabled(bar.element, texts(bar.element).index("half"))
    state.select_device(INTEL)
    assert enabled(bar.element, texts(bar.element).index("half"))


def test_one_size_field_while_locked_and_three_while_free(qtbot, bar, state):
    fields = bar.sizes.fields
    assert [field.isVisible() for field in fields.values()] == [True, False, False]
    qtbot.mouseClick(bar.sizes.lock, Qt.MouseButton.LeftButton)
    assert [field.isVisible() for field in fields.values()] == [True, True, True]
    fields["n"].setValue(100)
    assert (state.setup.m, state.setup.n, state.setup.k) == (512, 100, 512)


def test_a_square_kernel_holds_the_lock(bar, state):
    state.choose_variant(state.catalog.find("tradeoffs_tiled"))
    assert not bar.sizes.lock.isEnabled()
    assert bar.sizes.lock.isChecked()


def test_presets_set_the_size_and_refuse_what_does_not_fit(bar, state):
    state.select_device(replace(POCL, max_alloc_bytes=2**26))
    bar.sizes._menu.aboutToShow.emit()
    actions = bar.sizes._menu.actions()
    assert [action.isEnabled() for action in actions] == [True, True, True, True, False, False]
    assert "MiB" in actions[-1].text()
    actions[2].trigger()
    assert state.setup.m == 1024


def test_a_size_counts_while_it_is_typed(qtbot, bar, state):
    field = bar.sizes.fields["m"]
    field.setFocus()
    field.selectAll()
    for typed, size in (("1", 1), ("0", 10), ("2", 102), ("4", 1024)):
        qtbot.keyClicks(field, typed)
        assert state.setup.m == size
        assert field.text() == str(size)
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    assert state.setup.m == 102


def stops(bar):
    """What the Tab key visits in the bar, in order."""
    chain = [bar.kernel]
    while (following := chain[-1].nextInFocusChain()) is not bar.kernel and len(chain) < 500:
        chain.append(following)
    kinds = (QComboBox, QAbstractSpinBox, QAbstractButton)
    return [one for one in chain if isinstance(one, kinds) and one.isVisibleTo(bar)]


def test_tab_goes_from_left_to_right_whatever_the_kernel(bar, state):
    state.change(state.setup.with_square(False))
    for kernel in ("tiled", "register_2d", "tiling_tiled", "mygemm_2"):
        state.choose_variant(state.catalog.find(kernel))
        sizes = bar.sizes
        assert stops(bar) == [
            bar.kernel, *bar._parameters.values(), *sizes.fields.values(), sizes.lock,
            sizes.presets, bar.element, bar.form, bar.measure, bar.settings, bar.run_button,
            bar.stop_button,
        ]  # fmt: skip


def test_alt_letters_are_unique_and_not_those_of_the_menus(bar, state):
    for variant in state.catalog.variants:
        state.choose_variant(variant)
        state.change(state.setup.with_square(False))
        labels = [found for found in bar.findChildren(QLabel) if found.isVisible()]
        captions = [found for found in labels if "&" in found.text()]
        assert all(found.buddy() for found in captions)
        letters = [found.text()[found.text().index("&") + 1].upper() for found in captions]
        assert len(letters) == len(set(letters))
        assert not set(letters) & set("FRVDSH")
        assert {"L", "M", "E", "U"} <= set(letters)


def test_a_long_title_is_cut_and_nothing_spills_over(bar, state):
    variant = replace(state.catalog.find("tiled"), title="A title that has no end " * 8)
    state.catalog = Catalog((variant,), ())
    state.catalog_loaded.emit()
    state.choose_variant(variant)
    assert bar.kernel.sizeHint().width() <= 320
    for width in (1024, 480, 240):
        bar._choices.setGeometry(QRect(0, 0, width, 400))
        assert all(item.geometry().right() < width for item in bar._choices._shown())


def test_how_long_to_measure_is_chosen_by_name_with_the_numbers_beside(bar, state):
    combo = bar.measure
    assert texts(combo) == ["Quick", "Standard", "Careful", "Until stopped", "Custom..."]
    assert combo.currentText() == "Standard"
    for word in ("10 samples", "0.5 s", "±1 %", "15 s"):
        assert word in combo.toolTip()
        assert word in combo.itemData(1, TRAIL_ROLE)
    combo.activated.emit(2)
    assert state.setup.policy == CAREFUL
    assert combo.currentText() == "Careful"
    combo.activated.emit(3)
    assert state.setup.policy == UNTIL_STOPPED


def test_a_policy_of_ones_own_is_shown_and_keeps_its_cache(bar, state):
    state.change(replace(state.setup, policy=replace(fixed(7), cache="flush")))
    assert bar.measure.currentText() == "7 launches, flushed"
    bar.measure.activated.emit(0)
    assert state.setup.policy == replace(QUICK, cache="flush")
    assert bar.measure.currentText() == "Quick, flushed"
    assert "7 launches" not in texts(bar.measure)


def test_custom_opens_the_settings_and_changes_nothing_itself(bar, state):
    row = texts(bar.measure).index("Custom...")
    bar.measure.setCurrentIndex(row)
    bar.measure.activated.emit(row)
    assert bar.measure.currentText() == "Standard"
    dialog = bar.window().findChild(SettingsDialog)
    assert dialog.isVisible()
    dialog.reject()
    bar.settings.click()
    assert any(found.isVisible() for found in bar.window().findChildren(SettingsDialog))


@pytest.fixture
def window(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def settings(state, window):
    made = SettingsDialog(state, window)
    made.show()
    return made


def test_each_number_of_a_policy_can_be_set(settings, state):
    fields = settings.policy
    fields.warm_ups.setValue(4)
    fields.min_samples.setValue(20)
    fields.min_seconds.setValue(0.25)
    fields.target.setValue(0.5)
    fields.limit.setValue(7.5)
    assert fields.preset.currentText() == "Custom"
    settings.cache.setCurrentIndex(settings.cache.findData("rotating"))
    assert "copies" in settings.cache_words.text()
    settings.per_launch.setChecked(True)
    settings.quiet.setCurrentText("On")
    settings._on_accepted()
    assert state.setup.policy == Policy(4, 20, 0.25, 0.005, 7.5, cache="rotating", per_launch=True)
    assert state.setup.quiet is True


def test_every_preset_survives_the_fields(settings, state):
    fields = settings.policy
    for row, policy in enumerate((QUICK, STANDARD, CAREFUL, UNTIL_STOPPED)):
        fields.preset.activated.emit(row)
        fields._on_edited()
        assert fields.policy == policy
    settings._on_accepted()
    assert state.setup.policy == UNTIL_STOPPED


def test_no_limit_is_a_word_and_a_fixed_number_of_launches_needs_no_target(settings, state):
    fields = settings.policy
    fields.launches.setValue(250)
    assert not fields.target.isEnabled()
    assert not fields.min_samples.isEnabled()
    fields.limit.setValue(0)
    assert fields.limit.text() == "none"
    assert "250 launches" in fields.words.text()
    settings._on_accepted()
    assert state.setup.policy == fixed(250)


def test_the_settings_fit_on_a_small_screen(settings):
    assert settings.minimumSizeHint().width() <= 1000
    assert settings.minimumSizeHint().height() <= 620


def test_a_refusal_disables_run_and_says_why_in_full(bar, state):
    assert bar.run_button.isEnabled()
    state.choose_variant(state.catalog.find("mygemm_2"))
    state.change(state.setup.with_all_sizes(500))
    assert not bar.run_button.isEnabled()
    assert "500" in bar.message.text()
    assert bar.message.property("state") == "bad"


def test_the_bar_fits_in_two_rows_at_1024_pixels(bar, state):
    one_row = bar.run_button.height()
    assert bar.minimumSizeHint().width() <= 1024
    for kernel, rows in (("tiled", 2), ("tiling_tiled", 2)):
        state.choose_variant(state.catalog.find(kernel))
        assert bar._choices.heightForWidth(800) <= rows * (one_row + 8)


def test_run_says_on_how_many_devices_and_queue_while_one_runs(qtbot, bar, state, engine):
    state.tick_device(POCL.key, True)
    state.tick_device(INTEL.key, True)
    assert bar.run_button.text() == "Run on 2"
    assert "take turns" in bar.message.text()
    assert bar.summary.text() == state.setup.variant.summary
    engine.script = endless_run
    qtbot.mouseClick(bar.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(state.active))
    assert bar.run_button.text() == "Queue on 2"
    assert bar.stop_button.isEnabled()
    qtbot.mouseClick(bar.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not state.active)
    assert not bar.stop_button.isEnabled()


def test_more_is_greyed_with_the_reason_for_a_kernel_that_only_multiplies(bar, state):
    assert not bar.form.isEnabled()
    assert bar.form.toolTip().startswith("Tiled in local memory computes C = A B alone")
    assert "alpha and beta" in bar.form.toolTip()
    assert bar.form.text() == "More"
    state.choose_variant(state.catalog.find("cpu_best"))
    assert bar.form.isEnabled()
    assert "C = A B" in bar.form.toolTip()


def test_more_asks_for_transposes_storage_alpha_and_beta(qtbot, bar, state):
    state.choose_variant(state.catalog.find("cpu_best"))
    form = bar.form
    assert texts(form.transpose) == ["A B", "A Bᵀ", "Aᵀ B", "Aᵀ Bᵀ"]
    form.transpose.setCurrentIndex(2)
    form.transpose.activated.emit(2)
    form.order.activated.emit(2)
    for field, typed in ((form.alpha, "0.5"), (form.beta, "-2e0")):
        field.clear()
        qtbot.keyClicks(field, typed)
        qtbot.keyClick(field, Qt.Key.Key_Return)
    problem = state.setup.problem()
    assert (problem.transpose, problem.order, problem.alpha, problem.beta) == (
        "tn", "column", 0.5, -2.0
    )  # fmt: skip
    assert form.text() == "More: TN, column by column, alpha 0.5, beta -2"
    assert form.formula.text() == "C = 0.5 Aᵀ B - 2 C, column by column"
    form.plain.click()
    assert state.setup.problem().is_plain
    assert (form.alpha.text(), form.beta.text(), form.text()) == ("1", "0", "More")
    assert (form.transpose.currentText(), form.order.currentIndex()) == ("A B", 0)


def test_tab_goes_from_field_to_field_of_more(qtbot, bar, state):
    state.choose_variant(state.catalog.find("cpu_best"))
    form = bar.form
    menu = form.menu()
    menu.popup(bar.mapToGlobal(bar.rect().center()))
    qtbot.waitUntil(form.transpose.hasFocus)
    for field in (form.order, form.alpha, form.beta):
        qtbot.keyClick(menu.focusWidget(), Qt.Key.Key_Tab)
        assert field.hasFocus()
    menu.hide()


def test_a_number_in_the_making_is_no_alpha_yet(qtbot, bar, state):
    state.choose_variant(state.catalog.find("cpu_best"))
    alpha = bar.form.alpha
    alpha.clear()
    qtbot.keyClicks(alpha, "0.25x")
    assert alpha.text() == "0.25"
    assert state.setup.alpha == 1.0
    qtbot.keyClick(alpha, Qt.Key.Key_Return)
    assert state.setup.alpha == 0.25
    alpha.clear()
    qtbot.keyClicks(alpha, "1,5")
    qtbot.keyClick(alpha, Qt.Key.Key_Return)
    assert (alpha.text(), state.setup.alpha) == ("1.5", 1.5)
    state.change(replace(state.setup, alpha=3.0))
    assert alpha.text() == "3"


def test_what_more_asked_for_stays_for_the_next_general_kernel(bar, state):
    state.choose_variant(state.catalog.find("cpu_best"))
    state.change(replace(state.setup, transpose="nt"))
    state.choose_variant(state.catalog.find("tiled"))
    assert state.setup.problem().is_plain
    assert (bar.form.isEnabled(), bar.form.text()) == (False, "More")
    state.choose_variant(state.catalog.find("blas"))
    assert state.setup.problem().transpose == "nt"
    assert bar.form.text() == "More: NT"
