"""Which work-groups are looked at, and the ids of their work-items."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.core.access.kinds import ULONG
from gemmviz.core.launch import Geometry

Group = tuple[int, int, int]

_FEW = 8


@dataclass(frozen=True, slots=True)
class Launch:
    """Local size and number of work-groups, three dimensions each."""

    local: Group
    groups: Group

    @property
    def items(self) -> int:
        """Work-items of a group."""
        return self.local[0] * self.local[1] * self.local[2]


def launch_of(shape: Geometry) -> Launch:
    """A launch with its missing dimensions set to one."""
    local = _three(shape.local, 1)
    total = _three(shape.total, 1)
    x, y, z = (whole // part for whole, part in zip(total, local, strict=True))
    return Launch(local, (x, y, z))


def _three(sizes: tuple[int, ...], filler: int) -> Group:
    x, y, z = (*sizes[:3], filler, filler, filler)[:3]
    return x, y, z


def group_of(group: tuple[int, ...]) -> Group:
    """A group's place with its missing dimensions set to 0."""
    return _three(group, 0)


def all_groups(groups: Group) -> dict[Group, int]:
    """Every work-group of a launch, each standing for itself; the first one comes first."""
    x, y, z = groups
    return {(i, j, k): 1 for k in range(z) for j in range(y) for i in range(x)}


def sample(groups: Group) -> dict[Group, int]:
    """Work-groups that stand for all of a launch, each with how many it stands for.

    The first one comes first. In each dimension the last group is apart from the others, because
    shapes end in it. The others are alike but for how their rows meet the sectors, so a second one
    and the last but one are looked at as well.
    """
    if math.prod(groups) <= _FEW:
        return all_groups(groups)
    parts = [{0: count - 1, count - 1: 1} if count > 1 else {0: 1} for count in groups]
    chosen = {
        (x, y, z): parts[0][x] * parts[1][y] * parts[2][z] for x, y, z in itertools.product(*parts)
    }
    first = (0, 0, 0)
    whole = chosen[first]
    inner = list(dict.fromkeys((first, *inner_groups(groups))))[:whole]
    for group in inner[1:]:
        chosen[group] = whole // len(inner)
    chosen[first] = whole - sum(chosen[group] for group in inner[1:])
    return chosen


def inner_groups(groups: Group) -> tuple[Group, Group]:
    """Two groups that should be like the first: the second and the last but one everywhere."""
    second = group_of(tuple(1 if count > 2 else 0 for count in groups))
    late = group_of(tuple(max(0, count - 2) for count in groups))
    return second, late


class Lanes:
    """The work-items of some groups side by side, dimension 0 fastest."""

    def __init__(self, launch: Launch, groups: tuple[Group, ...]) -> None:
        self.launch, self.groups = launch, groups
        self.items = launch.items
        self.count = self.items * len(groups)
        numbers = np.arange(self.items, dtype=np.uint64)
        self._local: list[Any] = []
        self._group: list[Any] = []
        step = 1
        for dimension in range(3):
            size = launch.local[dimension]
            ids = numbers // np.uint64(step) % np.uint64(size)
            self._local.append(0 if size == 1 else np.tile(ids, len(groups)))
            places = np.array([group[dimension] for group in groups], dtype=np.uint64)
            alike = bool((places == places[0]).all())
            self._group.append(int(places[0]) if alike else np.repeat(places, self.items))
            step *= size

    def local_id(self, dimension: int) -> Any:
        """The payload of ``get_local_id``, as all below of type size_t."""
        return self._local[dimension] if 0 <= dimension < 3 else 0

    def group_id(self, dimension: int) -> Any:
        """The payload of ``get_group_id``."""
        return self._group[dimension] if 0 <= dimension < 3 else 0

    def global_id(self, dimension: int) -> Any:
        """The payload of ``get_global_id``."""
        if not 0 <= dimension < 3:
            return 0
        start = self._group[dimension] * self.launch.local[dimension]
        result = start + self._local[dimension]
        return result.astype(ULONG.dtype, copy=False) if isinstance(result, np.ndarray) else result
