from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.changes import Change, changes_between, to_text
from gemmviz.core.context import LibraryFacts
from gemmviz.core.model import Failure, Problem, Samples
from tests.app.fake_engine import CONTEXT, FACTS, H200, POCL, WRONG
from tests.core.store.saved import KERNEL, saved


def changed(**fields) -> tuple[Change, ...]:
    return changes_between(saved(), saved(**fields)).entries


def with_job(**fields):
    return {"job": replace(saved().job, **fields)}


def with_context(**fields):
    return {"context": replace(CONTEXT, **fields)}


def test_equal_results_differ_in_nothing():
    changes = changes_between(saved(), saved(finished_at=5.0))
    assert (changes.entries, changes.source) == ((), ())
    assert "Neither is surely faster: their intervals overlap" in changes.speed
    assert to_text(changes).endswith("Nothing else is different.")


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        (with_job(parameters=(("TS", 8),)), Change("Kernel", "Parameters", "TS=16", "TS=8")),
        (with_job(problem=Problem(64, 64, 64, seed=8)), Change("Problem", "Seed", "7", "8")),
        (with_job(problem=Problem(64, 64, 64, "double", 7)),
         Change("Problem", "Problem", "64 × 64 × 64 float", "64 × 64 × 64 double")),
        (with_context(app_version="2.0"), Change("Circumstances", "gemmviz", "1.2.3", "2.0")),
        (with_context(build_options="-cl-fast-relaxed-math"),
         Change("Kernel", "Build options", "-cl-std=CL1.2", "-cl-fast-relaxed-math")),
        (with_context(affinity=False),
         Change("Circumstances", "Workers pinned to cores", "yes", "no")),
        (with_context(load=None), Change("Circumstances", "Load at the start", "0.2", "–")),
        (with_context(environment=(("POCL_AFFINITY", "0"),)),
         Change("Environment", "POCL_AFFINITY", "1", "0")),
        (with_context(environment=()), Change("Environment", "POCL_AFFINITY", "1", "–")),
        (with_context(library=LibraryFacts("OpenBLAS", "0.3", file="/lib/b.so")),
         Change("Kernel", "Library", "–", "OpenBLAS 0.3 (/lib/b.so)")),
        ({"facts": replace(FACTS, local_bytes=4096)},
         Change("Built kernel", "Local memory", "2.00 KiB", "4 KiB")),
        ({"build_log": ""}, Change("Built kernel", "Build log", "one warning", "–")),
        ({"check": WRONG}, Change("Answer", "Verdict", "✓ verified", "✗ wrong")),
        ({"failure": Failure("hang", "It hung.")}, Change("Answer", "Failure", "–", "It hung.")),
        ({"device": replace(POCL, driver_version="4.0")},
         Change("Device", "Driver", "–", "4.0")),
        ({"stopped": True}, Change("Measurement", "Ended because",
                                   "the interval of the median became narrow enough",
                                   "stopped by hand")),
    ],
)  # fmt: skip
def test_each_difference_is_named(fields, change):
    assert change in changed(**fields)


def test_what_a_driver_says_otherwise():
    first, *others = POCL.properties
    grown = replace(POCL, properties=(replace(first, value=2**21), *others[1:]))
    assert [(entry.name, entry.before, entry.after) for entry in changed(device=grown)] == [
        ("LOCAL_MEM_SIZE", "1 MiB", "2 MiB"),
        ("MAX_CLOCK_FREQUENCY", "0 Hz", "–"),
    ]
    names = [entry.section for entry in changed(device=H200)]
    assert "What the driver says" not in names  # of another device everything would be other


def test_the_speed_in_words():
    assert changes_between(saved(), saved(64, 5e-4)).speed.startswith("The second is 2 times fas")
    assert (
        "1.5 times slower: 1.50 ms after 1.00 ms"
        in changes_between(saved(), saved(64, 1.5e-3)).speed
    )
    assert "means nothing" in changes_between(saved(), saved(64, 5e-4, check=WRONG)).speed
    assert "different sizes" in changes_between(saved(), saved(32)).speed
    assert "Without samples" in changes_between(saved(), saved(samples=Samples())).speed


def test_a_few_samples_judge_nothing():
    """Far apart as they are, fewer than six cannot bound their median."""
    few = changes_between(saved(64, 1e-3, 3), saved(64, 2e-3)).speed
    assert few == (
        "From 3 and 12 samples it cannot be said which one is faster "
        "(medians: 2.00 ms after 1.00 ms)."
    )


def source_of(text: str):
    job = saved().job
    return saved(job=replace(job, variant=replace(KERNEL, source=text)))


def test_sources_are_compared_line_by_line():
    first = source_of("a\nb\nc\n")
    assert changes_between(first, source_of("a\nB\nc\n")).source == (
        "--- tiled.cl of the first", "+++ tiled.cl of the second", "@@ -1,3 +1,3 @@", " a", "-b",
        "+B", " c",
    )  # fmt: skip
    assert "too many" in changes_between(first, source_of("x\n" * 5000)).source[0]
    long = changes_between(source_of("a\n" * 3000), source_of("b\n" * 3000)).source
    assert long[-1].endswith("more lines")
    ends = changes_between(first, source_of("a\r\nb\r\nc\r\n")).source
    assert ends == ("the sources differ only in the ends of their lines",)


def test_a_value_that_nobody_reads_to_its_end_is_cut():
    log = next(each for each in changed(build_log="w" * 10**6) if each.name == "Build log")
    assert log.after.endswith("w ... 996,000 more characters")
    assert len(log.after) < 4100
    long = replace(saved().job, variant=replace(KERNEL, source="x" * 10**6))
    assert max(map(len, changes_between(saved(), saved(job=long)).source)) < 4100
