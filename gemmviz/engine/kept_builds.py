"""What the compiler said of kernels that were built before, since a cached build says nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gemmviz.core.codec import CodecError, from_json, to_json
from gemmviz.core.launch import assemble_job, geometry
from gemmviz.core.model import Device, Job, Registers
from gemmviz.core.paths import cache_dir

T = TypeVar("T")

# Where drivers keep what they built: in another place nothing of it is found.
_CACHES = ("POCL_CACHE_DIR", "CUDA_CACHE_PATH")


@dataclass(frozen=True, slots=True)
class KeptBuild:
    """What the compiler said of a build that worked, and that its driver has cached by now."""

    log: str = ""
    registers: Registers = field(default_factory=Registers)


def kept_build(job: Job, device: Device) -> KeptBuild | None:
    """What is known of an earlier build of a job, whatever its problem; None without one."""
    return _read(KeptBuild, _build_path(job, device))


def keep_build(job: Job, device: Device, build: KeptBuild) -> None:
    """Keeps the word of a build on disk; where that cannot be, it is built again another day."""
    _write(_build_path(job, device), build)


def kept_registers(job: Job, device: Device) -> Registers | None:
    """The compiler's resource report on a job from an earlier day; None without one."""
    return _read(Registers, _registers_path(job, device))


def keep_registers(job: Job, device: Device, found: Registers) -> None:
    """Keeps a resource report on disk."""
    _write(_registers_path(job, device), found)


def _build_path(job: Job, device: Device) -> Path:
    # PoCL compiles once more for each group size.
    local = geometry(job.variant, job.parameters, job.problem).local
    caches = [os.environ.get(name) for name in _CACHES]
    return _path("builds", job, device, [job.variant.entry, str(local), *map(str, caches)])


def _registers_path(job: Job, device: Device) -> Path:
    return _path("registers", job, device, [])


def _path(folder: str, job: Job, device: Device, more: list[str]) -> Path:
    driver = [device.platform, device.platform_version] if more else []
    known = [assemble_job(job), job.build_options, device.name, device.driver_version]
    text = json.dumps([*known, *driver, *more])
    return cache_dir() / folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def _read(kind: type[T], path: Path) -> T | None:
    try:
        return from_json(kind, json.loads(path.read_text()))
    except (OSError, ValueError, CodecError):
        return None


def _write(path: Path, value: object) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Several processes keep the same: a rename shows each a whole file.
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(to_json(value)))
        fresh.replace(path)
