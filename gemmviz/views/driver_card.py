"""What the driver says of the built kernel, beside what its metadata says."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel

from gemmviz.app.comparison import DriverFigure, driver_figures
from gemmviz.app.runs import Run
from gemmviz.core.labels import device_label
from gemmviz.views.roles import Card, ElidedLabel, label, set_role


class DriverCard(Card):
    """A small table: figure, by formula, by driver; differences are marked."""

    def __init__(self) -> None:
        super().__init__("As built: formula and driver")
        self.run: Run | None = None
        self.subject = label("", "note", wrap=True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(0, 1)
        for column, name in enumerate(("", "formula", "driver")):
            head = label(name, "note")
            head.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(head, 0, column)
        self._cells = [(ElidedLabel("", "note"), label(), label()) for _ in range(5)]
        for row, cells in enumerate(self._cells, start=1):
            for column, cell in enumerate(cells):
                if column:
                    cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                self._grid.addWidget(cell, row, column)
        self.remark = label("", "note", wrap=True)
        self.box.addWidget(self.subject)
        self.box.addLayout(self._grid)
        self.box.addWidget(self.remark)

    def show_run(self, run: Run | None) -> None:
        """Show the figures of a run that was built, and of what; nothing without one."""
        if run is self.run and run is not None:
            return
        self.run = run
        figures = driver_figures(run) if run is not None else ()
        self.setVisible(bool(figures))
        if run is not None:
            kernel = f"{run.label}, {run.job.problem.element}"
            self.subject.setText(f"{kernel} on {device_label(run.device)}")
        for cells, figure in zip(self._cells, figures, strict=False):
            self._show_row(cells, figure)
        remarks = [figure.remark for figure in figures if figure.differs]
        self.remark.setText(" ".join(remarks))
        self.remark.setVisible(bool(remarks))

    def _show_row(self, cells: tuple[ElidedLabel, QLabel, QLabel], figure: DriverFigure) -> None:
        name, formula, driver = cells
        name.setText(figure.name)
        formula.setText(figure.formula)
        driver.setText(f"{'≠ ' if figure.differs else ''}{figure.driver}")
        set_role(driver, "state", "warn" if figure.differs else "")
        for cell in cells:
            cell.setToolTip(figure.remark)
