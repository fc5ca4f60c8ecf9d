"""Sweeps as TOML files: one opened as a draft, and a draft's sweep written as one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gemmviz.app.state import AppState
from gemmviz.app.sweep_draft import DraftError, SweepDraft, draft_from
from gemmviz.core.choice import matching_devices
from gemmviz.core.codec import CodecError
from gemmviz.core.kept_sweep import told_sweep
from gemmviz.core.model import Device, Variant
from gemmviz.core.policy import PRESETS, name_of
from gemmviz.core.store import StoreError
from gemmviz.core.sweep import Sweep
from gemmviz.core.sweep_file import kernel_file, name_of_file, read_sweep_file
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


def last_draft(state: AppState) -> SweepDraft:
    """The draft of the newest sweep in the open results file, as one cut off by a crash.

    Raises:
        DraftError: The file has none that can be read, or its kernels or devices are not here.
    """
    store = state.archive.store
    try:
        saved = store.sweeps() if store is not None else ()
        if not saved:
            raise DraftError("The open results file has no sweep.")
        told = told_sweep(saved[-1][1])
    except (StoreError, CodecError) as error:
        raise DraftError("The last sweep of the open results file cannot be read.") from error
    by_key = {device.key: device for device in state.devices}
    if not told.problems or not set(told.keys) <= by_key.keys():
        raise DraftError("A device of the last sweep is not here.")
    # Never by a path: a results file opens no other file.
    by_id = {each.id: each for each in state.catalog.variants}
    missing = [each.id for each in told.variants if each.id not in by_id]
    if missing:
        raise DraftError(f"There is no kernel {missing[0]}: open it first.")
    variants = tuple(by_id[each.id] for each in told.variants)
    sweep = told.sweep([by_key[key] for key in told.keys])
    return draft_from(replace(sweep, variants=variants))


def unsayable(sweep: Sweep) -> str:
    """What of a sweep no file can say, and what to do about it; "" where there is nothing."""
    if not all(problem.is_plain for problem in sweep.problems):
        return "A file says C = A B alone: leave transposes, alpha and beta out first."
    if name_of(sweep.policy) not in PRESETS:
        return "A file names its policy: choose Quick, Standard or Careful first."
    return ""


def sweep_text(sweep: Sweep, state: AppState, folder: Path) -> str:
    """A sweep as the text of a file in ``folder`` that reads as the same sweep.

    A person's own kernel is named by the path of its file, and each device by what no other one of
    those that are here has.

    Raises:
        DraftError: It is ``unsayable``.
    """
    if reason := unsayable(sweep):
        raise DraftError(reason)
    policy, devices = name_of(sweep.policy), state.devices
    shapes = dict.fromkeys((each.m, each.n, each.k) for each in sweep.problems)
    files = [(variant, state.file_of(variant)) for variant in sweep.variants]
    names = [name_of_file(file, folder) if file else variant.id for variant, file in files]
    lines = [f"kernels = {_list(names)}"]
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
    if sweep.budget:
        lines.append(f"budget = {sweep.budget}")
    for variant in sweep.variants:
        axes = axes_of(sweep, variant)
        if axes:
            lines += ["", f"[parameters.{json.dumps(variant.id, ensure_ascii=False)}]"]
            lines += [f"{name} = {_list(list(values))}" for name, values in axes]
    return "\n".join(lines) + "\n"


def _variant(name: str, folder: Path, state: AppState) -> Variant:
    file = kernel_file(name, folder)
    if file is not None:
        reason = state.open_kernel(file)
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
