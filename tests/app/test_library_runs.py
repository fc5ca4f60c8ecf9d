"""Runs of libraries in the app: shares of their speed, the details, and what does not apply."""

from __future__ import annotations

import csv
import io

from gemmviz.app import targets
from gemmviz.app.results_table import ResultsTableModel
from gemmviz.app.run_record import record_of
from gemmviz.app.targets import kernel_reason
from gemmviz.core.context import Context, LibraryFacts
from tests.app.fake_engine import H200, POCL, wrong_run

FACTS = LibraryFacts("OpenBLAS", "0.3.30", "Haswell", 4, "/lib/libopenblas.so")


def finish_both(state, finish):
    state.select_device(POCL)
    finish()
    state.choose_variant(state.catalog.find("blas"))
    finish()
    return state.book.runs


def test_the_share_of_a_library_comes_when_it_has_run(state, engine, finish, qtmodeltester):
    model = ResultsTableModel(state.book)
    state.select_device(POCL)
    finish()
    assert "Of library" not in model.header_line()
    assert state.book.library_share(state.book.runs[0]) is None
    state.choose_variant(state.catalog.find("blas"))
    finish()
    kernel, library = state.book.runs
    wanted = library.summary.median / kernel.summary.median
    assert state.book.library_share(kernel) == wanted
    assert state.book.library_share(library) == 1.0
    column = model.header_line().split("\t").index("Of library")
    assert model.index(1, column).data() == "100 %"
    engine.script = wrong_run
    finish()
    assert state.book.library_share(state.book.runs[2]) is None
    assert model.index(2, column).data() == "–"
    qtmodeltester.check(model)
    state.book.clear()
    engine.script = type(engine)().script
    finish()
    assert state.book.library_share(state.book.runs[0]) == 1.0


def test_the_csv_and_the_details_say_which_library_ran(state, finish):
    _, library = finish_both(state, finish)
    library.context = Context("1", "Linux", "3.11", "", library=FACTS)
    rows = list(csv.DictReader(io.StringIO(state.book.to_csv())))
    assert rows[1]["library"] == "OpenBLAS 0.3.30, Haswell kernels, 4 threads"
    assert rows[0]["library"] == ""
    assert float(rows[1]["library_share"]) == 1.0
    entries = dict(entry for section in record_of(library) for entry in section.entries)
    assert entries["Library"] == FACTS.text
    assert entries["Loaded from"] == FACTS.file
    assert entries["Kernel"] == "numpy's BLAS (blas.toml)"


def test_there_is_no_occupancy_of_a_library(state):
    state.select_device(H200)
    assert state.estimate is not None
    state.choose_variant(state.catalog.find("cublas"))
    assert state.estimate is None


def test_a_kernel_is_of_no_use_only_where_no_device_has_its_needs(state):
    blas = state.catalog.find("blas")
    assert kernel_reason(blas, (H200, POCL)) == ""
    assert kernel_reason(blas, ()) == ""
    assert "runs on a CPU alone" in kernel_reason(blas, (H200,))


def test_a_missing_library_is_told_where_a_device_could_use_it(state, monkeypatch):
    monkeypatch.setattr(targets, "absence", lambda variant: f"{variant.title} is missing.")
    cublas = state.catalog.find("cublas")
    assert kernel_reason(cublas, (H200,)) == "cuBLAS is missing."
    assert "runs on an NVIDIA device alone" in kernel_reason(cublas, (POCL,))
