"""Charts as SVG, as a reader of the file sees them."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PySide6.QtCore import QByteArray, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from gemmviz.views.charts.access_map import AccessMapChart
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.ladder import LadderChart
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.export import render_chart, render_svg, save_svg
from gemmviz.views.export_dialog import ExportDialog
from gemmviz.views.theme import DARK, LIGHT
from tests.core.ladders import make_ladder
from tests.views.access_scenes import mygemm_1
from tests.views.test_export import SIZE, compare, distribution, errors, live, pixels, ratios

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(
    params=[live, compare, distribution, errors, ratios], ids=lambda make: make.__name__
)
def chart(request, qtbot):
    chart = request.param()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    return chart


def parsed(drawing: bytes) -> ET.Element:
    return ET.fromstring(drawing)


def texts(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def drawn(drawing: bytes) -> np.ndarray:
    """The drawing as Qt's own reader of SVG shows it."""
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    image.fill(QColor("magenta"))
    painter = QPainter(image)
    QSvgRenderer(QByteArray(drawing)).render(painter)
    painter.end()
    return pixels(image)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_drawing_shows_what_the_picture_shows(chart, theme):
    if isinstance(chart, CompareChart):  # this reader knows no clips, which hatching needs
        chart.set_bars(tuple(replace(bar, struck=False) for bar in chart._bars))
    picture = pixels(render_chart(chart, theme=theme))
    drawing = render_svg(chart, theme=theme)
    assert parsed(drawing).get("width") == str(SIZE[0])
    # Rims are drawn a little differently too; a missing bar would be 20 and more.
    assert np.abs(drawn(drawing) - picture).mean() < 4
    assert chart.theme is DARK


def test_text_is_text_and_stands_there_once(chart):
    root = parsed(render_svg(chart))
    words = texts(root)
    assert len(words) >= 8
    assert root.find(f"{SVG}title").text == chart.export_title
    for text in root.iter(f"{SVG}text"):
        assert "sans-serif" in text.get("font-family")
        if len(text.text.strip()) > 1:
            assert 1 < float(text.get("textLength")) < SIZE[0]


def test_a_rimmed_text_is_one(qtbot):
    chart = live()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    root = parsed(render_svg(chart))
    (median,) = [
        text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("median 9")
    ]
    assert median.get("paint-order") == "stroke"
    assert median.get("stroke") == DARK.panel
    assert median.get("fill") == DARK.mark


def test_equal_texts_beside_each_other_all_stay(qtbot):
    chart = LadderChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(1100, 700)
    chart.set_ladder(make_ladder())
    words = texts(parsed(render_svg(chart)))
    assert words.count("32") + words.count("100 %") >= 8


def test_no_text_is_as_transparent_as_its_group(qtbot):
    chart = AccessMapChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(1000, 700)
    chart.set_scene(mygemm_1())
    for group in parsed(render_svg(chart)).iter(f"{SVG}g"):
        for text in group.findall(f"{SVG}text"):
            assert (text.get("fill-opacity") or group.get("fill-opacity", "1")) == "1", text.text


def test_only_an_image_of_cells_is_pixels(chart):
    images = list(parsed(render_svg(chart)).iter(f"{SVG}image"))
    assert len(images) == (1 if chart.export_title == "Error map" else 0)
    assert all("pixelated" in image.get("style") for image in images)


def test_what_a_zoom_leaves_out_does_not_cover_the_axes(qtbot):
    chart = LiveChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    seconds = np.linspace(1e-3, 2e-3, 300)
    chart.set_samples(np.cumsum(seconds), seconds, 2e9)
    chart.settle()
    chart._time.setRange(xRange=(0.2, 0.25), yRange=(1.5e-3, 1.6e-3), padding=0)
    chart._time.sigRangeChangedManually.emit(chart._time.state["mouseEnabled"])
    root = parsed(render_svg(chart))
    starts = {clip.get("id"): float(re.match(r"M([-\d.]+),", clip[0].get("d"))[1])
              for clip in root.iter(f"{SVG}clipPath")}  # fmt: skip
    clipped = [
        starts[group.get("clip-path")[5:-1]]
        for group in root.iter(f"{SVG}g")
        if "clip-path" in group.attrib
        and LIGHT.accent in (group[0].get("fill"), group[0].get("stroke"))
    ]
    assert len(clipped) >= 2  # dots and the line
    assert min(clipped) > 60  # where the plot begins, right of the axis
    free = [group for group in root[-1] if "clip-path" not in group.attrib]
    assert not any(
        LIGHT.accent in (each.get("fill"), each.get("stroke"))
        for group in free
        for each in group.iter()
    )


def test_clips_end_where_they_should(qtbot):
    chart = compare()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    root = parsed(render_svg(chart))
    clips = {clip.get("id") for clip in root.iter(f"{SVG}clipPath")}
    used = {match[1] for group in root.iter(f"{SVG}g")
            if (match := re.fullmatch(r"url\(#(.+)\)", group.get("clip-path", "")))}  # fmt: skip
    assert used == clips
    fills = [group.get("fill") for group in root.iter(f"{SVG}g")]
    for color in ("#0072b2", "#009e73"):
        assert fills.count(color) >= 3  # two bars and a swatch


def test_hostile_text_stays_text(qtbot, tmp_path):
    evil = 'x</text><script>alert(1)</script>\x00\x1b<!--&"'
    chart = live()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    chart.export_title = evil
    chart.set_heading(evil, (Line(evil),))
    path = tmp_path / "chart.svg"
    save_svg(chart, path)
    root = parsed(path.read_bytes())
    assert not list(root.iter(f"{SVG}script"))
    assert any("<script>alert(1)</script>" in text for text in texts(root))


def test_a_drawing_is_small(qtbot):
    chart = compare()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    drawing = render_svg(chart)
    assert len(drawing) < 40_000
    for group in parsed(drawing).iter(f"{SVG}g"):
        assert len(list(group.iter())) > 1, "an empty group"


def test_an_empty_chart_says_why(qtbot):
    chart = LiveChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    chart.empty_text = "Nothing yet"
    assert "Nothing yet" in texts(parsed(render_svg(chart)))


def test_a_drawing_that_cannot_be_written_says_so(chart, tmp_path):
    with pytest.raises(OSError, match=r"cannot be written to .*chart\.svg: .+\."):
        save_svg(chart, tmp_path / "missing" / "chart.svg")


def test_the_dialog_saves_what_the_name_says(qtbot, tmp_path):
    chart = live()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    dialog = ExportDialog(chart)
    qtbot.addWidget(dialog)
    dialog.file.setText(str(tmp_path / "a.png"))
    dialog.format.setCurrentIndex(dialog.format.findData(".svg"))
    assert dialog.file.text().endswith("a.svg")
    assert not dialog.scale.isEnabled()
    dialog._save.click()
    root = parsed((tmp_path / "a.svg").read_bytes())
    assert root.tag == f"{SVG}svg"


def test_a_name_chooses_the_format(qtbot, tmp_path):
    chart = live()
    qtbot.addWidget(chart)
    dialog = ExportDialog(chart)
    qtbot.addWidget(dialog)
    dialog.file.setText(str(tmp_path / "b.SVG"))
    assert dialog.format.currentData() == ".svg"
    dialog.file.setText(str(tmp_path / "b.png"))
    assert dialog.format.currentData() == ".png"
    assert dialog.scale.isEnabled()


def test_a_picture_keeps_its_size(chart):
    assert render_chart(chart, scale=2).size() == QSize(*SIZE) * 2
