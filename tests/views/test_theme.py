from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QFontInfo, QPalette
from PySide6.QtWidgets import QSpinBox, QWidget

from gemmviz.core.paths import data_dir
from gemmviz.views import theme as looks
from gemmviz.views.theme import DARK, LIGHT, apply_theme, icon, load_fonts, mono_font, text_font


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = (QColor(color).redF(), QColor(color).greenF(), QColor(color).blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_words_can_be_read_on_every_background(theme):
    for role in ("text", "muted", "good", "bad", "warn", "mark"):
        for ground in (theme.panel, theme.window):
            assert contrast(getattr(theme, role), ground) >= 4.5, role
    assert contrast("#ffffff", theme.fill) >= 4.2


def test_series_colours_differ_and_show_on_both_panels():
    colors = [looks.series_color(index) for index in range(8)]
    assert len(set(colors)) == 8
    assert looks.series_color(8) == colors[0]
    for color in colors:
        assert min(contrast(color, LIGHT.panel), contrast(color, DARK.panel)) >= 2.2
    for one, other in itertools.pairwise(colors):
        assert one != other


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_icon_is_drawn_in_the_theme(qapp, theme):
    names = sorted(file.stem for file in (data_dir("resources") / "icons").glob("*.svg"))
    assert {"run", "stop", "export", "device-gpu", "device-simulator", "app"} <= set(names)
    for name in names:
        image = icon(name, theme).pixmap(QSize(32, 32)).toImage()
        inked = [
            image.pixelColor(x, y)
            for x in range(image.width())
            for y in range(image.height())
            if image.pixelColor(x, y).alpha() == 255
        ]
        assert inked, name
        if name != "app" and not name.startswith("field-"):
            assert QColor(theme.text) in inked, name


def test_an_unknown_icon_is_an_error(qapp):
    with pytest.raises(FileNotFoundError):
        icon("no-such-drawing", LIGHT)


def test_the_bundled_fonts_are_used(qapp):
    assert load_fonts()
    assert QFontInfo(text_font()).family() == looks.TEXT_FAMILY
    assert QFontInfo(mono_font()).family() == looks.MONO_FAMILY
    assert QFontInfo(mono_font()).fixedPitch()


def test_the_theme_dresses_the_application(qapp, qtbot):
    sheet, style, palette, font = (
        qapp.styleSheet(),
        qapp.style().name(),
        qapp.palette(),
        qapp.font(),
    )
    widget = QWidget()
    qtbot.addWidget(widget)
    field = QSpinBox(widget)
    field.resize(90, 28)
    widget.resize(100, 40)
    try:
        for theme in (DARK, LIGHT):
            apply_theme(qapp, theme)
            assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.window)
            assert "$" not in qapp.styleSheet()
            image = widget.grab().toImage()
            assert image.pixelColor(97, 37) == QColor(theme.window)
            buttons = {image.pixelColor(x, y).name() for x in range(70, 88) for y in range(2, 26)}
            assert "#868e9b" in buttons  # both arrows
    finally:
        qapp.setStyleSheet(sheet)
        qapp.setStyle(style)
        qapp.setPalette(palette)
        qapp.setFont(font)
