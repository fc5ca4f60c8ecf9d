"""A layout that puts widgets in a row and begins another where the width ends."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget, QWidgetItem

_UNBOUNDED = 2**24 - 1


class FlowLayout(QLayout):
    """Left to right, wrapping; every widget has its hint's width, or the row's if that is less."""

    def __init__(self, parent: QWidget | None = None, gap: int = 14, row_gap: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap, self._row_gap = gap, row_gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """See QLayout."""
        self._items.append(item)

    def insert_widget(self, place: int, widget: QWidget) -> None:
        """Put ``widget`` before the item that is now at ``place``."""
        self.addChildWidget(widget)
        self._items.insert(place, QWidgetItem(widget))
        self.invalidate()

    def count(self) -> int:
        """See QLayout."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """See QLayout."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """See QLayout."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """See QLayout."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """See QLayout."""
        return True

    def heightForWidth(self, width: int) -> int:
        """See QLayout."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """See QLayout."""
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        """See QLayout."""
        hints = [item.sizeHint() for item in self._shown()]
        width = sum(hint.width() + self._gap for hint in hints) - self._gap if hints else 0
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        """See QLayout."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Place the items in rows; returns the height they take."""
        top = rect.top()
        rows = self._rows(rect.width())
        for row in rows:
            height = max(item.sizeHint().height() for item in row)
            left = rect.left()
            for item in row:
                hint = item.sizeHint().boundedTo(QSize(rect.width(), _UNBOUNDED))
                if move:
                    middle = top + (height - hint.height()) // 2
                    item.setGeometry(QRect(QPoint(left, middle), hint))
                left += hint.width() + self._gap
            top += height + self._row_gap
        return top - rect.top() - (self._row_gap if rows else 0)

    def _rows(self, width: int) -> list[list[QLayoutItem]]:
        rows: list[list[QLayoutItem]] = []
        used = 0
        for item in self._shown():
            needed = item.sizeHint().width()
            if not rows or used + self._gap + needed > width:
                rows.append([])
                used = needed
            else:
                used += self._gap + needed
            rows[-1].append(item)
        return rows
