"""The tab of the documents' statements: each with its outcome on the selected device."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHeaderView,
    QMessageBox,
    QScrollArea,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.claim_trials import ClaimTrials
from gemmviz.app.state import AppState
from gemmviz.core.claim import Claim
from gemmviz.core.claim_list import CLAIMS
from gemmviz.core.claims import ClaimOutcome, count_outcomes
from gemmviz.core.labels import device_label
from gemmviz.views.charts.claims import TONES, ClaimsChart
from gemmviz.views.export import Title
from gemmviz.views.roles import Card, ElidedLabel, Meter, label, set_role
from gemmviz.views.theme import DARK, Theme, icon
from gemmviz.views.tool_row import ToolRow

_ICONS: dict[ClaimOutcome, str] = {
    "holds": "check",
    "does not hold here": "cross",
    "cannot be tested here": "info",
}
_STATES = {"good": "good", "bad": "bad", "muted": ""}
_OUTCOME_PIXELS = 172
_ROW_PIXELS = 25
_SPLIT = (5, 2)
_LEAST_DETAILS_PIXELS = 90
_UNTRIED = "Not tried on this device yet: Run tries the chosen statement, Run all all of them."
_CLAIM_ROLE = Qt.ItemDataRole.UserRole


class ClaimsPanel(QWidget):
    """Statements by document; below them what was measured for the chosen one, and why it follows.

    ``told`` is a remark for the status bar.
    """

    told = Signal(str)

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._theme = DARK
        self.trials = ClaimTrials(state, self)
        self.chart = ClaimsChart()
        self.chart.setParent(self)
        self.chart.hide()  # the list stands for it on the screen
        self.note = ElidedLabel("", "note")
        self.tools = ToolRow(self.note)
        self.run = self.tools.add_button("run", "Try the chosen statement", "Run")
        self.run_all = self.tools.add_button("run", "Try every statement", "Run all")
        self.stop = self.tools.add_button("stop", "End the trial under way")
        self.report = self.tools.add_button("page", "Write a page of all outcomes", "Report")
        self.export = self.tools.add_button("export", "Export the table as a picture (Ctrl+E)")
        self.meter = Meter()
        self.tree = self._make_tree()
        self._make_details()
        self._lay_out()
        self.run.clicked.connect(self._on_run_clicked)
        self.run_all.clicked.connect(self._on_run_all_clicked)
        self.stop.clicked.connect(self.trials.stop)
        self.report.clicked.connect(self._on_report_clicked)
        self.tree.currentItemChanged.connect(self._show_chosen)
        self.tree.itemActivated.connect(self._on_run_clicked)
        self.trials.changed.connect(self._refresh)
        self._refresh()

    def _make_tree(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setColumnCount(2)
        tree.setHeaderHidden(True)
        tree.setRootIsDecorated(False)
        tree.setItemsExpandable(False)
        tree.setIndentation(10)
        tree.setUniformRowHeights(True)
        tree.setAccessibleName("Statements of the documents")
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, _OUTCOME_PIXELS)
        self._items: dict[str, QTreeWidgetItem] = {}
        for document in dict.fromkeys(claim.document for claim in CLAIMS):
            group = QTreeWidgetItem([document])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            group.setSizeHint(0, QSize(0, _ROW_PIXELS))
            bold = tree.font()
            bold.setBold(True)
            group.setFont(0, bold)
            tree.addTopLevelItem(group)
            group.setFirstColumnSpanned(True)
            for claim in CLAIMS:
                if claim.document == document:
                    item = QTreeWidgetItem([claim.statement, ""])
                    item.setToolTip(0, claim.statement)
                    item.setData(0, _CLAIM_ROLE, claim)
                    group.addChild(item)
                    self._items[claim.id] = item
        tree.expandAll()
        tree.setCurrentItem(self._items[CLAIMS[0].id])
        return tree

    def _make_details(self) -> None:
        card = Card()
        self.statement = label("", "heading", wrap=True)
        self.outcome = label()
        self.measured = label("", wrap=True)
        self.reason = label("", "caption", wrap=True)
        for part in (self.statement, self.outcome, self.measured, self.reason):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            card.box.addWidget(part)
        card.box.addStretch(1)
        self.details = QScrollArea()
        self.details.setWidgetResizable(True)
        self.details.setFrameShape(QFrame.Shape.NoFrame)
        self.details.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.details.setMinimumHeight(_LEAST_DETAILS_PIXELS)
        self.details.setWidget(card)

    def _lay_out(self) -> None:
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.tree)
        splitter.addWidget(self.details)
        for index, share in enumerate(_SPLIT):
            splitter.setStretchFactor(index, share)
        splitter.setSizes([100 * share for share in _SPLIT])
        splitter.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        column.addWidget(self.tools)
        column.addWidget(self.meter)
        column.addWidget(splitter, 1)

    @property
    def chosen(self) -> Claim | None:
        """The statement of the current row."""
        item = self.tree.currentItem()
        claim = item.data(0, _CLAIM_ROLE) if item is not None else None
        return claim if isinstance(claim, Claim) else None

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self._theme = theme
        self.tools.set_theme(theme)
        self.chart.set_theme(theme)
        self._refresh()

    def catch_up(self) -> None:
        """Draw all outcomes that are known."""
        device = self.trials.device
        where = device_label(device) if device is not None else "no device"
        self.chart.set_results(self.trials.results, where)
        self.chart.resize(self.chart.minimumSize())

    def title(self) -> Title | None:
        """The chart's own heading says it all."""
        return None

    def save_report(self, path: Path) -> None:
        """Write the page; a file that cannot be written is said in a dialog."""
        try:
            path.write_text(self.trials.page(), encoding="utf-8")
        except OSError as error:
            QMessageBox.warning(self, "The page was not saved", f"{path}: {error.strerror}")
            return
        self.told.emit(f"Saved {path}")

    @Slot()
    def _refresh(self) -> None:
        trials = self.trials
        for claim_id, item in self._items.items():
            found = trials.result(claim_id)
            item.setText(1, found.outcome if found is not None else "")
            if found is None:
                item.setIcon(1, QIcon())
                continue
            ink = getattr(self._theme, TONES[found.outcome])
            item.setIcon(1, icon(_ICONS[found.outcome], self._theme, ink))
            item.setForeground(1, QColor(ink))
        refusal = trials.refusal
        for button, tip in ((self.run, "Try the chosen statement"),
                            (self.run_all, "Try every statement")):  # fmt: skip
            button.setEnabled(not refusal)
            button.setToolTip(refusal or tip)
        self.stop.setEnabled(trials.running)
        for button in (self.report, self.export):
            button.setEnabled(bool(trials.results))
        self.meter.setVisible(trials.running)
        self.meter.show_share(trials.share)
        self._show_note()
        self._show_chosen()

    def _show_note(self) -> None:
        trials = self.trials
        where = device_label(trials.device) if trials.device is not None else "no device"
        if trials.note:
            text = trials.note
        elif trials.results:
            text = f"On {where}: {count_outcomes(trials.results)}"
        else:
            text = f"What the documents say, to be tried on {where}"
        self.note.setText(text)
        set_role(self.note, "state", "bad" if trials.failed else "")

    @Slot()
    def _show_chosen(self) -> None:
        claim = self.chosen
        if claim is None:
            return
        found = self.trials.result(claim.id)
        self.statement.setText(claim.statement)
        self.outcome.setText(found.outcome.capitalize() if found is not None else "Not tried")
        tone = TONES[found.outcome] if found is not None else "muted"
        set_role(self.outcome, "state", _STATES[tone])
        self.measured.setText(found.measured if found is not None else "")
        self.measured.setVisible(found is not None and bool(found.measured))
        self.reason.setText(found.reason if found is not None else _UNTRIED)

    @Slot()
    def _on_run_clicked(self) -> None:
        if self.chosen is not None:
            self.trials.start((self.chosen.id,))

    @Slot()
    def _on_run_all_clicked(self) -> None:
        self.trials.start()

    @Slot()
    def _on_report_clicked(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Write the report page", "claims.html", "HTML pages (*.html)"
        )
        if name:
            self.save_report(Path(name if Path(name).suffix else f"{name}.html"))
