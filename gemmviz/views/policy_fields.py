"""The fields in which every number of a measurement policy can be set."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QDoubleSpinBox, QFormLayout, QLabel, QSpinBox

from gemmviz.app.policies import with_launches
from gemmviz.core.measurement_words import describe_policy
from gemmviz.core.policy import Policy
from gemmviz.views.measure_combo import MeasureCombo
from gemmviz.views.roles import label

_MOST_LAUNCHES = 10_000_000
_MOST_SAMPLES = 1_000_000
_LONGEST_SECONDS = 86_400.0


class PolicyFields(QObject):
    """A preset or numbers of one's own; each change of a number shows which preset that is."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy
        self.preset = MeasureCombo(custom=False)
        self.warm_ups = QSpinBox(maximum=1000)
        self.min_samples = QSpinBox(minimum=1, maximum=_MOST_SAMPLES)
        self.min_seconds = QDoubleSpinBox(maximum=_LONGEST_SECONDS, decimals=2, suffix=" s")
        self.target = QDoubleSpinBox(maximum=50.0, decimals=2, singleStep=0.1, prefix="± ",
                                     suffix=" %")  # fmt: skip
        self.limit = QDoubleSpinBox(maximum=_LONGEST_SECONDS, decimals=1, suffix=" s")
        self.launches = QSpinBox(maximum=_MOST_LAUNCHES)
        self.target.setSpecialValueText("no target")
        self.limit.setSpecialValueText("none")
        self.launches.setSpecialValueText("no")
        self.words: QLabel = label("", "note", wrap=True)
        self.layout_of_fields = self._form()
        self._show(policy)
        self.preset.policy_chosen.connect(self._on_policy_chosen)
        for field in self._fields:
            field.valueChanged.connect(self._on_edited)

    @property
    def _fields(self) -> tuple[QSpinBox | QDoubleSpinBox, ...]:
        return (self.warm_ups, self.min_samples, self.min_seconds, self.target, self.limit,
                self.launches)  # fmt: skip

    def _form(self) -> QFormLayout:
        form = QFormLayout()
        form.setVerticalSpacing(7)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows = (
            ("&Preset", self.preset, "Named sets of the numbers below"),
            ("&Warm-up launches", self.warm_ups, "Launches before the first that counts"),
            ("Samples, at l&east", self.min_samples, "The fewest samples of a run"),
            ("Device &time, at least", self.min_seconds, "The least time of all samples together"),
            ("Median &known to", self.target,
             "Half the width of the median's 95 % interval at which a run may end"),
            ("Time li&mit", self.limit, "The longest that measuring goes on"),
            ("Fixed number of l&aunches", self.launches,
             "So many launches exactly, whatever their median"),
        )  # fmt: skip
        for caption, field, tip in rows:
            form.addRow(caption, field)
            field.setToolTip(tip)
        form.addRow(self.words)
        return form

    def _show(self, policy: Policy) -> None:
        self.policy = policy
        endless = math.isinf(policy.limit_seconds)
        values = (
            policy.warm_ups, policy.min_samples, policy.min_seconds, 100 * policy.target,
            0.0 if endless else policy.limit_seconds, policy.launches or 0,
        )  # fmt: skip
        for field, value in zip(self._fields, values, strict=True):
            field.blockSignals(True)
            field.setValue(value)  # type: ignore[arg-type]
            field.blockSignals(False)
        self._show_meaning()

    def _show_meaning(self) -> None:
        self.preset.show_policy(self.policy)
        self.words.setText(f"{describe_policy(self.policy)}.")
        for field in (self.min_samples, self.min_seconds, self.target):
            field.setEnabled(self.policy.launches is None)

    @Slot(object)
    def _on_policy_chosen(self, policy: Policy) -> None:
        self._show(policy)

    @Slot()
    def _on_edited(self) -> None:
        policy = replace(
            self.policy,
            warm_ups=self.warm_ups.value(),
            min_samples=self.min_samples.value(),
            min_seconds=self.min_seconds.value(),
            target=self.target.value() / 100,
            limit_seconds=self.limit.value() or math.inf,
        )
        self.policy = with_launches(policy, self.launches.value() or None)
        self._show_meaning()
