from __future__ import annotations

import sqlite3
import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.core.context import Context, LibraryFacts
from gemmviz.core.model import Check, Failure, KernelFacts, Outside, Problem, Samples
from gemmviz.core.policy import CAREFUL, UNTIL_STOPPED
from gemmviz.core.store import Filter, ResultStore, StoreError
from gemmviz.core.trust import DeviceTimer
from tests.app.fake_engine import H200, INTEL, POCL, WRONG
from tests.core.store.saved import KERNEL, filled, same, saved
from tests.views.error_maps import error_map


@pytest.fixture
def store(tmp_path):
    made = ResultStore.open(tmp_path / "a.gemmviz")
    yield made
    made.close()


def test_a_result_comes_back_whole(store):
    result = saved()
    number = store.add(result)
    assert same(store.result(number), result)
    row = store.row(number)
    assert (row.kernel, row.m, row.element, row.verdict) == ("tiled", 64, "float", "verified")
    assert row.device == "pthread-cpu · PoCL 3.0-rc2"
    assert row.median_seconds == pytest.approx(1e-3, rel=1e-3)
    assert row.flops_per_second == pytest.approx(2 * 64**3 / row.median_seconds)
    assert (row.samples, row.launches, row.version) == (12, 12, "1.2.3")
    assert len(store.result(number, samples=False).samples) == 0


_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_SMALL = st.integers(0, 10**6)
_REAL = st.floats(0, 1e6)
_FAILURES = st.none() | st.builds(Failure, st.sampled_from(["hang", "build", "wrong"]), _TEXT)
_CHECKS = st.none() | st.builds(
    Check, st.sampled_from(["verified", "wrong", "unchecked"]), _SMALL, _SMALL, _SMALL,
    max_error=st.floats(allow_nan=False), worst_value=st.sampled_from([float("inf"), -0.0, 1.5]),
    outside=st.lists(
        st.builds(Outside, st.sampled_from("ABC"), st.just("behind"), _SMALL), max_size=2
    ).map(tuple),
    cells_differing=st.none() | _SMALL, pattern=_TEXT,
)  # fmt: skip
_CONTEXTS = st.none() | st.builds(
    Context, _TEXT, _TEXT, _TEXT, _TEXT,
    environment=st.lists(st.tuples(_TEXT, _TEXT), max_size=2).map(tuple),
    affinity=st.sampled_from([None, True, False]), load=st.none() | _REAL,
    cores=st.none() | _SMALL,
    library=st.none() | st.builds(LibraryFacts, _TEXT, _TEXT, threads=st.none() | _SMALL),
)  # fmt: skip
_PROBLEMS = st.builds(
    Problem, *[st.integers(1, 2**31 - 1)] * 3, st.sampled_from(["half", "float", "double"]),
    _SMALL, st.sampled_from(["nn", "nt", "tn", "tt"]), st.sampled_from(["", "row", "column"]),
    _REAL, _REAL,
)  # fmt: skip
_FACTS = st.none() | st.builds(
    KernelFacts, st.none() | _SMALL, compiled_group=st.sampled_from([None, (), (8, 8)])
)


@st.composite
def results(draw):
    """Results of all that a run may know or not know."""
    text, flag, real = draw(_TEXT), draw(st.booleans()), draw(_REAL)
    variant = replace(KERNEL, source=text, summary=text, rung=3, require=(text,), general=flag)
    job = replace(
        saved().job, variant=variant, problem=draw(_PROBLEMS), check=flag, force=flag,
        policy=draw(st.sampled_from([CAREFUL, UNTIL_STOPPED])), build_options=text,
        launch_limit_seconds=real, parameters=draw(st.sampled_from([(), (("TS", 8), ("PAD", 0))])),
        dummy_local_bytes=7,
    )  # fmt: skip
    return saved(
        job=job, device=draw(st.sampled_from([POCL, INTEL, H200])), check=draw(_CHECKS),
        failure=draw(_FAILURES), context=draw(_CONTEXTS), facts=draw(_FACTS), stopped=flag,
        build_log=text, finished_at=real, discarded=3, quantiles=(),
        timer=DeviceTimer(real, None, real, real, None),
        trust=draw(st.sampled_from([None, saved().trust])),
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(results())
def test_every_field_comes_back(shared_store, result):
    number = shared_store.add(result)
    assert same(shared_store.result(number), result)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    made = ResultStore.open(tmp_path_factory.mktemp("store") / "a.gemmviz")
    yield made
    made.close()


def test_texts_that_results_share_are_kept_once(tmp_path):
    long = "".join(f"line {number}\n" for number in range(20_000))
    shared = replace(KERNEL, source=long)
    path = tmp_path / "a.gemmviz"
    store = ResultStore.open(path)
    for size in range(1, 51):
        result = saved(size)
        store.add(replace(result, job=replace(result.job, variant=shared), build_log=long))
    store.close()
    connection = sqlite3.connect(path)
    (kept,) = connection.execute("SELECT count(*) FROM texts").fetchone()
    connection.close()
    assert kept == 4  # the source, which is the log too, the rest of the kernel, device, context
    assert path.stat().st_size < 4 * len(long)


def test_a_run_that_goes_on_is_saved_as_it_comes(store):
    result = saved(stopped=False, stop_reason="")
    number = store.begin(result)
    assert store.row(number).running
    half = Samples(*(values[:6] for values in (
        result.samples.launches, result.samples.seconds, result.samples.at)))  # fmt: skip
    rest = Samples(*(values[6:] for values in (
        result.samples.launches, result.samples.seconds, result.samples.at)))  # fmt: skip
    store.extend(number, half)
    so_far = store.result(number)
    assert tuple(so_far.samples.seconds) == half.seconds
    assert so_far.stopped
    store.extend(number, rest)
    assert tuple(store.result(number).samples.seconds) == result.samples.seconds
    store.restart(number)
    assert len(store.result(number).samples) == store.row(number).samples == 0
    store.finish(number, result)
    assert same(store.result(number), result)
    assert not store.row(number).running


def test_what_becomes_known_of_a_run_is_described(store):
    number = store.begin(saved(check=None, facts=None, samples=Samples()))
    store.extend(number, saved().samples)
    store.describe(number, saved(samples=Samples()))
    found = store.result(number)
    assert found.check == saved().check
    assert len(found.samples) == 12


def later(monkeypatch, seconds: float) -> None:
    """Sets the clock forward."""
    then = time.time() + seconds
    monkeypatch.setattr(time, "time", lambda: then)


def test_a_run_that_nobody_ends_is_settled_with_its_figures(tmp_path, monkeypatch):
    path = tmp_path / "a.gemmviz"
    store = ResultStore.open(path)
    number = store.begin(saved())
    store.extend(number, saved().samples)
    assert store.settle() == 0
    later(monkeypatch, 3600.0)
    assert not store.row(number).running
    assert store.row(number).verdict == "stopped"
    store.close()
    again = ResultStore.open(path)
    row = again.row(number)
    assert not row.running
    assert row.median_seconds == pytest.approx(1e-3, rel=1e-3)
    assert again.result(number).stopped
    again.close()


def test_settling_a_run_drops_none_of_its_samples(tmp_path, monkeypatch):
    path = tmp_path / "a.gemmviz"
    store = ResultStore.open(path)
    number = store.begin(saved())
    store.extend(number, saved(count=12).samples)
    store.close()
    later(monkeypatch, 3600.0)
    with monkeypatch.context() as patch:
        patch.setattr("gemmviz.core.store.reading.MOST_SAMPLES", 5)
        ResultStore.open(path).close()
    again = ResultStore.open(path)
    assert not again.row(number).running
    assert len(again.result(number).samples) == 12
    again.close()


def test_a_dropped_run_is_gone(store):
    number = store.begin(saved())
    store.extend(number, saved().samples)
    store.drop(number)
    assert store.row(number) is None
    with pytest.raises(StoreError, match=f"no result {number}"):
        store.result(number)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "a.gemmviz"
    store = ResultStore.open(path)
    wrong = saved(32, check=WRONG, failure=Failure("wrong", "Wrong: 32,000 cells."))
    hung = saved(48, check=None, failure=Failure("hang", "It hung."), samples=Samples())
    tall = saved(16)
    tall = replace(tall, job=replace(tall.job, problem=Problem(8, 4, 2, "double", beta=2.0)))
    for result in (saved(16, 4e-3), wrong, hung, tall, saved(64, device=H200), saved(64, 5e-4)):
        store.add(result)
    store.annotate([1, 6], note="Nach dem Umbau: SCHNELLER 100%")
    store.annotate([2, 6], tags=["Paper", "nightly run"])
    store.add(saved(128), sweep=store.put_sweep("first"))
    store.add(saved(256), sweep=store.put_sweep("second"))
    yield store
    store.close()


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Filter(), [8, 7, 6, 5, 4, 3, 2, 1]),
        (Filter(order="oldest"), [1, 2, 3, 4, 5, 6, 7, 8]),
        (Filter(devices=("NVIDIA H200 · CUDA 12.8.1",)), [5]),
        (Filter(devices=("NVIDIA H200 · CUDA 12.8.1", "pthread-cpu · PoCL 3.0-rc2")),
         [8, 7, 6, 5, 4, 3, 2, 1]),
        (Filter(kernel="tiled", shape=(64, 64, 64)), [6, 5]),
        (Filter(kernel="naive"), []),
        (Filter(element="double"), [4]),
        (Filter(verdict="wrong"), [2]),
        (Filter(verdict="failed"), [3]),
        (Filter(tag="paper"), [6, 2]),
        (Filter(tag="night"), []),
        (Filter(sweep=1), [7]),
        (Filter(text="umbau schneller"), [6, 1]),
        (Filter(text="100%"), [6, 1]),
        (Filter(text="H200 ts=16"), [5]),
        (Filter(text="beta"), [4]),
        (Filter(text="hung"), [3]),
        (Filter(text="nightly", verdict="wrong"), [2]),
        (Filter(text="%"), [6, 1]),
        (Filter(text="'; DROP TABLE results; --"), []),
        (Filter(order="fastest", text="pthread", element="float"), [8, 7, 6, 2, 1, 3]),
    ],
)  # fmt: skip
def test_filters(many, wanted, ids):
    assert list(many.rows(wanted).ids) == ids


def test_what_can_be_chosen(many):
    choices = many.choices()
    assert choices.devices == ("NVIDIA H200 · CUDA 12.8.1", "pthread-cpu · PoCL 3.0-rc2")
    assert choices.kernels == (("tiled", "Tiled in local memory"),)
    assert (8, 4, 2) in choices.shapes
    assert choices.tags == ("nightly", "paper", "run")


def test_results_of_a_sweep(many):
    assert [number for number, _ in many.results(sweep=2)] == [8]
    assert many.sweeps() == ((1, "first"), (2, "second"))
    assert many.put_sweep("first") == 1
    assert sum(1 for _ in many.results(samples=False)) == 8


def test_rows_are_a_sequence_that_reads_page_by_page(tmp_path):
    filled(tmp_path / "a.gemmviz", 450)
    store = ResultStore.open(tmp_path / "a.gemmviz", read_only=True)
    rows = store.rows()
    assert len(rows) == 450
    assert (rows[0].m, rows[449].m, rows[-1].m, rows[200].m) == (450, 1, 1, 250)
    assert [row.m for row in rows[10:13]] == [440, 439, 438]
    assert sum(row.m for row in rows) == 450 * 451 // 2
    with pytest.raises(IndexError):
        rows[450]
    store.close()


def test_notes_and_tags_are_written_apart(store):
    number = store.add(saved())
    store.annotate([number], note="first")
    store.annotate([number], tags=["b", "A b"])
    row = store.row(number)
    assert (row.note, row.tags) == ("first", ("a", "b"))
    store.annotate([number], note="")
    assert store.row(number).note == ""
    assert len(store.rows(Filter(text="first"))) == 0
    store.annotate([12345], note="nobody")


def test_deleted_results_come_back_until_a_week_later(tmp_path, monkeypatch):
    path = tmp_path / "a.gemmviz"
    first, second, third = filled(path, 3)
    store = ResultStore.open(path)
    store.delete([first, third])
    assert list(store.rows().ids) == [second]
    assert list(store.rows(Filter(deleted=True)).ids) == [third, first]
    store.restore([third])
    assert list(store.rows().ids) == [third, second]
    store.close()
    later(monkeypatch, 8 * 24 * 3600.0)
    ResultStore.open(path).close()
    store = ResultStore.open(path)
    assert store.row(first) is None
    assert list(store.rows().ids) == [third, second]
    store.close()


def test_a_batch_is_written_whole_or_not_at_all(store):
    def broken() -> None:
        with store.batch():
            store.add(saved())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert len(store.rows()) == 0
    number = store.add(saved())  # its texts were rolled back as well
    assert same(store.result(number), saved())


def test_threads_write_and_read_at_the_same_time(store):
    def write(first: int) -> None:
        for size in range(first, first + 10):
            store.add(saved(size))

    threads = [threading.Thread(target=write, args=(100 * place + 1,)) for place in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert len(store.rows()) <= 30
    assert len(store.rows()) == 30
    assert all(same(result, saved(result.job.problem.m)) for _, result in store.results())


def test_a_copy_has_everything_and_never_replaces_a_file(store, tmp_path):
    number = store.add(saved())
    store.annotate([number], note="kept")
    store.save_copy(tmp_path / "b.gemmviz")
    with pytest.raises(StoreError, match="is there already"):
        store.save_copy(tmp_path / "b.gemmviz")
    copy = ResultStore.open(tmp_path / "b.gemmviz")
    assert same(copy.result(number), saved())
    assert copy.row(number).note == "kept"
    copy.close()


def test_a_wrong_result_keeps_its_error_map(store):
    result = saved(check=WRONG, error_map=error_map())
    assert store.result(store.add(result)).error_map == result.error_map


def test_findings_are_kept_newest_first(store):
    store.put_finding("Ladder", "the ladder on pthread-cpu", '{"rungs": []}')
    store.put_finding("Comparison", "a against b", "[1]")
    found = store.findings()
    assert [(each.id, each.kind, each.text) for each in found] == [
        (2, "Comparison", "[1]"), (1, "Ladder", '{"rungs": []}'),
    ]  # fmt: skip
    assert found[0].moment > 1.7e9


def test_nothing_can_be_asked_of_a_closed_store(tmp_path):
    store = ResultStore.open(tmp_path / "a.gemmviz")
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.add(saved())
