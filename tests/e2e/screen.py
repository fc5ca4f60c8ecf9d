"""A virtual screen with a program in it, driven with xdotool and read pixel by pixel."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from types import TracebackType

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


class Screen:
    """Xvfb on a free display; use it as a context."""

    def __init__(self, width: int = 1440, height: int = 900) -> None:
        self.width, self.height = width, height

    def __enter__(self) -> Screen:
        read, write = os.pipe()
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{self.width}x{self.height}x24",
             "-nolisten", "tcp"],
            pass_fds=(write,), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(write)
        with os.fdopen(read) as pipe:
            self.display = f":{pipe.readline().strip()}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._server.terminate()
        self._server.wait()

    @property
    def environment(self) -> dict[str, str]:
        """For a program that is to show its window here."""
        return {**os.environ, "DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb"}

    def _run(self, *command: str) -> bytes:
        return subprocess.run(
            command, env=self.environment, check=True, capture_output=True, timeout=20
        ).stdout

    def do(self, *words: object) -> None:
        """One call of xdotool."""
        self._run("xdotool", *map(str, words))
        time.sleep(0.05)

    def click(self, at: tuple[int, int]) -> None:
        """Moves the pointer and presses its left button."""
        self.do("mousemove", *at)
        self.do("click", 1)

    def pixels(self) -> Pixels:
        """What is on the screen, shape (height, width, 3)."""
        raw = self._run("import", "-window", "root", "-depth", "8", "rgb:-")
        return np.frombuffer(raw, np.uint8).reshape(self.height, self.width, 3)

    def wait(self, what: str, found: Callable[[Pixels], object], seconds: float = 40.0) -> object:
        """Looks until ``found`` says something of the pixels; fails by naming ``what``."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = found(self.pixels())
            if value is not None and value is not False:
                return value
            time.sleep(0.1)
        raise AssertionError(f"never seen: {what} (see {self._picture()})")

    def _picture(self) -> str:
        """What is on the screen, kept for a person to look at."""
        with tempfile.NamedTemporaryFile(prefix="gemmviz-", suffix=".png", delete=False) as file:
            self._run("import", "-window", "root", file.name)
            return file.name


def like(pixels: Pixels, color: str, tolerance: int = 6) -> npt.NDArray[np.bool_]:
    """Where the pixels are "#rrggbb", shape (height, width)."""
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    close: npt.NDArray[np.bool_] = (np.abs(pixels.astype(int) - wanted) <= tolerance).all(axis=2)
    return close


def centre(mask: npt.NDArray[np.bool_], least: int) -> tuple[int, int] | None:
    """The middle (x, y) of the set pixels, or None where there are fewer than ``least``."""
    if np.count_nonzero(mask) < least:
        return None
    rows, cols = np.nonzero(mask)
    return int(np.median(cols)), int(np.median(rows))


def longest_run(rows: npt.NDArray[np.bool_], least: int) -> tuple[int, int, int] | None:
    """The first row's (y, left, right) that holds ``least`` set pixels side by side."""
    for y, row in enumerate(rows):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.view(np.int8), [0]))))
        starts: Sequence[int] = edges[::2]
        for left, right in zip(starts, edges[1::2], strict=True):
            if right - left >= least:
                return y, int(left), int(right)
    return None
