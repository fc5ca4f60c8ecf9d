"""The form of a sweep: kernels, values, sizes, element types and devices by ticks."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.setup import Option, family_title
from gemmviz.app.state import AppState
from gemmviz.app.sweep_draft import (
    STRATEGIES,
    STRATEGY_TIPS,
    DraftError,
    SweepDraft,
    read_shapes,
)
from gemmviz.app.sweeping import SweepTrial
from gemmviz.app.targets import kernel_reason
from gemmviz.core.labels import device_label
from gemmviz.core.model import ELEMENTS, DeviceKey, Variant
from gemmviz.views.flow_layout import FlowLayout
from gemmviz.views.measure_combo import MeasureCombo
from gemmviz.views.option_combo import OptionCombo
from gemmviz.views.roles import label, set_role

_LIST_PIXELS, _WIDE_LIST_PIXELS = 184, 240
_WIDE_PIXELS = 720
_ROW_PIXELS = 24
_ID_ROLE = Qt.ItemDataRole.UserRole
_SIZES_TIP = (
    "Sizes of square matrices, or M x N x K: 256, 512, 1024x64x512. Several give a size curve."
)


class Ticks(QWidget):
    """Check boxes in rows as wide as the room; ``tick_changed`` carries a box's value."""

    tick_changed = Signal(object, bool)

    def __init__(self) -> None:
        super().__init__()
        self.boxes: dict[object, QCheckBox] = {}
        self._flow = FlowLayout(self, gap=14, row_gap=4)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_ticks(self, texts: dict[object, str], ticked: set[object]) -> None:
        """Show a box for each value, those in ``ticked`` checked."""
        if list(texts) != list(self.boxes):
            for box in self.boxes.values():
                self._flow.removeWidget(box)
                box.deleteLater()
            self.boxes = {}
            for value, text in texts.items():
                box = QCheckBox(text)
                box.toggled.connect(self._on_toggled)
                self._flow.addWidget(box)
                self.boxes[value] = box
        for value, box in self.boxes.items():
            box.blockSignals(True)
            box.setChecked(value in ticked)
            box.blockSignals(False)

    @Slot(bool)
    def _on_toggled(self, ticked: bool) -> None:
        sender = self.sender()
        for value, box in self.boxes.items():
            if box is sender:
                self.tick_changed.emit(value, ticked)
                return


class SweepForm(QWidget):
    """Shows the draft of a sweep and changes it at every tick."""

    def __init__(self, state: AppState, trial: SweepTrial) -> None:
        super().__init__()
        self._state, self._trial = state, trial
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter kernels")
        self.filter.setAccessibleName("Filter kernels")
        self.filter.setClearButtonEnabled(True)
        self.kernels = QListWidget()
        self.kernels.setAccessibleName("Kernels of the sweep")
        self.values: dict[tuple[str, str], Ticks] = {}
        self.shapes = QLineEdit()
        self.shapes.setToolTip(_SIZES_TIP)
        self.elements, self.devices = Ticks(), Ticks()
        self.measure = MeasureCombo(custom=False, endless=False)
        self.strategy = OptionCombo()
        for combo in (self.measure, self.strategy):
            combo.installEventFilter(self)  # the wheel scrolls the form over them too
        self.open, self.save, self.last = (
            _button(text) for text in ("Open...", "Save as...", "Last saved")
        )
        self.last.setToolTip(
            "Fill the form from the last sweep in the open results file; Resume goes on with it"
        )
        self.open.setToolTip("Fill the form from a sweep's TOML file, as gemmviz sweep takes it")
        self.save.setToolTip("Write the form as a TOML file for gemmviz sweep")
        self._shown_kernels: tuple[Variant, ...] = ()
        self._listed: tuple[str, ...] = ()
        self._parameters = QWidget()
        self._column = QVBoxLayout(self._parameters)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        form = QFormLayout()
        form.setVerticalSpacing(6)
        form.setHorizontalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        choices = QWidget()
        flow = FlowLayout(choices, gap=14)
        flow.addWidget(self.measure)
        flow.addWidget(self.strategy)
        files = QWidget()
        file_row = FlowLayout(files, gap=6)
        file_row.addWidget(self.open)
        file_row.addWidget(self.save)
        file_row.addWidget(self.last)
        for caption, field in (
            ("Sizes", self.shapes), ("Elements", self.elements), ("Devices", self.devices),
            ("Measure", choices), ("File", files),
        ):  # fmt: skip
            form.addRow(label(caption, "unit"), field)
        inner = QWidget()
        # What every sweep has comes first: the values of many kernels may go on and on.
        self._halves = QBoxLayout(QBoxLayout.Direction.TopToBottom, inner)
        self._halves.setContentsMargins(10, 4, 2, 6)
        self._halves.setSpacing(8)
        values = QVBoxLayout()
        values.addWidget(self._parameters)
        values.addStretch(1)
        self._halves.addLayout(form, 5)
        self._halves.addLayout(values, 3)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inner)
        for part in (inner, self.area.viewport()):
            part.setAutoFillBackground(False)  # the panel's own colour shows
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 2, 4)
        row.setSpacing(4)
        self._list = QWidget()
        listed = QVBoxLayout(self._list)
        listed.setContentsMargins(0, 0, 0, 0)
        listed.setSpacing(4)
        listed.addWidget(self.filter)
        listed.addWidget(self.kernels, 1)
        row.addWidget(self._list)
        row.addWidget(self.area, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A wide form has its halves side by side, and room for the kernels' names."""
        super().resizeEvent(event)
        wide = event.size().width() >= _WIDE_PIXELS
        self._list.setFixedWidth(_WIDE_LIST_PIXELS if wide else _LIST_PIXELS)
        directions = QBoxLayout.Direction
        self._halves.setDirection(directions.LeftToRight if wide else directions.TopToBottom)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._show_found)
        self.kernels.itemChanged.connect(self._on_kernel_changed)
        self.shapes.textEdited.connect(self._on_shapes_edited)
        self.elements.tick_changed.connect(self._on_element_ticked)
        self.devices.tick_changed.connect(self._on_device_ticked)
        self.measure.policy_chosen.connect(self._on_policy_chosen)
        self.strategy.option_chosen.connect(self._on_strategy_chosen)
        self._trial.draft_changed.connect(self._refresh)
        self._state.catalog_loaded.connect(self._refresh)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hand the wheel on to the form, where a list would take another value by accident."""
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    @property
    def _draft(self) -> SweepDraft:
        return self._trial.draft

    def showEvent(self, event: QShowEvent) -> None:
        """What changed while another page was in front is shown now."""
        super().showEvent(event)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        """Show the draft as it is now, where somebody looks."""
        if not self.isVisible():
            return
        draft = self._draft
        self._show_kernels(draft)
        self._show_values(draft)
        if self.shapes.text() != draft.shapes:  # else a person may be typing in it
            self.shapes.setText(draft.shapes)
        try:
            read_shapes(draft.shapes)
            set_role(self.shapes, "state", "")
            self.shapes.setToolTip(_SIZES_TIP)
        except DraftError as error:
            set_role(self.shapes, "state", "bad")
            self.shapes.setToolTip(str(error))
        self.elements.show_ticks({name: name for name in ELEMENTS}, set(draft.elements))
        places: dict[object, str] = {each.key: device_label(each) for each in self._state.devices}
        self.devices.show_ticks(places, set(draft.devices))
        for device in self._state.devices:
            why = device.unavailable
            box = self.devices.boxes[device.key]
            box.setEnabled(why is None or box.isChecked())
            box.setToolTip(f"Cannot run: {why}." if why else device_label(device))
        self.measure.show_policy(draft.policy)
        options = [Option(text, name) for name, text in STRATEGIES.items()]
        self.strategy.set_tip(STRATEGY_TIPS[draft.strategy])
        self.strategy.set_options(options, draft.strategy)

    def _show_kernels(self, draft: SweepDraft) -> None:
        variants = [each for each in self._state.catalog.variants if not each.library]
        listed = tuple(each.id for each in variants)
        self.kernels.blockSignals(True)
        if listed != self._listed:
            self._listed = listed
            self.kernels.clear()
            family = ""
            for variant in variants:
                if variant.family != family:
                    family = variant.family
                    heading = QListWidgetItem(family_title(family))
                    heading.setFlags(Qt.ItemFlag.NoItemFlags)
                    self.kernels.addItem(heading)
                item = QListWidgetItem(variant.title)
                item.setToolTip(variant.summary)
                item.setData(_ID_ROLE, variant.id)
                item.setSizeHint(QSize(0, _ROW_PIXELS))
                self.kernels.addItem(item)
        devices = [each for each in self._state.devices if each.key in draft.devices]
        by_id = {each.id: each for each in variants}
        for item in self._items():
            variant = by_id[item.data(_ID_ROLE)]
            ticked = variant.id in draft.kernels
            why = kernel_reason(variant, devices)
            item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
            usable = Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable
            enabled = Qt.ItemFlag.ItemIsEnabled if ticked or not why else Qt.ItemFlag.NoItemFlags
            item.setFlags(usable | enabled)
            item.setToolTip(why or variant.summary)
        self.kernels.blockSignals(False)
        self._show_found()

    @Slot()
    def _show_found(self) -> None:
        """The kernels whose names hold what is looked for, below the headings of their families."""
        wanted = self.filter.text().strip().casefold()
        heading: QListWidgetItem | None = None
        for row in range(self.kernels.count()):
            item = self.kernels.item(row)
            name = item.data(_ID_ROLE)
            if not name:
                heading = item
                heading.setHidden(True)
                continue
            found = wanted in f"{item.text()} {name}".casefold()
            item.setHidden(not found)
            if found and heading is not None:
                heading.setHidden(False)

    def _items(self) -> list[QListWidgetItem]:
        """The rows that are kernels."""
        rows = map(self.kernels.item, range(self.kernels.count()))
        return [item for item in rows if item.data(_ID_ROLE)]

    def _show_values(self, draft: SweepDraft) -> None:
        """A row of boxes for each parameter of each ticked kernel."""
        shown = tuple(each for each in self._state.catalog.variants if each.id in draft.kernels)
        if shown != self._shown_kernels:
            self._rebuild_values(shown)
        for variant in shown:
            for parameter in variant.parameters:
                name = parameter.name
                ticked: set[object] = {
                    value
                    for value in parameter.values
                    if (variant.id, name, value) not in draft.left_out
                }
                texts: dict[object, str] = {value: str(value) for value in parameter.values}
                self.values[variant.id, name].show_ticks(texts, ticked)

    def _rebuild_values(self, shown: tuple[Variant, ...]) -> None:
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.values, self._shown_kernels = {}, shown
        for variant in shown:
            block = QWidget()
            form = QFormLayout(block)
            form.setContentsMargins(0, 0, 0, 2)
            form.setVerticalSpacing(3)
            form.setHorizontalSpacing(12)
            form.addRow(label(variant.title, "heading"))
            for parameter in variant.parameters:
                ticks = Ticks()
                ticks.setObjectName(f"{variant.id} {parameter.name}")
                ticks.tick_changed.connect(self._on_value_ticked)
                caption = label(parameter.name, "unit")
                caption.setToolTip(parameter.help)
                ticks.setToolTip(parameter.help)
                form.addRow(caption, ticks)
                self.values[variant.id, parameter.name] = ticks
            if not variant.parameters:
                form.addRow(label("It has no parameters.", "note"))
            self._column.addWidget(block)

    @Slot(QListWidgetItem)
    def _on_kernel_changed(self, item: QListWidgetItem) -> None:
        ticked = item.checkState() == Qt.CheckState.Checked
        self._trial.change(self._draft.with_kernel(str(item.data(_ID_ROLE)), ticked))

    @Slot(object, bool)
    def _on_value_ticked(self, value: object, ticked: bool) -> None:
        sender = self.sender()
        for (kernel, name), ticks in self.values.items():
            if ticks is sender and isinstance(value, int):
                self._trial.change(self._draft.with_value((kernel, name, value), ticked))
                return

    @Slot(str)
    def _on_shapes_edited(self, text: str) -> None:
        self._trial.change(replace(self._draft, shapes=text))

    @Slot(object, bool)
    def _on_element_ticked(self, element: object, ticked: bool) -> None:
        self._trial.change(self._draft.with_element(str(element), ticked))

    @Slot(object, bool)
    def _on_device_ticked(self, key: object, ticked: bool) -> None:
        if isinstance(key, DeviceKey):
            self._trial.change(self._draft.with_device(key, ticked))

    @Slot(object)
    def _on_policy_chosen(self, policy: object) -> None:
        self._trial.change(replace(self._draft, policy=policy))  # type: ignore[arg-type]

    @Slot(object)
    def _on_strategy_chosen(self, strategy: object) -> None:
        self._trial.change(replace(self._draft, strategy=strategy))  # type: ignore[arg-type]


def _button(text: str) -> QToolButton:
    """A button as wide as its words, so that a few fit into a narrow form."""
    button = QToolButton()
    button.setText(text)
    return button
