"""The circumstances of a measurement that its figures depend on."""

from __future__ import annotations

from dataclasses import dataclass

_PREFIXES = ("POCL_", "OPENBLAS_", "OMP_", "MKL_", "CL_CONFIG_", "CUDA_", "OCL_ICD_", "OCLGRIND_",
             "GPU_", "AMD_", "NEO")  # fmt: skip
_PRIVATE = ("POCL_CACHE_DIR",)  # the app's own folder, under a person's name


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
    """

    app_version: str
    system: str
    python: str
    build_options: str
    environment: tuple[tuple[str, str], ...] = ()
    affinity: bool | None = None
    load: float | None = None
    cores: int | None = None


def relevant(environment: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables of ``environment`` that change what a driver or a library does."""
    return tuple(
        (name, value)
        for name, value in sorted(environment.items())
        if name.startswith(_PREFIXES) and name not in _PRIVATE
    )
