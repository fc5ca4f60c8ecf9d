"""From a variant, its parameters and a problem to what is built and launched."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gemmviz.core.expr import ExprError, evaluate
from gemmviz.core.instrument import with_dummy_local
from gemmviz.core.model import (
    ELEMENTS,
    TRANSPOSES,
    Argument,
    Job,
    Parameters,
    Problem,
    Transpose,
    Variant,
    Verdict,
)

_BITS = {"half": "ushort", "float": "uint", "double": "ulong"}
_PACKED = {"half": "e", "float": "f", "double": "d"}  # the letters of struct
_TURNED: dict[Transpose, Transpose] = dict(zip(TRANSPOSES, ("nn", "tn", "nt", "tt"), strict=True))
# Room for formulas that ask for the device where none is known: as large as any driver's.
_ANY_DEVICE = {"max_group_size": 2**31, "local_limit": 2**31, "vector_bytes": 2**31}


@dataclass(frozen=True, slots=True)
class Geometry:
    """One launch: ``local`` and ``total`` NDRange sizes (dimension 0 first), ``tile`` of C.

    The tile has the problem's rows first, also where the kernel computes C transposed.
    """

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


def is_exchanged(variant: Variant, problem: Problem) -> bool:
    """Whether a general variant is handed C^T = op(B)^T op(A)^T in place of C.

    A matrix stored column after column is its transpose stored row after row, so with A and B in
    each other's place one kernel serves both orders and knows nothing of it.
    """
    return variant.general and problem.order not in ("", variant.order)


def kernel_view(variant: Variant, problem: Problem) -> Problem:
    """The problem as the kernel sees it: M and N and the transposes exchanged where C^T is made."""
    if not is_exchanged(variant, problem):
        return problem
    return replace(
        problem, m=problem.n, n=problem.m, transpose=_TURNED[problem.transpose], order=""
    )


def matrix_at(variant: Variant, problem: Problem, name: str) -> str:
    """Which of the problem's matrices stands where the kernel has its A, B or C."""
    exchanged = is_exchanged(variant, problem)
    return {"A": "B", "B": "A"}.get(name, name) if exchanged else name


def storage_order(variant: Variant, problem: Problem) -> str:
    """How the problem's matrices lie in memory: "row" or "column"."""
    return problem.order or variant.order


def scalars(problem: Problem) -> tuple[float, float]:
    """Alpha and beta as a kernel gets them: rounded to the element type, infinite beyond it."""
    return _rounded(problem.alpha, problem.element), _rounded(problem.beta, problem.element)


def _rounded(value: float, element: str) -> float:
    letter = _PACKED[element]
    try:
        return float(struct.unpack(letter, struct.pack(letter, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def formula_names(parameters: Parameters, problem: Problem) -> dict[str, int]:
    """The names that every formula may use, of a problem as the kernel sees it."""
    return {
        "TRANSPOSE_A": int(problem.transpose[0] == "t"),
        "TRANSPOSE_B": int(problem.transpose[1] == "t"),
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
    view = kernel_view(variant, problem)
    names = formula_names(parameters, view)
    local = tuple(_at_least(1, text, names) for text in variant.group)
    tile = _at_least(1, variant.tile_rows, names), _at_least(1, variant.tile_cols, names)
    groups = {"rows": -(-view.m // tile[0]), "cols": -(-view.n // tile[1])}
    total = tuple(
        size * (groups[variant.dims[dimension]] if dimension < len(variant.dims) else 1)
        for dimension, size in enumerate(local)
    )
    if variant.groups:
        total = (local[0] * _at_least(1, variant.groups, names), *local[1:])
    # local_bytes is the whole, arguments included; where it is left at 0 they still count.
    whole = _at_least(0, variant.local_bytes, names)
    own = tile[::-1] if is_exchanged(variant, problem) else tile
    return Geometry(
        local, total, own, max(whole, dynamic_local_bytes(variant, parameters, problem))
    )


def _at_least(least: int, text: str, names: Mapping[str, int]) -> int:
    value = evaluate(text, names)
    if value < least:
        raise ExprError(f"'{text}' is {value}, and must be at least {least}")
    return value


def dynamic_local_bytes(variant: Variant, parameters: Parameters, problem: Problem) -> int:
    """Bytes of the ``__local`` arguments, which drivers limit apart from ``__local`` arrays."""
    names = formula_names(parameters, kernel_view(variant, problem))
    return sum(_at_least(1, arg.text, names) for arg in variant.arguments if arg.kind == "local")


def scratch_bytes(variant: Variant, parameters: Parameters, problem: Problem) -> tuple[int, ...]:
    """Bytes of each ``scratch`` argument, which take device memory beside A, B and C.

    Raises:
        ExprError: A formula has no value here, or one that no buffer can have.
    """
    names = formula_names(parameters, kernel_view(variant, problem))
    texts = (argument.text for argument in variant.arguments if argument.kind == "scratch")
    return tuple(_at_least(1, text, names) for text in texts)


def leading_dimensions(variant: Variant, problem: Problem) -> dict[str, int]:
    """Elements of the kernel's A, B and C from one row or column as stored to the next."""
    stored = 1 if variant.order == "row" else 0
    return {name: shape[stored] for name, shape in stored_shapes(variant, problem).items()}


def operand_orders(variant: Variant, problem: Problem) -> dict[str, str]:
    """How the kernel's op(A), op(B) and C lie in memory: "row" or "column" after another.

    A transposed matrix stored by rows is the matrix itself stored by columns.
    """
    other = {"row": "column", "column": "row"}[variant.order]
    letters = (*kernel_view(variant, problem).transpose, "n")
    return {
        name: other if letter == "t" else variant.order
        for name, letter in zip("ABC", letters, strict=True)
    }


def argument_numbers(
    variant: Variant, parameters: Parameters, problem: Problem
) -> tuple[float, ...]:
    """What each argument stands for: a number, or the bytes of what it points at.

    A matrix and a map of one stand for 0.

    Raises:
        ExprError: A formula has no value here.
    """
    view = kernel_view(variant, problem)
    names = formula_names(parameters, view)
    leading = leading_dimensions(variant, problem)
    told: dict[str, float] = {"M": view.m, "N": view.n, "K": view.k}
    told |= zip(("alpha", "beta"), scalars(problem), strict=True)
    told |= {f"ld{name.lower()}": length for name, length in leading.items()}
    numbers: list[float] = []
    for argument in variant.arguments:
        match argument.kind:
            case "matrix" | "tensor_map":
                numbers.append(0)
            case "size" | "scalar":
                numbers.append(told[argument.text])
            case "constant":
                numbers.append(float(argument.text))
            case _:
                numbers.append(evaluate(argument.text, names))
    return tuple(numbers)


def tensor_box(argument: Argument, parameters: Parameters, problem: Problem) -> tuple[int, ...]:
    """Elements of a tensor map's tile: along a row as stored, and across.

    ``problem`` is the one that the kernel sees, see :func:`kernel_view`.

    Raises:
        ExprError: A formula has no value here, or one that no tile can have.
    """
    names = formula_names(parameters, problem)
    return tuple(_at_least(1, text, names) for text in argument.box)


def assemble(variant: Variant, parameters: Parameters, problem: Problem) -> str:
    """The source that is built: extension, macros, then the variant's file under its own name."""
    lines, element = [], problem.element
    bits_only = element in variant.stored
    if element == "double":
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    if element == "half" and not bits_only:
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
    lines += [f"#define {name} {value}" for name, value in parameters]
    if variant.general:
        letters = zip("AB", kernel_view(variant, problem).transpose, strict=True)
        lines += [f"#define TRANSPOSE_{name} {int(letter == 't')}" for name, letter in letters]
    real = _BITS[element] if bits_only else element
    lines += [f"#define real {real}", f'#line 1 "{variant.id}.cl"']
    return "\n".join(lines) + "\n" + variant.source


def assemble_job(job: Job) -> str:
    """The source that is built for a job, with its dummy local memory if it has any.

    Raises:
        ValueError: The place for the dummy cannot be found in the source.
    """
    source = assemble(job.variant, job.parameters, job.problem)
    if not job.dummy_local_bytes:
        return source
    return with_dummy_local(source, job.variant.entry, job.dummy_local_bytes)


def flop(variant: Variant, problem: Problem) -> int:
    """Floating-point operations of one launch: 2MNK for a product, MN for a sum."""
    cells = problem.m * problem.n
    return cells if variant.operation == "add" else 2 * cells * problem.k


def matrix_shapes(variant: Variant, problem: Problem) -> dict[str, tuple[int, int]]:
    """Rows and columns of op(A), op(B) and C."""
    m, n, k = problem.m, problem.n, problem.k
    if variant.operation == "add":
        return {"A": (m, n), "B": (m, n), "C": (m, n)}
    return {"A": (m, k), "B": (k, n), "C": (m, n)}


def stored_shapes(variant: Variant, problem: Problem) -> dict[str, tuple[int, int]]:
    """Rows and columns of A, B and C as the kernel finds them at its arguments."""
    view = kernel_view(variant, problem)
    shapes = matrix_shapes(variant, view)
    for name, letter in zip("AB", view.transpose, strict=True):
        if letter == "t":
            shapes[name] = shapes[name][::-1]
    return shapes


def matrix_bytes(variant: Variant, problem: Problem) -> tuple[int, int, int]:
    """Bytes of A, B and C."""
    size = ELEMENTS[problem.element].bytes
    a, b, c = (rows * cols * size for rows, cols in matrix_shapes(variant, problem).values())
    return a, b, c


def least_bytes(variant: Variant, problem: Problem) -> int:
    """What a launch moves at least: each matrix once, and C once more where it is read too."""
    a, b, c = matrix_bytes(variant, problem)
    return a + b + c * (2 if problem.beta else 1)


def expected_verdict(variant: Variant, parameters: Parameters, problem: Problem) -> Verdict:
    """What the check must say, by the variant's own account of itself."""
    if variant.right_when:
        names = {**_ANY_DEVICE, **formula_names(parameters, kernel_view(variant, problem))}
        return "verified" if evaluate(variant.right_when, names) else "wrong"
    return "wrong" if variant.expect == "wrong" else "verified"
