"""The combo box of how long a run is measured: presets with their numbers, or one's own."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox

from gemmviz.app.policies import CHOICES, chosen_as
from gemmviz.core.measurement_words import describe_policy, short_name
from gemmviz.core.policy import Policy, name_of
from gemmviz.views.option_combo import ARROW_PIXELS, TRAIL_ROLE, TrailDelegate, widen_list

CUSTOM = "Custom..."


class MeasureCombo(QComboBox):
    """Shows a policy by its name; the open list has the numbers of each.

    ``policy_chosen`` carries the Policy that a person picked; ``custom_chosen`` asks for the dialog
    in which every number can be set. Without ``endless`` no policy is offered that a person ends.
    """

    policy_chosen = Signal(object)
    custom_chosen = Signal()

    def __init__(self, *, custom: bool = True, endless: bool = True) -> None:
        super().__init__()
        self._policy: Policy | None = None
        self._custom = custom
        self._choices = [name for name, each in CHOICES.items() if endless or _ends(each)]
        self.setItemDelegate(TrailDelegate(self))
        self.activated.connect(self._on_activated)

    def show_policy(self, policy: Policy) -> None:
        """Show ``policy`` as the one that holds."""
        if policy == self._policy:
            return
        self._policy = policy
        name = name_of(policy)
        names = [*self._choices, *([name] if name not in self._choices else [])]
        self.clear()
        for each in names:
            shown = policy if each == name else chosen_as(each, policy)
            self.addItem(short_name(shown), each)
            row = self.count() - 1
            self.setItemData(row, describe_policy(shown), TRAIL_ROLE)
            self.setItemData(row, describe_policy(shown), Qt.ItemDataRole.ToolTipRole)
        if self._custom:
            self.addItem(CUSTOM)
            self.setItemData(len(names), "set every number", TRAIL_ROLE)
        self.setCurrentIndex(names.index(name))
        self.setToolTip(f"How long to measure.\n{short_name(policy)}: {describe_policy(policy)}")
        widen_list(self)
        metrics = self.fontMetrics()
        widest = max(metrics.horizontalAdvance(self.itemText(row)) for row in range(self.count()))
        self.setFixedWidth(widest + ARROW_PIXELS)

    @Slot(int)
    def _on_activated(self, row: int) -> None:
        policy, name = self._policy, self.itemData(row)
        if policy is None:
            return
        if name in CHOICES:
            self.policy_chosen.emit(chosen_as(name, policy))
            return
        self.setCurrentIndex(self.findData(name_of(policy)))
        if name is None:
            self.custom_chosen.emit()


def _ends(policy: Policy) -> bool:
    """Whether a run of a policy that has a name ends by itself."""
    return math.isfinite(policy.limit_seconds)
