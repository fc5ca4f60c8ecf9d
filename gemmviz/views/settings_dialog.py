"""The dialog of how a run is measured and of what is seldom changed."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.state import AppState
from gemmviz.core.measurement_words import CACHE_NAMES
from gemmviz.core.policy import CACHE_WORDS
from gemmviz.views.policy_fields import PolicyFields
from gemmviz.views.roles import Card, label

_LARGEST_SEED = 2**31 - 1
_LONGEST_LIMIT = 3600.0
_QUIET: dict[str, bool | None] = {"Automatic: on GPUs": None, "On": True, "Off": False}
_COLUMN_PIXELS = 360


class SettingsDialog(QDialog):
    """Changes the setup when it is accepted."""

    def __init__(self, state: AppState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Run settings")
        self._state = state
        setup = state.setup
        self.policy = PolicyFields(setup.policy)
        self.cache = QComboBox()
        for cache, name in CACHE_NAMES.items():
            self.cache.addItem(name, cache)
        self.cache.setCurrentIndex(self.cache.findData(setup.policy.cache))
        self.cache_words = label("", "note", wrap=True)
        self.cache.currentIndexChanged.connect(self._on_cache_chosen)
        self._on_cache_chosen()
        self.per_launch = QCheckBox("Each launch is a &sample")
        self.per_launch.setChecked(setup.policy.per_launch)
        self.quiet = QComboBox()
        self.quiet.addItems(list(_QUIET))
        self.quiet.setCurrentIndex(list(_QUIET.values()).index(setup.quiet))
        self.limit = QDoubleSpinBox(minimum=0.0, maximum=_LONGEST_LIMIT, decimals=1, suffix=" s")
        self.limit.setSpecialValueText("automatic")
        self.limit.setValue(setup.launch_limit_seconds or 0.0)
        self.fixed = QCheckBox("fixed at")
        self.fixed.setChecked(setup.seed is not None)
        self.seed = QSpinBox(minimum=0, maximum=_LARGEST_SEED, value=setup.seed or 0)
        self.seed.setEnabled(setup.seed is not None)
        self.fixed.toggled.connect(self.seed.setEnabled)
        self.options = QLineEdit(setup.build_options, placeholderText="-cl-fast-relaxed-math ...")
        self._lay_out()

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(10)
        right.addWidget(_card("Samples", self._samples_form()))
        right.addWidget(_card("Run", self._run_form()))
        right.addStretch(1)
        left = QVBoxLayout()
        left.addWidget(_card("Measurement", self.policy.layout_of_fields))
        left.addStretch(1)
        columns = QHBoxLayout()
        columns.setSpacing(10)
        columns.addLayout(left)
        columns.addLayout(right)
        accept, reject = QDialogButtonBox.StandardButton.Ok, QDialogButtonBox.StandardButton.Cancel
        buttons = QDialogButtonBox(accept | reject)
        buttons.accepted.connect(self._on_accepted)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 14, 14, 14)
        column.setSpacing(12)
        column.addLayout(columns)
        column.addWidget(buttons)

    def _samples_form(self) -> QFormLayout:
        form = _form()
        form.addRow("Ca&che", self.cache)
        form.addRow(self.cache_words)
        form.addRow(self.per_launch)
        form.addRow(_note("Otherwise short launches are put together until a timer can tell."))
        form.addRow("&Quiet mode", self.quiet)
        form.addRow(_note("Nothing is sent or drawn while launches are timed, only in between."))
        return form

    def _run_form(self) -> QFormLayout:
        seed = QHBoxLayout()
        seed.setSpacing(12)
        seed.addWidget(self.fixed)
        seed.addWidget(self.seed, 1)
        form = _form()
        form.addRow("Launch &limit", self.limit)
        form.addRow(
            _note(
                "A launch that takes longer is ended and reported. Automatic: 50 times what the "
                "first one foretells, at least 10 s."
            )
        )
        form.addRow("Seed", seed)
        form.addRow(_note("Otherwise each run draws its own; the log and the CSV hold it."))
        form.addRow("&Build options", self.options)
        return form

    @Slot()
    def _on_cache_chosen(self) -> None:
        words = CACHE_WORDS[self.cache.currentData()].partition(": ")[2]
        self.cache_words.setText(f"{words[:1].upper()}{words[1:]}.")

    @Slot()
    def _on_accepted(self) -> None:
        policy = replace(
            self.policy.policy,
            cache=self.cache.currentData(),
            per_launch=self.per_launch.isChecked(),
        )
        self._state.change(
            replace(
                self._state.setup,
                policy=policy,
                quiet=_QUIET[self.quiet.currentText()],
                launch_limit_seconds=self.limit.value() or None,
                seed=self.seed.value() if self.fixed.isChecked() else None,
                build_options=self.options.text().strip(),
            )
        )
        self.accept()


def _card(caption: str, content: QLayout) -> Card:
    card = Card()
    card.box.setContentsMargins(14, 10, 14, 12)
    card.box.setSpacing(8)
    card.box.addWidget(label(caption, "heading"))
    card.box.addLayout(content)
    card.setFixedWidth(_COLUMN_PIXELS)
    return card


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setVerticalSpacing(7)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return form


def _note(text: str) -> QWidget:
    return label(text, "note", wrap=True)
