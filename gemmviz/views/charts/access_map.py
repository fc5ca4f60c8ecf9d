"""The chart of the access lens: what a warp touches of A, B and C, and how the banks serve it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Slot
from PySide6.QtWidgets import QGraphicsWidget, QWidget

from gemmviz.core.access.marks import pass_tone, pass_words
from gemmviz.core.access.report import Access, Touches
from gemmviz.views.charts.access_banks import BankGrid, bank_map, worst_warp
from gemmviz.views.charts.access_captions import MARKS
from gemmviz.views.charts.access_cells import AccessScene, execution_at, step_count
from gemmviz.views.charts.access_hover import Hover, describe_cell, describe_slot
from gemmviz.views.charts.access_matrices import Matrices
from gemmviz.views.charts.access_shown import View
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.theme import DARK, Theme

_WIDE = 700  # from this width on the banks stand beside the matrices where there is little height
_HIGH = 470  # from this height on they stand below them
_MATRICES_SHARE = 0.6  # of the width where the banks stand beside the matrices ...
_SHARE_WITHOUT_BANKS = 0.75  # ... or only words that there are none
_NO_LOCAL = "This kernel uses no local memory."


class AccessMapChart(Chart):
    """A, B and C as grids with the cells of one step, and the banks that serve a local access.

    Where there is room for one of both only, ``prefer`` decides which.
    """

    export_title = "Access"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "What a warp reads and writes is drawn here, step by step"
        self._scene: AccessScene | None = None
        self._chosen: int | None = None
        self._warp: int | None = 0
        self._step = 0
        self._banks_first = False
        self._most_rows = 0  # of the banks so far: their height must not jump as steps go by
        self._heading, self._bank_heading = Heading(), Heading()
        self._matrices, self._banks = Matrices(), BankGrid()
        self._hover = Hover()
        self._laid_out = ("", False)
        self.scene().addItem(self._hover)
        self.centralLayout.setContentsMargins(8, 4, 8, 4)
        self.centralLayout.setSpacing(2)
        self._lay_out()
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)

    @property
    def steps(self) -> int:
        """How many steps there are to show."""
        if self._scene is None:
            return 0
        shown = [self._scene.on_matrix(name, self._chosen) for name in self._scene.shapes]
        return step_count((*shown, self._scene.on_banks(self._chosen)))

    def set_scene(self, scene: AccessScene | None) -> None:
        """Show another kernel from its first step on, or nothing."""
        self._scene, self._chosen, self._step, self._most_rows = scene, None, 0, 0
        if self._warp is not None and scene is not None:
            self._warp = min(self._warp, max(0, scene.warps - 1))
        self._renew()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines above the picture; empty takes them away."""
        self._heading.set_text(title, lines)

    def choose(self, access: int | None) -> None:
        """Show the access with this index of the report; None shows the worst of each."""
        self._chosen, self._most_rows = access, 0
        self._renew()

    def prefer(self, *, banks: bool) -> None:
        """Show the banks where there is no room for both, or the matrices."""
        self._banks_first = banks
        self._lay_out()

    def set_warp(self, warp: int | None) -> None:
        """Show another warp, or with None the whole work-group."""
        self._warp = warp
        self._renew()

    def set_step(self, step: int) -> None:
        """Show another step, counted from 0."""
        self._step = step
        self._renew()

    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return self._scene is None

    def restyle(self) -> None:
        """Colour every part."""
        for part in (self._heading, self._bank_heading, self._matrices, self._banks, self._hover):
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Point at nothing."""
        self._hover.say("")

    def describe_step(self) -> str:
        """Where the picture stands: "k = 16, execution 2 of 8 (A, line 31)"; "" without one."""
        scene = self._scene
        if scene is None:
            return ""
        words: list[str] = []
        for name in ("A", "B"):
            shown = self._matrices.shown.get(name)
            if shown is None or shown.cells is None or not len(shown.cells.rows):
                continue
            if "K" in scene.axes[name] and not words:
                places = (shown.cells.rows, shown.cells.cols)[scene.axes[name].index("K")]
                low, high = int(places.min()), int(places.max())
                words.append(f"k = {low}" if low == high else f"k = {low} to {high}")
        followed = self._followed()
        if followed is not None:
            execution = execution_at(followed, self._step, self.steps)
            access = scene.access(followed)
            words.append(
                f"execution {execution + 1} of {scene.executions(followed)} "
                f"({access.array}, line {access.line})"
            )
        return ", ".join(words)

    def _followed(self) -> Touches | None:
        """The touches of the chosen access, else those that are executed most often."""
        assert self._scene is not None
        parts = [part for part in self._scene.touches if len(part.elements)]
        for part in parts:
            if part.access == self._chosen:
                return part
        return max(parts, key=lambda part: len(part.elements), default=None)

    def _renew(self) -> None:
        scene, steps = self._scene, self.steps
        self._step = max(0, min(self._step, steps - 1))
        self._matrices.show_view(scene, View(self._chosen, self._warp, self._step, steps))
        local = scene.on_banks(self._chosen) if scene is not None else None
        if scene is None or local is None:
            self._banks.set_map(None)
            self._bank_heading.set_text("", (Line(_NO_LOCAL),) if scene is not None else ())
        else:
            execution = execution_at(local, self._step, steps)
            warp = self._warp if self._warp is not None else worst_warp(scene, local, execution)
            shown = bank_map(scene, local, execution, warp)
            self._banks.set_map(shown)
            self._bank_heading.set_text("", self._bank_lines(scene.access(local), warp))
            self._most_rows = max(self._most_rows, shown.rows)
        self.hide_hover()
        self._lay_out()
        self.viewport().update()

    def _bank_lines(self, access: Access, warp: int) -> tuple[Line, Line]:
        """The verdict on the passes that are shown, and which access they are of."""
        shown = self._banks.bank_map
        assert shown is not None
        shared = any(len(slot.lanes) > 1 for slot in shown.slots)
        tone = pass_tone(shown.rows, shown.ideal)
        verdict = f"{MARKS[tone]} {pass_words(shown.rows, shown.ideal, broadcast=shared)}"
        where = f"{access.text}  ·  {access.kind}, line {access.line}, warp {warp}"
        return Line(verdict, tone), Line(where)

    def _wanted_part(self) -> str:
        """What there is room for: "beside", "below", "matrices" or "banks"."""
        if self._scene is None:
            return "matrices"
        has_banks = self._banks.bank_map is not None
        if self.height() >= _HIGH:
            return "below" if has_banks else "matrices and words"
        if self.width() >= _WIDE:
            return "beside"
        return "banks" if self._banks_first else "matrices"

    def _lay_out(self) -> None:
        """Put the parts that there is room for where they belong."""
        wanted = self._wanted_part()
        self._banks.limit(self._most_rows if wanted == "below" else None)
        now = wanted, self._banks.bank_map is not None
        if now == self._laid_out:
            return
        self._laid_out = now
        grid = self.centralLayout
        while grid.count():
            grid.removeAt(0)
        for part in (self._matrices, self._banks, self._bank_heading):
            part.setVisible(False)
        beside, has_banks = wanted == "beside", self._banks.bank_map is not None
        items: list[tuple[QGraphicsWidget, int, int, int, int]] = [
            (self._heading, 0, 0, 1, 2 if beside else 1)
        ]
        if wanted != "banks":
            items.append((self._matrices, 1, 0, 2 if beside and has_banks else 1, 1))
        if wanted in ("beside", "below", "banks", "matrices and words"):
            column = 1 if beside else 0
            items.append((self._bank_heading, 1 if beside else 2, column, 1, 1))
            if has_banks:
                items.append((self._banks, 2 if beside else 3, column, 1, 1))
        for item, *place in items:
            item.setVisible(True)
            grid.addItem(item, *place)
        for row in range(4):
            grid.setRowStretchFactor(row, 0)
        grid.setAlignment(self._bank_heading, Qt.AlignmentFlag.AlignTop)
        rows = {"beside": {2 if has_banks else 1: 100}, "below": {1: 62, 3: 38}, "banks": {3: 100}}
        for row, share in rows.get(wanted, {1: 100}).items():
            grid.setRowStretchFactor(row, share)
        share = round(100 * (_MATRICES_SHARE if has_banks else _SHARE_WITHOUT_BANKS))
        grid.setColumnStretchFactor(0, share)
        grid.setColumnStretchFactor(1, 100 - share if beside else 0)

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        self._hover.setGeometry(0, 0, self.width(), self.height())
        self._lay_out()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        text = ""
        if self._scene is not None:
            found = self._matrices.cell_at(self._matrices.mapFromScene(position))
            slot = self._banks.slot_at(self._banks.mapFromScene(position))
            if found is not None and self._matrices.isVisible():
                name, row, col = found
                text = describe_cell(self._scene, self._matrices.shown[name], self._warp, row, col)
            elif slot is not None and self._banks.isVisible():
                text = describe_slot(slot)
        self._hover.say(text, position)
