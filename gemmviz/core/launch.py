"""From a variant, its parameters and a problem to what is built and launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gemmviz.core.expr import ExprError, evaluate
from gemmviz.core.instrument import with_dummy_local
from gemmviz.core.model import ELEMENTS, Job, Parameters, Problem, Variant, Verdict

_SCALARS = {"alpha": 1.0, "beta": 0.0}
# Room for formulas that ask for the device where none is known: as large as any driver's.
_ANY_DEVICE = {"max_group_size": 2**31, "local_limit": 2**31}


@dataclass(frozen=True, slots=True)
class Geometry:
    """One launch: ``local`` and ``total`` NDRange sizes (dimension 0 first), ``tile`` of C."""

    local: tuple[int, ...]
    total: tuple[int, ...]
    tile: tuple[int, int]
    local_bytes: int

    @property
    def group_size(self) -> int:
        """Work-items in a work-group."""
        return _product(self.local)

    @property
    def groups(self) -> int:
        """Work-groups in the launch."""
        return _product(self.total) // self.group_size


def _product(sizes: tuple[int, ...]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def default_parameters(variant: Variant) -> Parameters:
    """The parameters of a variant at their defaults."""
    return tuple((parameter.name, parameter.default) for parameter in variant.parameters)


def merge_parameters(variant: Variant, chosen: Mapping[str, int]) -> Parameters:
    """The defaults of a variant with ``chosen`` put in.

    Raises:
        ValueError: A name is no parameter of the variant, or a value is not among its values.
    """
    known = {parameter.name: parameter for parameter in variant.parameters}
    for name, value in chosen.items():
        if name not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(f"{variant.id} has no parameter {name}; it has: {listed}")
        if value not in known[name].values:
            listed = ", ".join(map(str, known[name].values))
            raise ValueError(f"{name}={value} is not among the values of {variant.id}: {listed}")
    return tuple((name, chosen.get(name, known[name].default)) for name in known)


def describe_parameters(parameters: Parameters) -> str:
    """Parameters as a person writes them: "TS=16 PAD=0"."""
    return " ".join(f"{name}={value}" for name, value in parameters)


def formula_names(parameters: Parameters, problem: Problem) -> dict[str, int]:
    """The names that every formula may use."""
    return {
        **dict(parameters),
        "M": problem.m,
        "N": problem.n,
        "K": problem.k,
        "element_bytes": ELEMENTS[problem.element].bytes,
    }


def geometry(variant: Variant, parameters: Parameters, problem: Problem) -> Geometry:
    """The launch that computes ``problem``.

    Raises:
        ExprError: A formula has no value here, or one that no launch can have.
    """
    names = formula_names(parameters, problem)
    local = tuple(_at_least(1, text, names) for text in variant.group)
    tile = _at_least(1, variant.tile_rows, names), _at_least(1, variant.tile_cols, names)
    groups = {"rows": -(-problem.m // tile[0]), "cols": -(-problem.n // tile[1])}
    total = tuple(
        size * (groups[variant.dims[dimension]] if dimension < len(variant.dims) else 1)
        for dimension, size in enumerate(local)
    )
    # local_bytes is the whole, arguments included; where it is left at 0 they still count.
    whole = _at_least(0, variant.local_bytes, names)
    return Geometry(
        local, total, tile, max(whole, dynamic_local_bytes(variant, parameters, problem))
    )


def _at_least(least: int, text: str, names: Mapping[str, int]) -> int:
    value = evaluate(text, names)
    if value < least:
        raise ExprError(f"'{text}' is {value}, and must be at least {least}")
    return value


def dynamic_local_bytes(variant: Variant, parameters: Parameters, problem: Problem) -> int:
    """Bytes of the ``__local`` arguments, which drivers limit apart from ``__local`` arrays."""
    names = formula_names(parameters, problem)
    return sum(_at_least(1, arg.text, names) for arg in variant.arguments if arg.kind == "local")


def scratch_bytes(variant: Variant, parameters: Parameters, problem: Problem) -> tuple[int, ...]:
    """Bytes of each ``scratch`` argument, which take device memory beside A, B and C.

    Raises:
        ExprError: A formula has no value here, or one that no buffer can have.
    """
    names = formula_names(parameters, problem)
    texts = (argument.text for argument in variant.arguments if argument.kind == "scratch")
    return tuple(_at_least(1, text, names) for text in texts)


def leading_dimensions(variant: Variant, problem: Problem) -> dict[str, int]:
    """Elements of A, B and C from one row or column as stored to the next."""
    stored = 1 if variant.order == "row" else 0
    return {name: shape[stored] for name, shape in matrix_shapes(variant, problem).items()}


def argument_numbers(
    variant: Variant, parameters: Parameters, problem: Problem
) -> tuple[float, ...]:
    """What each argument stands for: a number, or the bytes of what it points at; 0 for a matrix.

    Raises:
        ExprError: A formula has no value here.
    """
    names = formula_names(parameters, problem)
    leading = leading_dimensions(variant, problem)
    told = {"M": problem.m, "N": problem.n, "K": problem.k, **_SCALARS}
    told |= {f"ld{name.lower()}": length for name, length in leading.items()}
    numbers: list[float] = []
    for argument in variant.arguments:
        match argument.kind:
            case "matrix":
                numbers.append(0)
            case "size" | "scalar":
                numbers.append(told[argument.text])
            case "constant":
                numbers.append(float(argument.text))
            case _:
                numbers.append(evaluate(argument.text, names))
    return tuple(numbers)


def assemble(variant: Variant, parameters: Parameters, element: str) -> str:
    """The source that is built: extension, macros, then the variant's file under its own name."""
    lines = []
    if element == "double":
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    if element == "half":
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
    lines += [f"#define {name} {value}" for name, value in parameters]
    lines += [f"#define real {element}", f'#line 1 "{variant.id}.cl"']
    return "\n".join(lines) + "\n" + variant.source


def assemble_job(job: Job) -> str:
    """The source that is built for a job, with its dummy local memory if it has any.

    Raises:
        ValueError: The place for the dummy cannot be found in the source.
    """
    source = assemble(job.variant, job.parameters, job.problem.element)
    if not job.dummy_local_bytes:
        return source
    return with_dummy_local(source, job.variant.entry, job.dummy_local_bytes)


def flop(variant: Variant, problem: Problem) -> int:
    """Floating-point operations of one launch: 2MNK for a product, MN for a sum."""
    cells = problem.m * problem.n
    return cells if variant.operation == "add" else 2 * cells * problem.k


def matrix_shapes(variant: Variant, problem: Problem) -> dict[str, tuple[int, int]]:
    """Rows and columns of A, B and C."""
    m, n, k = problem.m, problem.n, problem.k
    if variant.operation == "add":
        return {"A": (m, n), "B": (m, n), "C": (m, n)}
    return {"A": (m, k), "B": (k, n), "C": (m, n)}


def matrix_bytes(variant: Variant, problem: Problem) -> tuple[int, int, int]:
    """Bytes of A, B and C."""
    size = ELEMENTS[problem.element].bytes
    a, b, c = (rows * cols * size for rows, cols in matrix_shapes(variant, problem).values())
    return a, b, c


def expected_verdict(variant: Variant, parameters: Parameters, problem: Problem) -> Verdict:
    """What the check must say, by the variant's own account of itself."""
    if variant.right_when:
        names = {**_ANY_DEVICE, **formula_names(parameters, problem)}
        return "verified" if evaluate(variant.right_when, names) else "wrong"
    return "wrong" if variant.expect == "wrong" else "verified"
