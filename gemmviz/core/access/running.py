"""Runs a kernel's source on sampled work-groups: arguments bound, every access recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.kinds import DOUBLE, FLOAT, HALF, LONG, Array, Pointer, Scalar, named_kind
from gemmviz.core.access.lanes import Group, Lanes, Launch, launch_of
from gemmviz.core.access.memory import Memory
from gemmviz.core.access.source import Program, parse
from gemmviz.core.access.state import Frame
from gemmviz.core.access.statements import Statements
from gemmviz.core.access.values import Address, Value, convert
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import form_refusal
from gemmviz.core.launch import argument_numbers, assemble, geometry, leading_dimensions
from gemmviz.core.model import Argument, Parameters, Problem, Variant

_ELEMENTS = {"half": HALF, "float": FLOAT, "double": DOUBLE}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """An evaluated kernel: its records are in ``state``."""

    program: Program
    launch: Launch
    groups: tuple[Group, ...]
    state: Statements


def launched(variant: Variant, parameters: Parameters, problem: Problem) -> Launch:
    """The launch of a problem.

    Raises:
        LensError: There is no source or not all of it, the kernel knows no such form of a problem,
            or a formula of the metadata has no value here.
    """
    if variant.library:
        raise LensError(f"{variant.title} is a library: there is no source to look at.")
    if variant.build:
        raise LensError(
            f"{variant.title} hides its instructions in comments until it is built "
            f"({variant.build}), so its source does not show what it reads."
        )
    refused = form_refusal(variant, problem)
    if refused is not None:
        raise LensError(refused)
    try:
        return launch_of(geometry(variant, parameters, problem))
    except ExprError as error:
        raise LensError(f"The launch of {variant.id} is not defined here: {error}.") from error


def run(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    groups: tuple[Group, ...],
    extra: int = 0,
) -> Run:
    """Evaluates some work-groups of a kernel.

    Args:
        variant: The kernel.
        parameters: Its macros.
        problem: The shape and element type.
        groups: Places of the work-groups, dimension 0 first.
        extra: Elements to add to the inner row of local arrays with two or more dimensions.

    Raises:
        LensError: The source does not parse, or its arguments are not those of the metadata.
    """
    launch = launched(variant, parameters, problem)
    program = parse(assemble(variant, parameters, problem), variant.entry)
    state = Statements(program, Lanes(launch, groups), extra)
    with np.errstate(all="ignore"):
        for node in program.declarations:
            state.declare(node)
        state.scopes, state.frames = [{}], [Frame("call")]
        _bind(state, variant, parameters, problem)
        state.execute(program.entry.body)
    return Run(program, launch, groups, state)


def _bind(state: Statements, variant: Variant, parameters: Parameters, problem: Problem) -> None:
    declared = state.program.entry.decl.type.args
    nodes = [node for node in (declared.params if declared else ()) if getattr(node, "name", None)]
    if len(nodes) != len(variant.arguments):
        raise LensError(
            f"The source of {variant.id} takes {len(nodes)} arguments, its metadata lists "
            f"{len(variant.arguments)}."
        )
    try:
        numbers = argument_numbers(variant, parameters, problem)
    except ExprError as error:
        raise LensError(f"An argument has no value here: {error}.") from error
    lengths = leading_dimensions(variant, problem)
    for node, argument, number in zip(nodes, variant.arguments, numbers, strict=True):
        kind, _ = state.kind_of(node.type)
        if isinstance(kind, Array):
            kind = Pointer("global", kind.element)
        memory = state.new_memory(node.name, "private", kind)
        if argument.kind in ("matrix", "local", "buffer", "scratch"):
            if not isinstance(kind, Pointer):
                raise LensError(f"{node.name} is no pointer, as its metadata has it.")
            target = _target(state, node.name, argument, kind, number)
            if argument.kind == "matrix":
                target.matrix, target.row_length = argument.text, lengths[argument.text]
            elif argument.kind == "buffer":
                state.known[target] = convert(_number(argument, number, problem), kind.target).data
            data: Any = Address(target, 0)
        else:
            data = convert(_number(argument, number, problem), kind).data
        if memory.cells is not None:
            memory.cells[0] = data
        state.bind(node.name, memory)


def _target(
    state: Statements, name: str, argument: Argument, kind: Pointer, number: float
) -> Memory:
    """What a pointer argument points at."""
    if argument.kind != "local":
        return state.new_memory(name, "global", kind.target)
    count = int(number) // max(1, kind.target.bytes)
    whole = Array(kind.target, count)
    return state.new_memory(name, "local", whole, row_length=count)


def _number(argument: Argument, number: float, problem: Problem) -> Value:
    """A scalar argument as the host passes it."""
    kind = _ELEMENTS[problem.element] if argument.type == "real" else named_kind((argument.type,))
    if argument.kind == "scalar":
        kind = _ELEMENTS[problem.element]
    assert isinstance(kind, Scalar)
    source = Value(DOUBLE, float(number)) if kind.floating else Value(LONG, int(number))
    return convert(source, kind)
