"""Sweeps from TOML: what a file may say, and one sentence with the key for each fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.model import Problem
from gemmviz.core.policy import QUICK, STANDARD
from gemmviz.core.sweep_file import identity, read_sweep_file
from gemmviz.core.sweep_plan import SweepError
from tests.core.sweeps import HERE, kernel

LEAST = 'kernels = ["work_1d"]\nsizes = [64]\n'


def read(folder: Path, text: str):  # type: ignore[no-untyped-def]
    file = folder / "mine.toml"
    file.write_text(text)
    return read_sweep_file(file)


def test_what_need_not_be_said(tmp_path: Path) -> None:
    found = read(tmp_path, LEAST)
    assert found.problems == (Problem(64, 64, 64),)
    assert (found.devices, found.policy, found.strategy) == ((), STANDARD, "racing")
    assert found.sweep([kernel("work_1d")], [HERE]).axes == (("work_1d", ()),)


def test_all_that_can_be_said(tmp_path: Path) -> None:
    found = read(tmp_path, """
kernels = ["work_1d", "tiled"]
shapes = [[64, 32, 16], [8, 8, 8]]
elements = ["float", "double"]
devices = ["PoCL", "Intel"]
policy = "quick"
strategy = "exhaustive"
seed = 7
[parameters]
TS = [8, 16]
[parameters.work_1d]
TS = 32
WPT = [1, 2]
""")  # fmt: skip
    assert found.kernels == ("work_1d", "tiled")
    assert found.devices == ("PoCL", "Intel")
    assert (found.policy, found.strategy) == (QUICK, "exhaustive")
    assert found.problems == tuple(
        Problem(*shape, element, 7)
        for element in ("float", "double")
        for shape in ((64, 32, 16), (8, 8, 8))
    )
    made = found.sweep([kernel("work_1d"), kernel("tiled")], [HERE])
    assert dict(made.axes) == {
        "work_1d": (("TS", (32,)), ("WPT", (1, 2))),
        "tiled": (("TS", (8, 16)),),
    }


def test_a_model_may_have_a_budget(tmp_path: Path) -> None:
    found = read(tmp_path, f'{LEAST}strategy = "model"\nbudget = 40')
    made = found.sweep([kernel("work_1d")], [HERE])
    assert (made.strategy, made.budget) == ("model", 40)
    usual = read(tmp_path, f'{LEAST}strategy = "model"').sweep([kernel("work_1d")], [HERE])
    assert usual.budget == 0
    assert identity(made) != identity(usual)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kernels = 3\nsizes = [64]", "kernels: this must be a list with something in it."),
        ("sizes = [64]", "kernels: this key is missing."),
        ('kernels = [""]\nsizes = [64]', "kernels: '' is no text."),
        ('kernels = ["tiled"]', "sizes: either sizes or shapes must be given, and not both."),
        (f"{LEAST}shapes = [[1, 2, 3]]", "sizes: either sizes or shapes must be given"),
        ('kernels = ["tiled"]\nsizes = [0]', "sizes: 0 is not between 1 and 2147483647."),
        ('kernels = ["tiled"]\nsizes = [true]', "sizes: True is no integer"),
        ('kernels = ["tiled"]\nsizes = []', "sizes: this must be a list"),
        ('kernels = ["tiled"]\nshapes = [[1, 2]]', r"shapes: \[1, 2\] is not \[M, N, K\]."),
        (f'{LEAST}elements = ["int"]', "elements: 'int' is not one of half, float, double."),
        (f'{LEAST}policy = "slow"', "policy: 'slow' is not one of quick, standard, careful."),
        (f'{LEAST}strategy = "luck"', "strategy: 'luck' is not one of exhaustive, racing, model."),
        (f"{LEAST}budget = 9", 'budget: only strategy = "model" has one.'),
        (f'{LEAST}strategy = "model"\nbudget = 0', "budget: 0 is not between 1 and"),
        (f"{LEAST}seed = -1", "seed: -1 is no integer from 0"),
        (f"{LEAST}colour = 1", "colour: this key is unknown; there are kernels, parameters"),
        (f"{LEAST}parameters = 1", "parameters: this must be a table."),
        (f'{LEAST}[parameters]\nTS = ["8"]', "parameters.TS: '8' is no integer."),
        (f"{LEAST}[parameters.work_1d]\nTS = 8.5", "parameters.work_1d.TS: this must be a list"),
        ("kernels = [", "this is no TOML:"),
    ],
)
def test_faults(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SweepError, match=f"^mine.toml: {sentence}"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[parameters]\nBM = [64]", "parameters.BM: no kernel has such a parameter."),
        ("[parameters.tiled]\nTS = [8]", "parameters.tiled: this is none of the kernels."),
        ("[parameters.work_1d]\nBM = [8]", "parameters: work_1d has no parameter BM; it has: TS"),
        ("[parameters]\nTS = [7]", "parameters: TS of work_1d: 7 is not among its values: 8, 16"),
    ],
)
def test_parameters_that_no_kernel_has(tmp_path: Path, text: str, sentence: str) -> None:
    found = read(tmp_path, LEAST + text)
    with pytest.raises(SweepError, match=f"^mine.toml: {sentence}"):
        found.sweep([kernel("work_1d")], [HERE])


def test_a_file_that_is_not_there_or_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match=r"none.toml: it cannot be read \(No such file"):
        read_sweep_file(tmp_path / "none.toml")
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SweepError, match="this is no TOML"):
        read_sweep_file(tmp_path / "mine.toml")


def test_the_identity_is_that_of_what_is_measured(tmp_path: Path) -> None:
    found = read(tmp_path, LEAST)
    work = kernel("work_1d")
    made = found.sweep([work], [HERE])
    same = replace(made, axes=(("work_1d", (("TS", (8, 16, 32, 64)),)),))
    assert identity(made) == identity(same)
    busier = replace(HERE, clock_hz=3_000_000_000)
    assert identity(made) == identity(replace(made, devices=(busier,)))
    there = replace(HERE, name="there")
    many = found.sweep([work, kernel("tiled")], [HERE, there])
    more = (*many.problems, Problem(8, 8, 8))
    turned = found.sweep([kernel("tiled"), work], [there, HERE])
    assert identity(replace(many, problems=more)) == identity(replace(turned, problems=more[::-1]))
    for other in (
        replace(made, variants=(replace(work, source=work.source + "\n"),)),
        replace(made, problems=(Problem(64, 64, 65),)),
        replace(made, policy=QUICK),
        replace(made, devices=(replace(HERE, driver_version="next"),)),
        replace(made, axes=(("work_1d", (("TS", (8,)),)),)),
    ):
        assert identity(made) != identity(other)
