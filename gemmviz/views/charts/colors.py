"""One look for each device or kernel, kept everywhere in a session."""

from __future__ import annotations

from dataclasses import dataclass

from gemmviz.views.theme import series_color

COLORS = 8


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is filled: a colour "#rrggbb", and stripes over it where colours repeat.

    ``pattern`` is 0 for none; 1, 2 and 3 are stripes across, upright and both.
    """

    color: str
    pattern: int = 0


class ColorBook:
    """Gives every name the next free colour when it is first asked for, and keeps it.

    Charts that share a book show a name in one colour. Use a book each for devices and kernels, so
    that both begin with the colours furthest apart.
    """

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}

    def color(self, name: str) -> str:
        """The colour of ``name`` as "#rrggbb", the same in both themes."""
        return self.look(name).color

    def look(self, name: str) -> Look:
        """The colour of ``name`` with its pattern, which the ninth name is the first to need."""
        index = self._indices.setdefault(name, len(self._indices))
        return Look(series_color(index), index // COLORS % 4)
