"""Changes a kernel's source for an experiment: more local memory, or groups that are counted."""

from __future__ import annotations

import re
from dataclasses import dataclass

COUNTERS_HEAD = 2
"""Ints in front of the counters of single units: groups under way now, and the most ever."""

_NAME = "gemmviz_"
# Comments, strings and characters: whatever they hold is no code.
_WORDS = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
_BRANCH = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b", re.MULTILINE)
_KERNEL = re.compile(r"\b(?:__)?kernel\b")
_ATTRIBUTE = re.compile(r"\s*__attribute__\s*(?=\()")
_UNITS_ON_NVIDIA = 'asm volatile("mov.u32 %0, %%smid;" : "=r"(gemmviz_unit));'


class InstrumentError(ValueError):
    """A source in which the kernel's body cannot be found; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class _Body:
    """Where a kernel's parameters end and where the braces of its body stand."""

    parameters: tuple[int, int]
    first: int
    last: int | None


def with_dummy_local(source: str, entry: str, size_bytes: int) -> str:
    """The source with one more ``__local`` array in the kernel, which the compiler has to keep.

    The array is static, because a static and a dynamic one together kill NVIDIA's context. It is
    written to under a condition that no launch of a product meets and that the compiler cannot
    foresee, and harmlessly where one does meet it; so neither answers nor times change. All goes on
    the line of the body's brace: line numbers stay as they are.

    Args:
        source: OpenCL C, macros not expanded.
        entry: The kernel's name.
        size_bytes: Size of the array; 0 changes nothing.

    Raises:
        InstrumentError: The kernel's body is not to be found.
        ValueError: The size is negative.
    """
    if size_bytes < 0:
        raise ValueError(f"An array cannot have {size_bytes} bytes.")
    if size_bytes == 0:
        return source
    bodies = _bodies(source, entry)
    if not bodies:
        raise InstrumentError(f"The body of the kernel {entry} is not to be found in its source.")
    # A power of two: a compiler that knows the group's size knows which other sizes cannot be. The
    # index is unknown to it as well, or it would keep the one byte that is used.
    text = (
        f" __local volatile char {_NAME}dummy[{size_bytes}];"
        f" if (get_global_size(0) == 0x40000000)"
        f" {_NAME}dummy[get_global_size(1) % {size_bytes}] = 1;"
    )
    # Several are branches of an #if, of which the compiler sees one.
    for body in reversed(bodies):
        source = _inserted(source, body.first + 1, text)
    return source


def with_counters(source: str, entry: str, *, nvidia: bool = False) -> str | None:
    """The source with a kernel that counts its groups in and out, or None where it cannot.

    Its last argument is then ``__global volatile int *``: groups under way at [0], the most ever at
    [1]. On NVIDIA the same follows for each SM by its number ``u``, at [2 + 2 u] and [3 + 2 u];
    elsewhere OpenCL does not tell where a group runs. It cannot where a work-item may leave early,
    where the body is made by macros, and where the kernel is there more than once.

    Args:
        source: OpenCL C, macros not expanded.
        entry: The kernel's name.
        nvidia: Count on each SM as well, by a line of PTX.
    """
    bodies = _bodies(source, entry)
    if len(bodies) != 1 or bodies[0].last is None:
        return None
    body = bodies[0]
    code = _code(source)
    inside = code[body.first : body.last]
    returning = [name for name, text in _MACRO.findall(source) if re.search(r"\breturn\b", text)]
    if any(re.search(rf"\b{name}\b", inside) for name in ("return", "goto", *returning)):
        return None
    opening, closing = body.parameters
    if code[opening + 1 : closing].strip() in {"", "void"}:
        return None
    enter, leave = counting(nvidia=nvidia)
    assert body.last is not None
    # From the end on, so that the places found stay right.
    source = _inserted(source, body.last, leave)
    source = _inserted(source, body.first + 1, enter)
    return _inserted(source, closing, f", __global volatile int *{_NAME}counters")


def counting(*, nvidia: bool) -> tuple[str, str]:
    """Statements with which a group counts itself in and out in ``gemmviz_counters``.

    The counters lie as :func:`with_counters` says. One item counts for its group: in at once, out
    when all have come to the end.

    Args:
        nvidia: Count on each SM as well.
    """
    first = "get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0"
    unit = f"uint {_NAME}unit; {_UNITS_ON_NVIDIA} " if nvidia else ""
    places = [("[0]", "[1]")]
    if nvidia:
        head = COUNTERS_HEAD
        places.append((f"[{head} + 2 * {_NAME}unit]", f"[{head + 1} + 2 * {_NAME}unit]"))
    enter = " ".join(
        f"atomic_max(&{_NAME}counters{most}, atomic_inc(&{_NAME}counters{now}) + 1);"
        for now, most in places
    )
    leave = " ".join(f"atomic_dec(&{_NAME}counters{now});" for now, _ in places)
    return (
        f" if ({first}) {{ {unit}{enter} }}",
        f" barrier(CLK_LOCAL_MEM_FENCE); if ({first}) {{ {unit}{leave} }} ",
    )


def _inserted(source: str, place: int, text: str) -> str:
    return source[:place] + text + source[place:]


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _code(source: str) -> str:
    """The source with blanks for comments, strings and directives, each character in its place."""
    return _DIRECTIVE.sub(_blank, _WORDS.sub(_blank, source))


def _bodies(source: str, entry: str) -> list[_Body]:
    """Every definition of the kernel: branches of an #if may hold one each.

    A kernel whose name a macro makes is the only kernel of its source.
    """
    code = _code(source)
    found = [_body(code, place.end()) for place in re.finditer(rf"\b{re.escape(entry)}\b", code)]
    bodies = [body for body in found if body is not None]
    if not bodies:
        places = [re.compile(r"\w+(?=\s*\()").search(code, _name_from(code, keyword.end()))
                  for keyword in _KERNEL.finditer(code)]  # fmt: skip
        found = [_body(code, place.end()) for place in places if place is not None]
        bodies = [body for body in found if body is not None]
        bodies = bodies if len(bodies) == 1 else []
    directives = _WORDS.sub(_blank, source)
    return [body if _even(code, directives, body) else _Body(body.parameters, body.first, None)
            for body in bodies]  # fmt: skip


def _name_from(code: str, place: int) -> int:
    """The first place behind the attributes that may follow ``__kernel``."""
    while (attribute := _ATTRIBUTE.match(code, place)) is not None:
        end = _closing(code, attribute.end(), "()")
        if end is None:
            return place
        place = end + 1
    return place


def _body(code: str, place: int) -> _Body | None:
    """The body of the function whose name ends at ``place``, or None for a mere mention of it."""
    opening = re.compile(r"\s*\(").match(code, place)
    if opening is None:
        return None
    closing = _closing(code, opening.end() - 1, "()")
    if closing is None:
        return None
    brace = re.compile(r"\s*\{").match(code, _name_from(code, closing + 1))
    if brace is None:
        return None
    first = brace.end() - 1
    return _Body((opening.end() - 1, closing), first, _closing(code, first, "{}"))


def _closing(code: str, opening: int, pair: str) -> int | None:
    """Where what opens at ``opening`` is closed again."""
    depth = 0
    for match in re.compile(f"[{re.escape(pair)}]").finditer(code, opening):
        depth += 1 if match[0] == pair[0] else -1
        if depth == 0:
            return match.start()
    return None


def _even(code: str, directives: str, body: _Body) -> bool:
    """Whether every branch of an #if in a body closes the braces that it opens.

    Else the end of the body is a matter of which branch is taken.
    """
    if body.last is None:
        return False
    depths: list[int] = []
    for branch in _BRANCH.finditer(directives, body.first, body.last):
        inside = code[body.first : branch.start()]
        depth = inside.count("{") - inside.count("}")
        if branch[1].startswith("if"):
            depths.append(depth)
        elif not depths or depths[-1] != depth:
            return False
        elif branch[1] == "endif":
            depths.pop()
    return not depths
