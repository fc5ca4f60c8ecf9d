"""The tables of the access lens: every access of the kernel, and the pads that were tried."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.access_table import (
    ACCESS_ROLE,
    BEST_ROLE,
    TONE_ROLE,
    AccessTableModel,
    Index,
    PadTableModel,
)
from gemmviz.core.access.report import AccessReport, Pad
from gemmviz.views.charts.access_words import pad_words
from gemmviz.views.delegates import ThemedDelegate
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.theme import Theme, icon

_ROW_PIXELS = 24
_WIDTHS = (40, 132, 80, 96, 44, 62)
_PATTERN_PIXELS = 230  # at least; the table scrolls sideways where it has less
_COST = 3
_PAD_WIDTHS = (58, 82, 54)
_PAD_BYTES_PIXELS = 66
_TONE_ICONS = {"good": "check", "warn": "warning", "bad": "cross"}


class ToneDelegate(ThemedDelegate):
    """A mark and a colour for what is good or bad; the best row in bold."""

    def __init__(self, column: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._column = column
        self._icons: dict[str, QIcon] = {}

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme`` from now on."""
        super().set_theme(theme)
        self._icons = {
            tone: icon(name, theme, getattr(theme, tone)) for tone, name in _TONE_ICONS.items()
        }

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """See QStyledItemDelegate."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight
        tone = index.data(TONE_ROLE)
        if index.data(BEST_ROLE):
            option.font.setWeight(QFont.Weight.DemiBold)
            self.paint_text(option, self.state_color(tone))
        elif tone in self._icons and index.column() == self._column:
            option.icon = self._icons[tone]
            option.decorationSize = QSize(13, 13)
            option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
            self.paint_text(option, self.state_color(tone))


class _Table(QTableView):
    """A plain table of rows to choose."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAlternatingRowColors(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_PIXELS)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setMinimumSectionSize(32)
        self.setMinimumHeight(40)

        self._widths: tuple[int, ...] = ()
        self._last = 0

    def set_widths(self, widths: tuple[int, ...], last: int) -> None:
        """Give the first columns their widths; the last one takes what is left.

        It has ``last`` pixels at least, and what its longest text needs: the table scrolls sideways
        where there is less.
        """
        self._widths, self._last = widths, last
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column, width in enumerate(widths):
            header.resizeSection(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the last column what the others leave."""
        super().resizeEvent(event)
        self.fit_last()

    def fit_last(self) -> None:
        """Let the last column take what is left, or what its texts need."""
        header = self.horizontalHeader()
        taken = sum(header.sectionSize(column) for column in range(len(self._widths)))
        last = len(self._widths)
        needed = max(self._last, self.sizeHintForColumn(last))
        header.resizeSection(last, max(needed, self.viewport().width() - taken))


class AccessTable(_Table):
    """Every access; ``access_chosen`` carries the index of one, or None for none."""

    access_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__("Accesses of the kernel")
        self._model = AccessTableModel(self)
        self.setModel(self._model)
        self.delegate = ToneDelegate(_COST, self)
        self.setItemDelegate(self.delegate)
        self.set_widths(_WIDTHS, _PATTERN_PIXELS)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)

    @property
    def chosen(self) -> int | None:
        """The index of the chosen access in the report."""
        rows = self.selectionModel().selectedRows()
        return rows[0].data(ACCESS_ROLE) if rows else None

    def set_report(self, report: AccessReport | None) -> None:
        """Show the accesses of another kernel, none of them chosen."""
        self._model.set_report(report)
        self.fit_last()

    @Slot(QItemSelection, QItemSelection)
    def _on_selection_changed(self, selected: QItemSelection, gone: QItemSelection) -> None:
        self.access_chosen.emit(self.chosen)


class PadPanel(QWidget):
    """What pads of the local arrays would give; hidden by its owner where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.model = PadTableModel(self)
        self.table = _Table("Pads of local rows")
        self.table.setModel(self.model)
        self.delegate = ToneDelegate(-1, self)
        self.table.setItemDelegate(self.delegate)
        self.table.set_widths(_PAD_WIDTHS, _PAD_BYTES_PIXELS)
        self.verdict = ElidedLabel("", "note")
        self.verdict.setContentsMargins(8, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.verdict)
        column.addWidget(self.table, 1)

    def show_pads(self, pads: tuple[Pad, ...], report: AccessReport | None) -> None:
        """Show other pads, the best one in sight."""
        self.model.set_pads(pads, report)
        self.verdict.setText(pad_words(pads, self.model.best))
        if self.model.best is not None:
            self.table.scrollTo(self.model.index(pads.index(self.model.best), 0))

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        self.delegate.set_theme(theme)
        self.table.viewport().update()
