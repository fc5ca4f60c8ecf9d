"""The tab of advice: what to try next, each with its evidence and a button that selects it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.adviser import Adviser
from gemmviz.app.setup import Setup
from gemmviz.app.state import AppState
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.situation import Situation, configuration_label
from gemmviz.core.labels import device_label
from gemmviz.core.launch import default_parameters, describe_parameters
from gemmviz.core.libraries import no_source
from gemmviz.core.model import Parameters, Variant
from gemmviz.views.charts.advice import AdviceChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.export import Title
from gemmviz.views.roles import Card, ElidedLabel, label, set_role
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_NO_DEVICE = "Choose a kernel and a device to be advised."
_SIMULATOR = "A simulator's speed says nothing, so there is nothing to advise."
_NOTHING = "Nothing to improve is known: of what can run here nothing is expected to be faster."
_NOT_RUN = " A run would tell more: advice rests on what was measured."
_BUSY = "Advice follows when nothing is timed any more."
_NARROW = 760  # pixels of a card below which its button stands under what it would do


class FindingCard(Card):
    """One finding: title and gain, evidence with its source, and what to try."""

    tried = Signal(object)

    def __init__(
        self, number: int, finding: Finding, variant: Variant | None, base: Parameters | None = None
    ) -> None:
        """Shows a finding.

        Args:
            number: Its place.
            finding: What is shown.
            variant: The kernel that its button selects; None for no button.
            base: The macros at hand where that kernel is; the defaults are None's.
        """
        super().__init__()
        self.finding = finding
        self.title = label(f"{number}. {finding.title}", "heading", wrap=True)
        self.gain = label(finding.gain_text)
        set_role(self.gain, "state", "bad" if finding.urgent else _tone(finding))
        self.gain.setToolTip(
            "" if finding.notice else "How fast it should be then, for one launch now"
        )
        top = QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self.gain)
        self.evidence = label(finding.evidence, wrap=True)
        self.source = label(f"From: {finding.source}", "note", wrap=True)
        self.action = label(finding.action if variant is None else finding.why, wrap=True)
        self.action.setVisible(bool(self.action.text()))
        self.box.addLayout(top)
        self.box.addWidget(self.evidence)
        self.box.addWidget(self.source)
        self._bottom = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._bottom.addWidget(self.action, 1)
        self.button: QPushButton | None = None
        if variant is not None:
            self.button = QPushButton(f"Try {_short(variant, finding.parameters, base)}")
            self.button.setToolTip(
                f"Select {configuration_label(variant, finding.parameters)}; Run then measures it"
            )
            self.button.clicked.connect(self._on_clicked)
            self._bottom.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self.box.addLayout(self._bottom)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the sentence the whole width where there is little."""
        super().resizeEvent(event)
        narrow = self.width() < _NARROW
        self._bottom.setDirection(
            QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        )

    @Slot()
    def _on_clicked(self) -> None:
        self.tried.emit(self.finding)


def _tone(finding: Finding) -> str:
    return "good" if finding.gain_low > 1.0 else ""


def _short(variant: Variant, parameters: Parameters, base: Parameters | None = None) -> str:
    """A configuration by the kernel's id and the macros that are not as in ``base``."""
    known = dict(default_parameters(variant) if base is None else base)
    shown = tuple(pair for pair in parameters if known.get(pair[0]) != pair[1])
    return f"{variant.id} {describe_parameters(shown)}".strip()


class AdvicePanel(QWidget):
    """The findings as cards, or why there are none."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.adviser = Adviser(state, self)
        self.chart = AdviceChart(self)
        self.chart.hide()  # drawn for exports alone
        self.heading = ElidedLabel("", "note")
        self.back = QToolButton()
        self.back.setText("Back")
        self.back.setProperty("role", "quiet")
        self.back.clicked.connect(self._on_back_clicked)
        self.back.hide()
        self._tried: tuple[Setup, Setup] | None = None  # before and after a card's button
        head = QWidget()
        words = QHBoxLayout(head)
        words.setContentsMargins(0, 0, 0, 0)
        words.addWidget(self.heading, 1)
        words.addWidget(self.back)
        self.tools = ToolRow(head)
        self.export = self.tools.add_button("export", "Export these findings as a picture (Ctrl+E)")
        self.empty = label("", "caption", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.cards: list[FindingCard] = []
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(8, 4, 8, 8)
        self._column.setSpacing(8)
        self._column.addWidget(self.empty)
        self._column.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        column.addWidget(self.tools)
        column.addWidget(self.area, 1)
        self.adviser.advised.connect(self._refresh)
        for changed in (state.setup_changed, state.estimated, state.job_queued, state.job_ended):
            changed.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.chart.set_theme(theme)
        self.tools.set_theme(theme)

    def catch_up(self) -> None:
        """Bring the picture to the size of the panel; the findings come as a whole."""
        self.chart.resize(max(self.width(), 720), self.chart.wanted_height())

    def title(self) -> Title | None:
        """What stands above an exported picture."""
        situation = self.adviser.situation
        if situation is None:
            return None
        what = configuration_label(situation.variant, situation.parameters)
        return f"Advice for {what}", (Line(_where(situation)),)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for advice while somebody looks."""
        super().showEvent(event)
        self.adviser.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Ask no more."""
        super().hideEvent(event)
        self.adviser.watch(False)

    @Slot(object)
    def try_finding(self, finding: Finding) -> None:
        """Select what a finding advises."""
        variant, before = self._variant(finding), self._state.setup
        if variant is not None:
            after = replace(before.with_variant(variant), parameters=finding.parameters)
            self._tried = before, after
            self._state.change(after)

    @Slot()
    def _on_back_clicked(self) -> None:
        """Choose the former kernel and macros again; the size stays as it is now."""
        before = self._tried[0] if self._tried is not None else None
        self._tried = None
        if before is not None and before.variant is not None:
            setup = self._state.setup.with_variant(before.variant)
            self._state.change(replace(setup, parameters=before.parameters))

    @property
    def _trying(self) -> tuple[Setup, Setup] | None:
        """The setups before and after a card's button, while what it selected is selected."""
        setup = self._state.setup
        if self._tried is None or _chosen(self._tried[1]) != _chosen(setup):
            return None
        return self._tried

    def _variant(self, finding: Finding) -> Variant | None:
        if finding.variant is not None or not finding.kernel:
            return finding.variant
        try:
            return self._state.catalog.find(finding.kernel)
        except KeyError:
            return None

    def _selectable(self, finding: Finding) -> Variant | None:
        """The kernel that a finding advises to select; what is at hand is no choice."""
        variant, asked = self._variant(finding), self.adviser.situation
        if asked and (variant, finding.parameters) == (asked.variant, asked.parameters):
            return None
        return variant

    def _base(self, finding: Finding) -> Parameters | None:
        """The macros at hand where a finding is about the same kernel."""
        asked = self.adviser.situation
        return asked.parameters if asked and self._variant(finding) == asked.variant else None

    @Slot()
    def _refresh(self) -> None:
        adviser = self.adviser
        situation = adviser.situation
        findings = adviser.findings if situation is not None else ()
        self.empty.setText(self._why_empty(situation))
        self.empty.setVisible(not findings)
        self.heading.setText(self._heading(situation))
        trying = self._trying
        self.back.setVisible(trying is not None)
        if trying is not None and trying[0].variant is not None:
            former = configuration_label(trying[0].variant, trying[0].parameters)
            self.back.setToolTip(f"Select {former} again")
        if [card.finding for card in self.cards] != list(findings):
            self._replace_cards(findings)
        for card in self.cards:
            # What was advised for something else must not be mistaken for this.
            card.setEnabled(adviser.current)
        subject = configuration_label(situation.variant, situation.parameters) if situation else ""
        self.chart.show_findings(subject, findings)
        self.chart.empty_text = self.empty.text()

    def _replace_cards(self, findings: tuple[Finding, ...]) -> None:
        for card in self.cards:
            self._column.removeWidget(card)
            card.deleteLater()
        self.cards = [
            FindingCard(number, finding, self._selectable(finding), self._base(finding))
            for number, finding in enumerate(findings, start=1)
        ]
        for place, card in enumerate(self.cards, start=1):
            card.tried.connect(self.try_finding)
            self._column.insertWidget(place, card)

    def _heading(self, situation: Situation | None) -> str:
        if situation is None:
            return ""
        what = configuration_label(situation.variant, situation.parameters)
        text = f"{what}, {_where(situation)}"
        trying = self._trying
        if trying is not None and situation.here is None and not self._state.timing:
            before, after = trying
            base = before.parameters if before.variant == situation.variant else None
            text = f"{_short(situation.variant, after.parameters, base)} selected"
            if self._state.what_if is not None:
                return f"{text}, as if on {self._state.what_if.name}"
            return f"{text}: press Run (Ctrl+R)"
        if self.adviser.waiting:
            return f"{text}: looking at what else could run..."
        if not self.adviser.current and self._state.timing:
            return f"{text}: {_BUSY}"
        return text

    def _why_empty(self, situation: Situation | None) -> str:
        device, adviser = self._state.device, self.adviser
        if situation is None:
            return _SIMULATOR if device is not None and device.type == "simulator" else _NO_DEVICE
        if situation.variant.library:
            return no_source(situation.variant)
        if adviser.problem:
            return adviser.problem
        if not adviser.current:
            return _BUSY if self._state.timing else "Looking..."
        return _NOTHING if situation.here is not None else _NOTHING + _NOT_RUN


def _where(situation: Situation) -> str:
    """The problem and the device."""
    p = situation.problem
    shape = f"{p.m}³" if p.m == p.n == p.k else f"{p.m} × {p.n} × {p.k}"
    device = situation.device
    where = f"on {device_label(device)}" if device.platform else f"as if on {device.name}"
    return f"{shape} {p.element} {where}"


def _chosen(setup: Setup) -> tuple[Variant | None, Parameters]:
    return setup.variant, setup.parameters
