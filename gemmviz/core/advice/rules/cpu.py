"""What is different on a CPU: local memory is cache, and a pad in it is no use."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import has_core
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.banks import pad_parameter, with_value
from gemmviz.core.advice.rules.rule import WORTH, Rule, finding
from gemmviz.core.advice.situation import Situation
from gemmviz.core.units import memory

_PAD_GAIN = 1.05
_SOURCE = "CL_DEVICE_LOCAL_MEM_TYPE = {}"


def _source(situation: Situation) -> str:
    return _SOURCE.format(situation.device.local_mem_type or "unknown, a CPU")


def _pad(situation: Situation, outlook: Outlook) -> Finding | None:
    if situation.device.type != "CPU":
        return None
    parameter = pad_parameter(situation)
    if parameter is None or not dict(situation.parameters)[parameter.name]:
        return None
    plain = with_value(situation.parameters, parameter.name, 0)
    if plain not in outlook.settings(situation.variant):
        return None
    found = outlook.of(situation.variant, plain)
    if found is None:
        return None
    pad = dict(situation.parameters)[parameter.name]
    if outlook.gain(found)[1] < 1.0:
        return None
    known = situation.measurement(found.variant, found.parameters) is not None
    advised = finding(
        situation,
        outlook,
        found,
        rule="cpu.pad",
        title="A pad is no use on a CPU",
        evidence=f"{parameter.name}={pad} keeps banks apart that a CPU does not have: local memory "
        f"is cache, and {memory(outlook.here.shape.local_bytes if outlook.here else 0)} of it.",
        source=_source(situation),
        note="Expect little: rows that start on a vector are read a little faster.",
    )
    # The model knows no vectors; where nothing was measured it is a matter of a few per cent.
    return advised if known else replace(advised, gain_low=1.0, gain_high=_PAD_GAIN)


def _staging(situation: Situation, outlook: Outlook) -> Finding | None:
    """Tiles in local memory without blocking for registers copy from cache to cache."""
    here = outlook.here
    if situation.device.type != "CPU" or here is None or situation.not_followed:
        return None
    if not here.shape.local_bytes or here.cells > 1:
        return None
    device = situation.device
    found = outlook.best(lambda f: f.cells > here.cells and not has_core(device, f.shape))
    if found is None or outlook.expected(found) < WORTH:
        return None
    return finding(
        situation,
        outlook,
        found,
        rule="cpu.local",
        title="Local memory is cache on a CPU",
        evidence=f"Its {memory(here.shape.local_bytes)} of tiles are copied from cache to cache, "
        f"and each multiply-add still loads 2 values; with {found.cells:.0f} cells a work-item it "
        f"loads {2 * found.load_bytes / here.load_bytes:.2g}.",
        source=_source(situation),
        note="Blocking still pays there, because it saves loads.",
    )


RULES = (
    Rule("cpu.pad", "Is a pad there that a CPU has no use for?", _pad),
    Rule("cpu.local", "Is local memory used on a CPU without blocking for registers?", _staging),
)
