"""Prepares a child's environment before its first OpenCL query."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import time
from collections.abc import MutableMapping
from pathlib import Path

from gemmviz.core.paths import cache_dir

_SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
_OLD_SECONDS = 3600
_VENDORS = "OCL_ICD_VENDORS"


def prepare_environment(environment: MutableMapping[str, str]) -> None:
    """Sets what drivers read once, at the first query of a process.

    PoCL: ``POCL_AFFINITY`` pins its workers, since two on one core halve the speed of short
    kernels, and ``POCL_CACHE_DIR`` is the app's own, since a shared cache removed under PoCL makes
    it abort. Intel's pip runtime ships an ``.icd`` whose path exists nowhere, so a right one is
    written into a folder of the app's, beside links to the system's. A person's own settings stay.
    """
    # pyopencl and drivers keep files of their own there, and fail where they cannot.
    environment["XDG_CACHE_HOME"] = str(cache_dir())
    environment.setdefault("POCL_AFFINITY", "1")
    environment.setdefault("POCL_CACHE_DIR", str(_made(cache_dir() / "pocl")))
    _sweep(cache_dir() / "pocl")
    library = _intel_library()
    if library is not None and not environment.get(_VENDORS):
        environment[_VENDORS] = str(_vendors_with(library))


def _sweep(folder: Path) -> None:
    """Takes away the empty files that PoCL leaves in its cache when its process is killed."""
    old = time.time() - _OLD_SECONDS
    for path in folder.glob("tempfile_*"):
        with contextlib.suppress(OSError):
            status = path.stat()
            if status.st_size == 0 and status.st_mtime < old:
                path.unlink()


def vendor_folders(environment: MutableMapping[str, str]) -> tuple[str, ...]:
    """The folders in which the loader looks for drivers, in its order."""
    folders = [environment.get(_VENDORS) or str(_SYSTEM_VENDORS)]
    spec = importlib.util.find_spec("pyopencl")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / ".libs"
        if bundled.is_dir():
            folders.append(str(bundled))
    return tuple(folders)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _intel_library() -> Path | None:
    """Intel's CPU runtime as pip installed it, or None."""
    try:
        files = importlib.metadata.files("intel-opencl-rt") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "libintelocl.so":
            path = Path(str(file.locate())).resolve()
            return path if path.exists() else None
    return None


def _vendors_with(library: Path) -> Path:
    """The app's vendors folder: the system's drivers and ``library``."""
    folder = _made(cache_dir() / "vendors")
    wanted = {"gemmviz-intel-cpu.icd": f"{library}\n"}
    for icd in sorted(_SYSTEM_VENDORS.glob("*.icd")):
        try:
            wanted.setdefault(icd.name, icd.read_text())
        except (OSError, UnicodeDecodeError):
            continue  # the loader could not read it either
    for stale in folder.glob("*.icd"):
        if stale.name not in wanted:
            stale.unlink(missing_ok=True)
    for name, text in wanted.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            # Several children start at once: a rename shows each a whole file.
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.write_text(text)
            fresh.replace(path)
    return folder
