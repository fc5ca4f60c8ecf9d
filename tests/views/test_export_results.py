"""Pictures that carry their results, charts of saved results, and reports."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer

from gemmviz.core.exhibits import EXHIBITS, HEAT_MAP, EmptyChartError
from gemmviz.core.labels import device_label
from gemmviz.core.model import Failure, Parameter, Samples
from gemmviz.core.png_text import read_png_text
from gemmviz.core.result_document import PICTURE_KEY, DocumentError, read_results
from gemmviz.views.charts.gallery import GALLERY, OF_SWEEPS, draw_exhibit, drawings
from gemmviz.views.charts.picture import draw_result_png
from gemmviz.views.charts.report_pictures import (
    MOST_DETAILED,
    detail_pictures,
    overview_pictures,
    report_of,
)
from gemmviz.views.export import save_png, save_svg
from gemmviz.views.export_dialog import ExportDialog
from tests.app.fake_engine import INTEL, POCL, WRONG
from tests.core.store.saved import KERNEL, saved
from tests.views.error_maps import error_map
from tests.views.test_export import SIZE, live
from tests.views.window_parts import shown_tabs


def results():
    """Two tiles at two sizes on two devices, a wrong one and one that does not compile."""
    made = []
    tiled = replace(KERNEL, parameters=(Parameter("TS", 16, (16, 32)),))
    for device in (None, INTEL):
        for size in (64, 128):
            for tile in (16, 32):
                result = saved(size, seconds=1e-4 * tile, **({"device": device} if device else {}))
                job = replace(result.job, variant=tiled, parameters=(("TS", tile),))
                made.append(replace(result, job=job))
    wrong = saved(64, check=WRONG, failure=Failure("wrong", "It is wrong."), error_map=error_map())
    broken = saved(64, samples=Samples(), check=None, failure=Failure("build", "No."))
    others = [replace(each, job=replace(each.job, variant=tiled)) for each in (wrong, broken)]
    return [*made, *others]


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
    text = read_png_text(carrying, PICTURE_KEY)
    assert carrying.stat().st_size - plain.stat().st_size < len(text) / 3
    assert read_png_text(plain, PICTURE_KEY) is None


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
    assert read_png_text(tmp_path / "a.png", PICTURE_KEY) is None


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


def test_a_drawing_carries_the_results_too(qtbot, state, finish, tmp_path):
    tabs = shown_tabs(qtbot, state)
    finish()
    path = tmp_path / "shown.svg"
    save_svg(tabs.chart, path, results=tabs._results())
    ((_, again),) = read_results(path).results
    assert again.job.id == state.book.runs[0].job.id
    assert len(again.samples) == 100
    assert QSvgRenderer(str(path)).isValid()
    save_svg(tabs.chart, path)
    with pytest.raises(DocumentError, match="without results"):
        read_results(path)


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

NAMES = [each.name for each in EXHIBITS]


def test_every_chart_that_is_named_is_drawn():
    assert {each.name for each in EXHIBITS} == {*GALLERY, *OF_SWEEPS, HEAT_MAP}


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_of_saved_results_has_something_in_it(qapp, name):
    chosen = results() if name != "error-map" else results()[-2:-1]
    if name in ("live", "distribution"):
        chosen = chosen[:1]
    chart = drawings(name, chosen)[0].chart
    assert not chart.is_empty()
    assert (chart.width(), chart.height()) == (1200, 800)


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_with_nothing_to_show_says_why_and_is_not_saved(qapp, tmp_path, name):
    (drawing,) = drawings(name, results()[-1:])
    assert drawing.chart.is_empty()
    assert drawing.chart.empty_text
    with pytest.raises(EmptyChartError, match=r"^[A-Z].*\.$"):
        draw_exhibit(name, results()[-1:], tmp_path / "a.png")
    assert not any(tmp_path.iterdir())


def test_a_heat_map_of_several_devices_and_element_types_is_one_of_each(qapp):
    chosen = results()[:8]
    for place in range(0, 8, 2):
        problem = replace(chosen[place].job.problem, element="double")
        job = replace(chosen[place].job, problem=problem)
        chosen[place] = replace(chosen[place], job=job)
    made = drawings("heat-map", chosen)
    names = ["pocl-float", "pocl-double", "intel-float", "intel-double"]
    assert sorted(each.name for each in made) == sorted(names)
    for each in made:
        place = ("pocl", "intel").index(each.name.split("-")[0])
        shown = {cell.cell.configuration for cell in each.chart.grid.cells if cell.cell}
        assert {name.device for name in shown} == {place}
        title, lines = each.chart._heading.text
        assert title.endswith(f"on {device_label(chosen[4 * place].device)}")
        assert [line.text for line in lines] == ["2 results"]
        assert len(each.results) == 2


def test_many_bars_are_the_fastest_and_say_what_differs(qapp):
    made = []
    for number in range(20):
        result = saved(64, seconds=1e-3 / (1 + number))
        job = replace(result.job, parameters=(("TS", 16), ("WPT", number)))
        made.append(replace(result, job=job))
    slow, wrong = made[0], replace(made[0], failure=Failure("wrong", "It is wrong."))
    chart = drawings("compare", [*made, slow, wrong])[0].chart
    assert [bar.kernel for bar in chart._bars] == [f"WPT={n}" for n in range(19, 4, -1)]
    said = chart._heading.text[1][0].text
    assert said.startswith("Tiled in local memory, TS=16   ·   64³ float")
    assert said.endswith("the 15 fastest of 22")
    few = drawings("compare", made[:3])[0].chart
    assert [bar.kernel for bar in few._bars] == ["WPT=0", "WPT=1", "WPT=2"]
    assert few._heading.text[1][0].text.endswith("3 results")


def test_each_device_and_size_has_its_fastest_among_many_bars(qapp):
    made = [
        saved(size, seconds=1e-9 * size**3 * (1 + number), device=device)
        for device in (POCL, INTEL)
        for size in (64, 128)
        for number in range(6)
    ]
    made = [
        replace(each, job=replace(each.job, parameters=(("TS", place % 6),)))
        for place, each in enumerate(made)
    ]
    chart = drawings("compare", made)[0].chart
    assert len(chart._bars) == 15
    for device in (POCL, INTEL):
        for size in (64, 128):
            assert any(bar.device == device_label(device) and f"TS=0, {size}³" in bar.kernel
                       for bar in chart._bars)  # fmt: skip
    extra = [replace(each, job=replace(each.job, parameters=(("TS", 9),))) for each in made[:12]]
    here = drawings("compare", [*made[:12], *extra[:4]])[0].chart
    assert here._heading.text[1][0].text.endswith("13 of 16: the last run of each")
    here = drawings("compare", [*made[:12], *extra[5:8], *made[18:]])[0].chart
    assert "15 of 21: the fastest of each device and problem" in here._heading.text[1][0].text


def test_runs_of_one_configuration_are_compared_with_each_other(qapp):
    chart = drawings("compare", [saved(64, seconds=1e-3 + n * 1e-5) for n in range(20)])[0].chart
    assert [bar.kernel for bar in chart._bars][::7] == [
        f"Tiled in local memory TS=16 #{n}" for n in (1, 8, 15)
    ]
    assert chart._heading.text[1][0].text.endswith("the last 15 of 20")


def test_bars_carry_all_their_results(qapp, tmp_path):
    draw_exhibit("compare", results(), tmp_path / "a.png", scale=2, theme="dark")
    draw_exhibit("compare", results(), tmp_path / "a.svg")
    assert QImage(str(tmp_path / "a.png")).size() == QSize(2400, 1600)
    for name in ("a.png", "a.svg"):
        assert [result for _, result in read_results(tmp_path / name).results] == results()
    assert (tmp_path / "a.svg").read_bytes().count(b"<text") > 10


# Reports


def test_a_report_draws_all_and_each(qapp):
    numbered = list(enumerate(results(), start=1))
    overview = overview_pictures([result for _, result in numbered])
    assert len(overview) == 4  # one kernel: bars, sizes, and a heat map of each device
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
