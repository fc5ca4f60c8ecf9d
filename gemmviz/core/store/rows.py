"""Rows of saved results: what lists show, and which of them are asked for."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

Order = Literal["newest", "oldest", "kernel", "device", "size", "fastest", "slowest"]
ORDERS: dict[Order, tuple[tuple[str, str], ...]] = {
    "newest": (("", "id DESC"),),
    "oldest": (("", "id"),),
    "kernel": (("", "title, id"),),
    "device": (("", "device, id"),),
    "size": (("", "size, id"),),
    "fastest": (("", "flops DESC, id DESC"),),
    "slowest": (("flops IS NOT NULL", "flops, id"), ("flops IS NULL", "id")),
}
"""Conditions and orders in SQL, of which the results come one after the other."""

VERDICTS = ("verified", "wrong", "unchecked", "failed", "stopped")
"""What came of a result, as a filter names it."""

COLUMNS = (
    "id", "running", "moment", "sweep", "kernel", "title", "parameters", "device", "m", "n", "k",
    "element", "form", "verdict", "median", "low", "high", "flops", "samples", "launches",
    "version", "note", "tags",
)  # fmt: skip
SILENT_SECONDS = 10.0
"""A run of which nothing was heard for so long does not go on."""

_LONGEST_WORD = 2**15  # as long as what is typed into a field can be
_PAGE = 200
_PAGES = 20


@dataclass(frozen=True, slots=True)
class Filter:
    """Which results are asked for; an empty field asks for all.

    Attributes:
        text: Words that must all be there: in the kernel, device, parameters, failure, note or
            tags, in either case.
        devices: Devices as :func:`gemmviz.core.labels.device_label` names them.
        kernel: A variant's id.
        shape: M, N and K.
        element: The element type.
        verdict: One of ``VERDICTS``.
        tag: A tag that it bears.
        sweep: The sweep that it belongs to.
        order: How they are sorted.
        deleted: Ask for the deleted ones instead.
    """

    text: str = ""
    devices: tuple[str, ...] = ()
    kernel: str = ""
    shape: tuple[int, int, int] | None = None
    element: str = ""
    verdict: str = ""
    tag: str = ""
    sweep: int | None = None
    order: Order = "newest"
    deleted: bool = False

    def where(self) -> tuple[str, tuple[Any, ...]]:
        """The condition in SQL, and the values of its question marks."""
        parts: list[tuple[str, tuple[Any, ...]]] = [
            (f"deleted IS {'NOT ' if self.deleted else ''}NULL", ())
        ]
        # Few values are left of these columns, so an index helps only where nothing else is read.
        sign = "+" if self.text or self.element else ""
        if self.devices:
            marks = ", ".join("?" * len(self.devices))
            parts.append((f"{sign}device IN ({marks})", self.devices))
        parts += [
            (f"{name} = ?", (value,))
            for name, value in (
                (f"{sign}verdict", self.verdict), ("kernel", self.kernel), ("element", self.element)
            )
            if value
        ]  # fmt: skip
        if self.shape is not None:
            parts.append(("m = ? AND n = ? AND k = ?", tuple(self.shape)))
        if self.sweep is not None:
            parts.append(("sweep = ?", (self.sweep,)))
        if self.tag:
            parts.append(("tags <> '' AND instr(tags, ?)", (f" {self.tag.casefold()} ",)))
        parts += [
            ("(instr(search, ?) OR instr(remarks, ?))", (word, word))
            for word in self.text.casefold().split()
        ]
        return " AND ".join(part for part, _ in parts), sum((values for _, values in parts), ())


@dataclass(frozen=True, slots=True)
class Row:
    """A saved result in short; times in seconds, None without a sample.

    ``moment`` is when it ended or, with ``running``, when it was last heard of: seconds since the
    Unix epoch. ``form`` is what the problem is besides sizes and element, or "". ``verdict`` is
    one of ``VERDICTS``, or "" while it runs.
    """

    id: int
    running: bool
    moment: float
    sweep: int | None
    kernel: str
    title: str
    parameters: str
    device: str
    m: int
    n: int
    k: int
    element: str
    form: str
    verdict: str
    median_seconds: float | None
    low_seconds: float | None
    high_seconds: float | None
    flops_per_second: float | None
    samples: int
    launches: int
    version: str
    note: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """What filters can be set to, each sorted: labels of devices, ids of kernels with titles."""

    devices: tuple[str, ...] = ()
    kernels: tuple[tuple[str, str], ...] = ()
    shapes: tuple[tuple[int, int, int], ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What an experiment has found, with when it ended: seconds since the Unix epoch.

    ``kind`` is the type of the answer, ``title`` what was asked, and ``text`` the answer as JSON.
    """

    id: int
    moment: float
    kind: str
    title: str
    text: str


class RowList(Sequence[Row]):
    """Rows by their ids, read page by page as they are looked at: ten thousands cost nothing."""

    def __init__(self, ids: Sequence[int], read: Callable[[Sequence[int]], dict[int, Row]]) -> None:
        self.ids = ids
        self._read = read
        self._pages: OrderedDict[int, list[Row]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        page, place = divmod(index, _PAGE)
        if page not in self._pages:
            wanted = self.ids[page * _PAGE : (page + 1) * _PAGE]
            found = self._read(wanted)
            self._pages[page] = [found.get(each) or _lost(each) for each in wanted]
            if len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(page)
        return self._pages[page][place]


def row_of(values: sqlite3.Row | tuple[Any, ...]) -> Row:
    """The row of the values of ``COLUMNS``; what has the wrong type becomes nothing."""
    (number, running, moment, sweep, kernel, title, parameters, device, m, n, k, element, form,
     verdict, median, low, high, flops, samples, launches, version, note, tags,
     ) = values  # fmt: skip
    heard = real(moment) or 0.0
    goes_on = bool(running) and time.time() - heard < SILENT_SECONDS
    if running and not goes_on:
        verdict = "stopped"  # whoever measured it is gone
    return Row(
        int(number), goes_on, heard, sweep if type(sweep) is int else None,
        word(kernel), word(title), word(parameters), word(device), _whole(m), _whole(n),
        _whole(k), word(element), word(form), word(verdict), real(median), real(low),
        real(high), real(flops), _whole(samples), _whole(launches), word(version), word(note),
        tuple(word(tags).split()),
    )  # fmt: skip


def _lost(number: int) -> Row:
    """What is shown of a row that can no longer be read."""
    return Row(number, False, 0.0, None, "", "(unreadable)", "", "", 0, 0, 0, "", "", "failed",
               None, None, None, None, 0, 0, "", "", ())  # fmt: skip


def word(value: object) -> str:
    """A text of a file, as much of it as a table can show; "" where it is something else."""
    return value[:_LONGEST_WORD] if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if type(value) is int else 0


def real(value: object) -> float | None:
    """A number of a file; None where it is something else."""
    return float(value) if isinstance(value, int | float) else None
