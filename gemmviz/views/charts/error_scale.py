"""The colours of errors: quiet within the bound, warmer by decades above it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor, QImage

from gemmviz.views.theme import Theme, mixed

DECADES = 7
"""Steps above the bound; the last one has no upper end."""
WITHIN = 0
NO_NUMBER = DECADES + 1
NOT_COMPARED = DECADES + 2
_POWERS = ("10", "100", "10³", "10⁴", "10⁵", "10⁶")

# Lightness changes evenly from step to step, away from the panel, so that the scale reads without
# hues too; the hues are those of glowing iron.
_WARM = {
    "light": ("#f9d58a", "#f6b45f", "#ef8f43", "#df6a34", "#c2452b", "#9a2722", "#6b1119"),
    "dark": ("#7a2a22", "#9c3a26", "#bd5029", "#d96d30", "#ec913f", "#f7b95c", "#fde08f"),
}
_NO_NUMBER = {"light": "#8a4fd0", "dark": "#b48af0"}

Floats = npt.NDArray[np.floating]
Classes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the scale: its colour "#rrggbb", its words, and whether it is hatched."""

    color: str
    words: str
    hatched: bool = False


def classes_of(excess: Floats) -> Classes:
    """The step of the scale that each error belongs to.

    Args:
        excess: |C - reference| over its bound; infinite for what is no number, NaN where nothing
            was compared.

    Returns:
        ``WITHIN``, 1 to ``DECADES`` (1 is up to 10 times the bound), ``NO_NUMBER`` or
        ``NOT_COMPARED``, in the same shape.
    """
    steps = np.searchsorted(10.0 ** np.arange(DECADES), excess)
    steps = np.where(np.isinf(excess), NO_NUMBER, steps)
    return np.where(np.isnan(excess), NOT_COMPARED, steps).astype(np.uint8)


def scale_steps(theme: Theme) -> tuple[Step, ...]:
    """Every step with its colour, in the order of :func:`classes_of`'s numbers."""
    warm = _WARM[theme.name]
    words = ["1 to 10 ×"]
    words += [f"{low} to {high} ×" for low, high in itertools.pairwise(_POWERS)]
    words.append(f"over {_POWERS[-1]} ×")
    within = mixed("#6f8fb8", theme.panel, 0.45).name()
    return (
        Step(within, "within the bound"),
        *(Step(color, text) for color, text in zip(warm, words, strict=True)),
        Step(_NO_NUMBER[theme.name], "NaN, ∞, unwritten", hatched=True),
        Step(theme.panel, "not compared"),
    )


def error_image(classes: Classes, theme: Theme) -> QImage:
    """Every cell as one pixel in the colour of its step."""
    height, width = classes.shape
    table = np.array(
        [QColor(step.color).rgb() & 0xFFFFFFFF for step in scale_steps(theme)], dtype=np.uint32
    )
    pixels = np.ascontiguousarray(table[classes])
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
    return image.copy()  # the array goes


def runs_of(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """The cells of a mask as (row, first column, one past the last), row by row."""
    padded = np.pad(mask, ((0, 0), (1, 1))).astype(np.int8)
    turns = np.diff(padded, axis=1)
    rows, starts = np.nonzero(turns == 1)
    _, ends = np.nonzero(turns == -1)
    return list(zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True))
