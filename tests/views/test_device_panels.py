from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QStyleOptionViewItem, QToolButton

from gemmviz.core.labels import device_label
from gemmviz.core.limits import named_limits
from gemmviz.views.device_panel import DevicePanel
from gemmviz.views.menus import Menus
from gemmviz.views.occupancy_panel import OccupancyPanel
from gemmviz.views.theme import LIGHT
from tests.app.fake_engine import (
    BROKEN,
    H200,
    INTEL,
    NOTHING,
    POCL,
)


@pytest.fixture
def devices(qtbot, state):
    made = DevicePanel(state)
    made.set_theme(LIGHT)
    made.resize(280, 700)
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_tree_and_the_state_select_each_other(devices, state):
    assert devices.tree.currentIndex() == devices.model.index_of(H200)
    devices.tree.setCurrentIndex(devices.model.index_of(POCL))
    assert state.device == POCL
    assert devices.properties.title.text() == POCL.name
    state.select_device(BROKEN)
    assert devices.tree.currentIndex() == devices.model.index_of(BROKEN)
    assert "linker" in devices.properties.reason.text()


def test_ticks_are_counted(devices, state):
    for device in (POCL, INTEL):
        devices.model.setData(devices.model.index_of(device), Qt.CheckState.Checked,
                              Qt.ItemDataRole.CheckStateRole)  # fmt: skip
    assert devices.status.text() == "2 ticked: Run queues on each"


def test_buttons_without_words_have_a_name(devices):
    for button in devices.findChildren(QToolButton):
        if button.parent() is not devices.properties.filter:
            assert button.text() or button.accessibleName()


def test_properties_filter_and_copy(devices):
    panel = devices.properties
    assert panel.proxy.rowCount() == len(H200.properties)
    panel.filter.setText("clock")
    assert panel.proxy.rowCount() == 1
    panel.table.selectAll()
    panel._on_copy_activated()
    assert QGuiApplication.clipboard().text() == "MAX_CLOCK_FREQUENCY\t1.98 GHz\t1980000000 Hz"
    panel.copy_all.click()
    assert "LOCAL_MEM_SIZE" in QGuiApplication.clipboard().text()


def test_the_current_property_stands_in_full_below_the_table(devices):
    panel = devices.properties
    assert panel.detail.toPlainText().startswith("LOCAL_MEM_SIZE\n48 KiB  =  49152 bytes")
    panel.filter.setText("half_fp")
    panel.table.selectRow(0)
    assert "(the driver refuses this query (status -30))" in panel.detail.toPlainText()
    panel.filter.setText("nothing of the kind")
    assert panel.detail.toPlainText() == ""


def test_names_and_values_share_a_narrow_table(devices):
    table = devices.properties.table
    widths = [table.columnWidth(column) for column in (0, 1)]
    assert widths[1] >= 0.38 * table.viewport().width()
    assert sum(widths) <= table.viewport().width()


def test_what_timing_costs_is_shown_once_it_is_measured(devices, state, finish):
    words = devices.properties.timer
    assert "first run" in words.text()
    finish()
    for word in ("32.0 ns", "driver says 1.00 ns", "2.50 µs", "8.00 µs"):
        assert word in words.text()
    state.select_device(POCL)
    assert "first run" in words.text()
    state.select_device(H200)
    assert "32.0 ns" in words.text()


def test_a_badge_is_coloured_by_what_it_means(devices):
    delegate = devices.properties.delegate
    colors = {}
    for device in (H200, POCL):
        devices._state.select_device(device)
        option = QStyleOptionViewItem()
        delegate.initStyleOption(option, devices.properties.proxy.index(0, 1))
        colors[device.name] = option.palette.color(QPalette.ColorRole.Text).name()
    assert colors[H200.name] == LIGHT.text  # "228 KiB a SM" is no warning
    assert colors[POCL.name] == LIGHT.warn  # "cache" is one


def test_without_a_platform_the_way_to_get_one_is_shown(qtbot, devices, state, engine):
    engine.listing = NOTHING
    state.list_devices()
    qtbot.waitUntil(lambda: not state.listing_now)
    assert devices.none.isVisible()
    assert "/opt/vendors" in devices.none.looked.text()
    words = " ".join(child.text() for child in devices.none.findChildren(type(devices.none.looked)))
    assert "pip install pocl-binary-distribution" in words
    assert "apt install pocl-opencl-icd" in words


@pytest.fixture
def occupancy(qtbot, state):
    made = OccupancyPanel(state)
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_binding_limit_is_named_not_only_coloured(qtbot, occupancy, state):
    qtbot.waitUntil(lambda: state.estimate.registers == 36)
    assert occupancy.summary.figure.text() == "75 %"
    assert "6 groups" in occupancy.summary.unit.text()
    names = [row.name.text() for row in occupancy.limiters.rows]
    assert "Limited by registers" in names
    assert sum("Limited by" in name for name in names) == 1


def test_the_local_memory_budget_has_its_numbers(occupancy):
    shown = {name.text(): value.text() for name, value in occupancy.budget._lines}
    assert shown["This kernel, per group"] == "2 KiB"
    assert shown["Most for one group"] == "227 KiB"
    assert shown["Shared by a SM"] == "228 KiB"
    assert shown["By local memory alone"] == "76 groups"


def test_a_cpu_is_not_given_an_occupancy(occupancy, state):
    state.select_device(POCL)
    assert occupancy.summary.unit.text() == "not applicable"
    assert not occupancy.summary.meter.isVisible()
    assert not occupancy.limiters.isVisible()
    shown = {name.text(): value.text() for name, value in occupancy.budget._lines}
    assert shown["Cache of the device"] == "32 MiB"


def test_the_drivers_figures_stand_beside_the_formulas(occupancy, state, finish):
    assert not occupancy.driver.isVisible()
    finish()
    assert occupancy.driver.isVisible()
    cells = [[cell.text() for cell in row] for row in occupancy.driver._cells]
    assert cells[0] == ["Local memory", "2048 B", "≠ 2052 B"]
    assert "pad" in occupancy.driver.remark.text()
    subject = occupancy.driver.subject.text()
    for word in (state.shown.label, "float", device_label(H200)):
        assert word in subject


def test_the_drivers_figures_hide_where_another_kernel_is_estimated(occupancy, state, finish):
    finish()
    chosen = state.setup
    for other in (
        chosen.with_variant(state.catalog.find("mygemm_2")),
        chosen.with_parameter("TS", 8),
        replace(chosen, element="double"),
    ):
        state.change(other)
        assert not occupancy.driver.isVisible()
        state.change(chosen)
        assert occupancy.driver.isVisible()
    state.change(chosen.with_all_sizes(64))
    assert occupancy.driver.isVisible()  # the same build, launched on less
    state.select_device(POCL)
    assert not occupancy.driver.isVisible()
    state.select_device(H200)
    state.choose_what_if(named_limits("gfx1030"))
    assert not occupancy.driver.isVisible()
    state.choose_what_if(None)
    assert occupancy.driver.isVisible()


def test_every_row_of_the_tables_can_be_asked_for(occupancy, state):
    menus = Menus(state, state)
    action = next(a for a in menus.what_if.actions() if a.text().startswith("CC 8.6"))
    action.trigger()
    assert occupancy.summary.subject.text() == "What if: CC 8.6"
    menus.what_if.actions()[0].trigger()
    assert occupancy.summary.subject.text() == H200.name
