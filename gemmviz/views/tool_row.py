"""A slim row above a chart or table: a title at the left, its tools at the right."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QWidget

from gemmviz.views.theme import Theme, icon


class Choice(QWidget):
    """A few words of which one holds; ``choice_made`` carries the word that was clicked."""

    choice_made = Signal(str)

    def __init__(self, words: tuple[str, ...], tip: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        for word in words:
            button = QToolButton()
            button.setText(word)
            button.setToolTip(tip)
            button.setCheckable(True)
            button.clicked.connect(self._on_clicked)
            self._group.addButton(button)
            self.buttons[word] = button
            row.addWidget(button)
        self.buttons[words[0]].setChecked(True)

    @property
    def word(self) -> str:
        """The word that holds."""
        return next(word for word, button in self.buttons.items() if button.isChecked())

    def choose(self, word: str) -> None:
        """Let ``word`` hold, without a signal."""
        self.buttons[word].setChecked(True)

    @Slot()
    def _on_clicked(self) -> None:
        self.choice_made.emit(self.word)


class ToolRow(QWidget):
    """A row of quiet buttons behind a title."""

    def __init__(self, title: QWidget) -> None:
        super().__init__()
        self._icons: dict[QToolButton, str] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 3, 6, 0)
        self._row.setSpacing(4)
        self._row.addWidget(title, 1)

    def add_choice(self, words: tuple[str, ...], tip: str) -> Choice:
        """A choice between ``words``, the first one holding."""
        choice = Choice(words, tip)
        self._row.addWidget(choice)
        return choice

    def add_button(self, name: str, tip: str, text: str = "") -> QToolButton:
        """A button with the icon ``name``, and words where ``text`` has some."""
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(text or tip)
        button.setProperty("role", "quiet")
        button.setIconSize(QSize(16, 16))
        if text:
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._icons[button] = name
        self._row.addWidget(button)
        return button

    def set_compact(self, compact: bool) -> None:
        """Leave the words of buttons out, which stay in their tips, or show them."""
        styles = Qt.ToolButtonStyle
        for button in self._icons:
            if button.text():
                wanted = styles.ToolButtonIconOnly if compact else styles.ToolButtonTextBesideIcon
                button.setToolButtonStyle(wanted)

    def set_theme(self, theme: Theme) -> None:
        """Draw icons in the colours of ``theme``."""
        for button, name in self._icons.items():
            button.setIcon(icon(name, theme))
