"""How items of the models are painted: icons, badges, struck figures, coloured verdicts."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QPalette
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from gemmviz.app.device_tree import FAINT_ROLE, KIND_ROLE
from gemmviz.app.property_table import BADGE_ROLE, REFUSED_ROLE
from gemmviz.app.results_table import BASELINE_ROLE, STATE_ROLE, STRUCK_ROLE
from gemmviz.views.roles import BADGE_STATES
from gemmviz.views.theme import DARK, Theme, icon

_ICONS = {
    "platform": "platform",
    "GPU": "device-gpu",
    "CPU": "device-cpu",
    "accelerator": "device-accelerator",
    "simulator": "device-simulator",
    "note": "warning",
}
Index = QModelIndex | QPersistentModelIndex


class ThemedDelegate(QStyledItemDelegate):
    """A delegate that knows the theme's colours."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = DARK

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme`` from now on."""
        self.theme = theme

    def state_color(self, state: str) -> str:
        """The colour of "good", "warn" or "bad", else that of text."""
        colors = {"good": self.theme.good, "bad": self.theme.bad, "warn": self.theme.warn}
        return colors.get(state, self.theme.text)

    def paint_text(self, option: QStyleOptionViewItem, color: str) -> None:
        """Write the item in ``color``, also where it is selected."""
        for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText):
            option.palette.setColor(role, QColor(color))


class DeviceDelegate(ThemedDelegate):
    """Platforms in bold with an icon, devices with the icon of their type, faint if unusable."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icons: dict[str, QIcon] = {}

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme`` from now on."""
        super().set_theme(theme)
        self._icons = {kind: icon(name, theme) for kind, name in _ICONS.items()}

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """See QStyledItemDelegate."""
        super().initStyleOption(option, index)
        kind = index.data(KIND_ROLE)
        if index.column() == 0 and kind in self._icons:
            option.icon = self._icons[kind]
            option.decorationSize = QSize(16, 16)
            option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        if kind == "platform":
            option.font.setWeight(QFont.Weight.DemiBold)
        if index.data(FAINT_ROLE):
            self.paint_text(option, self.theme.muted)
            option.font.setItalic(True)


class PropertyDelegate(ThemedDelegate):
    """A badge behind the value that it belongs to; a refused value is muted."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """See QStyledItemDelegate."""
        super().initStyleOption(option, index)
        badge = index.data(BADGE_ROLE)
        if badge is not None:
            option.text = f"{option.text}  ·  {badge.text}"
            self.paint_text(option, self.state_color(BADGE_STATES[badge.meaning]))
        elif index.data(REFUSED_ROLE) or index.column() != 1:
            self.paint_text(option, self.theme.muted)


class ResultDelegate(ThemedDelegate):
    """The baseline in bold, speeds that do not count struck through, verdicts in colour."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """See QStyledItemDelegate."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight
        if index.data(BASELINE_ROLE):
            option.font.setWeight(QFont.Weight.DemiBold)
        if index.data(STRUCK_ROLE):
            option.font.setStrikeOut(True)
            self.paint_text(option, self.theme.muted)
        state = index.data(STATE_ROLE)
        if state:
            self.paint_text(option, self.state_color(state))
