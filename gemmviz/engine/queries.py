"""What a device is asked and how the answers read; knows the names, not the driver."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence

from gemmviz.core.model import Property

BYTES = frozenset(
    {
        "GLOBAL_MEM_CACHELINE_SIZE",
        "GLOBAL_MEM_CACHE_SIZE",
        "GLOBAL_MEM_SIZE",
        "GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE",
        "LOCAL_MEM_SIZE",
        "LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD",
        "MAX_CONSTANT_BUFFER_SIZE",
        "MAX_GLOBAL_VARIABLE_SIZE",
        "MAX_MEM_ALLOC_SIZE",
        "MAX_PARAMETER_SIZE",
        "PRINTF_BUFFER_SIZE",
        "QUEUE_ON_DEVICE_MAX_SIZE",
        "QUEUE_ON_DEVICE_PREFERRED_SIZE",
    }
)
_SCALES = {"MAX_CLOCK_FREQUENCY": (10**6, "Hz"), "PROFILING_TIMER_RESOLUTION": (1e-9, "s")}
_BITS: dict[str, tuple[str, ...]] = {
    "TYPE": ("DEFAULT", "CPU", "GPU", "ACCELERATOR", "CUSTOM"),
    "EXECUTION_CAPABILITIES": ("KERNEL", "NATIVE_KERNEL"),
    "QUEUE_PROPERTIES": ("OUT_OF_ORDER", "PROFILING", "ON_DEVICE", "ON_DEVICE_DEFAULT"),
    "SINGLE_FP_CONFIG": ("DENORM", "INF_NAN", "ROUND_TO_NEAREST", "ROUND_TO_ZERO",
                         "ROUND_TO_INF", "FMA", "SOFT_FLOAT", "CORRECTLY_ROUNDED_DIVIDE_SQRT"),
}  # fmt: skip
_BITS["DOUBLE_FP_CONFIG"] = _BITS["HALF_FP_CONFIG"] = _BITS["SINGLE_FP_CONFIG"]
_WORDS: dict[str, tuple[str, ...]] = {
    "LOCAL_MEM_TYPE": ("NONE", "LOCAL", "GLOBAL"),
    "GLOBAL_MEM_CACHE_TYPE": ("NONE", "READ_ONLY", "READ_WRITE"),
}
_SUFFIX = re.compile(r"_(NV|AMD|INTEL|ARM|ALTERA|QCOM|IMG|APPLE|EXT|KHR)\Z")
_VENDOR_OF = {"NV": "nvidia", "AMD": "advanced micro", "INTEL": "intel", "ARM": "arm"}
_ATOMIC = ("ORDER_RELAXED", "ORDER_ACQ_REL", "ORDER_SEQ_CST", "SCOPE_WORK_ITEM",
           "SCOPE_WORK_GROUP", "SCOPE_DEVICE", "SCOPE_ALL_DEVICES")  # fmt: skip
_BITS["ATOMIC_MEMORY_CAPABILITIES"] = _BITS["ATOMIC_FENCE_CAPABILITIES"] = _ATOMIC
_BITS["QUEUE_ON_DEVICE_PROPERTIES"] = _BITS["QUEUE_ON_HOST_PROPERTIES"] = _BITS["QUEUE_PROPERTIES"]
_BITS["DEVICE_ENQUEUE_CAPABILITIES"] = ("SUPPORTED", "REPLACEABLE_DEFAULT")
_BITS["SVM_CAPABILITIES"] = ("COARSE_GRAIN_BUFFER", "FINE_GRAIN_BUFFER", "FINE_GRAIN_SYSTEM",
                             "ATOMICS")  # fmt: skip
_FLAGS = frozenset(
    {
        "ENDIAN_LITTLE",
        "HOST_UNIFIED_MEMORY",
        "PREFERRED_INTEROP_USER_SYNC",
        "GPU_OVERLAP_NV",
        "KERNEL_EXEC_TIMEOUT_NV",
        "INTEGRATED_MEMORY_NV",
    }
)
_FLAG_ENDINGS = ("AVAILABLE", "_SUPPORT", "_SUPPORTED")
# 32-bit queries that the binding has no name for or refuses by itself, by vendor.
RAW_QUERIES: dict[str, dict[str, int]] = {
    "intel": {
        "IP_VERSION_INTEL": 0x4250,
        "NUM_SLICES_INTEL": 0x4252,
        "NUM_SUB_SLICES_PER_SLICE_INTEL": 0x4253,
        "NUM_EUS_PER_SUB_SLICE_INTEL": 0x4254,
        "NUM_THREADS_PER_EU_INTEL": 0x4255,
    },
    "advanced micro": {"WAVEFRONT_WIDTH_AMD": 0x4043},
}
# Objects rather than values, and names kept by the binding for what newer ones replaced.
SKIPPED = frozenset({"PLATFORM", "PARENT_DEVICE", "to_string", "MIN_DATA_TYPE_ALIGN_SIZE"})


def wanted(name: str, vendor: str) -> bool:
    """Whether a device of ``vendor`` is asked for ``name``: not for another vendor's extension."""
    match = _SUFFIX.search(name)
    if match is None or match[1] not in _VENDOR_OF:
        return name not in SKIPPED and match is None
    return _VENDOR_OF[match[1]] in vendor.lower()


def property_of(name: str, raw: object) -> Property:
    """One answer in SI units or words; bit masks and enumerations by their names."""
    if isinstance(raw, bytes):
        raw = raw.decode("utf-8", "replace")
    if isinstance(raw, str):
        return Property(name, clean(raw))
    if isinstance(raw, list | tuple):
        return Property(name, _listed(raw))
    if not isinstance(raw, int):
        return Property(name, clean(str(raw)))
    if name in _FLAGS or name.endswith(_FLAG_ENDINGS):
        return Property(name, "yes" if raw else "no")
    if name.endswith("NUMERIC_VERSION"):
        return Property(name, _version(raw))
    if name in _BITS:
        bits = [word for bit, word in enumerate(_BITS[name]) if raw >> bit & 1]
        return Property(name, " | ".join(bits) or "none")
    if name in _WORDS and raw < len(_WORDS[name]):
        return Property(name, _WORDS[name][raw])
    if name in _SCALES:
        factor, unit = _SCALES[name]
        return Property(name, raw * factor, unit)
    return Property(name, raw, "bytes" if name in BYTES else "")


def _listed(items: Sequence[object]) -> str:
    """Sizes as "8 x 8 x 4"; named versions as "name 1.2.3", one after the other."""
    if items and hasattr(items[0], "name") and hasattr(items[0], "version"):
        return ", ".join(f"{clean(item.name)} {_version(item.version)}" for item in items)  # type: ignore[attr-defined]
    return " x ".join(map(str, items))


def _version(packed: int) -> str:
    """A packed cl_version (10, 10 and 12 bits) as "3.0.0"."""
    return f"{packed >> 22}.{packed >> 12 & 0x3FF}.{packed & 0xFFF}"


def clean(text: str) -> str:
    """A driver's text without the NUL bytes and spaces that some end it with."""
    return " ".join(text.replace("\0", " ").split())


def device_type(mask: int, platform: str) -> str:
    """The one type of a device whose mask may hold several; a simulator claims them all."""
    if "oclgrind" in platform.lower():
        return "simulator"
    for bit, name in ((4, "GPU"), (2, "CPU"), (8, "accelerator")):
        if mask & bit:
            return name
    return "accelerator"


def unavailable_reason(platform: str, available: bool, compiler: bool) -> str | None:
    """Why nothing can run on a device, or None.

    PoCL links each kernel with ``ld`` at its first launch and aborts the process without it.
    """
    if "portable computing language" in platform.lower() and shutil.which("ld") is None:
        return "PoCL needs the linker ld, which is not on PATH (Debian: apt install binutils)"
    if not available:
        return "its driver says that it is not available"
    if not compiler:
        return "its driver has no compiler for OpenCL C"
    return None
