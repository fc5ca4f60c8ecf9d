"""What a window lacks is said in one sentence that names the package."""

from __future__ import annotations

import pytest

from gemmviz.views import display


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("libEGL.so.1: cannot open shared object file: No such file", "apt install libegl1"),
        ("libxcb-cursor.so.0: cannot open shared object file", "apt install libxcb-cursor0"),
        ("libstrange.so.7: cannot open shared object file", "your distribution's package manager"),
        ("No module named 'PySide6'", "pip install PySide6-Essentials"),
    ],
)
def test_a_missing_library_is_named_with_its_package(message, words):
    sentence = display._missing_library(message)
    assert words in sentence
    assert sentence.count(". ") == 0


def test_a_plug_in_that_does_not_load_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(display, "_PLUGINS", tmp_path)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    assert "libqxcb.so" in str(display.missing_display())


def test_offscreen_needs_nothing(monkeypatch):
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert display.missing_display() is None
