"""The combo box of kernels, grouped by family, with what was found of each."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QPaintEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from gemmviz.app.setup import family_title, verdict_badge
from gemmviz.core.catalog import Catalog
from gemmviz.core.model import Variant
from gemmviz.views.option_combo import ARROW_PIXELS, TRAIL_ROLE, TrailDelegate, widen_list

SIGNS = {"good": "✓", "bad": "✗", "doubt": "△", "plain": ""}
"""What stands before a badge, so that its colour is not its only sign."""

_NARROWEST, _WIDEST = 150, 320


class KernelCombo(QComboBox):
    """Every kernel of the catalogue under its family's title; long titles are cut.

    One that cannot run is greyed and says why.
    """

    variant_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items = QStandardItemModel(self)
        self._rows: list[Variant | None] = []
        self._reasons: list[str] = []
        self.setModel(self._items)
        self.setItemDelegate(TrailDelegate(self))
        self.setMaxVisibleItems(30)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)
        self.setMaximumWidth(_WIDEST)
        self.activated.connect(self._on_activated)

    def sizeHint(self) -> QSize:
        """As wide as the chosen title, within bounds."""
        wanted = self.fontMetrics().horizontalAdvance(self.currentText()) + ARROW_PIXELS
        return QSize(min(max(wanted, _NARROWEST), _WIDEST), super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box with an ellipsis where the title does not fit."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.fontMetrics().elidedText(
            option.currentText, Qt.TextElideMode.ElideRight, self.width() - ARROW_PIXELS + 2
        )
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def set_catalog(self, catalog: Catalog, chosen: Variant | None) -> None:
        """Show the kernels of ``catalog`` and ``chosen`` among them."""
        self._items.clear()
        self._rows, self._reasons = [], []
        for family, variants in groupby(catalog.variants, lambda variant: variant.family):
            self._add(_heading(family_title(family)), None)
            for variant in variants:
                self._add(_item(variant), variant)
        widen_list(self)
        self.show_chosen(chosen)

    def show_reasons(self, reason_of: Callable[[Variant], str]) -> None:
        """Grey the kernels for which ``reason_of`` has a sentence."""
        reasons = [reason_of(variant) if variant is not None else "" for variant in self._rows]
        if reasons == self._reasons:
            return
        self._reasons = reasons
        for row, (variant, reason) in enumerate(zip(self._rows, reasons, strict=True)):
            if variant is not None:
                item = self._items.item(row)
                item.setEnabled(not reason)
                item.setData(reason or _trail(variant), TRAIL_ROLE)
                item.setToolTip(reason or _tip(variant))
        widen_list(self)

    def show_chosen(self, variant: Variant | None) -> None:
        """Show ``variant`` in the closed box."""
        if variant in self._rows and variant is not None:
            self.setCurrentIndex(self._rows.index(variant))
        else:
            self.setCurrentIndex(-1)
        self.setToolTip(_tip(variant) if variant is not None else "")
        self.updateGeometry()

    def _add(self, item: QStandardItem, variant: Variant | None) -> None:
        self._items.appendRow(item)
        self._rows.append(variant)

    @Slot(int)
    def _on_activated(self, row: int) -> None:
        variant = self._rows[row]
        if variant is not None:
            self.variant_chosen.emit(variant)


def _heading(title: str) -> QStandardItem:
    item = QStandardItem(title)
    font = QFont()
    font.setWeight(QFont.Weight.DemiBold)
    item.setFont(font)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    return item


def _item(variant: Variant) -> QStandardItem:
    item = QStandardItem(variant.title)
    item.setData(_trail(variant), TRAIL_ROLE)
    item.setToolTip(_tip(variant))
    return item


def _trail(variant: Variant) -> str:
    badge = verdict_badge(variant)
    return f"{SIGNS[badge.meaning]} {badge.text}".strip() if badge is not None else ""


def _tip(variant: Variant) -> str:
    parts = (variant.summary, variant.finding, f"Idea: {variant.idea}" if variant.idea else "")
    return "\n\n".join(part for part in parts if part)
