"""The bar on top: kernel, parameters, sizes, element type, how long to measure, Run and Stop."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.setup import Badge, verdict_badge
from gemmviz.app.state import AppState
from gemmviz.app.targets import kernel_reason
from gemmviz.core.policy import Policy
from gemmviz.views.flow_layout import FlowLayout
from gemmviz.views.form_menu import FormMenu
from gemmviz.views.kernel_combo import SIGNS, KernelCombo
from gemmviz.views.measure_combo import MeasureCombo
from gemmviz.views.option_combo import OptionCombo
from gemmviz.views.roles import BADGE_STATES, label, set_role
from gemmviz.views.size_fields import SizeFields
from gemmviz.views.theme import Theme, icon

_TAKEN = frozenset("FRVDSHLMNKEU")
"""Letters that the menus, and then the bar's own captions, answer to with Alt."""


class SetupBar(QFrame):
    """Every choice for the next run on one or two rows, and below them what is to be said of it."""

    def __init__(self, state: AppState, run: QAction, stop: QAction) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self._state = state
        self._run = run
        self._parameters: dict[str, OptionCombo] = {}
        self._parameter_fields: list[QWidget] = []
        self.kernel = KernelCombo()
        self.badge = label()
        self.sizes = SizeFields(state)
        self.element = OptionCombo()
        self.element.set_tip("Type of a matrix element")
        self.form = FormMenu(state)
        self.measure = MeasureCombo()
        self.settings = QToolButton()
        self.settings.setText("...")
        self.settings.setToolTip("Everything that a run is measured with (Ctrl+,)")
        self.settings.setAccessibleName("Run settings")
        self.run_button, self.stop_button = _button(run, "primary"), _button(stop, "")
        self.summary, self.message = label("", "unit", wrap=True), label("", wrap=True)
        for text in (self.summary, self.message):
            text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._choices = FlowLayout()
        self._lay_out()
        self._connect(state)

    def _lay_out(self) -> None:
        self._choices.addWidget(_field("Kerne&l", self.kernel, self.badge))
        self._choices.addWidget(self.sizes)
        self._choices.addWidget(_field("&Element", self.element, self.form))
        self._choices.addWidget(_field("Meas&ure", self.measure, self.settings))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.run_button)
        buttons.addWidget(self.stop_button)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addLayout(self._choices, 1)
        row.addLayout(buttons)
        row.setAlignment(buttons, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 8)
        column.setSpacing(5)
        column.addLayout(row)
        column.addWidget(self.summary)
        column.addWidget(self.message)

    def _connect(self, state: AppState) -> None:
        state.catalog_loaded.connect(self._on_catalog_loaded)
        state.setup_changed.connect(self._on_setup_changed)
        state.devices_listed.connect(self._on_setup_changed)
        self.kernel.variant_chosen.connect(state.choose_variant)
        self.element.option_chosen.connect(self._on_element_chosen)
        self.measure.policy_chosen.connect(self._on_policy_chosen)
        self.measure.custom_chosen.connect(self._on_settings_asked)
        self.settings.clicked.connect(self._on_settings_asked)
        self._run.changed.connect(self._on_run_changed)
        self._on_catalog_loaded()

    def set_theme(self, theme: Theme) -> None:
        """Draw icons in the colours of ``theme``."""
        self.run_button.setIcon(icon("run", theme, "#ffffff"))
        self.stop_button.setIcon(icon("stop", theme, theme.bad))
        self.sizes.set_theme(theme)

    @Slot()
    def _on_catalog_loaded(self) -> None:
        self.kernel.set_catalog(self._state.catalog, self._state.setup.variant)
        self._on_setup_changed()

    @Slot()
    def _on_setup_changed(self) -> None:
        state, setup = self._state, self._state.setup
        devices = [target.device for target in state.targets]
        self.kernel.show_reasons(lambda variant: kernel_reason(variant, devices))
        self.kernel.show_chosen(setup.variant)
        self._show_badge(verdict_badge(setup.variant) if setup.variant is not None else None)
        self._show_parameters()
        self.element.set_options(state.element_options, setup.element)
        self.measure.show_policy(setup.policy)
        self._show_message()

    def _show_badge(self, badge: Badge | None) -> None:
        self.badge.setVisible(badge is not None)
        if badge is not None:
            self.badge.setText(f"{SIGNS[badge.meaning]} {badge.text}")
            self.badge.setToolTip(badge.why)
            set_role(self.badge, "state", BADGE_STATES[badge.meaning])

    def _show_parameters(self) -> None:
        state, setup = self._state, self._state.setup
        parameters = setup.variant.parameters if setup.variant is not None else ()
        names = tuple(parameter.name for parameter in parameters)
        if names != tuple(self._parameters):
            self._rebuild_parameters(names)
        for parameter, (_, value) in zip(parameters, setup.parameters, strict=True):
            combo = self._parameters[parameter.name]
            combo.set_tip(f"{parameter.name}: {parameter.help}")
            combo.set_options(state.parameter_options(parameter), value)

    def _rebuild_parameters(self, names: tuple[str, ...]) -> None:
        for field in self._parameter_fields:
            self._choices.removeWidget(field)
            field.hide()
            field.deleteLater()
        self._parameters = {name: OptionCombo() for name in names}
        self._parameter_fields = []
        taken = set(_TAKEN)
        for place, (name, combo) in enumerate(self._parameters.items(), start=1):
            combo.setObjectName(name)
            combo.option_chosen.connect(self._on_parameter_chosen)
            field = _field(_with_mnemonic(name, taken), combo)
            self._choices.insert_widget(place, field)
            self._parameter_fields.append(field)
            field.show()
        self._order_stops()

    def _order_stops(self) -> None:
        """Let the Tab key go from left to right, also through boxes made later than the rest."""
        stops = (
            self.kernel, *self._parameters.values(), *self.sizes.stops, self.element,
            self.form, self.measure, self.settings, self.run_button, self.stop_button,
        )  # fmt: skip
        for one, next_one in pairwise(stops):
            QWidget.setTabOrder(one, next_one)

    def _show_message(self) -> None:
        refusal, remark = self._state.refusal, self._state.remark
        variant = self._state.setup.variant
        wrong = variant is not None and variant.expect == "wrong"
        self.summary.setText(variant.summary if variant is not None else "")
        self.summary.setToolTip(variant.finding if variant is not None else "")
        set_role(self.summary, "state", "warn" if wrong else "")
        self.message.setVisible(bool(refusal or remark))
        self.message.setText(f"✗  {refusal}" if refusal else remark)
        set_role(self.message, "state", "bad" if refusal else "warn")

    @Slot()
    def _on_run_changed(self) -> None:
        self.run_button.setText(self._run.text().replace("&", ""))
        self.run_button.setToolTip(self._run.toolTip())

    @Slot(object)
    def _on_parameter_chosen(self, value: object) -> None:
        sender = self.sender()
        if isinstance(sender, OptionCombo) and isinstance(value, int):
            self._state.change(self._state.setup.with_parameter(sender.objectName(), value))

    @Slot(object)
    def _on_element_chosen(self, value: object) -> None:
        self._state.change(replace(self._state.setup, element=str(value)))

    @Slot(object)
    def _on_policy_chosen(self, policy: Policy) -> None:
        self._state.change(replace(self._state.setup, policy=policy))

    @Slot()
    def _on_settings_asked(self) -> None:
        from gemmviz.views.settings_dialog import SettingsDialog  # noqa: PLC0415 (27 ms at start)

        SettingsDialog(self._state, self.window()).open()


def _with_mnemonic(name: str, taken: set[str]) -> str:
    """``name`` with "&" before its first letter that is not taken, which is taken then."""
    for place, letter in enumerate(name.upper()):
        if letter.isalpha() and letter not in taken:
            taken.add(letter)
            return f"{name[:place]}&{name[place:]}"
    return name


def _field(caption: str, *widgets: QWidget) -> QWidget:
    """A caption with its widgets, kept together when the bar wraps."""
    field = QWidget()
    row = QHBoxLayout(field)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(7)
    text = QLabel(caption)
    text.setProperty("role", "unit")
    text.setBuddy(widgets[0])
    row.addWidget(text)
    for widget in widgets:
        row.addWidget(widget)
    return field


def _button(action: QAction, role: str) -> QPushButton:
    """A push button that does what ``action`` does and is enabled with it."""
    button = QPushButton(action.text().replace("&", ""))
    button.setProperty("role", role)
    button.setToolTip(action.toolTip())
    button.setIconSize(QSize(14, 14))
    button.setEnabled(action.isEnabled())
    button.clicked.connect(action.trigger)
    action.enabledChanged.connect(button.setEnabled)
    return button
