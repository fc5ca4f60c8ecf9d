"""The base of every chart: a scene whose lines are in pixels, so that it prints at any scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyqtgraph
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPaintEngine, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QGraphicsLayoutItem,
    QGraphicsObject,
    QStyleOptionGraphicsItem,
    QWidget,
)

from gemmviz.views.theme import DARK, Theme, text_font

HALO_PIXELS = 1.6
TICK_PIXELS = 11
LABEL_PIXELS = 12


def pixel_pen(
    color: str | QColor, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine
) -> QPen:
    """A pen whose width is in device-independent pixels.

    pyqtgraph's own pens are cosmetic: they stay one device pixel thin in a picture at scale 3.
    """
    pen = QPen(QColor(color), width, style, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.BevelJoin)
    pen.setCosmetic(False)
    return pen


@contextmanager
def clipped(painter: QPainter, area: QRectF) -> Iterator[None]:
    """Paint in ``area`` alone for a while; ``painter`` is then as it was before."""
    painter.save()
    painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
    try:
        yield
    finally:
        painter.restore()
        if painter.paintEngine().type() == QPaintEngine.Type.SVG and painter.hasClipping():
            painter.setClipPath(painter.clipPath())  # Qt's SVG writer forgets it in restore()


class Chart(pyqtgraph.GraphicsView):  # type: ignore[misc]  # pyqtgraph has no types
    """A chart: takes frozen results or plain arrays, never the app's state.

    A subclass lays its plots out in ``self.centralLayout``, sets ``export_title``, paints in pixels
    with ordinary pens (see :func:`pixel_pen`) and puts colours on in ``restyle`` alone. Then it can
    be exported in either theme at any scale without further code.
    """

    export_title = "Chart"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent)
        self.theme = theme
        self.empty_text = ""
        self.setMinimumSize(240, 160)
        # A file that is dropped on a chart is for the window.
        self.setAcceptDrops(False)
        self.viewport().setAcceptDrops(False)
        self.centralLayout.setContentsMargins(10, 10, 14, 8)
        self.centralLayout.setSpacing(6)

    def _arrange(
        self,
        above: Sequence[QGraphicsLayoutItem],
        left: QGraphicsLayoutItem,
        plot: QGraphicsLayoutItem,
        bottom: QGraphicsLayoutItem,
        *,
        right: QGraphicsLayoutItem | None = None,
        below: Sequence[QGraphicsLayoutItem] = (),
    ) -> None:
        """Lay out one plot between its axes, which takes all the room that nothing else needs.

        Args:
            above: What is as wide as the chart over the plot, from the top.
            left: The axis at its left.
            plot: The plot.
            bottom: The axis below it.
            right: What stands at its right.
            below: What is as wide as the chart below the axis.
        """
        grid, row = self.centralLayout, len(above)
        grid.setVerticalSpacing(0)
        grid.setHorizontalSpacing(0)
        columns = 2 if right is None else 3
        for place, item in enumerate(above):
            grid.addItem(item, place, 0, 1, columns)
        for column, item in enumerate(each for each in (left, plot, right) if each is not None):
            grid.addItem(item, row, column)
        grid.addItem(bottom, row + 1, 1)
        for place, item in enumerate(below, start=row + 2):
            grid.addItem(item, place, 0, 1, columns)
        grid.setRowStretchFactor(row, 1)
        grid.setColumnStretchFactor(1, 1)

    def is_empty(self) -> bool:
        """Whether there is nothing to draw, so that ``empty_text`` stands in the middle."""
        return False

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme`` from now on."""
        self.theme = theme
        self.setBackground(theme.panel)
        self.restyle()
        self.viewport().update()

    def restyle(self) -> None:
        """Put the colours of ``self.theme`` on everything; called by ``set_theme``."""

    def hide_hover(self) -> None:
        """Take away what follows the mouse; called before an export and when the mouse leaves."""

    def leaveEvent(self, ev: QEvent) -> None:
        """The mouse has left: no details."""
        super().leaveEvent(ev)
        self.hide_hover()

    def home(self) -> None:
        """Show everything again; nothing happens in a chart that cannot be zoomed."""

    def settle(self) -> None:
        """Finish the layout now, which Qt would otherwise leave to the event loop.

        A chart that was never shown has not even heard of its size.
        """
        self.ensurePolished()
        if not self.isVisible():
            QCoreApplication.sendEvent(self, QResizeEvent(self.size(), self.size()))
            self.resizeEvent(None)
        self.centralLayout.activate()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    def sizeHint(self) -> QSize:
        """The size that suits a tab of the window."""
        return QSize(720, 480)

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Write the text of an empty chart."""
        super().drawForeground(painter, rect)
        if self.empty_text and self.is_empty():
            painter.setFont(text_font(14))
            painter.setPen(QColor(self.theme.muted))
            area = QRectF(0, 0, self.width(), self.height()).adjusted(40, 20, -40, -20)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(area, int(flags), self.empty_text)


class Plot(pyqtgraph.ViewBox):  # type: ignore[misc]
    """A plot area with ranges set by the chart: wheel and drag zoom, drag with Shift moves.

    A click of the right button emits ``reset_wanted``.
    """

    reset_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.disableAutoRange()
        self.setMouseMode(self.RectMode)

    def is_under(self, position: QPointF) -> bool:
        """Whether a place of the scene lies on the plot, and the plot is shown."""
        return bool(self.isVisible() and self.sceneBoundingRect().contains(position))

    def mouseDragEvent(self, ev: object, axis: int | None = None) -> None:
        """Zoom into the dragged rectangle, or move the view while Shift is held."""
        moving = bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)  # type: ignore[attr-defined]
        self.state["mouseMode"] = self.PanMode if moving else self.RectMode
        super().mouseDragEvent(ev, axis)

    def mouseClickEvent(self, ev: object) -> None:
        """Ask for the whole view at a click of the right button."""
        if ev.button() == Qt.MouseButton.RightButton:  # type: ignore[attr-defined]
            ev.accept()  # type: ignore[attr-defined]
            self.reset_wanted.emit()

    def keyPressEvent(self, ev: object) -> None:
        """Leave keys to the window; pyqtgraph would step through its own zoom history."""
        ev.ignore()  # type: ignore[attr-defined]

    def restyle(self, theme: Theme) -> None:
        """Colour the rubber band."""
        band = QColor(theme.accent)
        self.rbScaleBox.setPen(pyqtgraph.mkPen(band))
        band.setAlpha(50)
        self.rbScaleBox.setBrush(band)


class Layer(QGraphicsObject):
    """Something painted over a plot in pixels: its origin is the plot's top left corner."""

    def __init__(self, plot: Plot, depth: float = 0.0) -> None:
        super().__init__(plot)
        self.plot = plot
        self.setZValue(depth)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        plot.sigResized.connect(self._on_plot_resized)

    def _on_plot_resized(self, plot: object) -> None:
        self.prepareGeometryChange()

    def boundingRect(self) -> QRectF:
        """The whole plot."""
        return QRectF(0, 0, self.plot.width(), self.plot.height())

    def to_pixel(self, x: float, y: float) -> QPointF:
        """Where a point of the plot's own coordinates is in pixels."""
        (left, right), (bottom, top) = self.plot.viewRange()
        return QPointF(
            (x - left) / (right - left) * self.plot.width(),
            (top - y) / (top - bottom) * self.plot.height(),
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint; a subclass must say what."""
        raise NotImplementedError


def draw_chip(
    painter: QPainter,
    anchor: QPointF,
    text: str,
    *,
    font: QFont,
    ink: str,
    theme: Theme,
    limits: QRectF,
) -> QRectF:
    """Write ``text`` on a small plate whose left edge middle is ``anchor``, kept inside ``limits``.

    Returns:
        Where the plate is.
    """
    plate = _plate(painter, anchor, text, font, limits)
    painter.setPen(pixel_pen(theme.border))
    painter.setBrush(QColor(theme.panel))
    painter.drawRoundedRect(plate, 4, 4)
    painter.setPen(QColor(ink))
    painter.drawText(plate, int(Qt.AlignmentFlag.AlignCenter), text)
    return plate


def draw_haloed(
    painter: QPainter,
    anchor: QPointF,
    text: str,
    *,
    font: QFont,
    ink: str,
    theme: Theme,
    limits: QRectF,
) -> QRectF:
    """Write ``text`` with a thin rim of the panel's colour, so that samples show between words.

    Returns:
        Where the text is.
    """
    plate = _plate(painter, anchor, text, font, limits)
    painter.setPen(QColor(theme.panel))
    for step in range(8):
        angle = step * math.pi / 4
        rim = plate.translated(HALO_PIXELS * math.cos(angle), HALO_PIXELS * math.sin(angle))
        painter.drawText(rim, int(Qt.AlignmentFlag.AlignCenter), text)
    painter.setPen(QColor(ink))
    painter.drawText(plate, int(Qt.AlignmentFlag.AlignCenter), text)
    return plate


def _plate(painter: QPainter, anchor: QPointF, text: str, font: QFont, limits: QRectF) -> QRectF:
    """Room for ``text``, its left edge middle at ``anchor`` or as near as ``limits`` allow."""
    painter.setFont(font)
    size = painter.fontMetrics().size(0, text)
    plate = QRectF(0, 0, size.width() + 12, size.height() + 6)
    plate.moveTo(anchor.x(), anchor.y() - plate.height() / 2)
    plate.moveLeft(max(limits.left(), min(plate.left(), limits.right() - plate.width())))
    plate.moveTop(max(limits.top(), min(plate.top(), limits.bottom() - plate.height())))
    return plate
