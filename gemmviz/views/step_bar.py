"""The row that moves a picture through its steps: which warp, play and pause, a slider."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSlider, QToolButton, QWidget

from gemmviz.views.roles import ElidedLabel
from gemmviz.views.theme import DARK, Theme, icon

_INTERVAL_MILLISECONDS = 166  # about six pictures a second
_GROUP = "Whole group"
_PLAY, _PAUSE = "Play the steps (Space)", "Pause (Space)"


class StepBar(QWidget):
    """``warp_chosen`` carries a warp or None for the whole group, ``step_chosen`` a step from 0.

    It plays on from the first step after the last one, and pauses when it is hidden.
    """

    warp_chosen = Signal(object)
    step_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self.warp = QComboBox()
        self.warp.setAccessibleName("Warp")
        self.warp.setToolTip("The warp whose cells are shown, or all warps of the work-group")
        self.play = QToolButton()
        self.play.setProperty("role", "quiet")
        self.play.setIconSize(QSize(16, 16))
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Step")
        self.slider.setMinimumWidth(90)
        self.position = ElidedLabel("", "note")
        self._timer = QTimer(self, interval=_INTERVAL_MILLISECONDS)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 6, 2)
        row.setSpacing(6)
        row.addWidget(self.warp)
        row.addWidget(self.play)
        row.addWidget(self.slider, 2)
        row.addWidget(self.position, 3)
        self.warp.currentIndexChanged.connect(self._on_warp_changed)
        self.play.clicked.connect(self._on_play_clicked)
        self.slider.valueChanged.connect(self.step_chosen)
        self._timer.timeout.connect(self._on_tick)
        self._show_playing()

    @property
    def playing(self) -> bool:
        """Whether the steps go by."""
        return self._timer.isActive()

    def set_theme(self, theme: Theme) -> None:
        """Draw the icon in the colours of ``theme``."""
        self._theme = theme
        self._show_playing()

    def set_warps(self, warps: int) -> None:
        """Offer so many warps, keeping the choice where it still exists; without a signal."""
        before = self.warp.currentIndex()
        group_before = self.warp.currentText() == _GROUP
        self.warp.blockSignals(True)
        self.warp.clear()
        self.warp.addItems([f"Warp {index}" for index in range(warps)])
        self.warp.addItem(_GROUP)
        kept = warps if group_before else min(max(0, before), max(0, warps - 1))
        self.warp.setCurrentIndex(kept)
        self.warp.blockSignals(False)

    @property
    def chosen_warp(self) -> int | None:
        """The warp, or None for the whole group."""
        index = self.warp.currentIndex()
        return None if self.warp.currentText() == _GROUP else max(0, index)

    def set_steps(self, steps: int) -> None:
        """Offer so many steps; a step beyond becomes the last."""
        self.slider.setRange(0, max(0, steps - 1))
        self.slider.setPageStep(max(1, steps // 16))
        for part in (self.slider, self.play):
            part.setEnabled(steps > 1)
        if steps <= 1:
            self.pause()

    def describe(self, text: str) -> None:
        """Say where the picture stands."""
        self.position.setText(text)

    def pause(self) -> None:
        """Stand still."""
        self._timer.stop()
        self._show_playing()

    @Slot()
    def toggle(self) -> None:
        """Play, or pause."""
        if self.playing:
            self.pause()
        elif self.play.isEnabled():
            self._timer.start()
            self._show_playing()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks: stand still."""
        super().hideEvent(event)
        self.pause()

    def _show_playing(self) -> None:
        self.play.setIcon(icon("pause" if self.playing else "run", self._theme))
        self.play.setToolTip(_PAUSE if self.playing else _PLAY)
        self.play.setAccessibleName(_PAUSE if self.playing else _PLAY)

    @Slot()
    def _on_play_clicked(self) -> None:
        self.toggle()

    @Slot()
    def _on_tick(self) -> None:
        after = self.slider.value() + 1
        self.slider.setValue(after if after <= self.slider.maximum() else 0)

    @Slot(int)
    def _on_warp_changed(self, index: int) -> None:
        self.warp_chosen.emit(self.chosen_warp)
