"""Kernels and metadata that are at odds with a device: refused, rejected or found wrong."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.model import Argument, Device
from gemmviz.core.policy import fixed
from gemmviz.engine.plan import Engine
from tests.engine.runs import RIGHT, finish, make_job, own_kernel, run


def test_a_kernel_that_segfaults(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    stray = own_kernel(tmp_path, "C[(size_t)1 << 40] = A[0];")
    result = run(fresh, pocl, stray, (4, 4, 4))
    assert result.failure is not None
    assert result.failure.kind == "crash"
    assert "segmentation fault" in result.failure.sentence
    assert "out of bounds" in result.failure.sentence
    # Another of PoCL's threads may fault while the first one's report is being written.
    assert "Fatal Python error" in result.failure.detail


def test_arguments_by_value_by_constant_and_by_pointer(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    plain = own_kernel(tmp_path, RIGHT)
    source = plain.source.replace("int M, int N, int K)", "int M, __global const long *n, int K, "
                                  "float two)")  # fmt: skip
    source = source.replace("{\n", "{\n  const int N = (int)n[0];\n", 1).replace(
        "= s;", "= s * (real)two / 2;"
    )
    arguments = (
        *plain.arguments[:4],
        Argument("buffer", "N * element_bytes // element_bytes", "long"),
        Argument("value", "K if M else 0"),
        Argument("constant", "2.0", "float"),
    )
    result = run(fresh, pocl, replace(plain, source=source, arguments=arguments), (5, 6, 7))
    assert result.verdict == "verified", result.failure


def test_scratch_is_room_that_all_launches_share(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    """Each item keeps its sum there in place of a register."""
    body = RIGHT.replace("real s = 0;", "S[row * N + col] = 0;").replace(
        "s +=", "S[row * N + col] +="
    )
    plain = own_kernel(tmp_path, body.replace("= s;", "= S[row * N + col];"))
    kept = replace(
        plain,
        source=plain.source.replace("int K)", "int K, __global real *S)"),
        arguments=(*plain.arguments, Argument("scratch", "M * N * element_bytes")),
    )
    for policy in (None, replace(fixed(6), cache="rotating")):
        result = run(fresh, pocl, kept, (5, 6, 7), policy=policy)
        assert result.verdict == "verified", result.failure
        assert result.failure is None
    huge = replace(kept, arguments=(*plain.arguments, Argument("scratch", "M * 2199023255552")))
    refused = run(fresh, pocl, huge, (5, 6, 7))
    assert refused.failure is not None
    assert "Scratch takes" in refused.failure.sentence


def test_a_type_that_differs_from_the_metadata(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    plain = own_kernel(tmp_path, RIGHT)
    longer = replace(plain, source=plain.source.replace("int K)", "long K)"))
    result = run(fresh, pocl, longer, (4, 4, 4))
    assert result.failure is not None
    assert result.failure.kind == "launch"
    assert "Argument 5" in result.failure.sentence


def test_build_options_that_no_compiler_knows(fresh: Engine, pocl: Device) -> None:
    result = run(fresh, pocl, build_options="-nonsense")
    assert result.failure is not None
    assert result.failure.kind == "build"


def test_a_formula_without_a_value_at_this_shape(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    plain = own_kernel(tmp_path, RIGHT)
    for odd in (
        replace(plain, tile_rows="M // 32"),
        replace(plain, require=("K % (M - 4) >= 0",)),
        replace(plain, local_bytes="M - 8"),
    ):
        result = run(fresh, pocl, odd, (4, 4, 4))
        assert result.failure is not None
        assert result.failure.kind == "refused"


def test_a_build_error_has_the_compilers_words_with_our_file_and_line(
    fresh: Engine, pocl: Device, intel: Device, tmp_path: Path
) -> None:
    broken = own_kernel(tmp_path, "C[row * N + col] = nothing_like_it;")
    for device in (pocl, intel):
        result = run(fresh, device, broken, (4, 4, 4))
        assert result.failure is not None
        assert result.failure.kind == "build"
        assert "own.cl:4" in result.failure.detail
        assert "nothing_like_it" in result.failure.detail


def test_a_launch_that_the_driver_rejects(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    wide = own_kernel(tmp_path, RIGHT)
    wide = replace(wide, group=("100000", "1"), tile_cols="100000")
    predicted = run(fresh, pocl, wide, (4, 4, 4))
    assert predicted.failure is not None
    assert predicted.failure.kind == "refused"
    assert "100000" in predicted.failure.sentence
    forced = run(fresh, pocl, wide, (4, 4, 4), force=True)
    assert forced.failure is not None
    assert forced.failure.kind == "launch"
    assert "WORK" in forced.failure.sentence


def test_metadata_with_other_arguments_than_the_kernel(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    short = own_kernel(tmp_path, RIGHT)
    short = replace(short, arguments=short.arguments[:4])
    result = run(fresh, pocl, short, (4, 4, 4))
    assert result.failure is not None
    assert "takes 6 arguments and its metadata lists 4" in result.failure.sentence


@pytest.mark.parametrize("platform", ["pocl", "intel"])
def test_local_memory_over_the_limit(
    fresh: Engine, platform: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    device = request.getfixturevalue(platform)
    greedy = own_kernel(
        tmp_path,
        "__local real big[1 << 22]; big[K] = A[0]; barrier(CLK_LOCAL_MEM_FENCE); " + RIGHT,
    )
    greedy = replace(greedy, local_bytes="4194304 * element_bytes")
    predicted = run(fresh, device, greedy, (4, 4, 4))
    assert predicted.failure is not None
    assert predicted.failure.kind == "refused"
    assert "16 MiB of local memory" in predicted.failure.sentence
    forced = run(fresh, device, greedy, (4, 4, 4), force=True)
    # These two keep local memory in cache and never look at their own limit.
    assert forced.verdict == "verified"


def test_device_memory_exhausted(pocl: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCL_MEMORY_LIMIT", "1")  # GiB; the largest buffer is then smaller still
    engine = Engine()
    try:
        small = next(
            device
            for platform in engine.list_devices().platforms
            for device in platform.devices
            if device.key == pocl.key
        )
        assert small.max_alloc_bytes is not None
        assert small.max_alloc_bytes <= 2**30
        job = make_job(small, shape=(17_000, 17_000, 16))
        predicted = finish(engine, job, small)
        assert predicted.failure is not None
        assert predicted.failure.kind == "refused"
        assert "GiB" in predicted.failure.sentence or "MiB" in predicted.failure.sentence
        forced = finish(engine, replace(job, force=True), small)
        assert forced.failure is not None
        assert forced.failure.kind == "out_of_memory"
        assert run(engine, small).verdict == "verified"
    finally:
        engine.close()


def test_a_kernel_that_prints_does_not_disturb_the_wire(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    chatty = own_kernel(tmp_path, 'printf("{\\"type\\": \\"Finished\\"}\\n"); ' + RIGHT)
    result = run(fresh, pocl, chatty, (4, 4, 4), launches=20)
    assert result.verdict == "verified"
    assert sum(result.samples.launches) == 20


def test_a_kernel_that_writes_behind_c_is_wrong(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    stray = own_kernel(tmp_path, RIGHT + " if (row == 0 && col == 0) C[M * N + 2] = 1;")
    result = run(fresh, pocl, stray, (4, 4, 4))
    assert result.verdict == "wrong"
    assert result.check is not None
    assert (result.check.cells_wrong, result.check.overrun) == (0, 1)


def test_reading_behind_a_poisons_the_answer(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    over = own_kernel(tmp_path, RIGHT.replace("k < K", "k <= K"))
    result = run(fresh, pocl, over, (4, 4, 4))
    assert result.verdict == "wrong"
