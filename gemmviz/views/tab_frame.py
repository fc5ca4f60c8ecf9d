"""The bar of tabs: a menu of all beside it where it is too narrow, and the tabs before their time.

The charts' library takes long to load, so the window shows the bar before there are charts.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QTabWidget, QToolButton

from gemmviz.views.roles import label
from gemmviz.views.tab_titles import TAB_TITLES
from gemmviz.views.theme import Theme, icon


class TabFrame(QTabWidget):
    """Tabs to which an entry of ``menu`` leads each, in the same order."""

    def __init__(self, menu: QMenu) -> None:
        super().__init__()
        self._menu = menu
        self.all_tabs = QToolButton()
        self.all_tabs.setToolTip("All tabs")
        self.all_tabs.setAccessibleName("All tabs")
        self.all_tabs.setProperty("role", "quiet")
        self.all_tabs.setIconSize(QSize(14, 14))
        self.all_tabs.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.all_tabs.setMenu(menu)
        self.all_tabs.hide()
        self.setCornerWidget(self.all_tabs, Qt.Corner.TopRightCorner)
        menu.triggered.connect(self._on_entry_chosen)
        self.currentChanged.connect(self._on_tab_changed)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.all_tabs.setIcon(icon("chevron-down", theme))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Offer the menu where some tabs are out of sight."""
        bar = self.tabBar()
        needed = sum(bar.tabRect(place).width() for place in range(bar.count()))
        self.all_tabs.setVisible(needed > event.size().width())
        super().resizeEvent(event)

    @Slot(QAction)
    def _on_entry_chosen(self, action: QAction) -> None:
        self.setCurrentIndex(action.data())

    @Slot(int)
    def _on_tab_changed(self, place: int) -> None:
        actions = self._menu.actions()
        if 0 <= place < len(actions):
            actions[place].setChecked(True)


class ComingTabs(TabFrame):
    """The titles alone, to choose from while the charts are not there yet."""

    def __init__(self, menu: QMenu) -> None:
        super().__init__(menu)
        for title in TAB_TITLES:
            page = label("The charts are being loaded...", "caption")
            page.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self.addTab(page, title)
