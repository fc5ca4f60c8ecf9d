"""The dialog of what is seldom changed: launch limit, seed and build options."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.state import AppState
from gemmviz.views.roles import label

_LARGEST_SEED = 2**31 - 1


class SettingsDialog(QDialog):
    """Changes the setup when it is accepted."""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Run settings")
        self._state = state
        setup = state.setup
        self.limit = QDoubleSpinBox(minimum=0.1, maximum=3600.0, decimals=1, suffix=" s")
        self.limit.setValue(setup.launch_limit_seconds)
        self.fixed = QCheckBox("always the same:")
        self.fixed.setChecked(setup.seed is not None)
        self.seed = QSpinBox(minimum=0, maximum=_LARGEST_SEED, value=setup.seed or 0)
        self.seed.setEnabled(setup.seed is not None)
        self.fixed.toggled.connect(self.seed.setEnabled)
        self.options = QLineEdit(setup.build_options, placeholderText="-cl-fast-relaxed-math ...")
        self.options.setMinimumWidth(280)
        seed_row = QHBoxLayout()
        seed_row.addWidget(self.fixed)
        seed_row.addWidget(self.seed, 1)
        form = QFormLayout()
        form.addRow("Launch &limit", self.limit)
        form.addRow("", label("A launch that takes longer is ended and reported.", "note"))
        form.addRow("Seed", seed_row)
        form.addRow(
            "", label("Otherwise each run draws its own; the log and the CSV hold it.", "note")
        )
        form.addRow("&Build options", self.options)
        accept, reject = QDialogButtonBox.StandardButton.Ok, QDialogButtonBox.StandardButton.Cancel
        buttons = QDialogButtonBox(accept | reject)
        buttons.accepted.connect(self._on_accepted)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addLayout(form)
        column.addWidget(buttons)

    @Slot()
    def _on_accepted(self) -> None:
        seed = self.seed.value() if self.fixed.isChecked() else None
        self._state.change(
            replace(
                self._state.setup,
                launch_limit_seconds=self.limit.value(),
                seed=seed,
                build_options=self.options.text().strip(),
            )
        )
        self.accept()
