from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.model import Check, Failure, Outside
from gemmviz.core.verdict import Outcome, describe

RIGHT = Check("verified", rows_checked=512, rows=512, cols=512, max_error=3.1e-6)
WRONG = Check("wrong", rows_checked=64, rows=512, cols=512, cells_wrong=16384, max_error=12.5,
              worst_row=3, worst_col=17)  # fmt: skip
SPILLED = Check("wrong", rows_checked=64, rows=64, cols=64, overrun=9)
SAMPLED = Check("verified", rows_checked=64, rows=4096, cols=1000, max_error=2e-5, cols_checked=64,
                vectors=8)  # fmt: skip
MISSED = replace(SAMPLED, verdict="wrong", rows_failed=1)
HANG = Failure("hang", "A launch took too long.")


@pytest.mark.parametrize(
    ("outcome", "word", "tone", "objection"),
    [
        (Outcome(RIGHT), "✓ verified", "good", ""),
        (Outcome(WRONG, Failure("wrong", "Wrong.")), "✗ wrong", "bad", "wrong result"),
        (Outcome(WRONG, HANG), "✗ wrong", "bad", "wrong result"),
        (Outcome(RIGHT, HANG), "✗ ended early", "bad", "the run ended early"),
        (Outcome(None, HANG, sampled=False), "✗ failed", "bad", "the run ended early"),
        (Outcome(check_asked=False), "not checked", "warn", ""),
        (Outcome(stopped=True), "not checked", "warn", ""),
        (Outcome(ended=False), "–", "", ""),
    ],
)
def test_words_of_a_verdict(outcome, word, tone, objection):
    assert (outcome.word, outcome.tone, outcome.objection) == (word, tone, objection)


@pytest.mark.parametrize(
    ("outcome", "note", "sentence"),
    [
        (
            Outcome(RIGHT),
            "all 512 rows, largest error 3.1e-06",
            "✓ verified: 262,144 cells checked",
        ),
        (
            Outcome(WRONG),
            "50 % of cells, largest error 12 at row 3, column 17",
            "✗ wrong result: 16,384 of 32,768 cells are off",
        ),
        (
            Outcome(SPILLED),
            "9 elements behind C were overwritten",
            "✗ wrong result: 9 elements behind C were overwritten",
        ),
        (
            Outcome(SAMPLED),
            "64 random rows and 64 random columns, Freivalds' test with 8 vectors, "
            "largest error 2.0e-05",
            "✓ verified: 322,048 cells checked besides Freivalds' test",
        ),
        (
            Outcome(MISSED),
            "Freivalds' test with 8 vectors on all of C fails in 1 row",
            "✗ wrong result: Freivalds' test with 8 vectors on all of C fails in 1 row",
        ),
        (
            Outcome(replace(RIGHT, cells_differing=3)),
            "all 512 rows, largest error 3.1e-06, two launches differ in 3 cells",
            "✓ verified: 262,144 cells checked",
        ),
        (Outcome(RIGHT, HANG), HANG.sentence, f"✗ ended early: {HANG.sentence}"),
        (Outcome(check_asked=False), "", "not checked"),
        (Outcome(ended=False), "", ""),
    ],
)
def test_what_stands_below_and_in_a_heading(outcome, note, sentence):
    assert (outcome.note, outcome.sentence) == (note, sentence)


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (
            RIGHT,
            "Verified: 262,144 cells in all rows within the bound, largest error 3.1e-06.",
        ),
        (
            replace(RIGHT, cells_differing=0),
            "Verified: 262,144 cells in all rows within the bound, largest error 3.1e-06. "
            "Two launches agree bit for bit.",
        ),
        (
            replace(SAMPLED, cells_differing=1),
            "Verified: 322,048 cells in 64 random rows and 64 random columns exactly, and "
            "Freivalds' test with 8 vectors on all of C within the bound, largest error 2.0e-05. "
            "Two launches differ in 1 cell.",
        ),
        (
            replace(WRONG, cells_differing=1200),
            "Wrong: 16,384 of 32,768 cells in 64 random rows (50 %), largest error 12, worst at "
            "row 3, column 17: 0 instead of 0. Two launches differ in 1,200 cells.",
        ),
        (
            replace(
                SPILLED, overrun=10, cells_unwritten=1, cells_nan=2,
                outside=(Outside("A", "in front of", 1), Outside("C", "behind", 9)),
            ),
            "Wrong: 1 cell was never written; 2 cells are NaN; "
            "1 element in front of A and 9 elements behind C were overwritten.",
        ),
        (
            replace(MISSED, rows_failed=1500),
            "Wrong: Freivalds' test with 8 vectors on all of C fails in 1,500 rows.",
        ),
    ],
)  # fmt: skip
def test_a_check_in_one_sentence(check, sentence):
    assert describe(check) == sentence
