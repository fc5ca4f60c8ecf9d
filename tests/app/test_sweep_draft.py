from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.app.sweep_draft import (
    DraftError,
    SweepDraft,
    draft_from,
    draft_of,
    read_shapes,
    sweep_of,
)
from gemmviz.core.model import Problem
from gemmviz.core.policy import QUICK, UNTIL_STOPPED
from tests.app.fake_engine import H200, POCL
from tests.core.sweeps import kernel


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("512", [(512, 512, 512)]),
        (" 64, 128;256\n64", [(64, 64, 64), (128, 128, 128), (256, 256, 256)]),
        ("1024x64x512, 8 × 16 × 32 4*5*6", [(1024, 64, 512), (8, 16, 32), (4, 5, 6)]),
    ],
)
def test_shapes_are_read_as_a_person_writes_them(text, shapes):
    assert list(read_shapes(text)) == shapes


@pytest.mark.parametrize(
    ("text", "part"),
    [("", "no size"), ("big", "'big' is no size"), ("1x2", "'1x2'"), ("0", "out of range"),
     ("999999999", "out of range"), ("-4", "'-4'")],
)  # fmt: skip
def test_what_is_no_shape_is_named(text, part):
    with pytest.raises(DraftError, match=part):
        read_shapes(text)


def test_a_draft_starts_from_the_setup_bar_and_follows_it(qtbot, state, trial):
    assert trial.draft.kernels == ("register_2d",)
    assert trial.draft.shapes == "256"
    assert trial.draft.devices == (POCL.key,)
    assert trial.drafted.axes[0][1][0] == ("BM", (32, 64, 128))
    state.choose_variant(kernel("tiled"))
    assert trial.draft.kernels == ("tiled",)
    trial.change(trial.draft.with_kernel("register_2d", True))
    state.change(state.setup.with_all_sizes(64))
    assert trial.draft.shapes == "256"
    trial.preset()
    assert (trial.draft.kernels, trial.draft.shapes) == (("tiled",), "64")


def test_ticks_make_the_sweep(state):
    state.choose_variant(kernel("tiled"))
    draft = draft_of(state.setup, [POCL]).with_value(("tiled", "TS", 4), False)
    draft = replace(draft, shapes="64 8x16x32").with_element("double", True)
    draft = draft.with_device(H200.key, True)
    sweep = sweep_of(draft, state.catalog.variants, state.devices, 7)
    assert sweep.axes == (("tiled", (("TS", (8, 16, 32)),)),)
    assert [(each.m, each.k, each.element, each.seed) for each in sweep.problems] == [
        (64, 64, "float", 7), (8, 32, "float", 7), (64, 64, "double", 7), (8, 32, "double", 7),
    ]  # fmt: skip
    assert set(sweep.devices) == {POCL, H200}
    again = draft_from(sweep)
    assert sweep_of(again, state.catalog.variants, state.devices, 8) == sweep  # its seed is kept
    assert draft.with_value(("tiled", "TS", 4), True).left_out == frozenset()


def test_a_budget_is_a_model_s_alone(state):
    draft = SweepDraft(("tiled",), devices=(POCL.key,), strategy="model", budget=40)
    sweep = sweep_of(draft, state.catalog.variants, state.devices, 0)
    assert (sweep.strategy, sweep.budget) == ("model", 40)
    assert draft_from(sweep) == replace(draft, seed=0)
    racing = replace(draft, strategy="racing")
    assert sweep_of(racing, state.catalog.variants, state.devices, 0).budget == 0


def test_transposes_and_beta_of_the_setup_are_kept(state):
    like = replace(Problem(1, 1, 1), transpose="tn", beta=2.0)
    draft = SweepDraft(("tiled",), devices=(POCL.key,), shapes="64", like=like)
    sweep = sweep_of(draft, state.catalog.variants, state.devices, 0)
    assert sweep.problems == (Problem(64, 64, 64, transpose="tn", beta=2.0),)
    assert draft_from(sweep) == replace(draft, seed=0)


def test_what_is_missing_is_said(state):
    good = SweepDraft(("tiled",), devices=(POCL.key,), policy=QUICK)

    def why(draft: SweepDraft) -> str:
        with pytest.raises(DraftError) as caught:
            sweep_of(draft, state.catalog.variants, state.devices, 0)
        return str(caught.value)

    assert "kernel" in why(replace(good, kernels=()))
    assert "device" in why(replace(good, devices=()))
    assert "element type" in why(replace(good, elements=()))
    assert "ends by itself" in why(replace(good, policy=UNTIL_STOPPED))
    none = frozenset(("tiled", "TS", value) for value in (4, 8, 16, 32))
    assert "value of TS" in why(replace(good, left_out=none))
    endless = replace(state.setup, policy=UNTIL_STOPPED)
    assert draft_of(endless, [POCL]).policy == QUICK
