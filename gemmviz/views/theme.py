"""The look: colours, fonts and icons in a light and a dark set, applied to Qt as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from string import Template

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from gemmviz.core.paths import data_dir
from gemmviz.views.style import STYLE_SHEET

TEXT_FAMILY = "Inter"
MONO_FAMILY = "JetBrains Mono"
TEXT_PIXELS = 13

# Six of the eight colours of M. Okabe and K. Ito, Color Universal Design, 2008 (their black and
# yellow vanish on one of the two backgrounds), then two that stay apart from them.
_SERIES = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#9966ff", "#7c6b69")
_ICON_SIZES = (16, 20, 24, 32, 48, 64)


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, each "#rrggbb".

    Attributes:
        name: "light" or "dark".
        window: Behind everything.
        panel: Of cards, charts, lists and bars.
        border: Lines around panels and fields.
        track: The empty part of a meter.
        text: Words and figures.
        muted: Captions, units and axes.
        accent: Lines and marks that matter; the time of a launch.
        fill: The accent where white text stands on it.
        rate: Throughput over time.
        mark: Median lines and other annotations.
        grid: Grid lines, already faint on ``panel``.
        good: Verified, better.
        bad: Wrong, failed, at its limit.
        warn: Near a limit, doubtful.
    """

    name: str
    window: str
    panel: str
    border: str
    track: str
    text: str
    muted: str
    accent: str
    fill: str
    rate: str
    mark: str
    grid: str
    good: str
    bad: str
    warn: str


DARK = Theme(
    name="dark",
    window="#16181d",
    panel="#1d2027",
    border="#2c313b",
    track="#2c313b",
    text="#e4e7ec",
    muted="#98a1b0",
    accent="#4c9be8",
    fill="#2f7bd0",
    rate="#56c596",
    mark="#f2a65a",
    grid="#31353d",
    good="#56c596",
    bad="#ee6d68",
    warn="#e0a33e",
)
LIGHT = Theme(
    name="light",
    window="#f3f4f7",
    panel="#ffffff",
    border="#d9dde4",
    track="#e1e5eb",
    text="#1d2330",
    muted="#5f6878",
    accent="#1f6fd0",
    fill="#1f6fd0",
    rate="#107a54",
    mark="#b54d06",
    grid="#e6e8ec",
    good="#107a54",
    bad="#c53a36",
    warn="#8f5c0c",
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def series_color(index: int) -> str:
    """The colour of the ``index``-th series, the same in both themes; after eight they repeat."""
    return _SERIES[index % len(_SERIES)]


def mixed(color: str, base: str, share: float) -> QColor:
    """``share`` of ``color`` laid over ``base``: faint yet opaque, which is fast to paint."""
    over, under = QColor(color), QColor(base)
    return QColor(
        round(share * over.red() + (1 - share) * under.red()),
        round(share * over.green() + (1 - share) * under.green()),
        round(share * over.blue() + (1 - share) * under.blue()),
    )


@cache
def load_fonts() -> bool:
    """Register the bundled fonts with Qt; False where a file is broken and Qt falls back.

    A QApplication must exist. A machine without any font would otherwise draw empty boxes.
    """
    files = sorted((data_dir("resources") / "fonts").glob("*.[ot]tf"))
    return bool(files) and all(QFontDatabase.addApplicationFont(str(file)) >= 0 for file in files)


def text_font(pixels: int = TEXT_PIXELS, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The font of words, its digits all of one width so that figures do not dance.

    Args:
        pixels: Height in device-independent pixels.
        weight: Normal, Medium or DemiBold are bundled.
    """
    load_fonts()
    font = QFont(TEXT_FAMILY)
    font.setPixelSize(pixels)
    font.setWeight(weight)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def mono_font(pixels: int = TEXT_PIXELS - 1) -> QFont:
    """The font of source code, logs and compiler messages."""
    load_fonts()
    font = QFont(MONO_FAMILY)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPixelSize(pixels)
    return font


def icon(name: str, theme: Theme, color: str | None = None) -> QIcon:
    """A drawing of ``resources/icons`` in the theme's text colour, greyed where disabled.

    Args:
        name: The file's stem, "run" or "device-gpu".
        theme: Its text and muted colours are used.
        color: Instead of the text colour, e.g. ``theme.bad``.

    Raises:
        FileNotFoundError: There is no such drawing.
    """
    drawing = (data_dir("resources") / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    faint = mixed(theme.muted, theme.panel, 0.5).name()
    for mode, ink in (
        (QIcon.Mode.Normal, color or theme.text),
        (QIcon.Mode.Disabled, faint),
        (QIcon.Mode.Selected, color or "#ffffff"),
    ):
        renderer = QSvgRenderer(QByteArray(drawing.replace("currentColor", ink).encode()))
        for size in _ICON_SIZES:
            pixmap = QPixmap(size, size)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            renderer.render(painter, QRectF(0, 0, size, size))
            painter.end()
            result.addPixmap(pixmap, mode)
    return result


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Dress the whole application: Fusion, palette, style sheet and fonts.

    Charts keep their own colours: give them the theme with ``Chart.set_theme``, and ask for icons
    again. Qt's colour scheme hint is left alone because it has no effect on a bare X server.
    """
    app.setStyle("Fusion")
    app.setPalette(palette(theme))
    app.setFont(text_font())
    icons = (data_dir("resources") / "icons").as_posix()
    colors = {name: getattr(theme, name) for name in Theme.__dataclass_fields__}
    colors["hover"] = mixed(theme.text, theme.panel, 0.07).name()
    colors["faint"] = mixed(theme.muted, theme.panel, 0.55).name()
    colors["field"] = mixed(theme.window, theme.panel, 0.45).name()
    app.setStyleSheet(Template(STYLE_SHEET).substitute(colors, icons=icons, mono=MONO_FAMILY))


def palette(theme: Theme) -> QPalette:
    """Qt's palette in the theme's colours."""
    role = QPalette.ColorRole
    colors = {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.panel,
        role.AlternateBase: mixed(theme.text, theme.panel, 0.03).name(),
        role.ToolTipBase: theme.panel,
        role.ToolTipText: theme.text,
        role.PlaceholderText: theme.muted,
        role.Text: theme.text,
        role.Button: theme.panel,
        role.ButtonText: theme.text,
        role.BrightText: theme.bad,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Highlight: theme.fill,
        role.HighlightedText: "#ffffff",
        role.Accent: theme.accent,
        role.Light: mixed(theme.text, theme.panel, 0.12).name(),
        role.Midlight: mixed(theme.text, theme.panel, 0.08).name(),
        role.Mid: theme.border,
        role.Dark: mixed("#000000", theme.border, 0.3).name(),
        role.Shadow: "#000000",
    }
    result = QPalette()
    for key, color in colors.items():
        result.setColor(key, QColor(color))
    faint = mixed(theme.muted, theme.panel, 0.55)
    for key in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        result.setColor(QPalette.ColorGroup.Disabled, key, faint)
    result.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(theme.track))
    return result
