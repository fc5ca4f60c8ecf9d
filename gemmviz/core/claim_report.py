"""The report page of tried statements: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from gemmviz.core.claims import MARKS, OUTCOMES, ClaimResult, count_outcomes
from gemmviz.core.labels import device_label
from gemmviz.core.model import Device

_CLASSES = dict(zip(OUTCOMES, ("good", "bad", "open"), strict=True))

_STYLE = """
:root {
  color-scheme: light dark;
  --page: #f3f4f7; --card: #ffffff; --line: #d9dde4; --text: #1d2330; --muted: #5f6878;
  --good: #107a54; --bad: #c53a36; --open: #5f6878;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #16181d; --card: #1d2027; --line: #2c313b; --text: #e4e7ec; --muted: #98a1b0;
    --good: #56c596; --bad: #ee6d68; --open: #98a1b0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 2rem 1rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 62rem; margin: 0 auto; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 1rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
article {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .8rem 1rem; margin: .6rem 0; break-inside: avoid;
}
h3 { font-size: 1rem; margin: 0; font-weight: 600; }
p { margin: .35rem 0 0; overflow-wrap: anywhere; }
.outcome { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
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
    facts = {
        "Device": device_label(device),
        "Driver": " · ".join(filter(None, (device.driver_version, device.opencl_version))),
        "App": f"gemmviz {version}",
        "Date": written.strftime("%Y-%m-%d %H:%M %Z").strip(),
        "Outcome": f"{len(results)} statements: {count_outcomes(results)}",
    }
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>\n"
                   for name, text in facts.items())  # fmt: skip
    sections = "".join(
        f"<section>\n<h2>{escape(document)}</h2>\n"
        + "".join(_article(result) for result in results if result.document == document)
        + "</section>\n"
        for document in documents
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>The documents, checked on {escape(device.name)}</title>\n"
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>The documents, checked on this device</h1>\n<dl>\n{rows}</dl>\n{sections}"
        "</main>\n</body>\n</html>\n"
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
