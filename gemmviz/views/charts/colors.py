"""One colour for each device or kernel, kept everywhere in a session."""

from __future__ import annotations

from gemmviz.views.theme import series_color


class ColorBook:
    """Gives every name the next free colour when it is first asked for, and keeps it.

    Charts that share a book show a name in one colour. Use a book each for devices and kernels, so
    that both begin with the colours furthest apart.
    """

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}

    def color(self, name: str) -> str:
        """The colour of ``name`` as "#rrggbb", the same in both themes."""
        return series_color(self._indices.setdefault(name, len(self._indices)))
