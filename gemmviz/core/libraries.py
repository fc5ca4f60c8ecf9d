"""The libraries that multiply beside the kernels: names, where their files lie, how to get them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from gemmviz.core.model import Variant

Memory = Literal["device", "host", "cuda"]

_SYSTEM_FOLDERS = (
    f"/usr/lib/{platform.machine()}-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib64",
    "/usr/local/lib", "/usr/local/cuda/lib64",
)  # fmt: skip
_LINKER_LISTS = Path("/etc/ld.so.conf.d")


@dataclass(frozen=True, slots=True)
class Library:
    """A library that a variant may name.

    Attributes:
        title: What it is called.
        memory: Where its matrices lie: in the OpenCL device's buffers, in this process's own
            memory, or in memory of CUDA's.
        files: The shared library's names, newest first; () for one that comes with Python's
            packages.
        packages: pip's packages that hold the file.
        how: How to get it, to stand behind a colon.
    """

    title: str
    memory: Memory
    files: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    how: str = ""


LIBRARIES: dict[str, Library] = {
    "blas": Library("numpy's BLAS", "host"),
    "clblast": Library(
        "CLBlast",
        "device",
        files=("libclblast.so.1",),
        how="apt install libclblast1 on Debian and Ubuntu, or conda install -c conda-forge clblast",
    ),
    "cublas": Library(
        "cuBLAS",
        "cuda",
        files=("libcublas.so.13", "libcublas.so.12"),
        packages=("nvidia-cublas", "nvidia-cublas-cu13", "nvidia-cublas-cu12"),
        how="pip install nvidia-cublas-cu12, or install NVIDIA's CUDA toolkit",
    ),
}
"""By the word after ``library`` in a variant's file."""


def find_file(name: str) -> Path | None:
    """The shared library of ``name``; None where it lies in none of the usual folders.

    Nothing is loaded. The system's loader may know further folders, so the last word is its.
    """
    library = LIBRARIES[name]
    folders = [*_package_folders(library), *_folders()]
    for file in library.files:
        for folder in folders:
            path = folder / file
            if path.exists():
                return path
    return None


def not_installed(name: str) -> str:
    """The sentence for a library that is missing: what it is and how to get it."""
    library = LIBRARIES[name]
    return f"{library.title} is not installed here; to get it: {library.how}."


@cache
def absence(variant: Variant) -> str:
    """Why a library's variant cannot run on this machine, or "".

    It is looked for once a process, since menus ask again and again.
    """
    if not variant.library or not LIBRARIES[variant.library].files:
        return ""
    return "" if find_file(variant.library) is not None else not_installed(variant.library)


def no_source(variant: Variant) -> str:
    """Why nothing can be said of a variant's source, work-groups and accesses; "" for a kernel."""
    if not variant.library:
        return ""
    return f"{variant.title} is a library: its kernels have no source here to look into."


def memory_of(variant: Variant) -> Memory:
    """Where the matrices of a variant lie."""
    return LIBRARIES[variant.library].memory if variant.library else "device"


def _package_folders(library: Library) -> Iterator[Path]:
    """Where pip has put a library's files."""
    for package in library.packages:
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name in library.files:
                yield Path(str(file.locate())).parent


def _folders() -> Iterator[Path]:
    """Where a linker looks, in its order."""
    for name, inside in (("LD_LIBRARY_PATH", ""), ("CUDA_HOME", "lib64"), ("CUDA_PATH", "lib64")):
        for text in os.environ.get(name, "").split(os.pathsep):
            if text:
                yield Path(text) / inside
    yield Path(sys.prefix) / "lib"
    for path in sorted(_LINKER_LISTS.glob("*.conf")):
        try:
            lines = path.read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        yield from (Path(line.strip()) for line in lines if line.strip().startswith("/"))
    yield from map(Path, _SYSTEM_FOLDERS)
