"""The fields of M, N and K, with the lock for square matrices and the presets."""

from __future__ import annotations

from PySide6.QtCore import QSize, Slot
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSpinBox, QToolButton, QWidget

from gemmviz.app.setup import LARGEST_SIZE
from gemmviz.app.state import AppState
from gemmviz.views.roles import label
from gemmviz.views.theme import DARK, Theme, icon

_NAMES = ("m", "n", "k")


class SizeFields(QWidget):
    """One field while the sizes are locked to one another, three while they are free."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self._theme = DARK
        self.fields = {name: QSpinBox(minimum=1, maximum=LARGEST_SIZE) for name in _NAMES}
        self._captions = {name: label(name.upper(), "unit") for name in _NAMES}
        self.lock = QToolButton()
        self.lock.setCheckable(True)
        self.lock.setToolTip("Keep M, N and K equal")
        self.presets = QToolButton()
        self.presets.setToolTip("Usual sizes")
        self.presets.setAccessibleName("Usual sizes")
        self.lock.setAccessibleName("Keep M, N and K equal")
        self.presets.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self.presets.setMenu(self._menu)
        self._lay_out()
        for field in self.fields.values():
            field.valueChanged.connect(self._on_value_changed)
        self.lock.clicked.connect(self._on_lock_clicked)
        self._menu.aboutToShow.connect(self._on_menu_about_to_show)
        state.setup_changed.connect(self._on_setup_changed)
        self._on_setup_changed()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for name, field in self.fields.items():
            field.setObjectName(name)
            field.setToolTip("C (M × N) = A (M × K) times B (K × N)")
            field.setMaximumWidth(80)
            self._captions[name].setBuddy(field)
            row.addWidget(self._captions[name])
            row.addWidget(field)
        for button in (self.lock, self.presets):
            button.setIconSize(QSize(14, 14))
            row.addWidget(button)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What the Tab key visits, in order."""
        return (*self.fields.values(), self.lock, self.presets)

    def set_theme(self, theme: Theme) -> None:
        """Draw icons in the colours of ``theme``."""
        self._theme = theme
        self.presets.setIcon(icon("chevron-down", theme))
        self._show_lock()

    @Slot()
    def _on_setup_changed(self) -> None:
        setup = self._state.setup
        square, adds = setup.square, setup.variant is not None and setup.variant.operation == "add"
        for name, field in self.fields.items():
            if field.value() != getattr(setup, name):  # else a person may be typing in it
                field.blockSignals(True)
                field.setValue(getattr(setup, name))
                field.blockSignals(False)
            shown = not square or name == "m"
            field.setVisible(shown)
            self._captions[name].setVisible(shown)
            self._captions[name].setText(f"&{name.upper()}")
        if square:
            self._captions["m"].setText("&M = N" if adds else "&M = N = K")
        self.fields["k"].setEnabled(not adds)
        forced = setup.variant is not None and setup.variant.shapes == "square"
        self.lock.setEnabled(not forced)
        self.lock.setToolTip(
            "This kernel takes square matrices alone" if forced else "Keep M, N and K equal"
        )
        if square != self.lock.isChecked():
            self.lock.setChecked(square)
            self._show_lock()

    def _show_lock(self) -> None:
        self.lock.setIcon(icon("lock" if self.lock.isChecked() else "unlock", self._theme))

    @Slot()
    def _on_value_changed(self) -> None:
        field = self.sender()
        if isinstance(field, QSpinBox):
            size = self._state.setup.with_size(field.objectName(), field.value())
            self._state.change(size)

    @Slot(bool)
    def _on_lock_clicked(self, locked: bool) -> None:
        self._show_lock()
        self._state.change(self._state.setup.with_square(locked))

    @Slot()
    def _on_menu_about_to_show(self) -> None:
        self._menu.clear()
        for option in self._state.preset_options:
            action = self._menu.addAction(option.text)
            action.setData(option.value)
            action.setEnabled(not option.reason)
            if option.reason:
                action.setText(f"{option.text}   –   {option.reason}")
            action.triggered.connect(self._on_preset_triggered)

    @Slot()
    def _on_preset_triggered(self) -> None:
        action = self.sender()
        size = action.data() if action is not None else None  # type: ignore[attr-defined]
        if isinstance(size, int):
            self._state.change(self._state.setup.with_all_sizes(size))
