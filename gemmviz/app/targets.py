"""Where the next run goes: the chosen devices, why some cannot take it, and what to know of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gemmviz.app.setup import PRESETS, Option, Setup
from gemmviz.core.feasibility import (
    element_refusal,
    needs_refusal,
    parameter_refusal,
    refusal,
)
from gemmviz.core.labels import device_label
from gemmviz.core.libraries import absence
from gemmviz.core.limits import limits_for
from gemmviz.core.model import ELEMENTS, Device, Parameter, Variant


@dataclass(frozen=True, slots=True)
class Target:
    """A device that the next run goes to, with the sentence why it cannot, if so."""

    device: Device
    refusal: str = ""


def target_of(setup: Setup, device: Device) -> Target:
    """Whether ``setup`` can run on a device."""
    if setup.variant is None:
        return Target(device, "Choose a kernel.")
    return Target(device, _reason(setup, setup.variant, device) or "")


def run_refusal(setup: Setup, targets: Sequence[Target], *, asking: bool) -> str:
    """Why Run would do nothing at all, or ""; ``asking`` while the devices are not known yet."""
    if setup.variant is None:
        return "Choose a kernel: none could be loaded."
    if not targets:
        return "" if asking else "There is no device to run on."
    if all(target.refusal for target in targets):
        return targets[0].refusal
    return ""


def next_step(
    setup: Setup, targets: Sequence[Target], devices: Sequence[Device], *, asking: bool
) -> str:
    """What to do while there is nothing to look at."""
    if asking:
        return "Asking the drivers for their devices..."
    if not devices:
        return "No OpenCL device was found: the panel at the left says how to get one."
    if (refused := run_refusal(setup, targets, asking=asking)) or setup.variant is None:
        return refused
    names = [device_label(target.device) for target in targets if not target.refusal]
    return f"Press Run (Ctrl+R) to time {setup.variant.title} on {' and '.join(names)}"


def remarks(targets: Sequence[Target], selected: Device | None) -> tuple[str, ...]:
    """What to know before Run, a sentence each; none where it would do nothing at all.

    A run that goes elsewhere than to the selected device, every device that is left out, and the
    devices that take turns because they share hardware.
    """
    taking = [target.device for target in targets if not target.refusal]
    if not taking:
        return ()
    found = []
    if len(targets) == 1 and selected is not None and targets[0].device.key != selected.key:
        found.append(
            f"Run goes to {device_label(taking[0])}, which is ticked, and not to the selected "
            f"{device_label(selected)}."
        )
    found += [f"Not on {device_label(t.device)}: {t.refusal}" for t in targets if t.refusal]
    shared: dict[str, list[str]] = {}
    for device in taking:
        shared.setdefault(device.hardware, []).append(device_label(device))
    found += [
        f"{' and '.join(names)} share hardware, so they take turns."
        for hardware, names in shared.items()
        if hardware and len(names) > 1
    ]
    return tuple(found)


def kernel_reason(variant: Variant, devices: Sequence[Device]) -> str:
    """Why a kernel is of no use here, or "": no device has its needs, or its library is missing."""
    reasons = [needs_refusal(variant, device) for device in devices]
    if reasons and all(reasons):
        return reasons[0] or ""
    return absence(variant)


def parameter_options(
    setup: Setup, parameter: Parameter, devices: Sequence[Device]
) -> tuple[Option, ...]:
    """The values of one parameter; with a reason those that none of ``devices`` can take."""
    options = []
    for value in parameter.values:
        tried = setup.with_parameter(parameter.name, value)
        options.append(_option(str(value), value, tried, devices, _parameter_reason))
    return tuple(options)


def element_options(setup: Setup, devices: Sequence[Device]) -> tuple[Option, ...]:
    """The element types; those that the kernel or every device lacks with the reason."""
    return tuple(
        _option(name, name, replace(setup, element=name), devices, _element_reason)
        for name in ELEMENTS
    )


def preset_options(setup: Setup, devices: Sequence[Device]) -> tuple[Option, ...]:
    """Square sizes to pick at once; those that can run nowhere with the reason."""
    return tuple(
        _option(f"{size} × {size} × {size}", size, setup.with_all_sizes(size), devices, _reason)
        for size in PRESETS
    )


def _option(
    text: str,
    value: object,
    tried: Setup,
    devices: Sequence[Device],
    reason_on: Callable[[Setup, Variant, Device], str | None],
) -> Option:
    """A choice that sets up ``tried``; possible if one device takes it, or there is none.

    The reason is the first device's, which it names, and so it does the others.
    """
    if tried.variant is None or not devices:
        return Option(text, value)
    reasons = []
    for device in devices:
        reason = reason_on(tried, tried.variant, device)
        if reason is None:
            return Option(text, value)
        reasons.append(reason)
    why = f"{device_label(devices[0])}: {reasons[0]}"
    if len(devices) > 1:
        why += f" Nor on {', '.join(device_label(device) for device in devices[1:])}."
    return Option(text, value, why)


def _parameter_reason(setup: Setup, variant: Variant, device: Device) -> str | None:
    limits = limits_for(device)
    return parameter_refusal(variant, setup.parameters, setup.problem(), device, limits)


def _element_reason(setup: Setup, variant: Variant, device: Device) -> str | None:
    return element_refusal(variant, setup.element, device)


def _reason(setup: Setup, variant: Variant, device: Device) -> str | None:
    return refusal(variant, setup.parameters, setup.problem(), device, limits_for(device))
