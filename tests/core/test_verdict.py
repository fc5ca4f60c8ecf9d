from __future__ import annotations

import pytest

from gemmviz.core.model import Check, Failure
from gemmviz.core.verdict import Outcome

RIGHT = Check("verified", rows_checked=512, rows=512, cols=512, max_error=3.1e-6)
WRONG = Check("wrong", rows_checked=64, rows=512, cols=512, cells_wrong=16384, max_error=12.5,
              worst_row=3, worst_col=17)  # fmt: skip
SPILLED = Check("wrong", rows_checked=64, rows=64, cols=64, overrun=9)
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
        (Outcome(RIGHT, HANG), HANG.sentence, f"✗ ended early: {HANG.sentence}"),
        (Outcome(check_asked=False), "", "not checked"),
        (Outcome(ended=False), "", ""),
    ],
)
def test_what_stands_below_and_in_a_heading(outcome, note, sentence):
    assert (outcome.note, outcome.sentence) == (note, sentence)
