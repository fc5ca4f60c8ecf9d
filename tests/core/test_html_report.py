"""The report page: whole, escaped, and dependent on nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gemmviz.core.html_report import Picture, Report, fastest_of_each, report_page
from gemmviz.core.model import Check, Failure, Property, Samples
from gemmviz.core.result_figures import table
from tests.app.fake_engine import H200, INTEL
from tests.core.store.saved import saved
from tests.core.test_claim_report import outline

EVIL = "</article><script>alert(1)</script>\"'&"
WHEN = datetime(2026, 11, 30, 9, 5, tzinfo=UTC)
PICTURE = Picture("All of them", "data:image/svg+xml;base64,AAAA", "data:image/png;base64,BBBB",
                  960, 560)  # fmt: skip


def page(*results, **parts) -> str:
    numbered = list(enumerate(results, start=1))
    return report_page(Report("r.gemmviz", numbered, **parts), "1.2.3", WHEN)


def evil():
    """A result whose every text tries to leave its place."""
    result = saved()
    variant = replace(result.job.variant, id=EVIL, title=EVIL, summary=EVIL, source=EVIL)
    properties = Property(EVIL, EVIL), Property("X", None, reason=EVIL)
    device = replace(INTEL, name=EVIL, vendor=EVIL, driver_version=EVIL, properties=properties)
    return replace(
        result, job=replace(result.job, variant=variant, parameters=((EVIL, 1),)), device=device,
        failure=Failure("build", EVIL, EVIL), build_log=EVIL, check=None,
    )  # fmt: skip


def test_nothing_leaves_its_place() -> None:
    pictures = [replace(PICTURE, caption=EVIL, light=f'x" onload="{EVIL}')]
    told = page(evil(), overview=pictures, details={1: pictures})
    found = outline(told)
    assert "script" not in found.tags
    assert "<script" not in told
    assert not re.search(r"\son\w+=\"[^&]", told.replace("&quot;", ""))
    assert sum(text == EVIL for _, text in found.texts) >= 6


def test_the_page_needs_nothing_else_and_runs_nothing() -> None:
    told = page(saved(), overview=[PICTURE], details={1: [PICTURE]})
    assert "default-src 'none'" in told
    assert not re.findall(r"(?:src|href|srcset)=\"(?!data:|#)", told)
    assert "url(" not in told
    assert "@import" not in told


def test_every_link_leads_somewhere() -> None:
    told = page(saved(), saved(128), details={1: [], 2: []})
    targets = set(re.findall(r'href="#([^"]+)"', told))
    assert targets == {"result-1", "result-2", "kernel-1"}
    assert targets <= set(re.findall(r'id="([^"]+)"', told))


def test_the_page_tells_what_where_how_and_with_which_source() -> None:
    told = page(saved(), saved(128, device=H200), details={2: [PICTURE]}, overview=[PICTURE])
    texts = [text for _, text in outline(told).texts]
    for text in (
        "2 of r.gemmviz: 2 verified", "gemmviz 1.2.3", "2026-11-30 09:05 UTC", "✓ verified",
        "64³", "128³", "TS=16", "1.00 ms", "48 KiB (own memory)", "All 5 properties that the "
        "driver reports", "__kernel void tiled() {}", "A tile a step.", "events trusted",
    ):  # fmt: skip
        assert any(text in each for each in texts), text
    for scheme in ("light", "dark"):
        assert told.count(f'<img class="{scheme}"') == 2
    assert "@media screen and (prefers-color-scheme: dark)" in told
    assert "@media print" in told


def test_figures_that_do_not_count_are_struck() -> None:
    wrong = saved(check=Check("wrong", 64, 64, 64, cells_wrong=9), failure=Failure("wrong", "No."))
    told = page(wrong, saved(seconds=2e-3))
    assert "<s>1.00 ms</s>" in told
    assert "<s>2.00 ms</s>" not in told
    assert "1 verified, 1 wrong" in told
    row = re.search(r'<tr class="fastest">.*</tr>', told)
    assert row is not None
    assert "2.00 ms" in row[0]


def test_a_run_without_samples_has_its_reason() -> None:
    failed = saved(samples=Samples(), check=None,
                   failure=Failure("build", "It does not compile.", "line 3: <no>"))  # fmt: skip
    told = page(failed, details={1: []})
    assert "It does not compile." in told
    assert "line 3: &lt;no&gt;" in told
    assert "✗ failed" in told


def test_the_fastest_is_one_of_each_problem_and_device() -> None:
    results = [saved(), saved(seconds=5e-4), saved(128), saved(device=INTEL),
               saved(seconds=1e-4, check=Check("wrong", 64, 64, 64, cells_wrong=1))]  # fmt: skip
    numbered = list(enumerate(results))
    assert fastest_of_each(numbered, table(numbered)) == {1, 2, 3}
    job = results[0].job
    added = replace(job, variant=replace(job.variant, operation="add"))
    numbered.append((9, saved(job=added, seconds=1e-6)))  # of another operation: it beats nothing
    assert fastest_of_each(numbered, table(numbered)) == {1, 2, 3, 9}


def test_a_lucky_screening_is_not_the_fastest() -> None:
    few = replace(saved(seconds=5e-4), samples=Samples((1,) * 3, (5e-4,) * 3, (0.0, 1.0, 2.0)))
    one = replace(few, samples=Samples((1,), (5e-4,), (0.0,)))
    numbered = list(enumerate([few, saved(), one]))
    assert fastest_of_each(numbered, table(numbered)) == {1}
    alone = [(0, few)]
    assert fastest_of_each(alone, table(alone)) == {0}
    assert "one sample" in page(one)


def test_a_long_table_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.core.html_report.MOST_ROWS", 2)
    told = page(saved(16), saved(32), saved(64))
    assert "These are the last 2 of 3 results." in told
    assert "16³" not in told
