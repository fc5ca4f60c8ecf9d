"""The occupancy estimate: how many groups a unit holds, what limits them, and the driver's word."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gemmviz.app.comparison import built_as
from gemmviz.app.state import AppState
from gemmviz.core.estimate import Estimate, Limiter
from gemmviz.core.libraries import no_source
from gemmviz.core.units import memory, percent
from gemmviz.views.budget_bar import BudgetBar
from gemmviz.views.driver_card import DriverCard
from gemmviz.views.roles import Card, ElidedLabel, Meter, label, set_role
from gemmviz.views.theme import Theme

_NAMES = {
    "slots": "Work-items",
    "groups": "Work-groups",
    "local memory": "Local memory",
    "registers": "Registers",
    "barriers": "Barriers",
}
_CONFIDENCE_STATES = {
    "vendor-documented limits": "good",
    "vendor limits, registers unknown: an upper bound": "warn",
    "local-memory budget only": "warn",
    "not applicable": "",
}
_EMPTY = (
    "Choose a device to see how many work-groups its compute units can hold, or one that you do "
    "not have: Device > Estimate as if it ran on."
)


class OccupancyPanel(QScrollArea):
    """Cards one below the other, renewed with every change of the setup."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(230)
        self.summary = _SummaryCard()
        self.budget = _BudgetCard()
        self.limiters = _LimiterCard()
        self.driver = DriverCard()
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 6, 6)
        column.setSpacing(8)
        self.empty = label(_EMPTY, "note", wrap=True)
        column.addWidget(self.empty)
        for card in (self.summary, self.budget, self.limiters, self.driver):
            column.addWidget(card)
        column.addStretch(1)
        self.setWidget(content)
        state.estimated.connect(self._on_estimated)
        state.devices_listed.connect(self._on_estimated)
        state.job_advanced.connect(self._on_job_advanced)
        state.run_shown.connect(self._show_driver)
        self._on_estimated()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.budget.bar.set_theme(theme)

    @Slot()
    def _on_estimated(self) -> None:
        result = self._state.estimate
        for card in (self.summary, self.budget, self.limiters):
            card.setVisible(result is not None)
        self.empty.setVisible(result is None)
        variant = self._state.setup.variant
        self.empty.setText((no_source(variant) if variant is not None else "") or _EMPTY)
        if result is not None:
            self.summary.show_estimate(result, self._subject(), self._state.awaits_registers)
            self.budget.show_estimate(result)
            self.limiters.show_estimate(result)
        self._show_driver()

    def _subject(self) -> str:
        if self._state.what_if is not None:
            return f"What if: {self._state.what_if.name}"
        return self._state.device.name if self._state.device is not None else ""

    @Slot(int)
    def _on_job_advanced(self, job_id: int) -> None:
        run = self._state.shown
        if run is not None and run.job.id == job_id and run is not self.driver.run:
            self._show_driver()

    @Slot()
    def _show_driver(self) -> None:
        """Put the driver's figures below only where they belong to what is estimated."""
        state = self._state
        runs = [*([state.shown] if state.shown is not None else []), *reversed(state.book.runs)]
        matching = built_as(runs, state.setup, state.device) if state.what_if is None else None
        self.driver.show_run(matching)


class _SummaryCard(Card):
    """The share of the slots in use, in words and as a bar."""

    def __init__(self) -> None:
        super().__init__("Estimated occupancy")
        self.subject = ElidedLabel("", "heading")
        self.figure, self.unit = label("", "figure"), label("", "note", wrap=True)
        self.meter = Meter()
        self.confidence = label("", "note", wrap=True)
        self.text = label("", "note", wrap=True)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.figure)
        row.addWidget(self.unit, 1)
        self.box.addWidget(self.subject)
        self.box.addLayout(row)
        self.box.addWidget(self.meter)
        self.box.addSpacing(3)
        self.box.addWidget(self.confidence)
        self.box.addWidget(self.text)

    def show_estimate(self, result: Estimate, subject: str, awaits_registers: bool) -> None:
        """Show ``result``; more may follow while registers are awaited."""
        self.subject.setText(subject)
        self.meter.setVisible(result.occupancy is not None)
        state = ""
        if result.occupancy is not None:
            figure = percent(result.occupancy)
            unit = f"{result.groups_per_unit} groups, {result.work_items} work-items"
            unit += f" per {result.pool_name}"
            state = "bad" if result.groups_per_unit == 0 else ""
            self.meter.show_share(result.occupancy, state)
        elif result.groups_per_unit is not None:
            figure, unit = str(result.groups_per_unit), "groups by local memory alone"
            state = "bad" if result.groups_per_unit == 0 else ""
        else:
            figure, unit = "–", "not applicable" if "not" in result.confidence else "unknown"
        self.figure.setText(figure)
        self.unit.setText(unit)
        set_role(self.figure, "state", state)
        self.confidence.setVisible(result.confidence != "not applicable")
        waiting = "; registers are being read..." if awaits_registers else ""
        self.confidence.setText(f"Based on: {result.confidence}{waiting}")
        set_role(self.confidence, "state", _CONFIDENCE_STATES.get(result.confidence, ""))
        self.text.setText(result.explanation)
        self.setToolTip(f"Source: {result.source}" if result.source else "")


class _BudgetCard(Card):
    """Local memory: what a group takes, what it may take, and what the unit has."""

    def __init__(self) -> None:
        super().__init__("Local memory")
        self.bar = BudgetBar()
        self.rows = QGridLayout()
        self.rows.setHorizontalSpacing(10)
        self.rows.setVerticalSpacing(2)
        self.rows.setColumnStretch(0, 1)
        self._lines = [(ElidedLabel("", "note"), label("")) for _ in range(6)]
        for row, (name, value) in enumerate(self._lines):
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            self.rows.addWidget(name, row, 0)
            self.rows.addWidget(value, row, 1)
        self.box.addWidget(self.bar)
        self.box.addLayout(self.rows)

    def show_estimate(self, result: Estimate) -> None:
        """Show the budget of ``result``."""
        total = result.pool_bytes or result.cache_bytes or result.per_group_bytes or 0
        taken = result.allocated_local_bytes or result.local_bytes
        self.bar.show_budget(taken, result.per_group_bytes, total, result.groups_per_unit or 0)
        lines = budget_lines(result)
        for (name, value), line in zip(self._lines, [*lines, *[None] * 6], strict=False):
            for part in (name, value):
                part.setVisible(line is not None)
            if line is not None:
                name.setText(line[0])
                value.setText(line[1])


def budget_lines(result: Estimate) -> list[tuple[str, str]]:
    """The figures of the local-memory budget, name and value."""
    lines = [("This kernel, per group", memory(result.local_bytes))]
    if result.per_group_bytes is not None:
        lines.append(("Most for one group", memory(result.per_group_bytes)))
    if result.pool_bytes is not None:
        lines.append((f"Shared by a {result.pool_name}", memory(result.pool_bytes)))
    if result.cache_bytes is not None:
        lines.append(("Cache of the device", memory(result.cache_bytes)))
    if result.groups_by_local_memory is not None:
        count = result.groups_by_local_memory
        lines.append(("By local memory alone", f"{count} group{'s' * (count != 1)}"))
    if result.headroom_bytes is not None and result.groups_per_unit:
        lines.append(("May grow at no cost to", memory(result.headroom_bytes)))
    if result.next_step_bytes is not None and result.limiters == ("local memory",):
        lines.append(("One more group at most", memory(result.next_step_bytes)))
    return lines


class _LimiterCard(Card):
    """Every limit with its bar; the ones that decide are named and coloured."""

    def __init__(self) -> None:
        super().__init__("What limits the groups")
        self.rows: list[_LimiterRow] = []

    def show_estimate(self, result: Estimate) -> None:
        """Show the limits of ``result``; hidden where there is none."""
        self.setVisible(bool(result.limits))
        while len(self.rows) < len(result.limits):
            row = _LimiterRow()
            self.rows.append(row)
            self.box.addWidget(row)
        for place, row in enumerate(self.rows):
            row.setVisible(place < len(result.limits))
            if place < len(result.limits):
                limiter = result.limits[place]
                row.show_limiter(limiter, binding=limiter.name in result.limiters)


class _LimiterRow(QWidget):
    """Name of one limit, its numbers and its bar, one below the other."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.numbers = label(), ElidedLabel("", "note")
        self.meter = Meter()
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 3, 0, 2)
        box.setSpacing(2)
        box.addWidget(self.name)
        box.addWidget(self.numbers)
        box.addWidget(self.meter)

    def show_limiter(self, limiter: Limiter, *, binding: bool) -> None:
        """Show ``limiter``; a binding one says so and is red."""
        name = _NAMES.get(limiter.name, limiter.name)
        self.name.setText(f"Limited by {name.lower()}" if binding else name)
        set_role(self.name, "state", "bad" if binding else "")
        self.numbers.setText(limiter.text.removesuffix(f" {limiter.name}"))
        self.meter.show_share(limiter.fraction, "bad" if binding else "")
        alone = f"{limiter.groups} group{'s' * (limiter.groups != 1)}"
        self.setToolTip(f"By this limit alone: {alone}. Capacity: {limiter.source}.")
