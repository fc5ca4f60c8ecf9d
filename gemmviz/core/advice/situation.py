"""Everything that a rule of the adviser may look at, gathered once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gemmviz.core.access.report import AccessReport, Machine
from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.estimate import Estimate
from gemmviz.core.launch import describe_parameters
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Check, Device, Parameters, Problem, Registers, Result, Variant
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.stats import Summary, summarize
from gemmviz.core.throttle import ThrottleCurve
from gemmviz.core.trust import DeviceTimer


@dataclass(frozen=True, slots=True)
class Measurement:
    """What came of one configuration on the device at hand, at the problem at hand.

    Attributes:
        variant: What ran,
        parameters: with which macros.
        seconds: Median time of one launch; None where nothing was timed.
        seconds_low: The 95 % interval of that median,
        seconds_high: from low to high.
        check: What the reference said of its answer, or None.
        build_options: What the compiler was told besides.
    """

    variant: Variant
    parameters: Parameters
    seconds: float | None = None
    seconds_low: float | None = None
    seconds_high: float | None = None
    check: Check | None = None
    build_options: str = ""

    @property
    def wrong(self) -> bool:
        """Whether its answer was found wrong."""
        return self.check is not None and self.check.verdict == "wrong"

    @property
    def counts(self) -> bool:
        """Whether its time says something of kernels: a right one's, and no library's."""
        return bool(self.seconds) and not self.wrong and not self.variant.library


def measurement_of(result: Result) -> Measurement:
    """What a finished run says, from its samples."""
    summary = summarize(seconds_per_launch(result))
    job = result.job
    bare = Measurement(
        job.variant, job.parameters, check=result.check, build_options=job.build_options
    )
    return bare if summary is None else timed(bare, summary)


def timed(measurement: Measurement, summary: Summary) -> Measurement:
    """A measurement with the times of ``summary``."""
    return replace(
        measurement, seconds=summary.median, seconds_low=summary.low, seconds_high=summary.high
    )


@dataclass(frozen=True, slots=True)
class Situation:
    """A configuration on a device with all that is known of it.

    Attributes:
        device: Where it runs; for a GPU that is not here, one made by :func:`imagined_device`.
        limits: The device's row of the limits tables, or None.
        variant: The kernel,
        parameters: its macros,
        problem: and what it computes.
        candidates: The kernels that may be advised; the catalogue's.
        machine: Warp and banks that accesses are judged by.
        access: What the access lens says of this configuration, or None.
        estimate: Its occupancy, or None.
        measured: What was measured on this device at this problem, with the same state of the
            caches and build options, this configuration or others; of several of one configuration
            the last counts. A kernel whose source has changed is another.
        timer: What a launch costs here, or None.
        ceilings: What was measured of the device's peaks, or None.
        throttle: How the speed of this configuration follows its residency, or None.
        registers: What the compiler says of registers and spills, or None.
    """

    device: Device
    limits: Limits | None
    variant: Variant
    parameters: Parameters
    problem: Problem
    candidates: tuple[Variant, ...] = ()
    machine: Machine = field(default_factory=Machine)
    access: AccessReport | None = None
    estimate: Estimate | None = None
    measured: tuple[Measurement, ...] = ()
    timer: DeviceTimer | None = None
    ceilings: CeilingTable | None = None
    throttle: ThrottleCurve | None = None
    registers: Registers | None = None

    def measurement(self, variant: Variant, parameters: Parameters) -> Measurement | None:
        """The last measurement of a configuration, or None."""
        for found in reversed(self.measured):
            if found.variant == variant and found.parameters == parameters:
                return found
        return None

    @property
    def here(self) -> Measurement | None:
        """The last measurement of this configuration."""
        return self.measurement(self.variant, self.parameters)

    @property
    def not_followed(self) -> bool:
        """Whether the lens could not follow all of the kernel, so that no total holds."""
        return self.access is not None and bool(self.access.unknowns)

    @property
    def on_cpu(self) -> bool:
        """Whether local memory is cache and neighbours need not read side by side."""
        return self.device.type != "GPU"


def imagined_device(limits: Limits) -> Device:
    """A GPU of which only its row of the limits tables is known."""
    return Device(
        platform="", platform_version="", name=limits.name, type="GPU", vendor=limits.vendor,
        local_mem_bytes=limits.per_group_bytes, local_mem_type="LOCAL",
        max_work_group_size=limits.max_group_size, elements=("half", "float", "double"),
        compute_capability=limits.code if limits.vendor == "NVIDIA" else None,
        gfx=limits.code.partition(" ")[0] if limits.vendor == "AMD" else None,
    )  # fmt: skip


def configuration_label(
    variant: Variant, parameters: Parameters, base: Parameters | None = None
) -> str:
    """A configuration as a person reads it; with ``base`` only the macros that differ from it."""
    shown = parameters
    if base is not None:
        known = dict(base)
        shown = tuple(pair for pair in parameters if known.get(pair[0]) != pair[1])
    return f"{variant.title} {describe_parameters(shown)}".strip()
