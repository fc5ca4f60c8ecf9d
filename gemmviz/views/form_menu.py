"""The setup bar's More: transposes, storage, alpha and beta of the problem."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QLocale, QObject, Qt, Signal, Slot
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import (
    QFormLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from gemmviz.app.setup import ORDER_OPTIONS, TRANSPOSE_OPTIONS, Setup, form_reason
from gemmviz.app.state import AppState
from gemmviz.core.labels import form_label, formula, number_text
from gemmviz.views.option_combo import OptionCombo
from gemmviz.views.roles import label, set_role

_WIDTH = 300
_TIP = "How A and B are stored, and alpha and beta"


class _RealValidator(QDoubleValidator):
    """Lets real numbers through; a comma becomes a point, as in the log and in files."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        locale = QLocale.c()
        locale.setNumberOptions(QLocale.NumberOption.RejectGroupSeparator)
        self.setLocale(locale)

    def validate(self, text: str, place: int) -> object:
        """See QValidator."""
        return super().validate(text.replace(",", "."), place)


class ScalarEdit(QLineEdit):
    """A field for any real number; ``number_entered`` carries what was typed once it is whole."""

    number_entered = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.setValidator(_RealValidator(self))
        self._number = 0.0
        self.editingFinished.connect(self._on_editing_finished)

    def show_number(self, number: float) -> None:
        """Show ``number``, unless it is what stands there in other digits."""
        if number != self._number or not self.text():
            self._number = number
            self.setText(number_text(number))

    @Slot()
    def _on_editing_finished(self) -> None:
        number = float(self.text())
        if number != self._number:
            self._number = number
            self.number_entered.emit(number)


class _FieldsMenu(QMenu):
    """A menu of fields: Tab goes from one to the next, where a menu's own goes to its actions."""

    def focusNextPrevChild(self, forward: bool) -> bool:
        """See QWidget."""
        return QWidget.focusNextPrevChild(self, forward)


class FormMenu(QToolButton):
    """A button that says what is asked besides C = A B, and opens the fields for it.

    It is greyed, with the reason in its tip, for a kernel that computes nothing else.
    """

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.transpose, self.order = OptionCombo(), OptionCombo()
        self.alpha, self.beta = ScalarEdit(), ScalarEdit()
        self.formula = label("", "heading")
        self.plain = QPushButton("Back to C = A B")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setAccessibleName("More of the problem")
        menu = _FieldsMenu(self)
        action = QWidgetAction(menu)
        action.setDefaultWidget(self._fields())
        menu.addAction(action)
        self.setMenu(menu)
        # Once the menu is shown, which takes the focus itself.
        menu.aboutToShow.connect(self.transpose.setFocus, Qt.ConnectionType.QueuedConnection)
        self.transpose.option_chosen.connect(self._on_transpose_chosen)
        self.order.option_chosen.connect(self._on_order_chosen)
        self.alpha.number_entered.connect(self._on_alpha_entered)
        self.beta.number_entered.connect(self._on_beta_entered)
        self.plain.clicked.connect(self._on_plain_asked)
        state.setup_changed.connect(self._on_setup_changed)
        self._on_setup_changed()
        for combo in (self.transpose, self.order):
            combo.setMinimumWidth(0)
            combo.setMaximumWidth(_WIDTH)  # as wide as the fields below them

    def _fields(self) -> QWidget:
        fields = QWidget()
        fields.setFixedWidth(_WIDTH)
        form = QFormLayout(fields)
        form.setContentsMargins(14, 12, 14, 14)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(self.formula)
        rows = (
            ("&Transposes", self.transpose, "Whether A and B are stored transposed"),
            ("&Storage", self.order, "How all three matrices lie in memory"),
            ("&Alpha", self.alpha, "The product is multiplied by it"),
            ("&Beta", self.beta, "What C holds before is multiplied by it; 0 never reads C"),
        )
        for caption, field, tip in rows:
            form.addRow(caption, field)
            field.setToolTip(tip)
        form.addRow(self.plain)
        return fields

    @Slot()
    def _on_setup_changed(self) -> None:
        setup = self._state.setup
        problem, reason = setup.problem(), form_reason(setup)
        asked = form_label(problem)
        self.setEnabled(not reason)
        self.setText(f"More: {asked}" if asked else "More")
        why = f"{reason}\nMore would be: {_TIP[0].lower()}{_TIP[1:]}."
        self.setToolTip(why if reason else f"{_TIP}.\n{formula(problem)}")
        set_role(self, "state", "on" if asked else "")
        self.formula.setText(formula(problem))
        self.transpose.set_options(TRANSPOSE_OPTIONS, setup.transpose)
        self.order.set_options(ORDER_OPTIONS, setup.order)
        self.alpha.show_number(setup.alpha)
        self.beta.show_number(setup.beta)
        self.plain.setEnabled(bool(asked))

    def _change(self, **form: object) -> None:
        self._state.change(replace(self._state.setup, **form))  # type: ignore[arg-type]

    @Slot(object)
    def _on_transpose_chosen(self, transpose: object) -> None:
        self._change(transpose=transpose)

    @Slot(object)
    def _on_order_chosen(self, order: object) -> None:
        self._change(order=order)

    @Slot(float)
    def _on_alpha_entered(self, alpha: float) -> None:
        self._change(alpha=alpha)

    @Slot(float)
    def _on_beta_entered(self, beta: float) -> None:
        self._change(beta=beta)

    @Slot()
    def _on_plain_asked(self) -> None:
        plain = Setup()
        self._change(
            transpose=plain.transpose, order=plain.order, alpha=plain.alpha, beta=plain.beta
        )
