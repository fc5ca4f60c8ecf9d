from __future__ import annotations

from dataclasses import replace

from gemmviz.app.sweep_defaults import saving_words, winners_with
from gemmviz.core.tuned import own_file
from tests.core.sweeps import make_report, make_sweep


def test_what_becomes_the_default_is_said_before():
    sweep = make_sweep(sizes=(64, 256))
    report = make_report(sweep)
    text = saving_words(sweep, report.winners)
    first, other, where = text.split("\n")
    assert first.startswith("2-D register blocking will start with BM=64")
    assert "on pthread-cpu · PoCL 3.0-rc2 (measured at 64 × 64 × 64 float)." in first
    assert "256 × 256 × 256 float" in other
    assert "each for the shapes nearest to it" in where
    assert str(own_file()) in where
    one = report.winners[0]
    assert "for all shapes" in saving_words(sweep, [one])
    assert "cannot be told apart" not in saving_words(
        sweep, [replace(one, best_set=(one.recommended,))]
    )
    tied = replace(
        one, best_set=(one.recommended, *(cell.configuration for cell in report.cells[:2]))
    )
    assert "float; 2 others cannot be told apart from it)." in saving_words(sweep, [tied])
    last = one.best_set[-1]
    (chosen,) = winners_with(report, last)
    assert chosen.recommended == last
    slow = report.cells[0].configuration
    assert not winners_with(report, slow)
    assert not saving_words(sweep, ())
