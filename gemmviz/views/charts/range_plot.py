"""A plot in which a drag selects a range."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal

from gemmviz.views.charts.chart import Plot


class RangePlot(Plot):
    """A plot in which a drag selects a range across instead of zooming."""

    range_dragged = Signal(float, float)
    """The two ends of the drag in plot coordinates, in any order."""

    def mouseDragEvent(self, ev: object, axis: int | None = None) -> None:
        """Select from where the button went down to where the mouse is; Shift moves the view."""
        left = ev.button() == Qt.MouseButton.LeftButton  # type: ignore[attr-defined]
        if not left or ev.modifiers() & Qt.KeyboardModifier.ShiftModifier:  # type: ignore[attr-defined]
            super().mouseDragEvent(ev, axis)
            return
        ev.accept()  # type: ignore[attr-defined]
        start = self.mapToView(ev.buttonDownPos())  # type: ignore[attr-defined]
        end = self.mapToView(ev.pos())  # type: ignore[attr-defined]
        self.range_dragged.emit(start.x(), end.x())
