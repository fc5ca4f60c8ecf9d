"""The style sheet over Fusion: what a palette cannot say; colours are filled in by the theme.

Widgets ask for a look through the dynamic property ``role``: "card" and "bar" on frames; "caption",
"figure", "unit", "note" and "heading" on labels; "primary" and "quiet" on buttons; "log" and
"detail" on text panes. Meters and labels take the property ``state``: "good", "warn" or "bad".
"""

STYLE_SHEET = """
QToolTip { color: $text; background: $panel; border: 1px solid $border; padding: 4px 6px; }
QMenuBar, QToolBar, QStatusBar, QFrame[role="bar"] { background: $panel; border: 0; }
QToolBar { border-bottom: 1px solid $border; padding: 6px 8px; spacing: 8px; }
QStatusBar { border-top: 1px solid $border; color: $muted; }
QStatusBar::item { border: 0; }
QMenuBar::item { padding: 5px 9px; background: transparent; }
QMenuBar::item:selected, QMenu::item:selected { background: $hover; color: $text; }
QMenu { background: $panel; border: 1px solid $border; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 10px; border-radius: 4px; }
QMenu::item:disabled { color: $faint; }
QMenu::separator { height: 1px; background: $border; margin: 4px 6px; }
QDockWidget { color: $muted; }
QDockWidget::title { background: $window; padding: 6px 4px; }
QMainWindow::separator, QSplitter::handle { background: $window; width: 6px; height: 6px; }

QFrame[role="card"] { background: $panel; border: 1px solid $border; border-radius: 6px; }
QLabel[role="caption"], QLabel[role="note"], QLabel[role="unit"] { color: $muted; }
QLabel[role="caption"], QLabel[role="note"] { font-size: 11px; }
QLabel[role="figure"] { font-size: 20px; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[state="good"] { color: $good; }
QLabel[state="warn"] { color: $warn; }
QLabel[state="bad"] { color: $bad; }

QTabWidget::pane { background: $panel; border: 1px solid $border; border-radius: 6px; top: -1px; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { color: $muted; background: transparent; padding: 8px 7px;
  border: 0; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:hover:!selected { color: $text; }
QTabBar::tab:focus { color: $accent; }
QTabBar::scroller { width: 48px; }
QTabBar QToolButton { padding: 2px; margin: 3px 1px; }
QTabBar QToolButton::left-arrow { image: url("$icons/field-left.svg"); width: 12px; height: 12px; }
QTabBar QToolButton::right-arrow { image: url("$icons/field-right.svg"); width: 12px;
  height: 12px; }

QPushButton, QToolButton { color: $text; background: $panel; border: 1px solid $border;
  border-radius: 5px; padding: 5px 12px; }
QToolButton { padding: 4px 6px; }
QToolButton::menu-indicator { image: none; }
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked { background: $track; }
QPushButton:focus, QToolButton:focus { border-color: $accent; }
QPushButton:disabled, QToolButton:disabled { color: $faint; }
QPushButton[role="primary"] { color: #ffffff; background: $fill; border-color: $fill; }
QPushButton[role="primary"]:hover { background: $accent; }
QPushButton[role="primary"]:focus { border-color: $text; }
QPushButton[role="primary"]:disabled { color: $faint; background: $track; border-color: $track; }
QPushButton[role="quiet"], QToolButton[role="quiet"] { background: transparent;
  border-color: transparent; }
QPushButton[role="quiet"]:focus, QToolButton[role="quiet"]:focus { border-color: $accent; }

QComboBox, QSpinBox, QDoubleSpinBox, QLineEdit { color: $text; background: $field;
  border: 1px solid $border; border-radius: 5px; padding: 4px 8px; min-height: 18px;
  selection-background-color: $fill; selection-color: #ffffff; }
QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QLineEdit:focus { border-color: $accent; }
QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QLineEdit:disabled {
  color: $faint; background: $panel; }
QComboBox { padding-right: 2px; }
QComboBox::drop-down { border: 0; width: 22px; }
QComboBox::down-arrow { image: url("$icons/field-down.svg"); width: 10px; height: 10px; }
QComboBox { combobox-popup: 0; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QComboBox QAbstractItemView { background: $panel; border: 1px solid $border; outline: 0;
  selection-background-color: $fill; selection-color: #ffffff; }
QSpinBox, QDoubleSpinBox { padding-right: 20px; }
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button,
QDoubleSpinBox::down-button { border: 0; width: 20px; background: transparent; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url("$icons/field-up.svg");
  width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url("$icons/field-down.svg");
  width: 10px; height: 10px; }

QCheckBox, QRadioButton { spacing: 7px; }
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator,
QGroupBox::indicator { width: 13px; height: 13px; background: $field; border: 1px solid $faint;
  border-radius: 3px; }
QRadioButton::indicator { border-radius: 7px; }
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked, QGroupBox::indicator:checked {
  background: $fill; border-color: $fill; image: url("$icons/field-check.svg"); }
QRadioButton::indicator:checked { width: 5px; height: 5px; background: #ffffff;
  border: 5px solid $fill; border-radius: 7px; }
QCheckBox:focus, QRadioButton:focus { color: $accent; }
QCheckBox:disabled, QRadioButton:disabled { color: $faint; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: $border; }

QTreeView, QTableView, QListView, QPlainTextEdit, QTextEdit { background: $panel;
  border: 1px solid $border; border-radius: 6px; outline: 0; }
QTreeView::item { padding: 3px 2px; }
QTableView { gridline-color: $border; }
QHeaderView { background: $panel; }
QHeaderView::section { color: $muted; background: $panel; border: 0;
  border-bottom: 1px solid $border; padding: 6px 5px; font-size: 11px; }
QPlainTextEdit[role="detail"] { font-size: 11px; padding: 2px 4px; }
QPlainTextEdit[role="log"], QTextEdit[role="log"] { font-family: "$mono"; font-size: 12px; }

QProgressBar { background: $track; border: 0; border-radius: 3px; max-height: 6px;
  min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QProgressBar[state="good"]::chunk { background: $good; }
QProgressBar[state="warn"]::chunk { background: $warn; }
QProgressBar[state="bad"]::chunk { background: $bad; }

QScrollBar { background: transparent; border: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: $track; border-radius: 4px; margin: 1px; min-height: 28px;
  min-width: 28px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""
