"""What was measured: which kernel it belongs to, and what it says of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.model import Variant
from tests.core.advice.recorded import (
    CATALOG,
    H200,
    WRONG,
    blind,
    judged,
    measurement,
    seconds,
    situation,
)


def test_something_faster_that_was_measured_is_told_with_its_interval() -> None:
    about = situation("tiled", 4096, H200, seconds=seconds("tiled", 4096, 6.5))
    faster = measurement("register_2d", seconds("register_2d", 4096, 39.4))
    found = judged("record.faster", replace(about, measured=(faster, *about.measured)))
    assert found is not None
    assert found.kernel == "register_2d"
    assert found.gain_low == pytest.approx(39.4 / 6.5, rel=0.02)
    assert found.gain_high == pytest.approx(39.4 / 6.5, rel=0.02)


def test_the_fastest_and_a_wrong_one_are_not_told() -> None:
    about = situation("tiled", 4096, H200, seconds=0.02)
    slower = measurement("naive_strided", 0.14)
    wrong = measurement("tiling_tiled", 0.001, check=WRONG)
    assert (
        judged("record.faster", replace(about, measured=(slower, wrong, *about.measured))) is None
    )


def test_what_the_model_cannot_tell_apart_is_tried_a_few_times() -> None:
    best = {"BM": 128, "BN": 128, "TM": 8, "TN": 8}
    about = situation("register_2d", 4096, H200, seconds=0.0035, **best)
    tried = set()
    while (found := judged("record.untried", about, blind)) is not None:
        assert found.gain_low < 1.0 < found.gain_high
        assert found.parameters not in tried
        tried.add(found.parameters)
        slower = measurement("register_2d", 0.0036, **dict(found.parameters))
        about = replace(about, measured=(slower, *about.measured))
    assert 1 <= len(tried) <= 4


def test_nothing_is_tried_on_from_what_is_not_the_fastest() -> None:
    about = situation("register_2d", 4096, H200, seconds=0.0035, TN=8)
    faster = measurement("register_2d", 0.003)
    assert (
        judged("record.untried", replace(about, measured=(faster, *about.measured)), blind) is None
    )
    assert judged("record.untried", situation("register_2d", 4096, H200, TN=8), blind) is None


def test_what_a_library_took_hides_nothing_that_a_kernel_took() -> None:
    about = situation("tiled", 4096, H200, seconds=seconds("tiled", 4096, 6.5))
    faster = measurement("register_2d", seconds("register_2d", 4096, 39.4))
    library = measurement("clblast", seconds("register_2d", 4096, 50.0))
    told = judged("record.faster", replace(about, measured=(*about.measured, faster, library)))
    assert told is not None
    assert told.kernel == "register_2d"


def test_the_fastest_kernel_is_tried_on_though_a_library_is_faster() -> None:
    best = {"BM": 128, "BN": 128, "TM": 8, "TN": 8}
    about = situation("register_2d", 4096, H200, seconds=0.0035, **best)
    measured = (*about.measured, measurement("clblast", 0.0025))
    alone = judged("record.untried", about, blind)
    assert alone is not None
    beside = judged("record.untried", replace(about, measured=measured), blind)
    assert beside is not None
    assert (beside.kernel, beside.parameters) == (alone.kernel, alone.parameters)


def test_a_library_says_nothing_of_a_kernel_that_was_not_measured() -> None:
    about = situation("tiled", 4096, H200)
    own = replace(CATALOG.find("clblast"), family="user")
    library = replace(about, measured=(replace(measurement("clblast", 0.002), variant=own),))
    found, same = Outlook(about, blind), Outlook(library, blind)
    assert [same.seconds(f) for f in same.others] == [found.seconds(f) for f in found.others]


def test_a_library_that_is_slower_than_a_kernel_is_told() -> None:
    clblast = CATALOG.find("clblast")
    faster = measurement("register_2d", 0.004)
    about = replace(situation("tiled", 4096, H200), variant=clblast, parameters=(),
                    measured=(measurement("clblast", 0.008), faster))  # fmt: skip
    found = judged("record.faster", about, blind)
    assert found is not None
    assert found.kernel == "register_2d"
    assert found.gain_low == pytest.approx(2.0, rel=0.02)


# --- kernels of the same name


def own_tiled() -> Variant:
    """A person's own kernel that is called like one of the catalogue."""
    tiled = CATALOG.find("tiled")
    return replace(tiled, family="user", source=tiled.source + "// mine")


def test_what_a_kernel_of_the_same_name_did_is_not_this_ones() -> None:
    own = own_tiled()
    about = situation("tiled", 512, H200, seconds=0.001, check=WRONG)
    mine = replace(about, variant=own, candidates=(*about.candidates, own))
    assert about.here is not None
    assert mine.here is None
    assert judged("correctness.wrong", mine) is None
    edited = replace(mine.variant, source=own.source + "// again")
    measured = replace(measurement("tiled", 0.001), variant=own)
    assert replace(mine, measured=(measured,)).here == measured
    assert replace(mine, variant=edited, measured=(measured,)).here is None


def test_a_kernel_of_the_same_name_can_be_advised_and_is_the_one_meant() -> None:
    own = own_tiled()
    about = situation("tiled", 512, H200)
    measured = (replace(measurement("tiled", 0.002), variant=own), measurement("tiled", 0.001))
    mine = replace(about, variant=own, candidates=(*about.candidates, own), measured=measured)
    found = judged("record.faster", mine, blind)
    assert found is not None
    assert found.kernel == "tiled"
    assert found.variant == CATALOG.find("tiled")
    outlook = Outlook(mine, blind)
    assert outlook.here is not None
    assert outlook.here.variant == own
    assert {f.variant for f in outlook.own} == {own}
