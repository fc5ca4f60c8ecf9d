"""Text in the metadata of a PNG file, read piece by piece; the picture itself is never decoded.

The layout of the pieces is that of the PNG specification, 3rd edition, sections 5 and 11.3.3:
length, name, data and checksum; text is tEXt, zTXt (compressed) or iTXt (UTF-8).
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import BinaryIO

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_TEXT_BYTES = 64 * 2**20
"""So much text is read, packed or unpacked; a longer one is refused."""

_TEXT_KINDS = (b"tEXt", b"zTXt", b"iTXt")
_LONGEST_KEY = 79


class PictureError(ValueError):
    """A file that is no whole PNG, or whose text is no text; the message is one sentence."""


def read_png_text(path: Path, key: str, most_bytes: int = MOST_TEXT_BYTES) -> str | None:
    """The text that a PNG file keeps under ``key``; None where it keeps none.

    Args:
        path: The file; only its pieces of text are held in memory.
        key: As written with the text, at most 79 characters.
        most_bytes: The longest text that is unpacked.

    Raises:
        PictureError: It is no PNG file, it is damaged, or the text is longer.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(SIGNATURE)) != SIGNATURE:
            raise PictureError(f"{path.name} is no PNG picture.")
        while (piece := _next_text(file, path.name, most_bytes)) is not None:
            kind, data = piece
            name, zero, rest = data[: _LONGEST_KEY + 1].partition(b"\0")
            if zero and name.decode("latin-1") == key:
                rest = data[len(name) + 1 :]
                return _decoded(kind, rest, path.name, most_bytes)
    return None


def _next_text(file: BinaryIO, name: str, most_bytes: int) -> tuple[bytes, bytes] | None:
    """Kind and data of the next piece of text; None at the end of the picture."""
    while True:
        head = file.read(8)
        if len(head) < 8:
            raise PictureError(f"{name} is damaged: it ends before the picture does.")
        length, kind = int.from_bytes(head[:4], "big"), head[4:]
        if kind == b"IEND":
            return None
        if kind not in _TEXT_KINDS:
            file.seek(length + 4, 1)
            continue
        if length > most_bytes:
            raise PictureError(f"{name} holds {length:,} bytes of text, which is too much.")
        data, check = file.read(length), file.read(4)
        if len(data) < length or len(check) < 4:
            raise PictureError(f"{name} is damaged: it ends in the middle of its text.")
        if zlib.crc32(kind + data) != int.from_bytes(check, "big"):
            raise PictureError(f"{name} is damaged: the checksum of its text does not fit.")
        return kind, data


def _decoded(kind: bytes, data: bytes, name: str, most_bytes: int) -> str:
    """The text of a piece, without its key."""
    packed, encoding = kind == b"zTXt", "latin-1"
    if kind == b"zTXt":
        data = data[1:]  # the method of compression, of which there is but one
    elif kind == b"iTXt":
        packed, encoding = data[:1] == b"\1", "utf-8"
        parts = data[2:].split(b"\0", 2)  # language, translated key, text
        data = parts[2] if len(parts) == 3 else b""
    if packed:
        data = unpacked(data, most_bytes, name)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise PictureError(f"{name} is damaged: its text is no {encoding}.") from error


def unpacked(data: bytes, most_bytes: int, name: str) -> bytes:
    """What zlib packed into ``data``, never more than ``most_bytes`` of it in memory.

    Raises:
        PictureError: It is no whole zlib stream, or would be longer.
    """
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, most_bytes)
    except zlib.error as error:
        raise PictureError(f"{name} is damaged: its text cannot be unpacked.") from error
    if unpacker.unconsumed_tail:
        raise PictureError(f"{name} unpacks to more than {most_bytes:,} bytes, which is too much.")
    if not unpacker.eof:
        raise PictureError(f"{name} is damaged: its text cannot be unpacked.")
    return text
