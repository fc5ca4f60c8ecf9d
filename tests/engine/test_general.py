"""C = alpha op(A) op(B) + beta C on each CPU runtime: kernels, libraries, and faults that show."""

from dataclasses import replace

import pytest

from gemmviz.core.model import ORDERS, TRANSPOSES, Device, Result, Variant
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, finish, make_job

CPU_BEST = CATALOG.find("cpu_best")
STORED = [order for order in ORDERS if order]
SHAPES = [
    (1, 1, 19), (1, 45, 29), (45, 1, 29), (5, 3, 7),  # sides of 1, fewer than a vector
    (17, 33, 65), (50, 300, 257), (300, 41, 258),  # ragged micro-tiles, several blocks of K
]  # fmt: skip
BOTH = {"alpha": 0.5, "beta": -2.0}


def formed(
    engine: Engine,
    device: Device,
    variant: Variant,
    shape: tuple[int, int, int],
    element: str = "float",
    **form: object,
) -> Result:
    """A run of a problem in another form than C = A B."""
    job = make_job(device, variant, shape, element)
    problem = replace(job.problem, **form)  # type: ignore[arg-type]
    return finish(engine, replace(job, problem=problem), device)


@pytest.fixture(params=["pocl", "intel"])
def device(request: pytest.FixtureRequest) -> Device:
    found: Device = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize(
    ("device", "element", "transpose"),
    [
        *(("pocl", element, each) for element in ("float", "double") for each in TRANSPOSES),
        ("intel", "float", "tt"),
        ("intel", "double", "tn"),
    ],
    indirect=["device"],
)
def test_the_cpu_kernel_is_right_in_every_form(
    engine: Engine, device: Device, element: str, transpose: str
) -> None:
    for place, shape in enumerate(SHAPES):
        form = {"transpose": transpose, "order": STORED[place % 2], **BOTH}
        result = formed(engine, device, CPU_BEST, shape, element, **form)
        assert result.verdict == "verified", (shape, form, result.check, result.failure)
    plain = formed(engine, device, CPU_BEST, (50, 70, 257), element, transpose=transpose)
    assert plain.verdict == "verified", plain.failure


@pytest.mark.parametrize("transpose", TRANSPOSES)
@pytest.mark.parametrize("order", STORED)
def test_blas_is_right_in_every_form(
    engine: Engine, pocl: Device, transpose: str, order: str
) -> None:
    blas = CATALOG.find("blas")
    for element, scalars in (("float", BOTH), ("double", BOTH), ("float", {})):
        form = {"transpose": transpose, "order": order, **scalars}
        result = formed(engine, pocl, blas, (17, 33, 65), element, **form)
        assert result.verdict == "verified", (form, result.failure)


@pytest.mark.parametrize(
    ("right", "wrong", "form"),
    [
        ("lda = TRANSPOSE_A ? M : K", "lda = K", {"transpose": "tn"}),
        ("ldb = TRANSPOSE_B ? K : N", "ldb = N", {"transpose": "nt"}),
        ("k0 == 0 ? beta : (real)1", "k0 == 0 ? (real)1 : (real)1", BOTH),
        ("k0 == 0 ? beta : (real)1", "k0 == 0 ? (real)0 : (real)1", BOTH),
        ("alpha != 1", "alpha == 1", BOTH),
        ("k0 == 0 ? beta : (real)1", "(real)0", {}),
    ],
)
def test_a_kernel_that_gets_a_form_wrong_is_found_out(
    engine: Engine, pocl: Device, right: str, wrong: str, form: dict[str, object]
) -> None:
    assert right in CPU_BEST.source
    mutant = replace(CPU_BEST, source=CPU_BEST.source.replace(right, wrong))
    assert formed(engine, pocl, CPU_BEST, (50, 70, 600), **form).verdict == "verified"
    assert formed(engine, pocl, mutant, (50, 70, 600), **form).verdict == "wrong"


def test_a_kernel_that_reads_c_at_a_beta_of_0_is_found_out(engine: Engine, pocl: Device) -> None:
    mutant = replace(CPU_BEST, source=CPU_BEST.source.replace("keep != 0", "1"))
    result = formed(engine, pocl, mutant, (50, 70, 60))
    assert result.verdict == "wrong"
    assert result.check is not None
    assert result.check.cells_nan == 50 * 70
    assert formed(engine, pocl, mutant, (50, 70, 60), **BOTH).verdict == "verified"


def test_cells_never_written_are_found_where_c_held_numbers(engine: Engine, pocl: Device) -> None:
    short = CPU_BEST.source.replace("n < cols; n += NR", "n < 32; n += NR")
    mutant = replace(CPU_BEST, source=short)
    result = formed(engine, pocl, mutant, (50, 70, 60), **BOTH)
    assert result.check is not None
    assert result.check.cells_unwritten == result.check.cells_wrong == 50 * (40 - 32)
    assert result.check.pattern == "Columns 32 to 39 are never written."


def test_c_is_the_same_for_both_launches_of_a_check(engine: Engine, device: Device) -> None:
    result = formed(engine, device, CPU_BEST, (17, 33, 65), **BOTH)
    assert result.check is not None
    assert result.check.cells_differing == 0


def test_a_kernel_that_is_not_general_refuses(engine: Engine, pocl: Device) -> None:
    for form in ({"transpose": "nt"}, {"order": "column"}, {"alpha": 2.0}, {"beta": 1.0}):
        result = formed(engine, pocl, CATALOG.find("tiled"), (16, 16, 16), **form)
        assert result.failure is not None
        assert result.failure.kind == "refused"
        assert "computes C = A B alone, from matrices stored row by row" in result.failure.sentence
    same = formed(engine, pocl, CATALOG.find("tiled"), (16, 16, 16), order="row")
    assert same.verdict == "verified"
