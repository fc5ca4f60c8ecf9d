"""The main job in a real window: click Run, see samples and bars, export a picture."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from gemmviz.core.store import ResultStore
from gemmviz.views.theme import DARK, LIGHT, Theme, series_color
from tests.e2e.screen import Pixels, Screen, centre, like, longest_run

TABS = slice(140, 320), slice(290, 740)  # left of the meter in a card, which is a line too
COMPARE = 214  # from the end of the first tab to the middle of the fourth


@pytest.fixture
def screen() -> Iterator[Screen]:
    with Screen() as screen:
        yield screen


def _underline(pixels: Pixels, theme: Theme) -> tuple[int, int] | None:
    """Where the line under the chosen tab ends (x) and lies (y)."""
    found = longest_run(like(pixels[TABS], theme.accent), 30)
    return None if found is None else (TABS[1].start + found[2], TABS[0].start + found[0])


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_run_compare_export(screen: Screen, tmp_path: Path, theme: Theme) -> None:
    app = subprocess.Popen(
        [sys.executable, "-m", "gemmviz", "--theme", theme.name, "--results", "kept.gemmviz"],
        env=screen.environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        run = screen.wait(
            "an enabled Run button", lambda seen: centre(like(seen[:110], theme.fill), 400)
        )
        screen.click(run)  # type: ignore[arg-type]
        screen.wait("throughput samples", lambda seen: _rate(seen, theme) > 400)
        screen.wait(
            "a verdict in words", lambda seen: np.count_nonzero(_good(seen, theme)) > 20 or None
        )
        x, y = screen.wait("the chosen tab", lambda seen: _underline(seen, theme))  # type: ignore[misc]
        screen.click((x + COMPARE, y - 14))
        screen.wait(
            "the Compare tab chosen",
            lambda seen: (_underline(seen, theme) or (0,))[0] > x + COMPARE,
        )
        screen.wait("a bar", lambda seen: _bar_pixels(seen[:, 290:1150]) > 4000)
        picture = tmp_path / "bars.png"
        screen.do("key", "ctrl+e")
        screen.do("sleep", 1)
        screen.do("mousemove", 720, 450)
        screen.do("key", "alt+f")
        screen.do("key", "ctrl+a")
        screen.do("type", str(picture))
        screen.do("key", "Return")
        screen.wait("the picture on disk", lambda _: picture.exists() or None)
        _check_picture(picture, theme)
        assert app.poll() is None
        screen.click((1250, 700))  # without a window manager the closed dialog kept the focus
        screen.do("key", "ctrl+q")
        assert app.wait(timeout=20) == 0
        assert app.stderr is not None
        assert app.stderr.read() == ""
        _check_results(tmp_path / "kept.gemmviz")
    finally:
        app.kill()
        app.communicate()


def _check_results(path: Path) -> None:
    """What was measured is in the file, whole, and nothing else is left beside it."""
    store = ResultStore.open(path, read_only=True)
    ((_, result),) = store.results()
    store.close()
    assert result.verdict == "verified"
    assert len(result.samples) > 0
    assert [each.name for each in path.parent.glob("*.gemmviz*")] == [path.name]


def _rate(pixels: Pixels, theme: Theme) -> int:
    """Pixels of the throughput median's colour inside the charts."""
    return int(np.count_nonzero(like(pixels[230:760, 300:1150], theme.rate, 40)))


def _good(pixels: Pixels, theme: Theme) -> np.ndarray:
    """Where the cards show the colour of a verified result."""
    return like(pixels[90:190, 900:1170], theme.good, 30)


def _bar_pixels(pixels: Pixels) -> int:
    """Pixels of the first series colours, which the bars are filled with."""
    return max(int(np.count_nonzero(like(pixels, series_color(i), 3))) for i in range(3))


def _check_picture(path: Path, theme: Theme) -> None:
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB888)
    raw = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    pixels = raw[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)
    assert image.width() > 1200, "saved at 2x"
    assert like(pixels[4:8, 4:8], theme.panel).all()
    assert _bar_pixels(pixels) > 16_000
