"""The report page: whole, escaped, and dependent on nothing."""

from datetime import UTC, datetime
from html.parser import HTMLParser

from gemmviz.core.claim_report import claim_page
from gemmviz.core.claims import OUTCOMES, ClaimResult
from gemmviz.core.model import Device

DEVICE = Device("NVIDIA CUDA", "OpenCL 3.0 CUDA 12.8", "H<200> & more", "GPU",
                driver_version="580.65", opencl_version="OpenCL 3.0 CUDA")  # fmt: skip
RESULTS = tuple(
    ClaimResult(
        f"id-{number}", document, f"Statement <{number}>.", outcome, measured, f"Why & {number}."
    )
    for number, (document, outcome, measured) in enumerate(
        (
            ("First", OUTCOMES[0], "3 < 4"),
            ("First", OUTCOMES[1], "<script>alert(1)</script>"),
            ("Second", OUTCOMES[2], ""),
        )
    )
)  # fmt: skip
_VOID = {"meta", "br", "link", "img", "source"}


class Outline(HTMLParser):
    """Texts by tag; fails where tags do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1], data.strip()))


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


PAGE = claim_page(RESULTS, DEVICE, "1.2.3", datetime(2026, 11, 30, 9, 5, tzinfo=UTC))


def test_the_page_tells_device_driver_version_date_and_outcomes() -> None:
    texts = outline(PAGE).texts
    facts = [text for tag, text in texts if tag == "dd"]
    assert facts == [
        "H<200> & more · CUDA 12.8",
        "580.65 · OpenCL 3.0 CUDA",
        "gemmviz 1.2.3",
        "2026-11-30 09:05 UTC",
        "3 statements: 1 holds, 1 does not hold here, 1 cannot be tested here",
    ]
    assert [text for tag, text in texts if tag == "h2"] == ["First", "Second"]
    assert [text for tag, text in texts if tag == "h3"] == [
        "Statement <0>.", "Statement <1>.", "Statement <2>.",
    ]  # fmt: skip
    paragraphs = [text for tag, text in texts if tag == "p"]
    for words in (
        "✓ holds",
        "✗ does not hold here",
        "– cannot be tested here",
        "3 < 4",
        "Why & 2.",
    ):
        assert words in paragraphs


def test_the_page_needs_nothing_else_and_runs_nothing() -> None:
    found = outline(PAGE)
    assert not found.tags & {"script", "link", "img", "iframe"}
    assert "<script>alert" not in PAGE
    for outside in ("http:", "https:", "url(", "@import", "src="):
        assert outside not in PAGE
    assert "default-src 'none'" in PAGE
    assert "prefers-color-scheme: dark" in PAGE
    assert PAGE.startswith("<!DOCTYPE html>")
    assert '<html lang="en">' in PAGE
