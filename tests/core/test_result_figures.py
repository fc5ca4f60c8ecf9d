"""The figures of results as rows and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from gemmviz.core.model import Check, Failure, Samples
from gemmviz.core.result_figures import COLUMNS, figures, table, to_csv
from tests.app.fake_engine import INTEL
from tests.core.store.saved import saved


def test_every_column_is_told_in_si_units() -> None:
    (row,) = table([(5, saved())])
    session = {"occupancy", "speed_up", "bytes_per_second", "bandwidth_share"}
    assert set(row) == set(COLUMNS) - session
    assert row["id"] == 5
    assert row["median_seconds"] == pytest.approx(1e-3, rel=1e-4)
    assert row["low_seconds"] <= row["median_seconds"] <= row["high_seconds"]
    assert row["flops_per_second"] == pytest.approx(2 * 64**3 / row["median_seconds"])
    assert row["finished_at"] == "2023-11-14T22:14:24+00:00"
    assert row["order"] == "row"
    assert row["parameters"] == {"TS": 16}
    assert (row["samples"], row["launches"]) == (12, 12)
    assert row["timer"] == "events trusted"


def test_batches_count_by_the_launch() -> None:
    row = figures(saved(samples=Samples((10, 10), (0.02, 0.02), (0.02, 0.04))))
    assert row["median_seconds"] == pytest.approx(2e-3)
    assert row["launches"] == 20


def test_what_is_not_known_is_none() -> None:
    failed = saved(samples=Samples(), check=None, failure=Failure("build", "No."), context=None,
                   trust=None, finished_at=0.0)  # fmt: skip
    row = figures(failed)
    for name in ("median_seconds", "flops_per_second", "drift", "max_error", "verdict", "load",
                 "finished_at"):  # fmt: skip
        assert row[name] is None, name
    assert row["failure"] == "No."


def test_the_share_of_the_library_needs_a_library_on_the_same_device() -> None:
    own = saved(seconds=2e-3)
    variant = replace(own.job.variant, id="blas", library="blas")
    library = saved(seconds=1e-3, job=replace(own.job, variant=variant))
    elsewhere = saved(seconds=2e-3, device=INTEL)
    wrong = saved(seconds=1e-3, check=Check("wrong", 64, 64, 64, cells_wrong=1))
    rows = table([(1, own), (2, library), (3, elsewhere), (4, wrong)])
    shares = [row["library_share"] for row in rows]
    assert shares[0] == pytest.approx(0.5, rel=1e-3)
    assert shares[1] == 1.0
    assert shares[2:] == [None, None]


def test_csv_comes_back() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(table([(1, saved()), (2, saved(128))])))))
    assert list(rows[0]) == list(COLUMNS)
    assert rows[0]["occupancy"] == ""
    assert [row["m"] for row in rows] == ["64", "128"]
    assert float(rows[0]["median_seconds"]) == table([(1, saved())])[0]["median_seconds"]
    assert rows[0]["parameters"] == "TS=16"
    assert rows[0]["quiet"] == "no"
    assert rows[0]["library_share"] == ""
    assert rows[0]["build_options"] == "-cl-std=CL1.2"


@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\t=1", "-cl-std+cmd|'/C calc'!A0", '-cl-f("x")']
)
def test_no_text_becomes_a_formula(text) -> None:
    result = saved(device=replace(INTEL, name=text))
    row = next(csv.DictReader(io.StringIO(to_csv(table([(1, result)])))))
    assert row["device"] == f"'{text}"
