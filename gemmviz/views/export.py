"""Pictures of charts: exactly as drawn, sharp at one to four times the size, light or dark.

A picture carries the results that it shows in its metadata, so that it can be opened again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QRect, QRectF, QSaveFile, QSize, QStandardPaths
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPaintDevice, QPainter
from PySide6.QtSvg import QSvgGenerator

from gemmviz.core.labels import file_word
from gemmviz.core.model import Result
from gemmviz.core.png_text import MOST_TEXT_BYTES
from gemmviz.core.result_document import PICTURE_KEY, fits_picture, picture_text
from gemmviz.views.charts import CHARTS
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.svg import draw_items, tidied
from gemmviz.views.theme import Theme

SCALES = (1, 2, 3, 4)
_DOTS_PER_INCH = 96  # of a picture at scale 1
_DOTS_PER_METER = _DOTS_PER_INCH / 0.0254

Title = tuple[str, tuple[Line, ...]]
"""A title and the lines below it, as a Heading shows them."""


def render_chart(
    chart: Chart, *, scale: int = 1, theme: Theme | None = None, title: Title | None = None
) -> QImage:
    """A picture of ``chart`` at its present size, without what follows the mouse.

    The chart paints into an image whose pixels are ``scale`` times as dense, so text, lines and
    marks grow with it and stay sharp. For another theme it changes its colours and back before
    the screen is painted again.

    Args:
        chart: Shown or not.
        scale: 1 to 4; the picture has ``scale`` times the chart's width and height.
        theme: The chart's own where None.
        title: Stands above the plots instead of the chart's heading on the screen; the picture
            is as much higher as it needs.
    """
    with _prepared(chart, theme, title):
        width, height = chart.width(), chart.height()
        image = QImage(width * scale, height * scale, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        _paint(chart, image)
    # Only now: a density set before painting would change the size of text.
    image.setDotsPerMeterX(round(_DOTS_PER_METER * scale))
    image.setDotsPerMeterY(round(_DOTS_PER_METER * scale))
    image.setText("Title", chart.export_title)
    return image


def render_svg(
    chart: Chart, *, theme: Theme | None = None, title: Title | None = None, text: str = ""
) -> bytes:
    """An SVG drawing of ``chart``: shapes and text as such, whatever is an image in it apart.

    Args:
        chart: Shown or not.
        theme: See :func:`render_chart`.
        title: See :func:`render_chart`.
        text: What it carries in its metadata.
    """
    with _prepared(chart, theme, title):
        width, height = chart.width(), chart.height()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        # Version 1.2 Tiny has no clipping: a zoomed plot would cover its axes.
        drawing = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
        drawing.setOutputDevice(buffer)
        drawing.setSize(QSize(width, height))
        drawing.setViewBox(QRect(0, 0, width, height))
        drawing.setResolution(_DOTS_PER_INCH)
        draw_items(chart, drawing)
    return tidied(bytes(buffer.data().data()), chart.export_title, width, height, text)


@contextmanager
def _prepared(chart: Chart, theme: Theme | None, title: Title | None) -> Iterator[None]:
    """The chart as it is to be drawn for a while: without hover, perhaps in other colours."""
    chart.hide_hover()
    chart.settle()
    own = chart.theme
    with _titled(chart, title) if title is not None else nullcontext():
        try:
            if theme is not None and theme != own:
                chart.set_theme(theme)
            yield
        finally:
            if chart.theme != own:
                chart.set_theme(own)


def _paint(chart: Chart, device: QPaintDevice) -> None:
    painter = QPainter(device)
    painter.setRenderHints(chart.renderHints())
    area = QRectF(0, 0, chart.width(), chart.height())
    chart.render(painter, area, chart.viewport().rect())
    painter.end()


@contextmanager
def _titled(chart: Chart, title: Title) -> Iterator[None]:
    """Another heading for a while, with room of its own."""
    size = chart.size()
    headings = [item for item in chart.scene().items() if isinstance(item, Heading)]
    kept = [(heading, heading.text, heading.minimumHeight()) for heading in headings]
    try:
        _put(title, headings)
        more = sum(heading.minimumHeight() - height for heading, _, height in kept)
        chart.resize(size.width(), size.height() + round(more))
        chart.settle()
        if any(heading.text != title for heading in headings):
            _put(title, headings)  # some charts fit their own heading to a new size
            chart.settle()
        yield
    finally:
        for heading, text, _ in kept:
            heading.set_text(*text)
        chart.resize(size)
        chart.settle()


def _put(title: Title, headings: list[Heading]) -> None:
    for heading in headings:
        heading.set_text(*title)


def save_png(
    chart: Chart,
    path: Path | str,
    *,
    scale: int = 1,
    theme: Theme | None = None,
    title: Title | None = None,
    results: Sequence[Result] = (),
    sweep: str = "",
) -> None:
    """Write a picture of ``chart`` as a PNG file, replacing ``path`` only once it is complete.

    Args:
        chart: See :func:`render_chart`, as for scale, theme and title.
        path: The file.
        scale: 1 to 4.
        theme: The chart's own where None.
        title: Above the plots instead of the heading on the screen.
        results: What the chart shows: the picture carries them under the key "gemmviz", and
            opens as them (see :mod:`gemmviz.core.result_document`), unless they are too many.
        sweep: The identity of the sweep that the results are of, or "".

    Raises:
        OSError: The file cannot be written; the message is a sentence.
    """
    image = render_chart(chart, scale=scale, theme=theme, title=title)
    text = _carried(chart, results, sweep)
    if text:
        image.setText(PICTURE_KEY, text)  # Qt compresses what is long
    file = QSaveFile(str(path))
    opened = file.open(QIODevice.OpenModeFlag.WriteOnly)
    if not (opened and QImageWriter(file, b"png").write(image) and file.commit()):
        raise OSError(f"The picture cannot be written to {path}: {file.errorString()}.")


def _carried(chart: Chart, results: Sequence[Result], sweep: str) -> str:
    """What a picture keeps of the results that it shows; "" where they are none or too many."""
    if not fits_picture(len(results)):
        return ""
    tab = next((title for title, kind in CHARTS if isinstance(chart, kind)), "")
    text = picture_text(results, chart=tab, sweep=sweep)
    return text if len(text) <= MOST_TEXT_BYTES else ""  # nobody would read a longer one


def save_svg(
    chart: Chart,
    path: Path | str,
    *,
    theme: Theme | None = None,
    title: Title | None = None,
    results: Sequence[Result] = (),
    sweep: str = "",
) -> None:
    """Write ``chart`` as an SVG drawing, replacing ``path`` only once it is complete.

    Args:
        chart: See :func:`render_chart`, as for theme and title.
        path: The file.
        theme: The chart's own where None.
        title: Above the plots instead of the heading on the screen.
        results: See :func:`save_png`; they are the text of the element "metadata".
        sweep: See :func:`save_png`.

    Raises:
        OSError: The file cannot be written; the message is a sentence.
    """
    text = _carried(chart, results, sweep)
    drawing = render_svg(chart, theme=theme, title=title, text=text)
    file = QSaveFile(str(path))
    opened = file.open(QIODevice.OpenModeFlag.WriteOnly)
    if not (opened and file.write(drawing) == len(drawing) and file.commit()):
        raise OSError(f"The drawing cannot be written to {path}: {file.errorString()}.")


def copy_chart(
    chart: Chart, *, scale: int = 1, theme: Theme | None = None, title: Title | None = None
) -> None:
    """Put a picture of ``chart`` on the clipboard."""
    QGuiApplication.clipboard().setImage(render_chart(chart, scale=scale, theme=theme, title=title))


def suggested_path(chart: Chart, folder: Path | None = None) -> Path:
    """A file name made of the chart's title that does not exist yet.

    Args:
        chart: The chart to save.
        folder: Where; the person's picture folder where None.
    """
    location = QStandardPaths.StandardLocation.PicturesLocation
    folder = folder or Path(QStandardPaths.writableLocation(location))
    if not folder.is_dir():
        folder = Path.home()
    stem = file_word(chart.export_title) or "chart"
    path, number = folder / f"{stem}.png", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}.png", number + 1
    return path
