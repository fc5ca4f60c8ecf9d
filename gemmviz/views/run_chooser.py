"""The choice among runs that go on at once: which of them is watched."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox

from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.labels import device_label
from gemmviz.views.option_combo import widen_list

_WIDEST = 300


class RunChooser(QComboBox):
    """Lists the runs that go on or wait, and the one shown; hidden while there is no other one."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self._runs: tuple[Run, ...] = ()
        self.setToolTip("Which of the runs to watch")
        self.setMaximumWidth(_WIDEST)
        self.activated.connect(self._on_activated)
        for signal in (state.job_queued, state.job_advanced, state.job_ended, state.run_shown):
            signal.connect(self._refresh)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        active, shown = tuple(self._state.active.values()), self._state.shown
        runs = active if shown is None or shown in active else (shown, *active)
        texts = [_text(run) for run in runs]
        if runs != self._runs or texts != [self.itemText(row) for row in range(self.count())]:
            self._runs = runs
            self.clear()
            self.addItems(texts)
            widen_list(self)
        if shown is not None:
            self.setCurrentIndex(runs.index(shown))
        self.setVisible(any(run is not shown for run in active))

    @Slot(int)
    def _on_activated(self, row: int) -> None:
        self._state.show(self._runs[row])


def _text(run: Run) -> str:
    under_way = "Waits for" if run.began is None else "Runs on"
    doing = f"{run.status.capitalize()} on" if run.result is not None else under_way
    return f"{doing} {device_label(run.device)}: {run.label} {run.shape}"
