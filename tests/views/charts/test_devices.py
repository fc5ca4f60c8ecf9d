from __future__ import annotations

import math
from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage

from gemmviz.core.device_units import UNITS
from gemmviz.core.labels import device_label
from gemmviz.views.charts.device_curves import DeviceCurvesChart
from gemmviz.views.charts.device_words import describe_figure, headline, verdict_of
from gemmviz.views.charts.devices import DevicesChart
from gemmviz.views.export import save_png
from gemmviz.views.theme import DARK, LIGHT
from tests.core.device_comparisons import CPU, GPU, SIMULATOR, make_comparison


@pytest.fixture
def bars(qtbot):
    chart = DevicesChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(900, 600)
    return chart


@pytest.fixture
def curves(qtbot):
    chart = DeviceCurvesChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(900, 600)
    return chart


def saved(chart, path) -> QImage:
    save_png(chart, path)
    return QImage(str(path))


def has_ink(image: QImage, area: QRectF, color: str) -> bool:
    return any(
        image.pixelColor(x, y).name() == color
        for x in range(int(area.left()), int(area.right()))
        for y in range(int(area.top()), int(area.bottom()))
    )


def column(chart, place: int) -> QRectF:
    """Where the bar of a device is, in the scene."""
    plot = chart._plot
    top = plot.viewRange()[1][1]
    corner = plot.mapToScene(chart._layer.to_pixel(place - 0.2, top))
    return QRectF(corner, plot.mapToScene(chart._layer.to_pixel(place + 0.2, 0.0)))


# --- bars


def test_a_bar_a_device_in_its_colour(bars, tmp_path):
    book = bars._colors
    bars.set_comparison(make_comparison(), 64)
    image = saved(bars, tmp_path / "bars.png")
    assert [bar.bar.device for bar in bars.bars] == [
        device_label(device) for device in (SIMULATOR, GPU, CPU)
    ]
    for place, device in ((1, GPU), (2, CPU)):
        assert has_ink(image, column(bars, place), book.color(device_label(device)))
    assert not has_ink(image, column(bars, 0), book.color(device_label(SIMULATOR)))
    assert "says nothing of hardware" in bars.bars[0].missing


@pytest.mark.parametrize(
    ("unit", "gpu", "cpu"),
    [
        ("throughput", "131 GFLOP/s", "262 GFLOP/s"),
        ("time", "4.00 µs", "2.00 µs"),
        ("ceiling", "13 %", ""),
        ("library", "50 %", ""),
        ("clock", "0.501", ""),
    ],
)
def test_each_unit_has_its_bars_and_says_what_it_lacks(bars, unit, gpu, cpu):
    bars.set_comparison(make_comparison(), 64)
    bars.set_unit(unit)
    assert (bars.bars[1].text, bars.bars[2].text) == (gpu, cpu)
    assert math.isnan(bars.bars[2].value) is not bool(cpu)
    assert bool(bars.bars[2].missing) is not bool(cpu)
    if UNITS[unit].symbol == "%":
        assert bars.bars[1].value == pytest.approx(float(gpu.split()[0]), rel=0.02)


def test_the_form_of_the_problem_is_in_the_headline():
    assert headline(make_comparison(form="TN"), 64) == "Tiled, 64 × 64 × 64, float, TN"
    assert headline(make_comparison()) == "Tiled, by size, float"


def test_the_verdict_stands_above_the_bars_with_a_sign(bars):
    comparison = make_comparison()
    bars.set_comparison(comparison, 64)
    assert [bar.verdict for bar in bars.bars] == ["", "▼ slower 0.5×", "★ fastest"]
    bars.set_comparison(comparison, 128)
    assert [bar.verdict for bar in bars.bars] == ["", "★ tied", "= tied 0.99×"]
    alone = make_comparison(figures=comparison.figures[:1], duels=())
    assert verdict_of(alone, alone.figures[0]) == ""


def test_the_table_says_why_they_differ(bars):
    bars.set_comparison(make_comparison(), 64)
    bars.settle()
    rows = dict(bars.table)
    assert rows["local mem."] == ("2 KiB of 32 KiB", "2 KiB of 48 KiB", "2 KiB of 1 MiB")
    assert rows["it lies"] == ("on the chip", "on the chip", "in cached main memory")
    assert rows["resident"] == ("", "8 groups, 100 %", "one group a unit")
    assert rows["limited by"] == ("", "slots", "its cores")
    assert rows["kernel"] == ("Tiled TS=16",) * 3
    assert rows["hardware"][1:] == ("132 units at 1.98 GHz", "2 units, clock unknown")
    bars.set_comparison(make_comparison(), 512)
    bars.settle()
    assert dict(bars.table)["local mem."][0] == "32 KiB"


def test_a_low_chart_keeps_the_most_telling_rows(bars):
    bars.set_comparison(make_comparison(), 64)
    bars.resize(540, 210)
    bars.settle()
    assert [name for name, _ in bars.table] == ["local mem.", "resident"]
    assert bars._plot.height() > 60
    bars.resize(900, 600)
    bars.settle()
    assert len(bars.table) == 8


def test_without_a_choice_the_last_size_with_a_speed_is_shown(bars):
    assert bars.is_empty()
    bars.set_comparison(make_comparison())
    assert bars.shown_size == 512
    lonely = make_comparison(figures=make_comparison().figures[:6], duels=())
    bars.set_comparison(replace(lonely, figures=(*lonely.figures[:3], lonely.figures[5])))
    assert bars.shown_size == 64  # of 128 only the simulator's row is there
    bars.set_comparison(lonely, 4096)
    assert bars.shown_size == 128
    bars.set_comparison(None)
    assert bars.is_empty()
    assert not bars.bars


def test_pointing_at_a_bar_tells_all_of_it(bars, tmp_path):
    bars.set_comparison(make_comparison(), 64)
    bars.settle()
    bars._layer.point_at(1.0)
    assert bars._layer.pointed is bars.bars[1]
    text = bars.bars[1].details
    for part in ("NVIDIA H200 · CUDA 12.8.1 at 64", "Tiled TS=16", "median 4.00 µs (3.80",
                 "131 GFLOP/s", "13 % of the ceiling: cache", "50 % of cuBLAS",
                 "0.501 FLOP a cycle and unit", "local memory 2 KiB of 48 KiB, on the chip",
                 "▼ slower 0.5×"):  # fmt: skip
        assert part in text
    saved(bars, tmp_path / "bars.png")
    assert bars._layer.pointed is None  # what follows the mouse is in no picture
    in_turns = replace(make_comparison().figures[1], turns=2, why_not="because")
    told = describe_figure(make_comparison(), in_turns, CPU)
    assert "2 devices took turns, launch by launch" in told
    assert told.endswith("because")


# --- curves


def test_a_curve_a_device_and_the_fastest_below(curves, tmp_path):
    curves.set_comparison(make_comparison())
    image = saved(curves, tmp_path / "curves.png")
    assert [curve.number for curve in curves.curves] == ["2", "3"]
    assert [point.size for point in curves.curves[0].points] == [64, 128, 512]
    assert [(best.size, best.numbers) for best in curves.best] == [
        (64, "3"), (128, "2 3"), (512, "2"),
    ]  # fmt: skip
    for curve in curves.curves:
        area = QRectF(0, 0, image.width(), image.height())
        assert has_ink(image, area, curve.look.color)
    texts = [entry.text for entry in curves._legend._entries]
    assert texts == ["Oclgrind Simulator: simulator", device_label(GPU), device_label(CPU)]
    assert curves._legend._entries[0].hatched


def test_values_that_are_far_apart_stand_on_a_logarithmic_axis(curves):
    curves.set_comparison(make_comparison())
    assert curves._log
    low, high = curves._plot.viewRange()[1]
    assert 10 < low < high < 14
    curves.set_unit("library")
    assert not curves._log
    assert curves._plot.viewRange()[1][1] == pytest.approx(50 * 1.05, rel=0.1)
    assert [curve.number for curve in curves.curves] == ["2"]
    curves.set_unit("time")
    assert curves._log
    assert curves._plot.viewRange()[1][1] < 0


def test_sizes_are_evenly_spaced_by_their_logarithms(curves):
    curves.set_comparison(make_comparison())
    curves.settle()
    xs = [curves._layer.to_pixel(math.log2(size), 0.0).x() for size in (64, 128, 512)]
    assert xs[2] - xs[1] == pytest.approx(2 * (xs[1] - xs[0]))


def test_pointing_at_a_point_tells_all_of_it(curves):
    curves.set_comparison(make_comparison())
    curves.settle()
    point = curves.curves[1].points[0]
    curves._layer.point_at(curves._layer._at(point) + QPointF(3, 2))
    assert curves._layer.pointed is point
    curves._layer.point_at(QPointF(2, 2))
    assert curves._layer.pointed is None


@pytest.mark.parametrize("kind", [DevicesChart, DeviceCurvesChart])
def test_pictures_are_of_the_asked_size_in_both_themes(qtbot, kind, tmp_path):
    chart = kind(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(720, 480)
    chart.set_comparison(make_comparison())
    save_png(chart, tmp_path / "dark.png", scale=2)
    save_png(chart, tmp_path / "light.png", theme=LIGHT)
    dark, light = (QImage(str(tmp_path / f"{name}.png")) for name in ("dark", "light"))
    assert (dark.width(), dark.height()) == (1440, 960)
    assert dark.pixelColor(2, 2).name() == DARK.panel
    assert light.pixelColor(2, 2).name() == LIGHT.panel
