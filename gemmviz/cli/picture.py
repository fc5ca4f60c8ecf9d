"""Pictures that commands write: the charts of the window."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gemmviz.cli.selection import SelectionError, say
from gemmviz.core.exhibits import EmptyChartError

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

_SIZE = (1100, 700)


def add_png(parser: argparse.ArgumentParser, draws: str = "draw the chart") -> None:
    """Adds ``--png`` with how it looks."""
    parser.add_argument("--png", type=Path, metavar="FILE", help=draws)
    parser.add_argument("--scale", type=int, choices=(1, 2, 3, 4), default=1, help="of the PNG")
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="of the PNG")


def check_picture(option: str, path: Path | None, *suffixes: str) -> None:
    """Refuses a file that could not be saved before anything is done for it.

    Args:
        option: That names the file.
        path: The file, or None where it is not asked for.
        suffixes: What its name may end in, ".png" where none is given.

    Raises:
        SelectionError: The name ends in something else, or its folder does not exist.
    """
    suffixes = suffixes or (".png",)
    if path is not None and path.suffix.lower() not in suffixes:
        raise SelectionError(f"{option} {path} does not end in {suffixes[0]}.", "refused")
    if path is not None and not path.parent.is_dir():
        raise SelectionError(f"{option} {path}: there is no folder {path.parent}.", "refused")


def save_picture(
    arguments: argparse.Namespace,
    make_chart: Callable[[], Chart],
    size: tuple[int, int] = _SIZE,
) -> bool:
    """Writes a chart where ``--png`` says; does nothing without it.

    Args:
        arguments: With the options of ``add_png``.
        make_chart: Makes the chart, which is given its theme here; imports of ``gemmviz.views``
            belong inside it, since a command must not load Qt for nothing.
        size: Of the picture in pixels at scale 1.

    Returns:
        Whether nothing went wrong; what did is said on stderr.
    """
    if arguments.png is None:
        return True

    def draw() -> None:
        from gemmviz.views.charts.picture import offscreen_application  # noqa: PLC0415
        from gemmviz.views.export import save_png  # noqa: PLC0415
        from gemmviz.views.theme import THEMES  # noqa: PLC0415

        offscreen_application()
        chart = make_chart()
        chart.set_theme(THEMES[arguments.theme])
        chart.resize(*size)
        save_png(chart, arguments.png, scale=arguments.scale)
        chart.deleteLater()

    return drawn(arguments.png, draw)


def drawn(path: Path, draw: Callable[[], None]) -> bool:
    """Draws a picture to ``path`` where Qt can be loaded; says on stderr what came of it."""

    def whole() -> Sequence[Path]:
        draw()
        return (path,)

    return say_drawn(*draw_files(whole))


def say_drawn(files: Sequence[Path], problem: str) -> bool:
    """Says on stderr what came of drawing; whether nothing went wrong."""
    for file in files:
        say(f"Saved {file}")
    if problem:
        say(problem)
    return not problem


def draw_files(draw: Callable[[], Sequence[Path]]) -> tuple[tuple[Path, ...], str]:
    """Draws pictures where Qt can be loaded.

    Args:
        draw: Draws them; imports of ``gemmviz.views`` belong inside it.

    Returns:
        Their files, and what went wrong as a sentence, or "".
    """
    # Qt is imported only when a picture is asked for.
    from gemmviz.views.display import missing_library  # noqa: PLC0415

    if (problem := missing_library()) is not None:
        return (), problem
    try:
        return tuple(draw()), ""
    except (OSError, EmptyChartError) as error:
        return (), str(error)
