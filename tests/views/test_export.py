from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage

from gemmviz.core.model import Check, Device, Failure, Job, Problem, Result, Samples, Variant
from gemmviz.core.stats import summarize
from gemmviz.core.verdict import outcome_of
from gemmviz.views.charts.bars import Bar
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.charts.picture import draw_result_png, run_heading
from gemmviz.views.charts.ratios import Ratio, RatioChart
from gemmviz.views.export import copy_chart, render_chart, save_png, suggested_path
from gemmviz.views.export_dialog import ExportDialog
from gemmviz.views.theme import DARK, LIGHT
from tests.views.error_maps import error_map

SIZE = (640, 420)


def live() -> LiveChart:
    chart = LiveChart(theme=DARK)
    seconds = 1e-3 * (1 + np.random.default_rng(0).normal(0, 0.01, 400))
    chart.set_samples(np.cumsum(seconds), seconds, 2e9)
    return chart


def compare() -> CompareChart:
    chart = CompareChart(theme=DARK)
    bars = [
        Bar(device, kernel, value * 1e12, value * 0.9e12, value * 1.1e12, struck=value == 2)
        for device in ("GPU one", "GPU two")
        for kernel, value in (("naive", 1), ("tiled", 2), ("register", 4))
    ]
    chart.set_bars(tuple(bars))
    return chart


def distribution() -> DistributionChart:
    chart = DistributionChart(theme=DARK)
    seconds = 1e-3 * (1 + np.random.default_rng(0).normal(0, 0.01, 400))
    seconds[::97] *= 1.05
    chart.set_samples(seconds, seconds > 1.04e-3, drifts=True)
    chart.select(1.005e-3, 1.02e-3)
    return chart


def errors() -> ErrorMapChart:
    chart = ErrorMapChart(theme=DARK)
    chart.set_map(error_map())
    return chart


def ratios() -> RatioChart:
    chart = RatioChart(theme=DARK)
    rows = [
        Ratio("tiled #2", "= tied (within 1 %)", "", 1.002, 0.997, 1.006, 0.01),
        Ratio("naive", "▼ slower", "bad", 0.5, 0.49, 0.52, 0.01),
        Ratio("barriers", "✗ does not count", "bad", 1.2, 1.1, 1.3, 0.01, struck=True),
    ]
    chart.set_ratios(tuple(rows), "tiled #1")
    return chart


@pytest.fixture(
    params=[live, compare, distribution, errors, ratios], ids=lambda make: make.__name__
)
def chart(request, qtbot):
    chart = request.param()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    chart.show()
    chart.settle()
    return chart


def pixels(image: QImage) -> np.ndarray:
    """An image as an array of rows, columns and colours."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(image.constBits(), np.uint8)
    rows = data.reshape(image.height(), image.bytesPerLine())[:, : 4 * image.width()]
    return rows.reshape(image.height(), image.width(), 4)[:, :, :3].astype(float)


@pytest.mark.parametrize("scale", [1, 2, 3, 4])
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_picture_has_the_exact_size_and_the_chosen_background(chart, scale, theme):
    image = render_chart(chart, scale=scale, theme=theme)
    assert image.size() == QSize(*SIZE) * scale
    assert image.pixelColor(2, 2) == QColor(theme.panel)
    assert image.dotsPerMeterX() * 0.0254 == pytest.approx(96 * scale, abs=0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_screen_is_pixel_identical_afterwards(chart, theme):
    before = chart.grab().toImage()
    render_chart(chart, scale=3, theme=theme)
    assert chart.theme is DARK
    assert chart.grab().toImage() == before


def test_a_picture_at_scale_1_is_what_the_screen_shows(chart):
    assert np.abs(pixels(render_chart(chart)) - pixels(chart.grab().toImage())).mean() < 0.1


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_large_picture_is_the_small_one_enlarged(chart, theme):
    small = pixels(render_chart(chart, theme=theme))
    large = render_chart(chart, scale=3, theme=theme)
    large = large.scaled(
        *SIZE, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    assert np.abs(pixels(large) - small).mean() < 2.5


def thickness(image: QImage, color: str, x: int, rows: range) -> int:
    """The longest run of one colour down a column."""
    wanted, longest, current = QColor(color).rgb(), 0, 0
    for y in rows:
        current = current + 1 if image.pixel(x, y) == wanted else 0
        longest = max(longest, current)
    return longest


@pytest.mark.parametrize("scale", [1, 2, 3, 4])
def test_lines_grow_with_the_picture(qtbot, scale):
    chart = LiveChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    chart.set_samples(np.arange(1, 2001) * 1e-3, np.full(2000, 1e-3), 2e9)
    image = render_chart(chart, scale=scale)
    upper = range(10 * scale, 180 * scale)
    # The dashes of the median lie over the line, so look where one ends.
    line = max(thickness(image, DARK.accent, x, upper) for x in range(300 * scale, 310 * scale))
    assert abs(line - 2 * scale) <= 1
    grid = min(thickness(image, DARK.grid, x, upper) or 99 for x in range(80 * scale, 90 * scale))
    assert abs(grid - scale) <= 1


@pytest.mark.parametrize("scale", [1, 3])
def test_whiskers_grow_with_the_picture(qtbot, scale):
    chart = CompareChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    chart.set_bars((Bar("GPU", "tiled", 1e12, 0.5e12, 1e12),))
    image = render_chart(chart, scale=scale)
    center = (66 + 10 + SIZE[0] - 14) / 2
    longest = thickness(image, DARK.text, round((center + 3) * scale), range(image.height()))
    assert abs(longest - 1.2 * scale) <= 1.5


def test_what_follows_the_mouse_is_not_in_the_picture(chart):
    clean = render_chart(chart)
    chart.scene().sigMouseMoved.emit(QPointF(chart.rect().center()))
    assert render_chart(chart) == clean


def test_a_chart_that_was_never_shown_can_be_drawn(qtbot):
    chart = live()
    qtbot.addWidget(chart)
    chart.resize(900, 500)
    image = render_chart(chart)
    right_half = pixels(image)[:, 500:]
    assert (right_half != right_half[0, 0]).any()


def test_a_saved_picture_reads_back_whole(chart, tmp_path):
    path = tmp_path / "chart.png"
    save_png(chart, path, scale=2, theme=LIGHT)
    saved = QImage(str(path))
    assert saved.size() == QSize(*SIZE) * 2
    assert np.abs(pixels(saved) - pixels(render_chart(chart, scale=2, theme=LIGHT))).max() == 0


def test_a_picture_that_cannot_be_written_says_so(chart, tmp_path):
    path = tmp_path / "missing" / "chart.png"
    with pytest.raises(OSError, match=r"cannot be written to .*chart\.png: .+\."):
        save_png(chart, path)
    assert not path.exists()


def test_a_picture_goes_to_the_clipboard(chart):
    copy_chart(chart, scale=2)
    assert QGuiApplication.clipboard().image().size() == QSize(*SIZE) * 2


def test_suggested_names_are_free(chart, tmp_path):
    chart.export_title = "Tiled TS=16 · 512³ float · é"
    assert suggested_path(chart, tmp_path).name == "tiled-ts-16-5123-float-e.png"
    chart.export_title = "A chart"
    first = suggested_path(chart, tmp_path)
    first.touch()
    second = suggested_path(chart, tmp_path)
    assert first != second
    assert second.parent == tmp_path
    assert second.suffix == ".png"


# The dialog


@pytest.fixture
def dialog(chart, qtbot):
    dialog = ExportDialog(chart)
    qtbot.addWidget(dialog)
    return dialog


def test_the_dialog_saves_what_was_chosen(dialog, tmp_path):
    path = tmp_path / "picture.png"
    dialog.scale.setCurrentIndex(2)
    dialog.theme.setCurrentIndex(dialog.theme.findData("light"))
    dialog.file.setText(str(path))
    dialog._save.click()
    saved = QImage(str(path))
    assert saved.size() == QSize(*SIZE) * 3
    assert saved.pixelColor(2, 2) == QColor(LIGHT.panel)
    assert dialog.result() == ExportDialog.DialogCode.Accepted


def test_the_dialog_stays_open_when_it_cannot_save(dialog, tmp_path):
    dialog.file.setText(str(tmp_path / "missing" / "picture.png"))
    dialog._save.click()
    assert "cannot be written" in dialog.message
    assert dialog.result() != ExportDialog.DialogCode.Accepted


def test_the_dialog_warns_before_it_replaces_a_file(dialog, tmp_path):
    path = tmp_path / "picture.png"
    path.touch()
    dialog.file.setText(str(path))
    assert "replaced" in dialog.message
    dialog.file.setText(str(tmp_path / "other.png"))
    assert dialog.message == ""


def test_the_dialog_copies(dialog):
    dialog._copy.click()
    assert QGuiApplication.clipboard().image().size() == QSize(*SIZE) * 2
    assert "Copied" in dialog.message


# A run


def result(**changes) -> Result:
    variant = Variant(
        id="tiled", title="Tiled", summary="", family="ladder", order="row", arguments=(),
        group=("TS", "TS"), tile_rows="TS", tile_cols="TS", dims=("cols", "rows"),
        local_bytes="0", shapes="any", source="", entry="gemm",
    )  # fmt: skip
    device = Device("Platform", "OpenCL 3.0", "GPU one", "GPU")
    job = Job(1, device.key, variant, (("TS", 16),), Problem(64, 64, 64))
    seconds = tuple((1e-3 * (1 + 0.1 * np.sin(np.arange(300)))).tolist())
    values = {
        "samples": Samples((1,) * 300, seconds, tuple(np.cumsum(seconds).tolist())),
        "check": Check("verified", 64, 64, 64),
        **changes,
    }
    return Result(job, device, **values)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"check": Check("wrong", 64, 64, 64, cells_wrong=7), "failure": Failure("wrong", "Wrong.")},
        {"check": None, "samples": Samples(), "failure": Failure("build", "It does not compile.")},
    ],
    ids=["verified", "wrong", "failed"],
)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_run_is_drawn_under_its_heading(qapp, tmp_path, changes, theme):
    path = tmp_path / "run.png"
    draw_result_png(result(**changes), path, theme=theme)
    image = QImage(str(path))
    assert image.size() == QSize(1200, 800)
    assert image.pixelColor(1190, 790) == QColor((LIGHT if theme == "light" else DARK).panel)
    verdict = {"verified": "good", "wrong": "bad"}.get(
        changes["check"].verdict if changes.get("check") else "", "bad" if changes else "good"
    )
    color = QColor(getattr(LIGHT if theme == "light" else DARK, verdict)).rgb()
    assert any(image.pixel(x, y) == color for x in range(10, 300) for y in range(60, 120))


def test_a_run_is_drawn_without_application_and_display(tmp_path):
    code = (
        "import sys; from tests.views.test_export import result;"
        "from gemmviz.views.charts.picture import draw_result_png;"
        "[draw_result_png(result(), sys.argv[1], scale=2) for _ in range(2)]"
    )
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    path = tmp_path / "run.png"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(path)],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert QImage(str(path)).size() == QSize(2400, 1600)


def test_a_title_stands_above_the_plots_and_is_gone_afterwards(qtbot):
    chart = live()
    qtbot.addWidget(chart)
    chart.resize(*SIZE)
    chart.set_heading("", (Line("what is shown", "text"),))
    chart.show()
    chart.settle()
    before = chart.grab().toImage()
    run = result()
    seconds = np.asarray(run.samples.seconds)
    title = run_heading(run.job, run.device, outcome_of(run), summarize(seconds), 300)
    assert title[0].startswith("Tiled on GPU one")
    words = " ".join(line.text for line in title[1])
    for part in ("64 × 64 × 64 float", "TS=16", "300 launches", "median", "FLOP/s", "✓ verified"):
        assert part in words
    plain, titled = render_chart(chart), render_chart(chart, scale=2, title=title)
    assert titled.width() == 2 * plain.width()
    assert titled.height() > 2 * plain.height() + 100
    assert (chart.width(), chart.height()) == SIZE
    assert chart.grab().toImage() == before
    dialog = ExportDialog(chart, title=title)
    qtbot.addWidget(dialog)
    assert f"{titled.width()} × {titled.height()} pixels" in dialog.scale.itemText(1)


def test_the_dialog_says_which_file_it_wrote(qtbot, chart, tmp_path):
    dialog = ExportDialog(chart)
    qtbot.addWidget(dialog)
    path = tmp_path / "picture.png"
    dialog.file.setText(str(path))
    with qtbot.waitSignal(dialog.saved) as said:
        dialog._save.click()
    assert said.args == [str(path)]
    assert path.exists()
