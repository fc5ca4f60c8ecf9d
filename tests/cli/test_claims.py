"""``gemmviz claims`` as a person runs it; all of them are tried in the tests of the engine."""

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import gemmviz
from tests.cli.test_compare import PNG

KEYS = {"id", "document", "statement", "outcome", "measured", "reason"}
QUICK = ("--device", "portable", "--id", "gemm2-whole", "naive-loads", "--id", "eight-groups")


def test_a_list_of_objects_in_the_order_of_the_documents() -> None:
    code, out, errors = gemmviz("claims", *QUICK, "--json")
    assert code == 0, errors
    found = json.loads(out)
    assert [entry["id"] for entry in found] == ["naive-loads", "eight-groups", "gemm2-whole"]
    assert all(entry.keys() == KEYS for entry in found)
    assert [entry["outcome"] for entry in found] == [
        "does not hold here", "cannot be tested here", "does not hold here",
    ]  # fmt: skip
    assert "1536 of 1536 cells" in found[2]["measured"]
    assert "CPU" in found[1]["reason"]


def test_words_a_page_and_a_picture(tmp_path: Path) -> None:
    page, picture = tmp_path / "claims.html", tmp_path / "claims.png"
    code, out, errors = gemmviz("claims", *QUICK, "--report", page, "--png", picture)
    assert code == 0, errors
    assert "0 hold, 2 do not hold here, 1 cannot be tested here" in out
    assert "✗ does not hold here: " in out
    assert "[gemm2-whole]" in out
    text = page.read_text(encoding="utf-8")
    assert "1536 of 1536 cells" in text
    assert "Portable" in text or "PoCL" in text
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--id", "nothing"], "There is no statement nothing"),
        (["--device", "nowhere"], "No platform or device matches 'nowhere'"),
        (["--device", "oclgrind"], "choose a real one"),
        (["--report", "claims.txt"], "does not end in .html"),
        (["--report", "/no/such/folder/claims.html"], "there is no folder"),
        (["--png", "claims.jpg"], "does not end in .png"),
    ],
)
def test_what_cannot_be_tried_ends_with_2(words: list[str], sentence: str) -> None:
    code, out, _ = gemmviz("claims", *words, "--json")
    assert code == 2
    assert sentence in json.loads(out)["failure"]["sentence"]
