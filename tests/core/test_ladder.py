"""What the ladder says of its rungs, and which library stands beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.codec import decode_line, encode_line, from_json, to_json
from gemmviz.core.ladder import Ladder, library_on, rungs_of, sentences, step_of
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import LadderClimbed
from gemmviz.core.model import Device, Problem
from gemmviz.core.paired import Versus
from gemmviz.core.paths import data_dir
from tests.app.fake_engine import H200, POCL
from tests.core.ladders import make_ladder, make_rung, versus

VARIANTS = load_catalog(data_dir("kernels")).variants
SMALL = Problem(64, 64, 64)


def test_rungs_come_in_their_order_and_are_of_the_ladder_alone() -> None:
    rungs = rungs_of(reversed(VARIANTS))
    numbers = [variant.rung for variant in rungs]
    assert numbers == sorted(numbers)
    assert rungs[0].id == "naive_strided"
    assert {variant.family for variant in rungs} == {"ladder"}
    assert len(rungs) >= 12


@pytest.mark.parametrize(
    ("low", "ratio", "high", "step"),
    [
        (1.2, 1.5, 1.9, "gain"),
        (0.5, 0.8, 0.9, "loss"),
        (0.99, 1.0, 1.015, "same"),
        (0.8, 1.1, 1.4, "open"),
        (1.001, 1.01, 1.019, "same"),
    ],
)
def test_a_step_follows_from_the_interval(low: float, ratio: float, high: float, step: str) -> None:
    assert step_of(Versus("undecided", ratio, low, high, 0.02, 5, 5)) == step


def test_the_fastest_rung_with_the_lowest_occupancy_is_told() -> None:
    ladder = make_ladder()
    assert ladder.fastest is not None
    assert ladder.fastest.title == "The pipeline at any shape"
    text = " ".join(sentences(ladder))
    assert "The fastest rung has the lowest occupancy, 12 %" in text
    assert "52.8 times as fast as Naive, strided: 100 % of cuBLAS and 78 % of the" in text
    assert "Tiled, transposed and padded: a step that loses here." in text


def test_another_occupancy_is_told_with_what_the_highest_one_gives() -> None:
    rungs = (make_rung(1), make_rung(6), replace(make_rung(7), occupancy=0.1, flops_per_second=1e9))
    text = " ".join(sentences(make_ladder(rungs=rungs)))
    assert "The fastest rung has 50 % occupancy; Naive, strided has 100 % and 2 % of its" in text
    assert "lowest" not in text


def test_nothing_is_said_of_an_occupancy_that_nobody_knows() -> None:
    rungs = tuple(replace(rung, occupancy=None) for rung in make_ladder().rungs)
    assert "occupancy" not in " ".join(sentences(make_ladder(rungs=rungs)))


def test_a_wrong_rung_is_never_the_fastest() -> None:
    ladder = make_ladder()
    wrong = replace(ladder.rungs[-1], wrong=True, why_not="Wrong: 3 cells.")
    ladder = replace(ladder, rungs=(*ladder.rungs[:-1], wrong))
    assert ladder.fastest is ladder.rungs[-2]
    assert wrong not in ladder.measured
    assert sentences(replace(ladder, rungs=(wrong,))) == ()


def test_what_is_missing_and_a_busy_machine_are_told() -> None:
    busy = "others had a load of about 4.0 on 2 processors"
    note = "cuBLAS is not installed here."
    text = " ".join(sentences(make_ladder(library=None, library_note=note, busy=busy)))
    assert "No library stands beside it: cuBLAS is not installed here." in text
    assert "The machine was busy: others had a load of about 4.0 on 2 processors." in text


def test_the_library_is_the_host_s_on_a_cpu() -> None:
    found, note = library_on(POCL, None, VARIANTS, SMALL)
    assert found is not None
    assert (found.id, note) == ("blas", "")
    half = Problem(64, 64, 64, "half")
    found, note = library_on(replace(POCL, elements=("half",)), None, VARIANTS[:0], half)
    assert (found, note) == (None, "No library is known here.")


def test_a_library_that_rounds_to_tf32_is_no_measure() -> None:
    tf32 = tuple(variant for variant in VARIANTS if variant.id == "cublas_tf32")
    assert tf32
    assert library_on(H200, limits_for(H200), tf32, SMALL)[0] is None


def test_without_a_library_the_reason_is_the_preferred_one_s() -> None:
    nowhere = Device("", "", "Card", "GPU", max_work_group_size=256, local_mem_bytes=2**15)
    cublas = tuple(variant for variant in VARIANTS if variant.library == "cublas")
    _, note = library_on(nowhere, None, cublas, SMALL)
    assert note == "cuBLAS runs on an NVIDIA device alone, and Card is none."


def test_a_ladder_crosses_the_wire() -> None:
    ladder = make_ladder(3)
    message = LadderClimbed(7, ladder)
    assert decode_line(encode_line(message)) == message
    assert from_json(Ladder, to_json(ladder)) == ladder
    assert ladder.rungs[1].gain == versus(5.3 / 0.97)
