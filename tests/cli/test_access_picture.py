from __future__ import annotations

import argparse
import json

import pytest
from PySide6.QtGui import QImage

from gemmviz.cli import access
from gemmviz.views.theme import DARK, LIGHT


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    access.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["access", *words])
    code: int = arguments.answer(arguments)
    return code


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_picture_is_written_beside_the_report(qapp, tmp_path, capsys, theme):
    path = tmp_path / "access.png"
    words = "tiled", "-p", "TS=16", "--size", "64", "--json", "--png", f"{path}"
    assert command(*words, "--theme", theme.name, "--scale", "2") == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "tiled"
    image = QImage(str(path))
    assert (image.width(), image.height()) == (2200, 1400)
    assert image.pixelColor(2190, 700).name() == theme.panel
    seen = {image.pixelColor(x, y).name() for x in range(0, 1400, 5) for y in range(0, 1400, 5)}
    assert {"#0072b2", "#e69f00", "#009e73", "#d55e00"} <= seen  # the first four sectors


def test_a_picture_that_cannot_be_written_is_refused_at_once(qapp, tmp_path, capsys):
    assert command("tiled", "--png", f"{tmp_path / 'access.jpg'}") == 2
    assert command("tiled", "--png", f"{tmp_path / 'nowhere' / 'access.png'}") == 2
    assert capsys.readouterr().out == ""
    assert not list(tmp_path.iterdir())
