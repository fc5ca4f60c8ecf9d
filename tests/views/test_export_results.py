"""Pictures that carry their results, charts of saved results, and reports."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from gemmviz.core.exhibits import EXHIBITS
from gemmviz.core.labels import device_label
from gemmviz.core.model import Failure, Samples
from gemmviz.core.png_text import read_png_text
from gemmviz.core.result_document import PNG_KEY, read_results
from gemmviz.views.charts.gallery import GALLERY, draw_exhibit, exhibit
from gemmviz.views.charts.picture import draw_result_png
from gemmviz.views.charts.report_pictures import (
    MOST_DETAILED,
    detail_pictures,
    overview_pictures,
    report_of,
)
from gemmviz.views.export import save_png
from gemmviz.views.export_dialog import ExportDialog
from tests.app.fake_engine import INTEL, WRONG
from tests.core.store.saved import saved
from tests.views.error_maps import error_map
from tests.views.test_export import SIZE, live
from tests.views.window_parts import shown_tabs


def results():
    """Two kernels of two sizes on two devices, a wrong one and one that does not compile."""
    made = []
    for device in (None, INTEL):
        for size in (64, 128):
            for tile in (16, 32):
                result = saved(size, seconds=1e-4 * tile, **({"device": device} if device else {}))
                made.append(replace(result, job=replace(result.job, parameters=(("TS", tile),))))
    wrong = saved(64, check=WRONG, failure=Failure("wrong", "It is wrong."), error_map=error_map())
    broken = saved(64, samples=Samples(), check=None, failure=Failure("build", "No."))
    return [*made, wrong, broken]


def test_a_saved_picture_carries_its_results(qtbot, tmp_path):
    chart = live()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    path = tmp_path / "chart.png"
    spaced = saved()
    spaced = replace(spaced, build_log="two  spaces\n\n   three", context=None)
    save_png(chart, path, results=(spaced, saved(128)))
    assert QImage(str(path)).size() == QSize(*SIZE)
    assert [result for _, result in read_results(path).results] == [spaced, saved(128)]
    assert QImage(str(path)).text("Title") == chart.export_title


def test_a_long_text_is_compressed(qtbot, tmp_path):
    chart = live()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    plain, carrying = tmp_path / "plain.png", tmp_path / "carrying.png"
    save_png(chart, plain)
    save_png(chart, carrying, results=(saved(count=5000),))
    text = read_png_text(carrying, PNG_KEY)
    assert carrying.stat().st_size - plain.stat().st_size < len(text) / 3
    assert read_png_text(plain, PNG_KEY) is None


def test_a_run_that_a_command_draws_is_carried(qapp, tmp_path):
    path = tmp_path / "run.png"
    draw_result_png(saved(), path)
    assert [result for _, result in read_results(path).results] == [saved()]


def test_the_dialog_saves_the_results_it_was_given(qtbot, tmp_path):
    chart = live()
    qtbot.addWidget(chart)
    dialog = ExportDialog(chart, results=(saved(),))
    qtbot.addWidget(dialog)
    assert "results" in dialog.format.itemText(0)
    dialog.file.setText(str(tmp_path / "a.png"))
    dialog._save.click()
    assert len(read_results(tmp_path / "a.png").results) == 1


def test_a_picture_of_too_many_results_carries_none_and_that_is_said(qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("gemmviz.core.result_document.MOST_PICTURE_RESULTS", 1)
    chart = live()
    qtbot.addWidget(chart)
    dialog = ExportDialog(chart, results=(saved(), saved(128)))
    qtbot.addWidget(dialog)
    assert "without the 2 results" in dialog.format.itemText(0)
    dialog.file.setText(str(tmp_path / "a.png"))
    dialog._save.click()
    assert read_png_text(tmp_path / "a.png", PNG_KEY) is None


def test_the_window_exports_the_runs_that_a_chart_shows(qtbot, state, finish, tmp_path):
    tabs = shown_tabs(qtbot, state)
    finish()
    finish()
    for panel, count in ((tabs.live, 1), (tabs.distribution, 1), (tabs.error_map, 1),
                         (tabs.compare, 2), (tabs.occupancy, 0)):  # fmt: skip
        tabs.setCurrentWidget(panel)
        carried = tabs._results()
        assert len(carried) == count, panel
        assert all(len(result.samples) == 100 for result in carried)
    path = tmp_path / "shown.png"
    tabs.setCurrentWidget(tabs.compare)
    save_png(tabs.chart, path, results=tabs._results())
    again = [result for _, result in read_results(path).results]
    assert [result.job.id for result in again] == [run.job.id for run in state.book.runs]


def test_the_table_is_written_in_the_format_of_its_name(qtbot, state, finish, tmp_path):
    tabs = shown_tabs(qtbot, state)
    finish()
    for name, start in (("a.csv", "finished_at,"), ("a.json", '{\n "format": "gemmviz results"'),
                        ("a.t4.json", '{\n "schema_version": "1.0.0"')):  # fmt: skip
        tabs.save_table(tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)
    assert len(read_results(tmp_path / "a.json").results[0][1].samples) == 100


def test_the_window_saves_a_report(qtbot, state, finish, tmp_path):
    tabs = shown_tabs(qtbot, state)
    finish()
    with qtbot.waitSignal(tabs.told):
        tabs.save_report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "1 of this session: 1 verified" in text
    assert text.count("<img ") == 2  # light and dark


# Charts of saved results


def test_every_chart_that_is_named_is_drawn():
    assert [each.name for each in EXHIBITS] == list(GALLERY)


@pytest.mark.parametrize("name", list(GALLERY))
def test_a_chart_of_saved_results_has_something_in_it(qapp, name):
    chosen = results() if name != "error-map" else results()[-2:-1]
    if name in ("live", "distribution"):
        chosen = chosen[:1]
    chart = exhibit(name, chosen)
    assert not chart.is_empty()
    assert (chart.width(), chart.height()) == (1200, 800)


@pytest.mark.parametrize("name", list(GALLERY))
def test_a_chart_with_nothing_to_show_says_why(qapp, name):
    chart = exhibit(name, results()[-1:])
    assert chart.is_empty()
    assert chart.empty_text


def test_a_heat_map_of_several_devices_says_whose_it_is(qapp):
    chosen = results()[:8]
    for place in range(0, 8, 2):
        problem = replace(chosen[place].job.problem, element="double")
        job = replace(chosen[place].job, problem=problem)
        chosen[place] = replace(chosen[place], job=job)
    chart = exhibit("heat-map", chosen)
    assert {place.cell.configuration.device for place in chart.grid.cells} == {0}
    said = chart._heading.text[1][0].text
    assert f"{device_label(results()[0].device)} alone" in said
    assert "best of" not in said


def test_bars_carry_all_their_results_and_drawings_none(qapp, tmp_path):
    draw_exhibit("compare", results(), tmp_path / "a.png", scale=2, theme="dark")
    draw_exhibit("compare", results(), tmp_path / "a.svg")
    assert QImage(str(tmp_path / "a.png")).size() == QSize(2400, 1600)
    assert [result for _, result in read_results(tmp_path / "a.png").results] == results()
    assert (tmp_path / "a.svg").read_bytes().count(b"<text") > 10


# Reports


def test_a_report_draws_all_and_each(qapp):
    numbered = list(enumerate(results(), start=1))
    overview = overview_pictures([result for _, result in numbered])
    assert len(overview) == 3  # one kernel: bars, sizes, heat map
    assert all(picture.light != picture.dark for picture in overview)
    details = detail_pictures(numbered)
    assert set(details) == set(range(1, 11))
    assert len(details[9]) == 2  # its errors too
    assert details[10] == ()


def test_of_many_results_the_wrong_and_the_fastest_are_told(qapp):
    many = [*results(), *results(), *(saved(size) for size in range(130, 150))]
    numbered = list(enumerate(many, start=1))
    told = detail_pictures(numbered)
    assert {9, 10, 19, 20} <= set(told)
    assert len(told) == MOST_DETAILED
    assert len(detail_pictures(numbered[:8])) == 8


def test_a_report_of_one_result_has_no_comparison(qapp):
    assert overview_pictures([saved()]) == ()
    assert "Everything that was recorded" in report_of([(1, saved())], "x")
