"""Text in the metadata of an SVG drawing, found without an XML parser: entities are never expanded.

A drawing keeps its text as ``<metadata id="KEY">text</metadata>`` (SVG 1.1, section 21), with the
five characters that XML has names for escaped. A drawing with a document type is refused whole:
only there could entities be declared.
"""

from __future__ import annotations

import re
from pathlib import Path

from gemmviz.core.png_text import MOST_TEXT_BYTES, PictureError

MOST_BYTES = 2 * MOST_TEXT_BYTES
"""The longest drawing that is read."""

_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ESCAPED = re.compile(r"&([^&;]{0,8});?")
_FORBIDDEN = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def looks_like_xml(start: bytes) -> bool:
    """Whether a file that begins so could be a drawing; no JSON begins like that."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def read_svg_text(path: Path, key: str, most_bytes: int = MOST_BYTES) -> str | None:
    """The text that a drawing keeps under ``key``; None where it keeps none.

    Args:
        path: The file.
        key: The id of the element that holds it.
        most_bytes: The longest file that is read.

    Raises:
        PictureError: It is no drawing, is too long, has a document type, or its text is none.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise PictureError(f"{path.name} is longer than {most_bytes:,} bytes, which is too much.")
    if b"<svg" not in data:
        raise PictureError(f"{path.name} is no SVG drawing.")
    if _FORBIDDEN.search(data):
        raise PictureError(f"{path.name} declares a document type, so nothing in it is read.")
    found = re.search(
        # Bounded: a trap may hold an element of millions of attributes.
        rb"<metadata\s[^<>]{0,999}?\bid\s{0,9}=\s{0,9}[\"']"
        + re.escape(key.encode())
        + rb"[\"'][^<>]{0,999}>",
        data,
    )
    if found is None:
        return None
    end = data.find(b"<", found.end())
    if not data.startswith(b"</metadata", end):
        raise PictureError(f"{path.name} is damaged: its results are no plain text.")
    try:
        text = data[found.end() : end].decode("utf-8")
    except UnicodeDecodeError as error:
        raise PictureError(f"{path.name} is damaged: its text is no utf-8.") from error
    return _ESCAPED.sub(lambda each: _plain(each, path.name), text)


def _plain(found: re.Match[str], name: str) -> str:
    """The character that a name of XML's own stands for."""
    plain = _NAMES.get(found[1]) if found[0].endswith(";") else None
    if plain is None:
        raise PictureError(f"{name} is damaged: its text has an entity that XML does not have.")
    return plain
