"""How the kernels of a device's ceilings are written and how far each reaches, best guess first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gemmviz.core.model import ELEMENTS, Device
from gemmviz.core.units import memory
from gemmviz.engine.ceiling_kernels import Access, Shape, local_memory_bytes

_GROUP, _CPU_GROUP = 256, 64
_KIB, _MIB = 2**10, 2**20
_UNKNOWN_CACHE_BYTES = 32 * _MIB
_CACHES = 4  # so many times the cache is in none
_GPU_GLOBAL_BYTES = 4096 * _MIB
_LEAST_GLOBAL_BYTES, _MOST_GLOBAL_BYTES = 64 * _MIB, 512 * _MIB
_MEMORY_SHARE = 8  # of the device's memory for each of two buffers
# Within the second level of any CPU's core and beyond the first; within any first level.
_CORE_CACHE_BYTES, _CORE_NEAR_BYTES = 192 * _KIB, 16 * _KIB
# GPUs' drivers tell the size of one cache or another, so sizes are tried.
_GPU_CACHE_BYTES = (16 * _MIB, 4 * _MIB, 32 * _MIB, 1 * _MIB, 256 * _KIB)
_FAR_GROUPS = 37  # prime: no short walk leads back to a block that the same unit had
_GROUPS_A_CORE = 4
_GROUPS_A_UNIT = 48  # whole turns of 1, 2, 3, 4, 6 or 8 resident groups
_GPU_NEAR_GROUPS = 4


@dataclass(frozen=True, slots=True)
class Span:
    """What a stream kernel covers: ``groups`` blocks of ``each`` parts; see ``stream_source``."""

    groups: int
    each: int
    turn: int
    block_bytes: int
    text: str

    @property
    def bytes(self) -> int:
        """What one array of it takes."""
        return self.groups * self.block_bytes


class Plan:
    """The shapes and spans to try on a device."""

    def __init__(self, device: Device, native_width: int | None) -> None:
        self._device = device
        self.gpu = device.type == "GPU"
        self._units = max(1, device.compute_units or 1)
        self._group = min(_GROUP, device.max_work_group_size or _GROUP)
        self._native = min(16, max(1, native_width or 4))

    @property
    def elements(self) -> tuple[str, ...]:
        """The element types that the device computes."""
        return self._device.elements

    @property
    def global_bytes(self) -> int:
        """What one array takes that no cache holds."""
        device = self._device
        wanted = _GPU_GLOBAL_BYTES
        if not self.gpu:
            cache = device.global_cache_bytes or _UNKNOWN_CACHE_BYTES
            wanted = min(max(_CACHES * cache, _LEAST_GLOBAL_BYTES), _MOST_GLOBAL_BYTES)
        most = device.max_alloc_bytes or wanted
        memory_bytes = (device.global_mem_bytes or _MEMORY_SHARE * wanted) // _MEMORY_SHARE
        return max(_MIB, min(wanted, most, memory_bytes) // _MIB * _MIB)

    def stream_shapes(self) -> tuple[Shape, ...]:
        """Ways to write a stream."""
        if self.gpu:
            # Beyond the caches a copy is fastest with few vectors under way, a cache with many.
            ways = ((4, 1), (4, 8), (2, 2), (2, 8))
            return tuple(Shape("float", width, self._group, ahead=ahead) for width, ahead in ways)
        widths = dict.fromkeys((self._native, max(1, self._native // 2)))
        return tuple(Shape("float", width, 1) for width in widths)

    def far(self, shape: Shape, size_bytes: int) -> Span:
        """All of arrays of ``size_bytes``."""
        part = self._part_bytes(shape)
        groups = size_bytes // part if self.gpu else self._units * _GROUPS_A_CORE
        each = max(1, size_bytes // (groups * part))
        span = Span(groups, each, 0, each * part, "")
        return Span(groups, each, 0, span.block_bytes, memory(span.bytes))

    def cached(self, shape: Shape, access: Access, size_bytes: int) -> Iterator[Span]:
        """Parts of arrays of ``size_bytes`` that the cache of all, or a core's own, can hold."""
        part = self._part_bytes(shape)
        arrays = 2 if access == "copy" else 1
        if not self.gpu:
            yield self._own(shape, _CORE_CACHE_BYTES // arrays, size_bytes)
            return
        told = (self._device.global_cache_bytes or 0) // 2
        sizes = dict.fromkeys((*_GPU_CACHE_BYTES, told))
        for size in sizes:
            groups = min(size, size_bytes) // arrays // part
            if groups > 1:
                turn = min(_FAR_GROUPS, groups - 1)
                yield Span(groups, 1, turn, part, memory(groups * part))

    def near(self, shape: Shape, size_bytes: int) -> Span:
        """What lies nearest in arrays of ``size_bytes``: each group reads a block of its own."""
        if not self.gpu:
            return self._own(shape, _CORE_NEAR_BYTES, size_bytes)
        part = self._part_bytes(shape)
        text = f"{_GPU_NEAR_GROUPS} × {memory(part)} a unit"
        groups = min(self._units * _GPU_NEAR_GROUPS, size_bytes // part)
        return Span(max(1, groups), 1, 0, part, text)

    def _own(self, shape: Shape, block_bytes: int, size_bytes: int) -> Span:
        """A block for each group of a CPU's core, as far as there is room for all."""
        part = self._part_bytes(shape)
        groups = self._units * _GROUPS_A_CORE
        each = max(1, min(block_bytes, size_bytes // groups) // part)
        text = f"{memory(each * part)} a core"
        return Span(groups, each, 0, each * part, text)

    def _part_bytes(self, shape: Shape) -> int:
        return shape.ahead * shape.group * shape.width * ELEMENTS[shape.element].bytes

    def local_shapes(self) -> tuple[Shape, ...]:
        """Ways to read local memory with wide vectors."""
        if self.gpu:
            return tuple(Shape("float", width, self._group) for width in (4, 2, 1))
        widths = dict.fromkeys((max(1, self._native // 2), self._native))
        return tuple(Shape("float", width, 1) for width in widths)

    @property
    def word_shape(self) -> Shape:
        """The one way to read single words of local memory."""
        return Shape("float", 1, self._group if self.gpu else min(_CPU_GROUP, self._group))

    @property
    def has_local_room(self) -> bool:
        """Whether a group may have the local memory of the kernels."""
        most = self._device.local_mem_bytes
        return most is None or local_memory_bytes(4) <= most

    def fma_shapes(self, element: str) -> tuple[Shape, ...]:
        """Ways to multiply and add: vectors wide enough, and chains to hide how long one takes."""
        if self.gpu:
            on_gpu = ((1, 8), (2, 8), (4, 4), (1, 4), (2, 4), (4, 8), (1, 16))
            return tuple(Shape(element, width, self._group, chains) for width, chains in on_gpu)
        whole = max(1, min(16, 4 * self._native // ELEMENTS[element].bytes))
        half, quarter = max(1, whole // 2), max(1, whole // 4)
        # Twelve chains fill two pipes four deep, and with half as many registers still fit.
        if element == "half":  # few CPUs compute in it, and converting code takes compilers long
            return tuple(Shape(element, width, 1, 4) for width in (whole, half))
        ways = ((whole, 12), (half, 12), (whole, 8), (quarter, 12), (half, 8), (whole, 16))
        shapes = [Shape(element, width, 1, chains) for width, chains in dict.fromkeys(ways)]
        # A driver may make vectors of neighbouring work-items rather than of vector types.
        return (*shapes, Shape(element, 1, min(_CPU_GROUP, self._group), 8))

    @property
    def sums_bytes(self) -> int:
        """What all work-items of a kernel of local memory or arithmetic store, a vector each."""
        shapes = [*self.local_shapes(), self.word_shape]
        shapes += [shape for element in self.elements for shape in self.fma_shapes(element)]
        return max(
            self.groups_for(shape) * shape.group * shape.width * ELEMENTS[shape.element].bytes
            for shape in shapes
        )

    def groups_for(self, shape: Shape) -> int:
        """Groups that keep every unit busy to the end."""
        return self._units * (_GROUPS_A_UNIT if shape.group > 1 else _GROUPS_A_CORE)
