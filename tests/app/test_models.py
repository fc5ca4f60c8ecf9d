from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, Qt

from gemmviz.app.device_tree import DEVICE_ROLE, FAINT_ROLE, KIND_ROLE, DeviceTreeModel
from gemmviz.app.property_table import (
    BADGE_ROLE,
    FILTER_ROLE,
    REFUSED_ROLE,
    PropertyTableModel,
)
from gemmviz.app.results_table import STATE_ROLE, STRUCK_ROLE, ResultsTableModel
from gemmviz.core.device_facts import property_title
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Failure, Property
from tests.app.fake_engine import BROKEN, H200, POCL, wrong_run

CHECK = Qt.ItemDataRole.CheckStateRole


def texts(model, row, parent=None):
    parent = parent or QModelIndex()
    return [model.index(row, column, parent).data() for column in range(model.columnCount())]


def test_device_tree_is_a_sound_model(state, qtmodeltester):
    model = DeviceTreeModel(state)
    qtmodeltester.check(model)
    assert model.rowCount() == 5
    platform = model.index(0, 0)
    assert platform.data() == "CUDA 12.8.1"
    assert texts(model, 0, platform) == ["NVIDIA H200", "48 KiB", "132"]
    assert model.index(1, 0).data() == "PoCL 3.0-rc2"


def test_device_tips_tell_everything(state):
    model = DeviceTreeModel(state)
    tip = model.index_of(H200).data(Qt.ItemDataRole.ToolTipRole)
    for word in ("GPU", "1024 work-items", "1.98 GHz", "580.65", "228 KiB a SM"):
        assert word in tip


def test_ticking_a_device_reaches_the_state_and_comes_back(state):
    model = DeviceTreeModel(state)
    index = model.index_of(POCL)
    assert index.data(CHECK) == Qt.CheckState.Unchecked
    assert model.setData(index, Qt.CheckState.Checked, CHECK)
    assert POCL.key in state.ticked
    assert index.data(CHECK) == Qt.CheckState.Checked


def test_an_unavailable_device_is_faint_and_cannot_be_ticked(state):
    model = DeviceTreeModel(state)
    index = model.index_of(BROKEN)
    assert index.data(FAINT_ROLE)
    assert index.data(CHECK) is None
    assert not model.setData(index, Qt.CheckState.Checked, CHECK)
    assert "linker" in index.data(Qt.ItemDataRole.ToolTipRole)


def test_a_platform_without_devices_says_why(state):
    model = DeviceTreeModel(state)
    note = model.index(0, 0, model.index(4, 0))
    assert note.data() == "No device: its driver fails"
    assert note.data(KIND_ROLE) == "note"
    assert note.data(DEVICE_ROLE) is None


def test_property_table_reads_well_and_copies(qtbot, qtmodeltester):
    model = PropertyTableModel()
    model.set_device(H200, limits_for(H200))
    qtmodeltester.check(model)
    assert texts(model, 0) == ["Local mem size", "48 KiB  (49152)"]
    assert model.line(0) == "LOCAL_MEM_SIZE\t48 KiB\t49152 bytes"
    badge = model.index(0, 1).data(BADGE_ROLE)
    assert badge.text == "228 KiB a SM"
    assert "227 KiB" in badge.why
    found_by = model.index(0, 0).data(FILTER_ROLE)
    assert "LOCAL_MEM_SIZE" in found_by
    assert "Local mem size" in found_by
    assert model.detail(0).splitlines()[:2] == ["LOCAL_MEM_SIZE", "48 KiB  =  49152 bytes"]
    assert badge.why in model.detail(0)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("GLOBAL_MEM_CACHELINE_SIZE", "Global mem cacheline size"),
        ("CL_DEVICE_SVM_CAPABILITIES", "SVM capabilities"),
        ("HALF_FP_CONFIG", "Half FP config"),
    ],
)
def test_names_of_queries_read_as_words(name, title):
    assert property_title(Property(name, 1)) == title


def test_a_preferred_multiple_is_called_a_hint():
    entry = Property("PREFERRED_WORK_GROUP_SIZE_MULTIPLE", 64)
    model = PropertyTableModel()
    model.set_device(replace(H200, properties=(entry,)), None)
    badge = model.index(0, 1).data(BADGE_ROLE)
    assert (badge.text, badge.meaning) == ("a hint", "plain")
    assert "not the width of a warp" in model.detail(0)


def test_a_refused_query_is_a_dash_with_its_reason(qtbot):
    model = PropertyTableModel()
    model.set_device(H200, None)
    row = 4
    assert model.index(row, 1).data() == "– (the driver refuses this query (status -30))"
    assert model.index(row, 1).data(REFUSED_ROLE)
    assert "-30" in model.index(row, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert "-30" in model.line(row)


def test_a_cpu_has_its_badges(qtbot):
    model = PropertyTableModel()
    model.set_device(POCL, None)
    assert model.index(0, 1).data(BADGE_ROLE).text == "cache"
    assert texts(model, 1)[1].startswith("unknown")
    assert texts(model, 2)[1].startswith("1.00 ns")
    model.set_device(None, None)
    assert model.rowCount() == 0


def test_results_table_is_a_sound_model(state, finish, qtmodeltester):
    model = ResultsTableModel(state.book)
    finish()
    finish()
    qtmodeltester.check(model)
    assert model.rowCount() == 2
    cells = dict(zip(model.header_line().split("\t"), texts(model, 0), strict=True))
    assert cells["Kernel"] == "Tiled in local memory"
    assert cells["M × N × K"] == "512³"
    assert cells["Verdict"] == "✓ verified"
    assert cells["Speed-up"] == "–"
    assert cells["Occupancy"] == "100 %"


def test_a_wrong_result_is_struck_through_and_not_by_colour_alone(state, engine, finish):
    model = ResultsTableModel(state.book)
    engine.script = wrong_run
    finish()
    struck = [model.index(0, column).data(STRUCK_ROLE) for column in range(model.columnCount())]
    assert struck == [column in (5, 6) for column in range(12)]
    assert model.index(0, 7).data() == "✗ wrong"
    assert model.index(0, 7).data(STATE_ROLE) == "bad"


def test_a_run_that_broke_off_does_not_count(state, engine, finish):
    model = ResultsTableModel(state.book)
    engine.failure = Failure("hang", "A launch took longer than the limit.")
    finish()
    assert model.index(0, 5).data(STRUCK_ROLE)
    assert model.index(0, 7).data() == "✗ ended early"
    assert model.index(0, 7).data(STATE_ROLE) == "bad"


def test_the_baseline_and_the_ticks_show(state, finish):
    model = ResultsTableModel(state.book)
    finish()
    finish()
    state.book.pin_baseline(state.book.runs[0])
    assert model.index(0, 8).data() == "baseline"
    assert model.index(1, 8).data() == "1.00 ×"
    assert model.setData(model.index(1, 0), Qt.CheckState.Unchecked, CHECK)
    assert not state.book.is_ticked(state.book.runs[1])
    state.book.clear()
    assert model.rowCount() == 0
