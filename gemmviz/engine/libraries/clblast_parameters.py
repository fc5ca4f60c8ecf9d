"""The parameters of CLBlast's own kernels on a device: which it uses, and giving it others.

CLBlast's interface in C sets parameters and does not tell them; the function that does is C++'s.
Its name holds libstdc++'s types, so that they are laid out as written here wherever it is found.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

_RETRIEVE = (
    "_ZN7clblast18RetrieveParametersEP13_cl_device_idRKNSt7__cxx1112basic_stringIcSt11char_traitsIc"
    "ESaIcEEENS_9PrecisionERSt13unordered_mapIS7_mSt4hashIS7_ESt8equal_toIS7_ESaISt4pairIS8_mEEE"
)
_PRECISIONS = {"half": 16, "float": 32, "double": 64}
_KERNELS = "Xgemm", "XgemmDirect", "GemmRoutine"
_LEAST = "XGEMM_MIN_INDIRECT_SIZE"

Parameters = dict[str, dict[str, int]]
"""By kernel, the parameters by name."""


class _String(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("inside", ctypes.c_char * 16),
    ]  # fmt: skip


class _Node(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("name", _String), ("value", ctypes.c_size_t)]


class _Map(ctypes.Structure):
    _fields_ = [
        ("buckets", ctypes.c_void_p), ("bucket_count", ctypes.c_size_t),
        ("first", ctypes.c_void_p), ("size", ctypes.c_size_t), ("load", ctypes.c_float),
        ("next_resize", ctypes.c_size_t), ("bucket", ctypes.c_void_p),
    ]  # fmt: skip


# CLBlast keeps parameters for the whole process, by device and element type; so does this.
_shipped: dict[tuple[int, str], Parameters] = {}
_given: dict[tuple[int, str], Parameters] = {}


def shipped(library: ctypes.CDLL, device: int, element: str) -> Parameters:
    """What CLBlast has for a device from its own tables, also after others were given.

    Args:
        library: CLBlast.
        device: The device as a ``cl_device_id``.
        element: The element type.

    Returns:
        The parameters of its two kernels of GEMM and of the choice between them; {} where this
        CLBlast does not tell.
    """
    key = device, element
    if key not in _shipped:
        found = {kernel: _retrieved(library, device, kernel, element) for kernel in _KERNELS}
        _shipped[key] = found if all(found.values()) else {}
    return _shipped[key]


def always_xgemm(own: Parameters, parameters: Mapping[str, int]) -> Parameters:
    """The parameters of :func:`shipped` with some of Xgemm replaced, which then always runs."""
    return {**own, "Xgemm": {**own["Xgemm"], **parameters}, "GemmRoutine": {_LEAST: 0}}


def kernel_chosen(parameters: Parameters, m: int, n: int, k: int) -> str:
    """Which of its two kernels CLBlast runs at a shape (its ``Xgemm::UseDirectKernel``)."""
    if not parameters:
        return ""
    return "XgemmDirect" if m * n * k < parameters["GemmRoutine"][_LEAST] ** 3 else "Xgemm"


def give(library: ctypes.CDLL, device: int, element: str, wanted: Parameters) -> int:
    """Lets CLBlast use these from the next call on; returns its status, 0 where all is well.

    What was compiled for parameters that it had before is kept, so going back costs nothing.
    """
    key = device, element
    current = _given.setdefault(key, dict(_shipped.get(key, {})))
    for kernel, parameters in wanted.items():
        if current.get(kernel) != parameters:
            count = len(parameters)
            names = (ctypes.c_char_p * count)(*(name.encode() for name in parameters))
            status: int = library.CLBlastOverrideParameters(
                ctypes.c_void_p(device), kernel.encode(), _PRECISIONS[element],
                ctypes.c_size_t(count), names, (ctypes.c_size_t * count)(*parameters.values()),
            )  # fmt: skip
            if status:
                return status
            current[kernel] = parameters
    return 0


def _retrieved(library: ctypes.CDLL, device: int, kernel: str, element: str) -> dict[str, int]:
    """The parameters of a kernel; {} where they are not told."""
    retrieve: Any = getattr(library, _RETRIEVE, None)
    if retrieve is None:
        return {}
    name, found = _String(size=len(kernel), inside=kernel.encode()), _Map(bucket_count=1, load=1.0)
    name.data = ctypes.addressof(name) + _String.inside.offset
    found.buckets = ctypes.addressof(found) + _Map.bucket.offset
    if retrieve(ctypes.c_void_p(device), ctypes.byref(name), _PRECISIONS[element],
                ctypes.byref(found)):  # fmt: skip
        return {}
    parameters, place = {}, found.first
    while place:
        node = _Node.from_address(place)
        parameters[ctypes.string_at(node.name.data, node.name.size).decode()] = node.value
        place = node.next
    return parameters
