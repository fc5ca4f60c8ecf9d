"""Prepares a child's environment before its first OpenCL query."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import tempfile
import time
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from gemmviz.core.paths import cache_dir

_SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
_OLD_SECONDS = 3600
_VENDORS = "OCL_ICD_VENDORS"
_OLDER_VENDORS = "OPENCL_VENDOR_PATH"  # the loader reads it where the other is not set
_BUNDLE = "PYOPENCL_HOME"
_DRIVERS = "GEMMVIZ_DRIVERS"


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
    if library is not None and not (environment.get(_VENDORS) or environment.get(_OLDER_VENDORS)):
        with contextlib.suppress(OSError):  # a full disk costs this driver alone
            environment[_VENDORS] = str(_vendors_with(library))


def only_drivers(files: Sequence[str]) -> dict[str, str]:
    """Additions to a child's environment under which it loads the drivers of these ``.icd`` files.

    See :func:`confine_loader`.
    """
    return {_DRIVERS: json.dumps(list(files))}


def confine_loader(environment: MutableMapping[str, str]) -> None:
    """Narrows the loader to the drivers of :func:`only_drivers`, where the host named some.

    The loader takes a folder and, besides it, what lies in ``.libs`` of the folder that
    ``PYOPENCL_HOME`` names, which pyopencl sets when it is imported. So this is called after that
    import, and before the first query, when the loader looks.
    """
    named = environment.get(_DRIVERS)
    if named is None:
        return
    texts = {}
    for index, file in enumerate(json.loads(named)):
        with contextlib.suppress(OSError, UnicodeDecodeError):  # the loader could not read it too
            path = Path(file)
            # What does not end in .icd is the library itself.
            text = path.read_text() if path.suffix == ".icd" else f"{file}\n"
            texts[f"{index:02d}-{path.stem}.icd"] = text
    # Named after what it holds: children of another app confine themselves to other drivers.
    name = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
    folder = _made(cache_dir() / "drivers" / name)
    _write_drivers(folder, texts)
    environment[_VENDORS] = environment[_BUNDLE] = str(folder)


def _sweep(folder: Path) -> None:
    """Takes away the empty files that PoCL leaves in its cache when its process is killed."""
    old = time.time() - _OLD_SECONDS
    for path in folder.glob("tempfile_*"):
        with contextlib.suppress(OSError):
            status = path.stat()
            if status.st_size == 0 and status.st_mtime < old:
                path.unlink()


def vendor_folders(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The folders in which the loader looks for drivers, in its order.

    A variable that names no folder is one driver, and the only one that is loaded.
    """
    first = environment.get(_VENDORS) or environment.get(_OLDER_VENDORS) or str(_SYSTEM_VENDORS)
    bundled = _bundled()
    alone = first != str(_SYSTEM_VENDORS) and not Path(first).is_dir()
    return (first,) if alone or bundled is None else (first, str(bundled))


def driver_files(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The ``.icd`` files that the loader reads, or the library that stands in place of them."""
    files: list[str] = []
    for folder in map(Path, vendor_folders(environment)):
        if folder.is_dir():
            files.extend(map(str, sorted(folder.glob("*.icd"))))
        elif folder.exists():
            files.append(str(folder))
    return tuple(files)


def _bundled() -> Path | None:
    """Where pyopencl's wheel keeps drivers of its own, if anywhere."""
    spec = importlib.util.find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / ".libs"
    return folder if folder.is_dir() else None


def _made(folder: Path) -> Path:
    """The folder, made if need be, or a temporary one where nothing can be written there."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="gemmviz-"))


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
    _write_drivers(folder, wanted)
    return folder


def _write_drivers(folder: Path, wanted: Mapping[str, str]) -> None:
    """Makes ``folder`` hold these ``.icd`` files, text by name, and no others."""
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
