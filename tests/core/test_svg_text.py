"""Text that a drawing carries, read from good files and from traps."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemmviz.core.png_text import PictureError
from gemmviz.core.result_document import DocumentError, picture_text, read_results
from gemmviz.core.svg_text import looks_like_xml, read_svg_text
from tests.core.store.saved import same, saved

_HEAD = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">'


def drawing(folder: Path, inside: str, head: str = _HEAD) -> Path:
    path = folder / "a.svg"
    path.write_text(f"{head}{inside}</svg>", encoding="utf-8")
    return path


def test_the_text_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = drawing(tmp_path, '<title>x</title><metadata id="k">a &lt;b&gt; &amp;amp; é</metadata>')
    assert read_svg_text(path, "k") == "a <b> &amp; é"
    assert read_svg_text(path, "other") is None


def test_other_programs_may_write_the_element_in_their_way(tmp_path: Path) -> None:
    path = drawing(tmp_path, "<metadata\n class='x' id = 'k' ><!-- --></metadata >")
    with pytest.raises(PictureError, match="no plain text"):
        read_svg_text(path, "k")
    path = drawing(tmp_path, "<metadata\n class='x' id = 'k' >&quot;&apos;</metadata >")
    assert read_svg_text(path, "k") == "\"'"


@pytest.mark.parametrize(
    ("head", "inside", "words"),
    [
        ('<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>', '<metadata id="k">&a;</metadata>',
         "document type"),
        ('<!doctype svg SYSTEM "file:///etc/passwd"><svg>', '<metadata id="k">{}</metadata>',
         "document type"),
        (_HEAD, '<metadata id="k">&a;</metadata>', "an entity that XML does not have"),
        (_HEAD, '<metadata id="k">&#x41;</metadata>', "an entity that XML does not have"),
        (_HEAD, '<metadata id="k">& so on</metadata>', "an entity that XML does not have"),
        (_HEAD, '<metadata id="k">a<b/></metadata>', "no plain text"),
        (_HEAD, '<metadata id="k">never ends', "no plain text"),
        ("<html>", "", "is no SVG drawing"),
    ],
)  # fmt: skip
def test_a_trap_is_refused_in_a_sentence(
    tmp_path: Path, head: str, inside: str, words: str
) -> None:
    path = drawing(tmp_path, inside, head)
    with pytest.raises(PictureError, match=words) as said:
        read_svg_text(path, "k")
    assert str(said.value).endswith(".")


def test_no_more_than_a_thousand_characters_of_attributes_are_looked_through(
    tmp_path: Path,
) -> None:
    """A trap with millions of them would be looked through for hours."""
    for attributes, text in ((100, "found"), (1000, None)):
        others = "x='y' " * attributes
        path = drawing(tmp_path, f'<metadata {others} id="k">found</metadata>')
        assert read_svg_text(path, "k") == text
    path = drawing(tmp_path, "<metadata " + 'id="k" ' * 1000)
    assert read_svg_text(path, "k") is None


def test_what_is_too_long_or_no_utf_8_is_refused(tmp_path: Path) -> None:
    path = drawing(tmp_path, " " * 100)
    with pytest.raises(PictureError, match="longer than 50 bytes"):
        read_svg_text(path, "k", 50)
    path.write_bytes(b'<svg><metadata id="k">\xff\xfe</metadata></svg>')
    with pytest.raises(PictureError, match="no utf-8"):
        read_svg_text(path, "k")


def test_results_are_read_from_a_drawing(tmp_path: Path) -> None:
    text = picture_text([saved(64)]).replace("&", "&amp;").replace("<", "&lt;")
    path = drawing(tmp_path, f'<metadata id="gemmviz">{text}</metadata>')
    ((_, result),) = read_results(path).results
    assert same(result, saved(64))
    with pytest.raises(DocumentError, match="picture without results"):
        read_results(drawing(tmp_path, "<g/>"))


def test_what_begins_like_xml_is_told_from_json() -> None:
    assert looks_like_xml(b"\xef\xbb\xbf \n<svg")
    assert not looks_like_xml(b'{"a": "<svg"}')
