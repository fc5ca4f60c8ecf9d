"""The report page of tried statements: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from gemmviz.core.claims import MARKS, OUTCOMES, ClaimResult, count_outcomes
from gemmviz.core.labels import device_label
from gemmviz.core.model import Device
from gemmviz.core.page import facts, page

_CLASSES = dict(zip(OUTCOMES, ("good", "bad", "open"), strict=True))

_STYLE = """
.outcome { font-weight: 600; }
.reason, .id { color: var(--muted); }
.id { font: .85rem ui-monospace, "JetBrains Mono", monospace; float: right; margin-left: 1rem; }
"""


def claim_page(
    results: Sequence[ClaimResult], device: Device, version: str, written: datetime
) -> str:
    """The page for what was tried on one device, light or dark as the reader's system is.

    Args:
        results: In the order of the documents.
        device: Where they were tried.
        version: Of the app.
        written: When.
    """
    documents = dict.fromkeys(result.document for result in results)
    known = (
        ("Device", device_label(device)),
        ("Driver", " · ".join(filter(None, (device.driver_version, device.opencl_version)))),
        ("App", f"gemmviz {version}"),
        ("Date", written.strftime("%Y-%m-%d %H:%M %Z").strip()),
        ("Outcome", f"{len(results)} statements: {count_outcomes(results)}"),
    )
    sections = "".join(
        f"<section>\n<h2>{escape(document)}</h2>\n"
        + "".join(_article(result) for result in results if result.document == document)
        + "</section>\n"
        for document in documents
    )
    return page(
        f"The documents, checked on {device.name}",
        f"<h1>The documents, checked on this device</h1>\n{facts(known)}{sections}",
        _STYLE,
    )


def _article(result: ClaimResult) -> str:
    measured = f"<p>{escape(result.measured)}</p>\n" if result.measured else ""
    return (
        f'<article id="{escape(result.id)}">\n<span class="id">{escape(result.id)}</span>'
        f"<h3>{escape(result.statement)}</h3>\n"
        f'<p class="outcome {_CLASSES[result.outcome]}">{MARKS[result.outcome]} '
        f"{escape(result.outcome)}</p>\n{measured}"
        f'<p class="reason">{escape(result.reason)}</p>\n</article>\n'
    )
