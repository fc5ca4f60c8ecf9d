from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core.codec import from_json, to_json
from gemmviz.core.device_comparison import (
    DeviceComparison,
    DeviceDuel,
    DeviceFigure,
    describe_duel,
    one_sided,
    sentences,
    turned,
)
from gemmviz.core.device_units import UNITS, Unit, lack_of, quantity_of, text_of
from gemmviz.core.paired import compare_apart
from tests.core.device_comparisons import (
    CPU,
    GPU,
    SIMULATOR,
    make_comparison,
    make_figure,
    make_versus,
)

GPU_NAME, CPU_NAME = "NVIDIA H200 · CUDA 12.8.1", "pthread-cpu · PoCL 6.0"


def test_the_fastest_of_each_size_and_those_that_cannot_be_told_apart():
    comparison = make_comparison()
    assert comparison.best(64) == (CPU.key,)
    assert comparison.best(128) == (GPU.key, CPU.key)
    assert comparison.best(512) == (GPU.key,)
    assert comparison.best(1024) == ()


def test_a_simulator_and_a_wrong_answer_are_never_the_fastest():
    quick = make_figure(SIMULATOR, 64, 1e-9)
    wrong = make_figure(CPU, 64, 1e-9, wrong=True)
    comparison = make_comparison(figures=(quick, wrong, make_figure(GPU, 64, 1.0)), duels=())
    assert [figure.device for figure in comparison.counting(64)] == [GPU.key]
    assert comparison.best(64) == (GPU.key,)


def test_which_device_for_which_size_is_said():
    said = sentences(make_comparison())
    assert said[0] == (
        f"64: {CPU_NAME}; 128: {GPU_NAME} or {CPU_NAME}, not to be told apart; 512: {GPU_NAME}."
    )
    assert said[1].startswith(f"At 512 {GPU_NAME} is 40 times as fast as {CPU_NAME} (38.1 to 42.1")
    assert "one after the other" in said[1]


def test_neighbouring_sizes_with_one_winner_are_one_range():
    figures = [make_figure(GPU, size, 1e-6) for size in (64, 128, 512)]
    assert sentences(make_comparison(figures=tuple(figures), duels=())) == (
        f"64 to 512: {GPU_NAME}.",
    )
    figures[1] = make_figure(GPU, 128, 1e-6, wrong=True)  # no range reaches over it
    assert sentences(make_comparison(figures=tuple(figures), duels=())) == (
        f"64: {GPU_NAME}; 512: {GPU_NAME}.",
    )
    assert sentences(make_comparison(figures=(), duels=())) == ()
    assert "busy: others" in sentences(make_comparison(busy="others took one"))[-1]


def test_who_won_a_single_size_is_said_once():
    figures = (make_figure(GPU, 64, 4e-6), make_figure(CPU, 64, 2e-6))
    (said,) = sentences(make_comparison(figures=figures))
    assert said.startswith(f"At 64 {CPU_NAME} is 2 times as fast as {GPU_NAME}")


def test_a_duel_is_the_same_from_both_sides():
    comparison = make_comparison()
    there = comparison.versus(GPU.key, CPU.key, 64)
    back = comparison.versus(CPU.key, GPU.key, 64)
    assert there is not None
    assert back is not None
    assert (there.versus.word, back.versus.word) == ("faster", "slower")
    assert back.versus.ratio == pytest.approx(0.5)
    assert back.versus.ratio_low < back.versus.ratio < back.versus.ratio_high
    assert turned(turned(there.versus)).ratio_low == pytest.approx(there.versus.ratio_low)
    assert comparison.versus(GPU.key, SIMULATOR.key, 64) is None
    devices = comparison.devices
    assert describe_duel(there, devices) == describe_duel(back, devices)


def test_few_rounds_that_all_agree_decide_the_fastest_but_not_the_word():
    few = make_versus("undecided", 0.1, worth=4)
    assert one_sided(few)
    assert not one_sided(make_versus("undecided", 0.99, 0.2, worth=4))
    assert not one_sided(make_versus("slower", 0.1))
    duel = DeviceDuel(64, CPU.key, GPU.key, few, in_turns=True)
    comparison = make_comparison(duels=(duel,))
    assert comparison.best(64) == (CPU.key,)
    text = describe_duel(duel, comparison.devices)
    assert text.startswith(f"At 64 {CPU_NAME} was 10 times as fast as {GPU_NAME} in each of 4")
    assert "in each of 4 rounds, too few to be sure" in text
    apart = describe_duel(replace(duel, in_turns=False), comparison.devices)
    assert "in each of 4 samples, too few to be sure" in apart
    open_one = replace(duel, versus=make_versus("undecided", 0.99, 0.2))
    assert "undecided whether" in describe_duel(open_one, comparison.devices)
    same = replace(duel, versus=make_versus("same", 1.0, 0.01))
    assert "is as fast as" in describe_duel(same, comparison.devices)


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("time", 4e-6, "4.00 µs"),
        ("throughput", 524288 / 4e-6, "131 GFLOP/s"),
        ("ceiling", 0.131072, "13 %"),
        ("library", 0.5, "50 %"),
        ("clock", 524288 / 4e-6 / (132 * 1.98e9), "0.501"),
    ],
)
def test_a_figure_in_each_unit(unit: Unit, value: float, text: str):
    figure = make_comparison().figure(GPU.key, 64)
    assert figure is not None
    quantity = quantity_of(figure, GPU, unit)
    assert quantity is not None
    assert quantity.value == pytest.approx(value)
    assert quantity.low < quantity.value < quantity.high
    assert text_of(quantity.value, unit) == text
    assert lack_of(figure, GPU, unit) == ""


def test_what_has_no_value_says_why():
    figure = make_figure(CPU, 64, 2e-6)
    assert lack_of(figure, CPU, "ceiling") == "ceilings not measured"
    assert lack_of(figure, CPU, "library") == "no library beside it"
    assert "clock unknown" in lack_of(figure, CPU, "clock")
    assert quantity_of(figure, CPU, "clock") is None
    no_units = replace(CPU, clock_hz=10**9, compute_units=None)
    assert "compute units unknown" in lack_of(figure, no_units, "clock")
    assert lack_of(DeviceFigure(CPU.key, 64, why_not="broken"), CPU, "time") == "broken"
    for unit in UNITS:
        simulated = make_figure(SIMULATOR, 64, 0.2)
        assert "says nothing of hardware" in lack_of(simulated, SIMULATOR, unit)
        assert lack_of(replace(figure, wrong=True), CPU, unit) == "wrong answer"


def test_a_comparison_survives_json():
    comparison = make_comparison()
    text = json.dumps(to_json(comparison))
    assert from_json(DeviceComparison, json.loads(text)) == comparison


def test_times_that_were_taken_apart_are_compared_by_their_medians():
    draws = np.random.default_rng(3)
    slow, fast = 2e-3 * draws.lognormal(0, 0.05, 400), 1e-3 * draws.lognormal(0, 0.05, 300)
    versus = compare_apart(slow, fast, 0.02)
    assert versus is not None
    assert versus.word == "faster"
    assert versus.ratio_low < 2.0 < versus.ratio_high
    assert versus.rounds == 300
    back = compare_apart(fast, slow, 0.02)
    assert back is not None
    assert back.word == "slower"
    assert back.ratio == pytest.approx(1 / versus.ratio)
    few = compare_apart(slow[:3], fast[:3], 0.02)
    assert few is not None
    assert few.word == "undecided"
    assert compare_apart([], fast, 0.02) is None
    assert compare_apart([np.nan, 0.0], fast, 0.02) is None


def test_a_shift_between_both_halves_widens_what_was_taken_apart():
    draws = np.random.default_rng(5)
    drifting = 1e-3 * np.concatenate([np.full(100, 1.0), np.full(100, 1.3)])
    drifting *= draws.lognormal(0, 0.01, 200)
    versus = compare_apart(drifting, 1.2e-3 * draws.lognormal(0, 0.01, 200), 0.02)
    assert versus is not None
    assert versus.word == "undecided"
