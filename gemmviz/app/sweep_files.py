"""Sweeps as TOML files: one opened as a draft, and a draft's sweep written as one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from gemmviz.app.state import AppState
from gemmviz.app.sweep_draft import DraftError, SweepDraft, draft_from
from gemmviz.core.choice import matching_devices
from gemmviz.core.model import Device, Variant
from gemmviz.core.policy import PRESETS, name_of
from gemmviz.core.sweep import Sweep
from gemmviz.core.sweep_file import read_sweep_file
from gemmviz.core.sweep_plan import SweepError, axes_of


def open_draft(path: Path, state: AppState) -> SweepDraft:
    """The draft of a sweep's file; kernels that it names by their path are opened.

    Raises:
        DraftError: The file is wrong, or names a kernel or a device that there is not.
    """
    try:
        asked = read_sweep_file(path)
        variants = [_variant(name, path.parent, state) for name in asked.kernels]
        if asked.devices:
            devices = [_device(text, state.devices) for text in asked.devices]
        else:
            devices = [state.device] if state.device is not None else []
        sweep = asked.sweep(variants, tuple(dict.fromkeys(devices)))
    except SweepError as error:
        raise DraftError(str(error)) from error
    return draft_from(sweep)


def sweep_text(sweep: Sweep, devices: Sequence[Device]) -> str:
    """A sweep as the text of a file that reads as the same sweep.

    Args:
        sweep: What to write.
        devices: All there are, so that each of the sweep's is named by what no other one has.

    Raises:
        DraftError: Its policy has numbers of its own, or its problems are more than a product,
            which a file cannot say.
    """
    if not all(problem.is_plain for problem in sweep.problems):
        raise DraftError("A file says C = A B alone: leave transposes, alpha and beta out first.")
    policy = name_of(sweep.policy)
    if policy not in PRESETS:
        raise DraftError("A file names its policy: choose Quick, Standard or Careful first.")
    shapes = dict.fromkeys((each.m, each.n, each.k) for each in sweep.problems)
    lines = [f"kernels = {_list([variant.id for variant in sweep.variants])}"]
    if all(m == n == k for m, n, k in shapes):
        lines.append(f"sizes = {_list([m for m, _, _ in shapes])}")
    else:
        lines.append(f"shapes = {_list([list(shape) for shape in shapes])}")
    elements = list(dict.fromkeys(problem.element for problem in sweep.problems))
    lines += [
        f"elements = {_list(elements)}",
        f"devices = {_list([_name(device, devices) for device in sweep.devices])}",
        f"policy = {json.dumps(policy.lower())}",
        f"strategy = {json.dumps(sweep.strategy)}",
        f"seed = {sweep.problems[0].seed}",
    ]
    for variant in sweep.variants:
        axes = axes_of(sweep, variant)
        if axes:
            lines += ["", f"[parameters.{json.dumps(variant.id, ensure_ascii=False)}]"]
            lines += [f"{name} = {_list(list(values))}" for name, values in axes]
    return "\n".join(lines) + "\n"


def _variant(name: str, folder: Path, state: AppState) -> Variant:
    if name.endswith(".toml") or "/" in name:
        reason = state.open_kernel(folder / name)
        chosen = state.setup.variant
        if reason or chosen is None:
            raise DraftError(reason or f"{name} does not load.")
        return chosen
    found = next((each for each in state.catalog.variants if each.id == name), None)
    if found is None:
        raise DraftError(f"There is no kernel {name}.")
    return found


def _device(text: str, devices: Sequence[Device]) -> Device:
    found = matching_devices(devices, text)
    if not found:
        raise DraftError(f"No platform and no device has {text!r} in its name.")
    return found[0]


def _name(device: Device, devices: Sequence[Device]) -> str:
    """What finds this device first: its platform's name, or its own."""
    names = (f"{device.platform} {device.platform_version}", device.name)
    return next((each for each in names if matching_devices(devices, each)[:1] == [device]),
                device.name)  # fmt: skip


def _list(values: Sequence[object]) -> str:
    """A list as TOML writes it, which is as JSON does where it holds text and integers."""
    return json.dumps(values, ensure_ascii=False)
