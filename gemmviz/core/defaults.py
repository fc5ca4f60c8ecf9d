"""Saves what a sweep recommends as a person's own defaults."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from gemmviz.core.labels import problem_label
from gemmviz.core.model import ELEMENTS
from gemmviz.core.sweep import Sweep, Winner
from gemmviz.core.tuned import TunedSet, own_file, read_sets, tuned_name

_HEAD = """\
# Parameters that sweeps recommended, one set for a kernel and a device. `gemmviz run` and the
# window take them where none are given, before the sets that come with the app. A set can be
# deleted, and so can the whole file.
"""


class DefaultsError(ValueError):
    """The person's file cannot be read or written; the message is one sentence."""


def save_defaults(sweep: Sweep, winners: Iterable[Winner]) -> Path:
    """Makes the recommended parameters the defaults of their kernels on their devices.

    They replace what was saved of the same kernel, device and element type before. Of several
    problems each holds for the shapes nearest to it by the count of multiply-adds.

    Returns:
        The file.

    Raises:
        DefaultsError: It cannot be read or written.
    """
    file = own_file()
    fresh = sets_of(sweep, winners)
    replaced = {(row.kernel, row.on, _element_of(row)) for row in fresh}
    try:
        before = read_sets(file) if file.exists() else ()
        kept = [row for row in before if (row.kernel, row.on, _element_of(row)) not in replaced]
        text = "\n".join([_HEAD, *map(_text, (*kept, *fresh))])
        file.parent.mkdir(parents=True, exist_ok=True)
        # Another window may be reading it: a rename shows it a whole file.
        whole = file.with_suffix(f".{os.getpid()}")
        whole.write_text(text, encoding="utf-8")
        whole.replace(file)
    except OSError as error:
        raise DefaultsError(f"{file} cannot be written ({error.strerror or error}).") from error
    except ValueError as error:
        raise DefaultsError(f"{file} is damaged; mend or delete it ({error}).") from error
    return file


def sets_of(sweep: Sweep, winners: Iterable[Winner]) -> tuple[TunedSet, ...]:
    """What is saved of winners."""
    races: dict[tuple[str, int, str], list[Winner]] = {}
    for winner in winners:
        key = winner.recommended.variant, winner.device, winner.problem.element
        races.setdefault(key, []).append(winner)
    sets = []
    for (kernel, place, element), won in races.items():
        won.sort(key=_work)
        for number, winner in enumerate(won):
            sets.append(
                TunedSet(
                    kernel,
                    (tuned_name(sweep.devices[place]),),
                    _when(element, won, number),
                    winner.recommended.parameters,
                    f"a sweep at {problem_label(winner.problem)}, {winner.confidence:.1%} sure",
                )
            )
    return tuple(sets)


def _work(winner: Winner) -> int:
    return winner.problem.m * winner.problem.n * winner.problem.k


def _when(element: str, won: Sequence[Winner], number: int) -> str:
    """The shapes that a problem stands for: up to the middle between it and its neighbours."""
    parts = [f"element_bytes == {ELEMENTS[element].bytes}"]
    if number:
        parts.append(f"M * N * K >= {math.isqrt(_work(won[number - 1]) * _work(won[number]))}")
    if number + 1 < len(won):
        parts.append(f"M * N * K < {math.isqrt(_work(won[number]) * _work(won[number + 1]))}")
    return " and ".join(parts)


def _element_of(row: TunedSet) -> str:
    return row.when.partition(" and ")[0]


def _text(row: TunedSet) -> str:
    parameters = ", ".join(f"{name} = {json.dumps(value)}" for name, value in row.parameters)
    lines = (
        "[[sets]]",
        f"kernel = {json.dumps(row.kernel, ensure_ascii=False)}",
        f"on = {json.dumps(row.on, ensure_ascii=False)}",
        f"when = {json.dumps(row.when, ensure_ascii=False)}",
        f"parameters = {{ {parameters} }}",
        f"source = {json.dumps(row.source, ensure_ascii=False)}",
    )
    return "\n".join(lines) + "\n"
