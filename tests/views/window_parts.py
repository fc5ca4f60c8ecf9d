"""Parts of the window that several tests need."""

from __future__ import annotations

from gemmviz.views.menus import Menus
from gemmviz.views.tabs import Tabs


def shown_tabs(qtbot, state) -> Tabs:
    """The tabs over ``state`` without the rest of the window."""
    menus = Menus(state, state)
    tabs = Tabs(state, menus)
    qtbot.addWidget(tabs)
    qtbot.addWidget(menus.bar)
    tabs.resize(720, 480)
    tabs.show()
    return tabs
