"""Benchmark suites: kernels against libraries at chosen shapes, read from files, and judged."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gemmviz.core.context import Context
from gemmviz.core.model import ELEMENTS
from gemmviz.core.paired import Word
from gemmviz.core.paths import data_dir

Kind = Literal["CPU", "GPU"]

SUITES = ("cpu", "gpu")
"""The suites that come with the app, by the stems of their files."""

WIDEST = 1.1
"""An interval whose ends are further apart than this factor judges nothing."""

_BUSY_SHARE = 0.5  # of the processors, taken by others
_KEYS = {"kernel", "against", "elements", "shapes", "target", "quick", "parameters", "note"}


class SuiteError(ValueError):
    """A suite's file cannot be used; the message is one sentence that names it."""


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One question: how fast is a kernel against a library at a shape?

    Attributes:
        kernel: The id of a variant.
        against: The id of the library's variant.
        kind: The type of the devices it is asked of.
        element: The element type.
        shape: M, N and K.
        parameters: Macros that differ from the kernel's defaults.
        target: The ratio to reach, above 1 is faster than the library; None only shows it.
        quick: Whether it belongs to the handful of a quick look.
        note: What to know of it, or "".
    """

    kernel: str
    against: str
    kind: Kind
    element: str
    shape: tuple[int, int, int]
    parameters: tuple[tuple[str, int], ...] = ()
    target: float | None = None
    quick: bool = False
    note: str = ""

    @property
    def name(self) -> str:
        """What a person reads: "cpu_best / blas, 512 x 512 x 512 float"."""
        m, n, k = self.shape
        return f"{self.kernel} / {self.against}, {m} x {n} x {k} {self.element}"


@dataclass(frozen=True, slots=True)
class BenchRow:
    """What came of a row on one device.

    Attributes:
        name: The row's name.
        device: The label of the device; "" where there is none of its type.
        kernel: The id of the variant.
        parameters: As it was built.
        element: The element type.
        m: Rows of C.
        n: Columns of C.
        k: The length of each sum.
        against: The id of the library's variant.
        library: The library with its version, which of its kernels ran, and its threads.
        ratio: The library's time over the kernel's, median of rounds; above 1 is faster.
        ratio_low: Lower end of its interval; the smallest ratio where ``worth`` is below 15.
        ratio_high: Its upper end.
        worth: How many independent rounds it rests on.
        word: What the kernel is against the library.
        target: The ratio to reach, or None.
        met: Whether it was; None without a target and where nothing can be judged.
        busy: Why the machine was too busy to judge, or "".
        seconds: The kernel's median of a launch.
        library_seconds: The library's.
        floor_seconds: What an empty launch takes: no kernel can be faster.
        error: The kernel's largest absolute error.
        library_error: The library's.
        why_not: Why there is no ratio, or what is wrong with it; "" where all is well.
        note: What to know of the row.
    """

    name: str
    device: str
    kernel: str
    parameters: tuple[tuple[str, int], ...]
    element: str
    m: int
    n: int
    k: int
    against: str
    library: str = ""
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    worth: int = 0
    word: Word | None = None
    target: float | None = None
    met: bool | None = None
    busy: str = ""
    seconds: float | None = None
    library_seconds: float | None = None
    floor_seconds: float | None = None
    error: float | None = None
    library_error: float | None = None
    why_not: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class BenchReport:
    """All rows of one or more suites, as far as they got.

    ``context`` is that of the first row that ran: the system, its processors and its load.
    """

    rows: tuple[BenchRow, ...]
    whole: bool = False
    context: Context | None = None

    @property
    def measured(self) -> tuple[BenchRow, ...]:
        """The rows with a ratio."""
        return tuple(row for row in self.rows if row.ratio is not None)


def load_suite(path: Path) -> tuple[SuiteRow, ...]:
    """The rows of a suite's file.

    The file holds ``kind`` and tables ``[[rows]]``; each stands for every pair of its ``elements``
    and ``shapes``, and ``quick`` repeats the shapes that a quick look takes.

    Raises:
        SuiteError: It is missing, is no TOML, or a table of it lacks something.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SuiteError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SuiteError(f"{path.name} cannot be read: it is no TOML: {error}") from error
    kind = data.get("kind")
    if kind not in ("CPU", "GPU"):
        raise SuiteError(f'{path.name}: kind is "CPU" or "GPU", not {kind!r}')
    tables = data.get("rows")
    if not isinstance(tables, list) or not tables:
        raise SuiteError(f"{path.name} has no [[rows]]")
    rows: list[SuiteRow] = []
    for number, table in enumerate(tables, start=1):
        try:
            rows.extend(_rows(kind, table))
        except (KeyError, TypeError, ValueError) as error:
            what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            raise SuiteError(f"{path.name}, rows table {number}: {what}") from error
    return tuple(rows)


def find_suite(name: str) -> tuple[SuiteRow, ...]:
    """The rows of one of :data:`SUITES`, or of the file of a person's own that ends in .toml.

    Raises:
        SuiteError: There is none of that name, or its file cannot be used.
    """
    if name.endswith(".toml"):
        return load_suite(Path(name))
    if name not in SUITES:
        raise SuiteError(
            f"There is no suite {name}: {', '.join(SUITES)}, or a file ending in .toml"
        )
    return load_suite(data_dir("resources") / "suites" / f"{name}.toml")


def _rows(kind: Kind, table: Mapping[str, Any]) -> Iterable[SuiteRow]:
    unknown = set(table) - _KEYS
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    elements = [str(element) for element in table["elements"]]
    if not set(elements) <= set(ELEMENTS):
        raise ValueError(f"elements are among {', '.join(ELEMENTS)}")
    shapes, quick = _shapes(table["shapes"]), _shapes(table.get("quick", []))
    if not set(quick) <= set(shapes):
        raise ValueError("quick holds a shape that is not among shapes")
    target = table.get("target")
    parameters = {str(name): int(value) for name, value in table.get("parameters", {}).items()}
    for element in elements:
        for shape in shapes:
            yield SuiteRow(
                str(table["kernel"]), str(table["against"]), kind, element, shape,
                tuple(parameters.items()), None if target is None else float(target),
                shape in quick, str(table.get("note", "")),
            )  # fmt: skip


def _shapes(listed: Iterable[Any]) -> list[tuple[int, int, int]]:
    """Shapes as M, N, K; a single number is a cube."""
    shapes = []
    for entry in listed:
        sizes = [entry] * 3 if isinstance(entry, int) else list(entry)
        if len(sizes) != 3 or not all(isinstance(size, int) and size > 0 for size in sizes):
            raise ValueError(f"{entry!r} is no shape: a size, or M, N and K above zero")
        shapes.append((sizes[0], sizes[1], sizes[2]))
    return shapes


def others_load(load: float | None, cores: int | None, own: int) -> str:
    """Why others took too much of the host while something was measured, or "".

    Args:
        load: Load average of the last minute when it began; None where the system has none.
        cores: Logical processors of the host.
        own: How many of them this benchmark itself kept busy in that minute.
    """
    if load is None or not cores:
        return ""
    others = load - own
    if others <= _BUSY_SHARE * cores:
        return ""
    return f"others had a load of about {others:.1f} on {cores} processors"


def too_wide(low: float, high: float) -> str:
    """Why an interval of ratios judges nothing, or ""."""
    if high <= WIDEST * low:
        return ""
    return f"rounds differ too much: {low:.3g} to {high:.3g}"


def judge(ratio: float, target: float | None, busy: str) -> bool | None:
    """Whether a ratio of medians meets its target; None where that cannot be said."""
    return None if target is None or busy else ratio >= target


def summary_of(report: BenchReport) -> str:
    """How many rows met their targets, as one sentence."""
    measured = report.measured
    met = sum(row.met is True for row in measured)
    missed = sum(row.met is False for row in measured)
    busy = sum(bool(row.busy) for row in measured)
    parts = [
        f"{met} of {met + missed} judged rows meet their targets"
        if met + missed
        else "No row was judged against a target"
    ]
    if busy:
        parts.append(f"{busy} could not be judged because the machine was too busy")
    absent = len(report.rows) - len(measured)
    if absent:
        parts.append(f"{absent} could not run")
    return "; ".join(parts) + "."
