from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from gemmviz.app.sweep_draft import DraftError, SweepDraft, sweep_of
from gemmviz.app.sweep_files import last_draft, open_draft, sweep_text, unsayable
from gemmviz.cli.selection import find_variant
from gemmviz.core.model import Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import QUICK, fixed
from gemmviz.core.sweep_file import identity, kernel_file, read_sweep_file
from tests.app.archives import open_in
from tests.app.fake_engine import POCL

DRAFT = SweepDraft(("tiled",), devices=(POCL.key,), shapes="64", policy=QUICK)


def sweep(state, draft: SweepDraft = DRAFT):
    return sweep_of(draft, state.catalog.variants, state.devices, 0)


def own_kernel(folder, name: str = "mine"):
    """A person's own kernel: another one's files under a name of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in (".toml", ".cl"):
        shutil.copy(data_dir("kernels") / f"tiled{suffix}", folder / f"{name}{suffix}")
    return folder / f"{name}.toml"


def test_what_is_written_is_what_the_command_reads(state, tmp_path):
    text = sweep_text(sweep(state), state, tmp_path)
    assert 'kernels = ["tiled"]\n' in text
    assert 'devices = ["Portable Computing Language OpenCL 2.0 pocl 3.0-rc2"]' in text
    model = sweep(state, replace(DRAFT, strategy="model", budget=40))
    written = sweep_text(model, state, tmp_path)
    assert 'strategy = "model"\nseed = 0\nbudget = 40\n' in written


def test_what_no_file_can_say_is_refused(state, tmp_path):
    tilted = sweep(state, replace(DRAFT, like=replace(Problem(1, 1, 1), transpose="tn")))
    with pytest.raises(DraftError, match="transposes"):
        sweep_text(tilted, state, tmp_path)
    assert "names its policy" in unsayable(sweep(state, replace(DRAFT, policy=fixed(3))))
    assert not unsayable(sweep(state))


@pytest.mark.parametrize(
    ("kernel", "written"),
    [("sweeps", "mine.toml"), ("sweeps/kernels", "kernels/mine.toml"), ("own", "../own/mine.toml")],
)
def test_a_person_s_own_kernel_is_named_by_its_path(state, tmp_path, kernel, written):
    path = own_kernel(tmp_path / kernel)
    assert not state.open_kernel(path)
    wanted = sweep(state, replace(DRAFT, kernels=("mine", "tiled")))
    folder = tmp_path / "sweeps"
    folder.mkdir(exist_ok=True)
    file = folder / "mine_too.toml"
    file.write_text(sweep_text(wanted, state, folder))
    asked = read_sweep_file(file)
    assert set(asked.kernels) == {"tiled", written}
    # As the command finds it, which so goes on with what the window has begun.
    found = [find_variant(str(kernel_file(name, folder) or name)) for name in asked.kernels]
    assert identity(asked.sweep(found, wanted.devices)) == identity(wanted)
    # And as the window does, which opens it once however its path is written.
    draft = open_draft(file, state)
    assert sweep(state, draft) == wanted
    assert [each.id for each in state.catalog.variants].count("mine") == 1


def test_both_can_move_together(state, tmp_path):
    path = own_kernel(tmp_path / "one" / "kernels")
    assert not state.open_kernel(path)
    text = sweep_text(sweep(state, replace(DRAFT, kernels=("mine",))), state, tmp_path / "one")
    (tmp_path / "one" / "mine_too.toml").write_text(text)
    (tmp_path / "one").rename(tmp_path / "two")
    assert open_draft(tmp_path / "two" / "mine_too.toml", state).kernels == ("mine",)


def test_the_last_sweep_of_the_file_fills_the_form(state, trial, tmp_path):
    assert not open_in(state, tmp_path / "results.gemmviz")
    with pytest.raises(DraftError, match="has no sweep"):
        last_draft(state)
    draft = replace(trial.draft, kernels=("tiled",), shapes="64, 8x16x32", policy=QUICK)
    trial.change(draft.with_value(("tiled", "TS", 4), False))
    sweep = trial.drafted
    store = state.archive.store
    store.put_sweep(identity(sweep))
    trial.preset()
    trial.change(last_draft(state))
    assert identity(trial.drafted) == identity(sweep)
    assert trial.draft.shapes == "8x16x32, 64"  # sizes rise, in whatever order they were asked for
    store.put_sweep(identity(sweep).replace('"id": "tiled"', '"id": "../tiled.toml"'))
    with pytest.raises(DraftError, match="no kernel"):
        last_draft(state)
    store.put_sweep("{}")
    with pytest.raises(DraftError, match="cannot be read"):
        last_draft(state)
