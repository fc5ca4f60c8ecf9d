"""The tab of the roofline: measures ceilings, and draws the ticked runs below them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gemmviz.app.rooflines import dots_of, roofs_of
from gemmviz.app.state import AppState
from gemmviz.core.choice import measurable
from gemmviz.core.experiments import MeasureCeilings, Outcome
from gemmviz.core.labels import device_label
from gemmviz.core.messages import CeilingRead, Message, Progressed
from gemmviz.core.model import Device
from gemmviz.core.units import moment, scaled
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.roofline import RooflineChart
from gemmviz.views.export import Title
from gemmviz.views.roles import ElidedLabel, Meter
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_HINT = "Point at a mark or a roof, drag to zoom, right click or H for all"
_EMPTY = (
    "Press Measure ceilings to find out in some ten seconds what {devices} can do at most: its "
    "bandwidths and its peak rates. Ticked runs stand below these roofs."
)
_MEASURING = "The ceilings of {devices} are being measured."
_NO_DEVICE = "Choose a device that is no simulator to measure what it can do at most."
_METER_PIXELS = 110


class RooflinePanel(QWidget):
    """The roofs of the ticked devices, or of the selected one, with the ticked runs."""

    def __init__(self, state: AppState, devices: ColorBook | None = None) -> None:
        super().__init__()
        self._state = state
        self._stale = True
        self.chart = RooflineChart(devices=devices)
        self.note = ElidedLabel(_HINT, "note")
        self.meter = Meter()
        self.meter.setFixedWidth(_METER_PIXELS)
        title = QWidget()
        row = QHBoxLayout(title)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.note, 1)
        row.addWidget(self.meter)
        self.tools = ToolRow(title)
        self.cancel = self.tools.add_button("stop", "End the measurement", "Stop")
        self.measure = self.tools.add_button("run", "", "Measure ceilings")
        self.home = self.tools.add_button("home", "Show everything (H)")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(0)
        column.addWidget(self.tools)
        column.addWidget(self.chart, 1)
        self._connect()
        self._show_tools()

    def _connect(self) -> None:
        state, laboratory = self._state, self._state.laboratory
        self.home.clicked.connect(self.chart.home)
        self.measure.clicked.connect(self._on_measure_clicked)
        self.cancel.clicked.connect(self._on_cancel_clicked)
        laboratory.experiment_started.connect(self._on_experiment_started)
        laboratory.experiment_advanced.connect(self._on_experiment_advanced)
        laboratory.experiment_ended.connect(self._on_experiment_ended)
        book = state.book
        for signal in (
            laboratory.ceilings_changed, state.devices_listed, state.device_selected,
            state.devices_ticked, book.run_added, book.marks_changed, book.cleared,
            book.figures_changed,
        ):  # fmt: skip
            signal.connect(self._refresh)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.chart.set_theme(theme)
        self.tools.set_theme(theme)

    def catch_up(self) -> None:
        """Bring the chart up to date even while the tab is hidden."""
        if self._stale:
            self._redraw()

    def title(self) -> Title | None:
        """What stands above an exported picture: whose roofs these are."""
        names = [device_label(device) for device in self._devices]
        return (f"Roofline of {' and '.join(names)}", ()) if names else None

    def showEvent(self, event: object) -> None:
        """Catch up with what came while another tab was in front."""
        super().showEvent(event)  # type: ignore[arg-type]
        self.catch_up()

    @property
    def _devices(self) -> tuple[Device, ...]:
        """The devices that a measurement is for."""
        return measurable(target.device for target in self._state.targets)

    @property
    def _jobs(self) -> dict[int, MeasureCeilings]:
        """The measurements that wait or go on."""
        busy = self._state.laboratory.busy
        return {job_id: each for job_id, each in busy.items() if isinstance(each, MeasureCeilings)}

    @Slot()
    def _on_measure_clicked(self) -> None:
        laboratory = self._state.laboratory
        for device in self._devices:
            again = device.key in laboratory.ceilings
            laboratory.start(MeasureCeilings(laboratory.next_id(), device, again))
        self._show_tools()

    @Slot()
    def _on_cancel_clicked(self) -> None:
        for job_id in self._jobs:
            self._state.laboratory.stop(job_id)

    @Slot(int)
    def _on_experiment_started(self, job_id: int) -> None:
        if job_id in self._jobs:
            self._show_tools()

    @Slot(int, object)
    def _on_experiment_advanced(self, job_id: int, messages: tuple[Message, ...]) -> None:
        experiment = self._jobs.get(job_id)
        if experiment is None:
            return
        name = device_label(experiment.device)
        for message in messages:
            match message:
                case Progressed(share=share, text=text):
                    self.meter.show_share(share or 0.0)
                    self.note.setText(f"{name}: {text}")
                case CeilingRead(ceiling=found):
                    value = " ".join(scaled(found.value, found.unit))
                    self.note.setText(f"{name}: {found.name} {found.element} {value}")
                case _:
                    pass

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        if not isinstance(outcome.experiment, MeasureCeilings):
            return
        self._show_tools()
        if outcome.failure is not None:
            self.note.setText(outcome.failure.sentence)

    def _show_tools(self) -> None:
        """The buttons and the words above the chart, as they suit what goes on."""
        going, devices = bool(self._jobs), self._devices
        self.meter.setVisible(going)
        self.cancel.setVisible(going)
        self.measure.setVisible(not going)
        self.measure.setEnabled(bool(devices))
        known = all(device.key in self._state.laboratory.ceilings for device in devices)
        names = " and ".join(map(device_label, devices))
        self.measure.setText("Measure again" if devices and known else "Measure ceilings")
        tip = f"Measure {names}; on a busy machine the ceilings come out too low"
        self.measure.setToolTip(tip if devices else _NO_DEVICE)
        if not going:
            self.meter.show_share(0.0)
            self.note.setText(self._dated(devices))
        if going:
            measured = map(device_label, (each.device for each in self._jobs.values()))
            self.chart.empty_text = _MEASURING.format(devices=" and ".join(measured))
        else:
            self.chart.empty_text = _EMPTY.format(devices=names) if devices else _NO_DEVICE
        self.chart.viewport().update()

    def _dated(self, devices: Sequence[Device]) -> str:
        """What to do with the chart, and when its ceilings were measured: they may be stale."""
        ceilings = self._state.laboratory.ceilings
        times = [ceilings[each.key].measured_at for each in devices if each.key in ceilings]
        return f"Measured {moment(min(times))}  ·  {_HINT}" if times else _HINT

    @Slot()
    def _refresh(self) -> None:
        self._stale = True  # hundreds of runs may come while nobody looks
        self._show_tools()
        if self.isVisible():
            self._redraw()

    def _redraw(self) -> None:
        self._stale = False
        ceilings, book = self._state.laboratory.ceilings, self._state.book
        dots = dots_of(book, ceilings)
        of_runs = {run.device.key: run.device for run in book.ticked}
        devices = {device.key: device for device in self._devices} | of_runs
        self.chart.set_roofs(roofs_of(devices.values(), ceilings, dots))
        self.chart.set_dots(dots)
        missing = [device for device in devices.values() if device.key not in ceilings]
        lines: tuple[Line, ...] = ()
        if dots and missing:
            names = " and ".join(map(device_label, missing))
            lines = (Line(f"The ceilings of {names} are not measured", "warn"),)
        self.chart.set_heading("", lines)
