"""The results files that were opened last, kept from one session to the next."""

from __future__ import annotations

import json
from pathlib import Path

from gemmviz.core.paths import results_file

_MOST = 8
_MOST_BYTES = 64 * 1024


class RecentFiles:
    """Paths, the newest first; those that are gone are left out."""

    def __init__(self) -> None:
        self._list = results_file().with_name("recent.json")

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those that exist; read each time, since other windows add to them."""
        return tuple(path for path in self._read() if path.is_file())

    def add(self, path: Path) -> None:
        """Put a file in front; where the list cannot be kept, it is not."""
        absolute = path.absolute()
        paths = [absolute, *(each for each in self._read() if each != absolute)]
        text = json.dumps([str(each) for each in paths[:_MOST]])
        try:
            self._list.parent.mkdir(parents=True, exist_ok=True)
            self._list.write_text(text, encoding="utf-8")
        except OSError:
            return

    def _read(self) -> list[Path]:
        try:
            if self._list.stat().st_size > _MOST_BYTES:
                return []
            data = json.loads(self._list.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return []
        texts = data if isinstance(data, list) else []
        return [Path(text) for text in texts if isinstance(text, str) and "\0" not in text]
