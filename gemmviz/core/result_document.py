"""Results as a JSON document with a version: what is exported, and what a picture carries.

The schema is ``resources/result.schema.json``. ``result`` of an entry is everything that was
recorded, by the codec; ``figures`` are computed from it for other programs and never read back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz import __version__
from gemmviz.core.codec import CodecError, from_json, to_json
from gemmviz.core.model import Result, Samples
from gemmviz.core.png_text import SIGNATURE, PictureError, read_png_text
from gemmviz.core.result_figures import figures
from gemmviz.core.soundness import objection
from gemmviz.core.svg_text import looks_like_xml, read_svg_text

FORMAT = "gemmviz results"
VERSION = 1
PICTURE_KEY = "gemmviz"
"""Under which a picture keeps the document of the results that it shows."""
MOST_PICTURE_SAMPLES = 50_000
"""So many samples a picture carries, of all its results together; of more an even part."""
MOST_PICTURE_RESULTS = 1000
"""So many results a picture carries at most: as many as open at once in the window."""
MOST_BYTES = 256 * 2**20
"""The longest document that is read."""


class DocumentError(ValueError):
    """A file that holds no results that can be read; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Document:
    """Results that were read from a file.

    Attributes:
        results: Numbers and results; a number is the one in the file that was exported, or the
            place in the document from 1 on.
        app_version: Of the app that wrote it.
        thinned: How many of the results kept only an even part of their samples.
        chart: Of a picture the tab that shows such a chart, as it was titled; else "".
        sweep: The identity of the sweep that a picture shows, else "": see
            :func:`gemmviz.core.sweep_file.identity`.
    """

    results: tuple[tuple[int, Result], ...]
    app_version: str = ""
    thinned: int = 0
    chart: str = ""
    sweep: str = ""


def document_parts(results: Iterable[tuple[int, Result]]) -> Iterator[str]:
    """The document of results piece by piece, whole: every sample, and figures beside.

    Args:
        results: Numbers and results; each is held only while it is written.
    """
    head, tail = json.dumps(_document([]), indent=1).rsplit("]", 1)
    yield head
    between = "\n"
    for number, result in results:
        entry = {
            "id": number,
            "figures": to_json(figures(result)),
            "result": to_json(_with_every(result, 1)),
        }
        yield between + json.dumps(entry, allow_nan=False)
        between = ",\n"
    yield f"\n]{tail}\n"


def picture_text(
    results: Sequence[Result],
    most_samples: int = MOST_PICTURE_SAMPLES,
    *,
    chart: str = "",
    sweep: str = "",
) -> str:
    """The document of results as text for a picture: ASCII, without figures, perhaps thinned.

    An entry of which samples were left out has ``samples_recorded``, how many there were. Writers
    of pictures fold white space, so no two spaces stand side by side in the text.

    Args:
        results: What the picture shows.
        most_samples: So many are kept, of all results together.
        chart: See :class:`Document`.
        sweep: The same.
    """
    count = sum(len(result.samples) for result in results)
    every = max(1, -(-count // most_samples))
    entries = []
    for number, result in enumerate(results, start=1):
        entry: dict[str, Any] = {"id": number, "result": to_json(_with_every(result, every))}
        if every > 1:
            entry["samples_recorded"] = len(result.samples)
        entries.append(entry)
    shown = {key: value for key, value in (("chart", chart), ("sweep", sweep)) if value}
    data = {**shown, **_document(entries)}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("  ", " \\u0020")


def fits_picture(count: int) -> bool:
    """Whether a picture carries so many results; one of more carries none."""
    return 0 < count <= MOST_PICTURE_RESULTS


def _document(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "app_version": __version__, "results": entries}


def _with_every(result: Result, every: int) -> Result:
    """The same with every so-manieth sample, spread evenly over the run, as plain numbers."""
    samples = result.samples
    kept = slice(every // 2, None, every) if len(samples) > every // 2 else slice(None)
    parts = (samples.launches, samples.seconds, samples.at)
    launches, seconds, at = (tuple(np.asarray(part)[kept].tolist()) for part in parts)
    return replace(result, samples=Samples(launches, seconds, at))


def read_document(text: str | bytes, name: str) -> Document:
    """The results of a document.

    Args:
        text: The document.
        name: What to call it in a message.

    Raises:
        DocumentError: It is none, or of another version, or its results are none.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"{name} holds no results: it is not JSON.") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise DocumentError(f"{name} holds no results of gemmviz.")
    version, writer = data.get("version"), str(data.get("app_version", ""))[:40]
    if version != VERSION:
        raise DocumentError(
            f"{name} has version {str(version)[:20]} of the format, and this gemmviz reads "
            f"version {VERSION}; it was written by gemmviz {writer or 'of an unknown version'}."
        )
    entries = data.get("results")
    if not isinstance(entries, list):
        raise DocumentError(f"{name} holds no list of results.")
    found = tuple(_read_entry(entry, place, name) for place, entry in enumerate(entries, start=1))
    thinned = sum("samples_recorded" in entry for entry in entries)
    chart, sweep = (_text(data.get(key)) for key in ("chart", "sweep"))
    return Document(found, writer, thinned, chart, sweep)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _read_entry(entry: Any, place: int, name: str) -> tuple[int, Result]:
    where = f"Result {place} of {name}"
    if not isinstance(entry, dict):
        raise DocumentError(f"{where} cannot be read: it is no object.")
    try:
        result = from_json(Result, entry.get("result"))
    except (CodecError, RecursionError) as error:
        raise DocumentError(f"{where} cannot be read: {error}.") from error
    if reason := objection(result):
        raise DocumentError(f"{where} was never measured: {reason}.")
    number = entry.get("id", place)
    return (number if type(number) is int else place), result


def read_results(path: Path) -> Document:
    """The results of an exported JSON file, or those that a PNG or SVG of a chart carries.

    Raises:
        DocumentError: There are none, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            start = file.read(64)
        if start.startswith(SIGNATURE[:4]):
            return _from_picture(path, read_png_text)
        if looks_like_xml(start):
            return _from_picture(path, read_svg_text)
        if path.stat().st_size > MOST_BYTES:
            raise DocumentError(f"{path.name} is larger than the largest document that is read.")
        return read_document(path.read_bytes(), path.name)
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror}.") from error


def _from_picture(path: Path, read: Callable[[Path, str], str | None]) -> Document:
    try:
        text = read(path, PICTURE_KEY)
    except PictureError as error:
        raise DocumentError(str(error)) from error
    if text is None:
        raise DocumentError(
            f"{path.name} is a picture without results: only charts that gemmviz saved carry some."
        )
    return read_document(text, path.name)
