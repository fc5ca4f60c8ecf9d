"""Libraries in a real child on real devices: right answers, what ran, and what is missing."""

import gc
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gemmviz.core.comparison import Comparison
from gemmviz.core.messages import Phase
from gemmviz.core.model import Device, Job, Problem, Result
from gemmviz.core.policy import QUICK, fixed
from gemmviz.engine.bench import Bench
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.libraries.blas import HostMemory
from gemmviz.engine.libraries.cuda import _parts
from gemmviz.engine.matrices import Matrices
from gemmviz.engine.plan import Engine
from tests.engine.fake_cuda import FakeCuda
from tests.engine.runs import CATALOG, finish, make_job, run

RAGGED = [(1, 1, 1), (17, 33, 65), (100, 1, 7), (1, 40, 300), (130, 70, 33)]


@pytest.mark.parametrize("element", ["float", "double"])
@pytest.mark.parametrize("shape", RAGGED)
def test_blas_is_right_at_ragged_shapes(
    engine: Engine, pocl: Device, shape: tuple[int, int, int], element: str
) -> None:
    result = run(engine, pocl, "blas", shape, element)
    assert result.verdict == "verified", result.failure
    assert result.check is not None
    assert result.check.cells_differing == 0


def test_blas_says_what_ran_and_by_which_clock(engine: Engine, pocl: Device) -> None:
    result = run(engine, pocl, "blas", (96, 96, 96), launches=5)
    assert result.context is not None
    facts = result.context.library
    assert facts is not None
    assert facts.name == "OpenBLAS"
    assert facts.version
    assert facts.kernel
    assert facts.threads == pocl.compute_units
    assert facts.file.endswith(".so")
    assert result.trust is not None
    assert (result.trust.source, result.trust.badge) == ("host", "host timing used")
    assert "no events" in result.trust.sentence
    assert result.quantiles == ()
    assert sum(result.samples.launches) == 5
    assert run(engine, pocl).context.library is None  # type: ignore[union-attr]


@pytest.mark.parametrize("cache", ["rotating", "flush"])
def test_blas_with_other_caches(engine: Engine, pocl: Device, cache: str) -> None:
    policy = replace(fixed(6), cache=cache)  # type: ignore[arg-type]
    result = run(engine, pocl, "blas", (40, 40, 40), policy=policy)
    assert result.verdict == "verified"
    assert sum(result.samples.launches) == 6


def test_a_kernel_against_a_library_gets_a_word(engine: Engine, pocl: Device) -> None:
    jobs = [make_job(pocl, name, (64, 64, 64), policy=QUICK) for name in ("tiled", "blas")]
    *_, outcome = engine.compare(jobs, [pocl, pocl], 10**6)
    assert isinstance(outcome, Comparison)
    assert outcome.failure is None
    (versus,) = outcome.versus
    assert versus.word in ("faster", "slower", "same", "undecided")
    assert [result.verdict for result in outcome.results] == ["verified", "verified"]
    # A ratio of two clocks would mean nothing.
    assert [result.trust.source for result in outcome.results] == ["host", "host"]  # type: ignore[union-attr]
    assert "Another kernel" in outcome.results[0].trust.sentence  # type: ignore[union-attr]


def test_blas_is_refused_where_the_device_is_no_cpu(engine: Engine, pocl: Device) -> None:
    result = finish(engine, make_job(pocl, "blas"), replace(pocl, type="GPU"))
    assert result.failure is not None
    assert result.failure.kind == "refused"
    assert "runs on a CPU alone" in result.failure.sentence


@pytest.mark.timeout(300)  # it compiles all its kernels, for each element type anew
def test_clblast_is_right(engine: Engine, pocl: Device) -> None:
    job = make_job(pocl, "clblast", (17, 33, 65), launches=3)
    *messages, result = engine.run(job, pocl)
    assert isinstance(result, Result)
    assert result.verdict == "verified", result.failure
    assert result.context is not None
    assert result.context.library is not None
    assert result.context.library.name == "CLBlast"
    assert result.context.library.version.startswith("1.")
    assert result.trust is not None
    assert "clFinish" in result.trust.sentence
    # Compiling must not be held for a launch that hangs.
    phases = [message for message in messages if isinstance(message, Phase)]
    assert [phase.limited for phase in phases if phase.name in ("build", "prepare")] == [False] * 2


@pytest.mark.timeout(300)
def test_clblast_runs_with_parameters_and_again_without(engine: Engine, pocl: Device) -> None:
    for name, kernel in (("clblast_tuned", "Xgemm"), ("clblast", "XgemmDirect")):
        result = run(engine, pocl, name, (17, 33, 65), launches=3)
        assert result.verdict == "verified", result.failure
        assert result.context is not None
        assert result.context.library is not None
        assert result.context.library.kernel == kernel


@pytest.mark.timeout(300)
def test_clblast_is_right_in_every_form(engine: Engine, pocl: Device) -> None:
    for transpose, order in (("nn", "column"), ("nt", "row"), ("tn", "column"), ("tt", "row")):
        job = make_job(pocl, "clblast", (17, 33, 65))
        problem = replace(
            job.problem, transpose=transpose, order=order, alpha=0.5, beta=-2.0  # type: ignore[arg-type]
        )  # fmt: skip
        result = finish(engine, replace(job, problem=problem), pocl)
        assert result.verdict == "verified", (transpose, order, result.failure)


def test_a_library_that_is_missing_says_how_to_get_it(engine: Engine, pocl: Device) -> None:
    job = make_job(pocl, "cublas", force=True)  # else the device refuses it in advance
    result = finish(engine, job, pocl)
    assert result.failure is not None
    assert result.failure.kind == "not_found"
    assert "cuBLAS is not installed here; to get it: pip install" in result.failure.sentence
    assert run(engine, pocl).verdict == "verified"


def test_a_library_that_does_not_load_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pocl: Device
) -> None:
    broken = tmp_path / "libcublas.so.12"
    broken.write_bytes(b"no library")
    before = os.environ.get("LD_LIBRARY_PATH", "")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}:{before}")
    engine = Engine()
    try:
        result = finish(engine, make_job(pocl, "cublas", force=True), pocl)
    finally:
        engine.close()
    assert result.failure is not None
    assert result.failure.kind == "not_found"
    assert f"{broken} and does not load" in result.failure.sentence


def test_matrices_of_the_host_lie_as_on_a_device() -> None:
    matrices = Matrices(HostMemory(), CATALOG.find("blas"), Problem(5, 7, 3, "double", seed=2))
    a, b, c = (matrices.buffers[name].view(np.float64) for name in "ABC")
    assert all(part.ctypes.data % 4096 == 0 for part in (a, b, c))
    assert np.isnan(c).all()
    np.matmul(a.reshape(5, 3), b.reshape(3, 7), out=c.reshape(5, 7))
    answer = matrices.answer()
    assert answer.outside == ()
    np.testing.assert_allclose(answer.c, matrices.inputs.a @ matrices.inputs.b)
    inner = matrices.buffers["C"]
    behind = inner.ctypes.data - inner.base.ctypes.data + inner.nbytes
    inner.base[behind] ^= 255
    (outside,) = matrices.answer().outside
    assert (outside.buffer, outside.side, outside.elements) == ("C", "behind", 1)


@pytest.mark.parametrize("count", [1, 2, 3, 50, 1000])
def test_few_sizes_make_any_number_of_calls(count: int) -> None:
    calls = [lambda: None] * count
    parts = _parts(calls)
    assert [call for part in parts for call in part] == calls
    assert all(len(part).bit_count() == 1 for part in parts)
    assert len({len(part) for part in parts}) == len(parts) <= 10


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    fake = FakeCuda()
    monkeypatch.setattr("gemmviz.engine.libraries.cuda.ctypes.CDLL", lambda _: fake)
    monkeypatch.setattr("gemmviz.engine.libraries.cublas.load", lambda _: (fake, "libcublas.so"))
    return fake


def product(count: int = 3, problem: Problem = Problem(4, 4, 4)) -> None:  # noqa: B008
    """A job's products on an NVIDIA device, up to where it ends."""
    variant = CATALOG.find("cublas")
    device = Device("NVIDIA CUDA", "OpenCL 3.0", "NVIDIA H200", "GPU")
    job = Job(1, device.key, variant, (), problem)
    session = SimpleNamespace(pci_address="0000:01:00.0")
    with closing(Bench(job, session, lambda _: None, None)) as bench:  # type: ignore[arg-type]
        bench.launch(count)


def test_a_job_gives_back_all_that_it_held_of_cuda(cuda: FakeCuda) -> None:
    # A cycle would be found some day, with the device's memory full by then.
    assert not gc.isenabled()
    product()
    assert cuda.called["cuGraphLaunch"] == 2  # of two calls and of one
    assert cuda.left == []


@pytest.mark.parametrize(
    ("transpose", "order", "wanted"),
    [  # of cublasGemmEx: op of its A and B, its m, n and k, its leading dimensions
        ("nn", "row", (0, 0, 3, 2, 5, 3, 5, 3)),
        ("tn", "row", (0, 1, 3, 2, 5, 3, 2, 3)),
        ("nt", "row", (1, 0, 3, 2, 5, 5, 5, 3)),
        ("nn", "column", (0, 0, 2, 3, 5, 2, 5, 2)),
        ("tn", "column", (1, 0, 2, 3, 5, 5, 5, 2)),
        ("nt", "column", (0, 1, 2, 3, 5, 2, 3, 2)),
    ],
)
def test_cublas_is_asked_for_the_form(
    cuda: FakeCuda, transpose: str, order: str, wanted: tuple[int, ...]
) -> None:
    asked: list[tuple[Any, ...]] = []
    cuda.__dict__["cublasGemmEx"] = lambda *arguments: asked.append(arguments) or 0
    form = {"transpose": transpose, "order": order, "alpha": 0.5, "beta": -2.0}
    product(1, Problem(2, 3, 5, **form))  # type: ignore[arg-type]
    call = asked[0]
    leading = (call[9], call[12], call[16])
    assert (*call[1:6], *leading) == wanted
    assert [call[place]._obj.value for place in (6, 13)] == [0.5, -2.0]
    # By columns cuBLAS computes what is asked, with A and B in their own places.
    first, second = call[7].value, call[10].value
    assert (first < second) is (order == "column")


@pytest.mark.parametrize(
    ("function", "well"),
    [
        ("cublasGemmEx", 2),  # the second of those that are recorded
        ("cuStreamEndCapture", 0),
        ("cuGraphInstantiateWithFlags", 1),
        ("cuGraphUpload", 0),
        ("cuGraphLaunch", 0),
        ("cuMemAlloc_v2", 2),
        ("cublasSetWorkspace_v2", 0),
        ("cublasCreate_v2", 0),
        ("cuEventCreate", 1),
    ],
)
def test_a_job_that_fails_gives_all_back_too(cuda: FakeCuda, function: str, well: int) -> None:
    cuda.failing, cuda.well = function, well
    with pytest.raises(DriverError) as failed:
        product()
    if function == "cublasGemmEx":
        assert "cublasGemmEx gave" in failed.value.failure.detail
    del failed
    gc.collect()
    assert cuda.left == []
