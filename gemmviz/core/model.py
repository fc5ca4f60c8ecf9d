"""The frozen nouns of gemmviz: devices, kernel variants, problems, jobs, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from gemmviz.core.context import Context
from gemmviz.core.error_map import ErrorMap
from gemmviz.core.placing import Placing
from gemmviz.core.policy import STANDARD, Policy, StopReason
from gemmviz.core.trust import DeviceTimer, TimerTrust

Verdict = Literal["verified", "wrong", "unchecked"]

Transpose = Literal["nn", "nt", "tn", "tt"]
"""Which of A and B are stored transposed (t) and which as they are (n), A first."""

Order = Literal["", "row", "column"]
"""How matrices lie in memory: row after row or column after column; "" as the kernel wants it."""

TRANSPOSES: tuple[Transpose, ...] = ("nn", "nt", "tn", "tt")
ORDERS: tuple[Order, ...] = ("", "row", "column")


@dataclass(frozen=True, slots=True)
class Element:
    """An element type; ``unit_roundoff`` is half the gap between 1 and its successor."""

    name: str
    bytes: int
    unit_roundoff: float
    dtype: str


ELEMENTS: dict[str, Element] = {
    "half": Element("half", 2, 2.0**-11, "float16"),
    "float": Element("float", 4, 2.0**-24, "float32"),
    "double": Element("double", 8, 2.0**-53, "float64"),
}


@dataclass(frozen=True, slots=True)
class Property:
    """One query of a device: ``value`` as read, or None with the ``reason`` it was refused.

    ``unit`` is "bytes", "Hz", "s" or "" and belongs to an integer or float value.
    """

    name: str
    value: int | float | str | None
    unit: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DeviceKey:
    """What a device is found by in another process: names and version, never a platform index.

    ``ordinal`` tells devices of one platform with the same name apart.
    """

    platform: str
    platform_version: str
    name: str
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class Device:
    """An OpenCL device as its driver describes it; a refused query is None.

    ``type`` is "GPU", "CPU", "accelerator" or "simulator". ``elements`` are the element types it
    computes. ``hardware`` is equal for devices that share silicon and so must take turns.
    ``unavailable`` says why nothing can run on it, or is None. ``compute_capability`` ("9.0") is
    known on NVIDIA, ``gfx`` ("gfx1030") on AMD.
    """

    platform: str
    platform_version: str
    name: str
    type: str
    vendor: str = ""
    driver_version: str = ""
    opencl_version: str = ""
    ordinal: int = 0
    compute_units: int | None = None
    clock_hz: int | None = None
    local_mem_bytes: int | None = None
    local_mem_type: str | None = None
    global_mem_bytes: int | None = None
    max_alloc_bytes: int | None = None
    global_cache_bytes: int | None = None
    max_work_group_size: int | None = None
    max_work_item_sizes: tuple[int, ...] = ()
    elements: tuple[str, ...] = ("float",)
    compute_capability: str | None = None
    gfx: str | None = None
    hardware: str = ""
    unavailable: str | None = None
    properties: tuple[Property, ...] = ()

    @property
    def key(self) -> DeviceKey:
        """What this device is found by in another process."""
        return DeviceKey(self.platform, self.platform_version, self.name, self.ordinal)


@dataclass(frozen=True, slots=True)
class Platform:
    """An OpenCL platform and its devices; ``problem`` says why it has none, if so."""

    name: str
    version: str
    vendor: str
    devices: tuple[Device, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument, in the kernel's own order.

    Attributes:
        kind: "matrix" (``text`` is A, B or C), "size" (M, N, K, lda, ldb or ldc), "scalar"
            (alpha or beta), "local" (``text`` is the formula of its bytes), "value" (``text`` is a
            formula passed by value), "constant" (a number passed by value), "buffer" (a formula
            passed by pointer), "scratch" (the formula of the bytes of a global buffer that holds
            zeros at first and later what the last launch left) or "tensor_map" (A, B or C as
            NVIDIA's tensor memory access unit copies it, a tile at a time).
        text: See ``kind``.
        type: The C type of a size, value or buffer: int, uint, long, ulong, float, double or real.
        box: Formulas of the elements in a tile of a tensor map, along a row as stored and across.
        swizzle: Bytes of a tile's row that are swizzled in local memory: 32, 64, 128, or 0.
    """

    kind: str
    text: str
    type: str = "int"
    box: tuple[str, ...] = ()
    swizzle: int = 0


@dataclass(frozen=True, slots=True)
class Parameter:
    """A compile-time macro of a variant, with the values a person may choose."""

    name: str
    default: int
    values: tuple[int, ...]
    help: str = ""


@dataclass(frozen=True, slots=True)
class Variant:
    """A kernel variant: the ``.toml`` as read and the ``.cl`` beside it.

    Formulas are kept as text and evaluated by :mod:`gemmviz.core.expr`. ``group`` is the local
    size, dimension 0 first; ``tile_rows`` x ``tile_cols`` is the part of C that one work-group
    computes; ``dims`` says which of "rows" and "cols" each NDRange dimension walks over.
    ``library`` names a key of :data:`gemmviz.core.libraries.LIBRARIES` that multiplies in place of
    a kernel: then there is no source, and the formulas describe one group of one item. ``general``
    is whether it computes C = alpha op(A) op(B) + beta C, transposed inputs included. ``groups`` is
    how many groups a launch has where they go round among the tiles, or "" for one a tile.
    ``build`` names what is done to the compiler's output ("ptx-sm_90a", see
    :mod:`gemmviz.engine.ptx`). ``stored`` are those of ``elements`` that the kernel never computes
    with: it moves their bits, and ``real`` is an unsigned integer.
    """

    id: str
    title: str
    summary: str
    family: str
    order: str
    arguments: tuple[Argument, ...]
    group: tuple[str, ...]
    tile_rows: str
    tile_cols: str
    dims: tuple[str, ...]
    local_bytes: str
    shapes: str
    source: str
    entry: str
    rung: int = 0
    idea: str = ""
    require: tuple[str, ...] = ()
    operation: str = "multiply"
    expect: str = "verified"
    finding: str = ""
    right_when: str = ""
    precision: str = "element"
    needs: tuple[str, ...] = ()
    elements: tuple[str, ...] = ("half", "float", "double")
    parameters: tuple[Parameter, ...] = ()
    library: str = ""
    general: bool = False
    groups: str = ""
    build: str = ""
    stored: tuple[str, ...] = ()


Parameters = tuple[tuple[str, int], ...]
"""Chosen macro values, in the variant's order: (("TS", 16), ("PAD", 0))."""


@dataclass(frozen=True, slots=True)
class Problem:
    """C (m x n) = alpha op(A) op(B) + beta C in one element type, inputs drawn from ``seed``.

    op(A) is m x k and op(B) k x n. A matrix that ``transpose`` marks with t is stored the other
    way: A as k x m, B as n x k. Only a general variant computes what :attr:`is_plain` is not.
    """

    m: int
    n: int
    k: int
    element: str = "float"
    seed: int = 0
    transpose: Transpose = "nn"
    order: Order = ""
    alpha: float = 1.0
    beta: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Whether it is C = A B, and nothing is asked of how the matrices lie."""
        return (self.transpose, self.order, self.alpha, self.beta) == ("nn", "", 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Job:
    """Everything a child needs to run one kernel: source and metadata, never a path.

    ``launch_limit_seconds`` is the longest that one launch may take before the child is killed, or
    None for fifty times what is foreseen. ``dummy_local_bytes`` of local memory are added to each
    work-group, to see what less occupancy costs.
    """

    id: int
    device: DeviceKey
    variant: Variant
    parameters: Parameters
    problem: Problem
    policy: Policy = STANDARD
    check: bool = True
    force: bool = False
    build_options: str = ""
    launch_limit_seconds: float | None = None
    dummy_local_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something did not work: a kind, a sentence for a person, and the raw detail.

    ``kind`` is one of "not_found", "refused", "build", "launch", "out_of_memory", "hang", "crash",
    "driver", "wrong", "timer" or "stopped".
    """

    kind: str
    sentence: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """What the driver says of a built kernel, each None where it refuses.

    ``local_bytes`` is read after all arguments are set; drivers may pad it or leave out ``__local``
    arguments. ``max_group_size`` and ``preferred_multiple`` are hints of the driver;
    ``compiled_group`` is the source's ``reqd_work_group_size``, zeros without one.
    """

    local_bytes: int | None = None
    max_group_size: int | None = None
    preferred_multiple: int | None = None
    private_bytes: int | None = None
    compiled_group: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Registers:
    """Registers per work-item as the compiler reports them, each None where it is silent."""

    registers: int | None = None
    local_bytes: int | None = None
    spill_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Outside:
    """Guard elements that a kernel overwrote: how many, of which buffer, on which side of it."""

    buffer: Literal["A", "B", "C"]
    side: Literal["in front of", "behind"]
    elements: int


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of comparing one launch with the float64 reference.

    Errors are absolute. ``worst_*`` describe the cell furthest above its bound (or the nearest to
    it); NaN cells count as wrong and leave ``max_error`` to the others.

    Attributes:
        rows_checked: Rows of C that were compared cell by cell; all ``rows`` of them unless the
            reference would take too long.
        cols_checked: Columns that were compared besides sampled rows; 0 when all rows were.
        vectors: Random vectors of Freivalds' test on the whole of C; 0 when all rows were compared.
        rows_failed: Rows of C that Freivalds' test found wrong.
        cells_unwritten: Cells that still held what C was filled with.
        cells_nan: Cells that the kernel wrote NaN into.
        overrun: Guard elements overwritten around all buffers; ``outside`` says where.
        cells_differing: Cells whose bits differ between two launches; None when only one was made.
        pattern: How the wrong cells lie, as a sentence.
    """

    verdict: Verdict
    rows_checked: int
    rows: int
    cols: int
    cells_wrong: int = 0
    cells_unwritten: int = 0
    overrun: int = 0
    max_error: float = 0.0
    worst_row: int = 0
    worst_col: int = 0
    worst_value: float = 0.0
    worst_expected: float = 0.0
    worst_bound: float = 0.0
    cols_checked: int = 0
    vectors: int = 0
    rows_failed: int = 0
    cells_nan: int = 0
    outside: tuple[Outside, ...] = ()
    cells_differing: int | None = None
    pattern: str = ""

    @property
    def cells_checked(self) -> int:
        """How many cells of C were compared."""
        return self.rows_checked * self.cols + self.cols_checked * (self.rows - self.rows_checked)


@dataclass(frozen=True, slots=True)
class Samples:
    """Timed launches in run order, as parallel sequences that nobody changes: tuples or arrays.

    A sample covers ``launches[i]`` launches, took ``seconds[i]`` in all and ended ``at[i]`` seconds
    after the first timed launch was enqueued (host clock).
    """

    launches: Sequence[int] = ()
    seconds: Sequence[float] = ()
    at: Sequence[float] = ()

    def __len__(self) -> int:
        return len(self.seconds)


@dataclass(frozen=True, slots=True)
class Result:
    """A finished run: the job, the device it ran on, what was checked and every sample.

    ``failure`` is None when the kernel ran and was not found wrong; ``stopped`` when a person ended
    it. ``finished_at`` is seconds since the Unix epoch. ``quantiles`` are the minimum, quartiles
    and maximum of single launches in seconds, also where samples are batches of them; empty where
    the host's clock timed whole batches. ``placing`` is that in the finals of a sweep.
    ``build_seconds`` is how long the driver took to build the kernel, little where it had it in its
    cache; None where nothing is known of it.
    """

    job: Job
    device: Device
    samples: Samples = field(default_factory=Samples)
    check: Check | None = None
    facts: KernelFacts | None = None
    build_log: str = ""
    failure: Failure | None = None
    stopped: bool = False
    finished_at: float = 0.0
    discarded: int = 0
    stop_reason: StopReason = ""
    timer: DeviceTimer | None = None
    trust: TimerTrust | None = None
    quantiles: tuple[float, ...] = ()
    context: Context | None = None
    error_map: ErrorMap | None = None
    placing: Placing | None = None
    build_seconds: float | None = None

    @property
    def verdict(self) -> Verdict | None:
        """Verified or wrong; unchecked when none was asked for; None when it never got there."""
        if self.check is not None:
            return self.check.verdict
        return None if self.job.check else "unchecked"
