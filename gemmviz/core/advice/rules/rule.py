"""What a rule is, and the words that rules share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.situation import Situation, configuration_label
from gemmviz.core.launch import default_parameters

Judge = Callable[[Situation, Outlook], Finding | None]

WORTH = 1.05
"""What is expected to gain less is not worth a person's time."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A question to the situation; ``judge`` answers it with a finding, or None for no."""

    id: str
    question: str
    judge: Judge


def try_text(situation: Situation, found: Forecast) -> str:
    """What to try, as a sentence: only the macros that change are named."""
    same = found.variant == situation.variant
    base = situation.parameters if same else default_parameters(found.variant)
    return f"Try {configuration_label(found.variant, found.parameters, base)}."


def finding(
    situation: Situation,
    outlook: Outlook,
    found: Forecast,
    *,
    rule: str,
    title: str,
    evidence: str,
    source: str,
    note: str = "",
) -> Finding:
    """A finding that advises a configuration, with the gain that is expected of it.

    ``note`` is a sentence added to the action.
    """
    low, high = outlook.gain(found)
    action = f"{try_text(situation, found)} {note}".strip()
    return Finding(rule, title, evidence, source, action, found.variant.id, found.parameters,
                   low, high, variant=found.variant, why=note)  # fmt: skip


def model_source(outlook: Outlook, what: str) -> str:
    """Where a figure comes from that the model of the device has a part in."""
    ceilings = "measured ceilings" if outlook.rates.measured else "assumed ceilings"
    return f"{what}; {ceilings}"
