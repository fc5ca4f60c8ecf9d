"""What a sweep recommends, saved as a person's own defaults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.defaults import DefaultsError, save_defaults
from gemmviz.core.launch import default_parameters, merge_parameters
from gemmviz.core.model import Parameters, Problem, Variant
from gemmviz.core.sweep import Configuration, Sweep, Winner
from gemmviz.core.tuned import own_file, tuned_parameters
from tests.core.sweeps import HERE, kernel

WORK = kernel("work_1d")


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def chosen(variant: Variant = WORK, **values: int) -> Parameters:
    return merge_parameters(variant, values)


def save(*won: tuple[int, Parameters], element: str = "float", variant: Variant = WORK) -> Path:
    problems = tuple(Problem(size, size, size, element) for size, _ in won)
    winners = []
    for problem, (_, parameters) in zip(problems, won, strict=True):
        name = Configuration(variant.id, parameters, problem, 0)
        winners.append(Winner(problem, 0, (name,), name, 0.99))
    return save_defaults(Sweep((variant,), (), problems, (HERE,)), winners)


def taken(size: int, element: str = "float", variant: Variant = WORK) -> Parameters:
    return tuned_parameters(variant, Problem(size, size, size, element), HERE)


def test_they_are_taken_where_none_are_given(config: Path) -> None:
    assert taken(512) == default_parameters(WORK)
    file = save((512, chosen(TS=16, WPT=4)))
    assert file == own_file() == config / "gemmviz" / "tuned.toml"
    assert taken(512) == taken(77) == chosen(TS=16, WPT=4)
    assert taken(512, "double") == default_parameters(WORK)
    assert 'source = "a sweep at 512 x 512 x 512 float, 99.0% sure"' in file.read_text()
    elsewhere = replace(HERE, name="another")
    assert tuned_parameters(WORK, Problem(8, 8, 8), elsewhere) == default_parameters(WORK)


def test_each_size_stands_for_the_shapes_around_it() -> None:
    save((1024, chosen(TS=32, WPT=2)), (64, chosen(TS=8, WPT=1)))
    assert taken(16) == taken(64) == taken(250) == chosen(TS=8, WPT=1)
    assert taken(260) == taken(4096) == chosen(TS=32, WPT=2)


def test_new_ones_take_the_place_of_the_same_kernel_device_and_type() -> None:
    tiled = kernel("tiled")
    save((64, chosen(TS=16)))
    save((64, chosen(TS=32)), element="double")
    save((64, chosen(tiled, TS=8)), variant=tiled)
    save((64, chosen(TS=8, WPT=2)))
    assert taken(64) == chosen(TS=8, WPT=2)
    assert taken(64, "double") == chosen(TS=32)
    assert taken(64, variant=tiled) == chosen(tiled, TS=8)
    assert own_file().read_text().count("[[sets]]") == 3


def test_a_set_that_cannot_run_or_is_of_another_day_is_passed_over() -> None:
    save((64, chosen(TS=64, WPT=1)))
    # 4096 work-items are more than this device takes.
    assert taken(64) == default_parameters(WORK)
    save((64, chosen(TS=16, WPT=1)))
    others = replace(WORK, parameters=WORK.parameters[:1])
    assert taken(64, variant=others) == default_parameters(others)


def test_they_serve_a_persons_own_kernel_too() -> None:
    own = replace(WORK, id="mine", family="user")
    save((64, chosen(TS=16, WPT=1)), variant=own)
    assert taken(64, variant=own) == chosen(TS=16, WPT=1)


def test_a_damaged_file_is_not_used_and_not_overwritten() -> None:
    file = own_file()
    file.parent.mkdir(parents=True)
    file.write_text("[[sets]]\nkernel = ")
    assert taken(64) == default_parameters(WORK)
    with pytest.raises(DefaultsError, match="is damaged; mend or delete it"):
        save((64, chosen(TS=16)))
    assert file.read_text() == "[[sets]]\nkernel = "
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("no folder")
    with pytest.raises(DefaultsError, match="cannot be written"):
        save((64, chosen(TS=16)))
