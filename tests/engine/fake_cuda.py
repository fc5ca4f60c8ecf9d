"""CUDA's driver and cuBLAS as far as the app calls them: they remember what is not given back."""

from __future__ import annotations

import ctypes
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

_MAKERS = {
    "cuStreamCreate": "stream", "cuEventCreate": "event", "cuStreamEndCapture": "graph",
    "cuGraphInstantiateWithFlags": "ready graph", "cuMemAlloc_v2": "memory",
    "cublasCreate_v2": "handle",
}  # fmt: skip
_ENDERS = {
    "cuStreamDestroy_v2": "stream", "cuEventDestroy_v2": "event", "cuGraphDestroy": "graph",
    "cuGraphExecDestroy": "ready graph", "cuMemFree_v2": "memory", "cublasDestroy_v2": "handle",
}  # fmt: skip
_FAILED = 719


class FakeCuda:
    """Both libraries in one; ``failing`` names the function that fails, after so many calls."""

    def __init__(self) -> None:
        self.alive: dict[int, str] = {}
        self.called: Counter[str] = Counter()
        self.failing: str = ""
        self.well = 0
        self._numbers = itertools.count(1)

    @property
    def left(self) -> list[str]:
        """What was made and not given back."""
        return sorted(self.alive.values())

    def __getattr__(self, name: str) -> Callable[..., int]:
        def function(*arguments: Any) -> int:
            return self._call(name, arguments)

        self.__dict__[name] = function
        return function

    def _call(self, name: str, arguments: tuple[Any, ...]) -> int:
        self.called[name] += 1
        if name == self.failing and self.called[name] > self.well:
            return _FAILED
        if name in _MAKERS:
            target = arguments[1] if name == "cuStreamEndCapture" else arguments[0]
            number = next(self._numbers)
            self.alive[number] = _MAKERS[name]
            target._obj.value = number
        elif name in _ENDERS:
            given = arguments[0]
            number = given.value if isinstance(given, ctypes.c_void_p) else given
            assert self.alive.pop(number) == _ENDERS[name]
        return 0
