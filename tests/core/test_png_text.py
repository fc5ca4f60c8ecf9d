"""Text in PNG files, whole, damaged and hostile."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from gemmviz.core.png_text import SIGNATURE, PictureError, read_png_text

KEY = "gemmviz"
TEXT = '{"a": "ä"}'


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
BODY = chunk(b"IDAT", zlib.compress(b"\0\0"))
END = chunk(b"IEND", b"")
PLAIN = chunk(b"tEXt", b"gemmviz\0" + TEXT.encode("latin-1"))
PACKED = chunk(b"zTXt", b"gemmviz\0\0" + zlib.compress(TEXT.encode("latin-1")))
UNICODE = chunk(b"iTXt", b"gemmviz\0\0\0\0\0" + TEXT.encode())
PACKED_UNICODE = chunk(b"iTXt", b"gemmviz\0\1\0en\0key\0" + zlib.compress(TEXT.encode()))


def picture(tmp_path: Path, *chunks: bytes) -> Path:
    path = tmp_path / "chart.png"
    path.write_bytes(SIGNATURE + b"".join(chunks))
    return path


@pytest.mark.parametrize("text", [PLAIN, PACKED, UNICODE, PACKED_UNICODE])
@pytest.mark.parametrize("late", [False, True])
def test_text_is_found_in_every_form_and_place(tmp_path, text, late) -> None:
    other = chunk(b"tEXt", b"Title\0A chart")
    chunks = (HEADER, other, BODY, text, END) if late else (HEADER, other, text, BODY, END)
    assert read_png_text(picture(tmp_path, *chunks), KEY) == TEXT


def test_a_picture_without_the_key_has_none(tmp_path) -> None:
    longer = chunk(b"tEXt", b"gemmviz-more\0x")
    assert read_png_text(picture(tmp_path, HEADER, longer, BODY, END), KEY) is None


def test_what_follows_the_text_need_not_be_whole(tmp_path) -> None:
    assert read_png_text(picture(tmp_path, HEADER, PACKED, BODY[:-6]), KEY) == TEXT


BOMB = chunk(b"zTXt", b"gemmviz\0\0" + zlib.compress(b"\0" * (2 * 2**20), 9))


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ((HEADER, PLAIN[:-7]), "ends in the middle of its text"),
        ((HEADER, BODY), "ends before the picture does"),
        ((HEADER, BODY[:-6]), "ends before the picture does"),
        ((HEADER, PLAIN[:-1] + b"x", END), "the checksum of its text does not fit"),
        ((HEADER, chunk(b"zTXt", b"gemmviz\0\0nonsense"), END), "cannot be unpacked"),
        ((HEADER, chunk(b"zTXt", b"gemmviz\0\0" + zlib.compress(b"a" * 99)[:-5]), END), "unpacked"),
        ((HEADER, chunk(b"iTXt", b"gemmviz\0\0\0\0\0\xff\xfe"), END), "no utf-8"),
        ((HEADER, BOMB, END), "more than 1,048,576 bytes"),
        ((HEADER, struct.pack(">I", 2**31 - 1) + b"tEXtgemmviz\0"), "which is too much"),
    ],
)
def test_damage_is_said_in_a_sentence(tmp_path, chunks, words) -> None:
    with pytest.raises(PictureError, match=words) as said:
        read_png_text(picture(tmp_path, *chunks), KEY, most_bytes=2**20)
    assert str(said.value).startswith("chart.png ")
    assert str(said.value).endswith(".")


def test_a_bomb_takes_no_more_memory_than_it_may(tmp_path) -> None:
    import tracemalloc  # noqa: PLC0415

    path = picture(
        tmp_path, HEADER, chunk(b"zTXt", b"gemmviz\0\0" + zlib.compress(b"\0" * 2**26, 9)), END
    )
    tracemalloc.start()
    try:
        with pytest.raises(PictureError, match="too much"):
            read_png_text(path, KEY, most_bytes=2**20)
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


def test_a_limit_holds_where_none_is_asked_for(tmp_path) -> None:
    bomb = chunk(b"zTXt", b"gemmviz\0\0" + zlib.compress(bytes(2**26 + 1)))
    with pytest.raises(PictureError, match="more than 67,108,864 bytes"):
        read_png_text(picture(tmp_path, HEADER, bomb, END), KEY)


@pytest.mark.parametrize("data", [b"", b"\x89PNG", b"GIF89a", b"not a picture at all"])
def test_another_file_is_no_picture(tmp_path, data) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(data)
    with pytest.raises(PictureError, match="no PNG picture"):
        read_png_text(path, KEY)
