"""The circumstances of a measurement that its figures depend on."""

from __future__ import annotations

from dataclasses import dataclass

_PREFIXES = ("POCL_", "OPENBLAS_", "OMP_", "MKL_", "CL_CONFIG_", "CUDA_", "OCL_ICD_", "OCLGRIND_",
             "GPU_", "AMD_", "NEO", "CUBLAS_", "NVIDIA_TF32_")  # fmt: skip
_PRIVATE = ("POCL_CACHE_DIR",)  # the app's own folder, under a person's name


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """The library that ran in place of a kernel, each field "" or None where it does not tell.

    ``kernel`` is which of its kernels it chose for this machine, ``threads`` how many of the
    host's it ran on.
    """

    name: str
    version: str = ""
    kernel: str = ""
    threads: int | None = None
    file: str = ""

    @property
    def text(self) -> str:
        """All of it on one line: "OpenBLAS 0.3.30, SkylakeX kernels, 2 threads"."""
        parts = [f"{self.name} {self.version}".strip()]
        if self.kernel:
            parts.append(f"{self.kernel} kernels")
        if self.threads is not None:
            parts.append(f"{self.threads} thread{'s' * (self.threads != 1)}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Context:
    """What was true of the process and machine that measured.

    Attributes:
        app_version: gemmviz's own version.
        system: The operating system with its release, and the machine's architecture.
        python: Python's version.
        build_options: Every option that the kernel was built with.
        environment: Variables that drivers and libraries read, sorted by name.
        affinity: Whether PoCL pinned its workers to cores; None on other platforms.
        load: Load average of the last minute when the run began; None where the system has none.
        cores: Logical processors of the host.
        library: The library that ran; None for a kernel.
    """

    app_version: str
    system: str
    python: str
    build_options: str
    environment: tuple[tuple[str, str], ...] = ()
    affinity: bool | None = None
    load: float | None = None
    cores: int | None = None
    library: LibraryFacts | None = None


def relevant(environment: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables of ``environment`` that change what a driver or a library does."""
    return tuple(
        (name, value)
        for name, value in sorted(environment.items())
        if name.startswith(_PREFIXES) and name not in _PRIVATE
    )
