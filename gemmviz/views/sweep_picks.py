"""What a view of a sweep shows: its axes, its figure, and what holds of everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from gemmviz.app.setup import Option
from gemmviz.core.sweep_dimensions import RACE, Dimension, Value
from gemmviz.views.flow_layout import FlowLayout
from gemmviz.views.option_combo import OptionCombo
from gemmviz.views.roles import label

_BEST = "Best of all"
_ALL = "All"
_MOST_NAMED = 3


class Pick(QWidget):
    """A caption and a box of names; ``name_chosen`` carries the one that was picked."""

    name_chosen = Signal(str)

    def __init__(self, caption: str, tip: str) -> None:
        super().__init__()
        self.combo = OptionCombo()
        self.combo.set_tip(tip)
        text = label(caption, "unit")
        text.setBuddy(self.combo)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        row.addWidget(text)
        row.addWidget(self.combo)
        self.name = ""
        self.combo.option_chosen.connect(self._on_option_chosen)

    def show_names(self, options: Sequence[Option], wanted: str) -> str:
        """Show these names and ``wanted`` among them, or the first; returns the one that holds."""
        names = [str(option.value) for option in options]
        self.name = wanted if wanted in names else next(iter(names), "")
        self.combo.set_options(options, self.name)
        return self.name

    @Slot(object)
    def _on_option_chosen(self, value: object) -> None:
        self.name = str(value)
        self.name_chosen.emit(self.name)


@dataclass(frozen=True, slots=True)
class _Held:
    """A dimension and the value that a menu entry holds it at; None for the best or all."""

    name: str
    value: Value | None


class OtherDimensions(QToolButton):
    """A menu that holds the dimensions beside the axes at a value each, or takes the best.

    ``held_changed`` follows every change of ``held``.
    """

    held_changed = Signal()

    def __init__(self, *, best: bool) -> None:
        super().__init__()
        self._best = best
        self._known: tuple[Dimension, ...] = ()
        self.held: dict[str, Value] = {}
        self._menu = QMenu(self)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolTip("What the parameters and problems beside the axes are held at")

    def show_dimensions(self, others: Sequence[Dimension]) -> None:
        """Offer these dimensions; what is held of another one is forgotten."""
        known = {each.name: each for each in others}
        self.held = {
            name: value
            for name, value in self.held.items()
            if name in known and value in known[name].values
        }
        if self._best:
            for each in others:
                if each.name in RACE:
                    self.held.setdefault(each.name, each.values[0])
        if tuple(others) != self._known:
            self._known = tuple(others)
            self._rebuild()
        self._show_text()
        self.setVisible(bool(others))

    def _rebuild(self) -> None:
        for action in self._menu.actions():
            if (old := action.menu()) is not None:
                old.deleteLater()  # which clear() does not
        self._menu.clear()
        for dimension in self._known:
            menu = self._menu.addMenu(dimension.name)
            group = QActionGroup(menu)
            free = not (self._best and dimension.name in RACE)
            entries: list[tuple[str, Value | None]] = []
            if free:
                entries.append((_BEST if self._best else _ALL, None))
            entries += list(zip(dimension.texts, dimension.values, strict=True))
            for text, value in entries:
                action = QAction(text, menu, checkable=True)
                action.setData(_Held(dimension.name, value))
                action.setChecked(self.held.get(dimension.name) == value)
                group.addAction(action)
                menu.addAction(action)
            group.triggered.connect(self._on_triggered)

    def _show_text(self) -> None:
        parts, free = [], []
        for dimension in self._known:
            value = self.held.get(dimension.name)
            if value is None:
                free.append(dimension.name)
                continue
            text = dimension.text(value)
            parts.append(f"{dimension.name}={text}" if dimension.name.isupper() else text)
        if self._best and free:
            several = len(free) > _MOST_NAMED
            parts.append(f"best of {f'{len(free)} others' if several else ', '.join(free)}")
        text = ", ".join(parts) or "all configurations"
        self.setText(f"{text[:1].upper()}{text[1:]}  ▾")

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        held = action.data()
        if not isinstance(held, _Held):
            return
        if held.value is None:
            self.held.pop(held.name, None)
        else:
            self.held[held.name] = held.value
        self._show_text()
        self.held_changed.emit()


class PickRow(QWidget):
    """Picks and the others beside one another, in as many rows as the width needs."""

    def __init__(self, *parts: QWidget) -> None:
        super().__init__()
        flow = FlowLayout(self, gap=12, row_gap=3)
        for part in parts:
            flow.addWidget(part)
