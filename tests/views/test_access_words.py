from __future__ import annotations

from dataclasses import replace

from gemmviz.core.access.marks import access_tone, pass_words, sector_tone, sector_words
from gemmviz.core.access.report import Machine, Pad, Unknown
from gemmviz.views.charts.access_words import (
    machine_words,
    pad_words,
    total_parts,
    totals,
    unknown_lines,
)
from tests.views.access_scenes import (
    access,
    local_access,
    report,
)


def test_tones_follow_the_cost():
    assert sector_tone(4, 4) == "good"
    assert sector_tone(2, 1) == "warn"  # no more than 32 floats in a row cost
    assert sector_tone(5, 4) == "warn"
    assert sector_tone(16, 2) == "bad"
    assert access_tone(access("A", 32, 4)) == "bad"
    assert access_tone(local_access("As", 1, 3)) == "good"
    assert access_tone(local_access("As", 2, 3)) == "bad"
    assert access_tone(replace(access("A", 32, 4), ideal_sectors=None)) == ""
    assert sector_words(1, 1) == sector_words(1, 4) == "1 sector: ideal"
    assert sector_words(16, 2) == "16 sectors, ideal 2"
    assert sector_words(16, None) == "16 sectors"
    assert pass_words(1, 1, broadcast=True) == "1 pass, broadcast"
    assert pass_words(8, 1, broadcast=True) == "8 passes: 8-way conflict"
    assert pass_words(4, 4) == "4 passes: ideal"
    assert pass_words(8, 4) == "8 passes, ideal 4"


def test_what_is_unknown_makes_the_totals_lower_bounds():
    made = replace(
        report(access("A", 4, 4)),
        unknowns=tuple(Unknown(line, "goto cannot be followed") for line in range(3, 8)),
    )
    lines = unknown_lines(made)
    assert "lower bounds" in lines[0]
    assert totals(replace(made, intensity=None, reuse=None)) == (
        "global at least 1 MiB asked, at least 4 MiB moved in whole sectors  ·  "
        "local at least 256 KiB  ·  4.19 MFLOP"
    )
    assert lines[1] == "Line 3: goto cannot be followed"
    assert lines[-1] == "and 2 more"
    assert unknown_lines(report()) == ()


def test_totals_and_machine_in_words():
    assert totals(report()) == (
        "global 1 MiB asked, 4 MiB moved in whole sectors (25 % used)  ·  4 FLOP/B  ·  "
        "reuse 1 × naive  ·  local 256 KiB  ·  4.19 MFLOP"
    )
    made = report(local_access("As", 2, 3), local_access("Bs", 8, 4), local_access("Cs", 1, 5))
    assert totals(made).startswith("8-way bank conflict  ·  global ")
    short = [words for _, words in total_parts(made)]
    assert short[:2] == ["8-way conflict", "25 % used"]
    assert totals(replace(report(), sector_bytes=0)).startswith("4 FLOP/B")
    assert machine_words(Machine()) == "32 lanes and 32 banks: assumed"


def test_the_best_pad_is_told_against_none():
    pads = (Pad(0, ((3, 8),), 800, 2048), Pad(1, ((3, 1),), 100, 2176))
    assert pad_words(pads, pads[1]) == "Pad +1: 100 passes instead of 800"
    assert pad_words(pads[:1], pads[0]) == "No pad does better than none: 800 passes"
    assert pad_words((), None) == ""
