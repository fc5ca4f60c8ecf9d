"""The report of saved results: one HTML page with charts, tables, devices, sources and verdicts.

All text in it comes from results, which may be a stranger's: every piece is escaped, and the page
forbids scripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape

from gemmviz.core.device_facts import device_entries, property_title, readable
from gemmviz.core.labels import device_label, form_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.measurement_words import describe_policy, half_width, short_name
from gemmviz.core.model import Device, Result, Variant
from gemmviz.core.page import facts, page
from gemmviz.core.result_figures import Row, flops_per_second, seconds_per_launch, table
from gemmviz.core.result_record import record_of
from gemmviz.core.stats import FEWEST_FOR_95, Summary, summarize
from gemmviz.core.sweep_dimensions import shape_text
from gemmviz.core.units import duration, percent, throughput
from gemmviz.core.verdict import outcome_of

MOST_ROWS = 2000
"""So many results have a row in the table; a page of more would be too long to load."""

_HEADERS = ("No.", "Kernel", "Device", "M × N × K", "Median", "Throughput", "Of library",
            "Verdict")  # fmt: skip
_NUMBERS = frozenset((0, 4, 5, 6))
_METHOD = (
    "A verified answer was compared with a float64 reference: all rows where that is quick enough, "
    "else random rows and columns exactly and all of C by Freivalds' test. A time is that of one "
    "launch on the device. Medians come with a distribution-free 95 % interval, or with the range "
    "of fewer than 6 samples; samples are taken until the interval is as narrow as the policy asks "
    "for, or its time is up. A struck-out figure does not count: its answer is wrong, or the run "
    "ended early."
)
_STYLE = """
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: left; border-top: 1px solid var(--line);
  vertical-align: top; }
thead th { border-top: 0; color: var(--muted); font-weight: 500; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
td small { display: block; color: var(--muted); font-size: .85em; }
tr.fastest td { font-weight: 600; }
tr.fastest td small { font-weight: 400; }
s { color: var(--muted); }
.word { white-space: nowrap; }
a { color: inherit; }
figure { margin: .8rem 0; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: .5rem; break-inside: avoid; }
article figure { border: 0; padding: 0; }
figure img { display: block; width: 100%; height: auto; }
figure img.dark { display: none; }
@media screen and (prefers-color-scheme: dark) {
  figure img.light { display: none; }
  figure img.dark { display: block; }
}
figcaption, .note { color: var(--muted); font-size: .9em; margin: .4rem .3rem .1rem; }
details { margin: .5rem 0 0; }
summary { cursor: pointer; color: var(--muted); }
article > h3 + dl { margin-top: .4rem; }
article > .note { margin: 0; }
details h4 { margin: .8rem 0 .2rem; font-size: .95rem; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: .7rem;
  overflow-x: auto; font: 12.5px/1.5 ui-monospace, "JetBrains Mono", Consolas, monospace;
  margin: .5rem 0 0; white-space: pre; }
@media print {
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 8pt; }
  .scroll { overflow: visible; border: 0; }
  table { font-size: 8.5pt; }
}
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as it stands in a page: ``light`` and ``dark`` are data URIs of the same size."""

    caption: str
    light: str
    dark: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a page tells.

    Attributes:
        source: What the results come from, as a file's name.
        results: Numbers and results, oldest first.
        overview: Charts of all of them.
        details: Charts of single results by their numbers; those are told at length.
    """

    source: str
    results: Sequence[tuple[int, Result]]
    overview: Sequence[Picture] = ()
    details: Mapping[int, Sequence[Picture]] | None = None


def report_page(report: Report, version: str, written: datetime) -> str:
    """The page, light or dark as the reader's system is.

    Args:
        report: What it tells.
        version: Of the app.
        written: When.
    """
    results = report.results
    rows = table(results)
    devices = {result.device.key: result.device for _, result in results}
    sources = _sources(result for _, result in results)
    head = (
        ("Results", _count(report.source, rows)),
        ("Devices", "; ".join(map(device_label, devices.values()))),
        ("App", f"gemmviz {version}"),
        ("Date", written.strftime("%Y-%m-%d %H:%M %Z").strip()),
    )
    title = _title(report)
    body = [f"<h1>{escape(title)}</h1>\n{facts(head)}"]
    body += [_figure(picture) for picture in report.overview]
    body.append(_section("Results", _table(results, rows, set(report.details or ()))))
    body.append(_section("Devices", "".join(map(_device, devices.values()))))
    policies = dict.fromkeys(
        (short_name(result.job.policy), describe_policy(result.job.policy)) for _, result in results
    )
    method = f"<article>\n{facts(policies)}<p>{escape(_METHOD)}</p>\n</article>\n"
    body.append(_section("How it was measured", method))
    if report.details:
        told = [pair for pair in results if pair[0] in report.details]
        articles = (_article(*pair, report.details[pair[0]], sources) for pair in told)
        body.append(_section("One by one", "".join(articles)))
    if sources:
        listed = (_source(place, variant) for variant, place in sources.values())
        body.append(_section("Kernels", "".join(listed)))
    return page(title, "".join(body), _STYLE)


def fastest_of_each(results: Sequence[tuple[int, Result]], rows: Sequence[Row]) -> frozenset[int]:
    """The numbers of the results that are the fastest verified ones of their problem and device.

    Those of which the median has an interval come first: the few samples by which a sweep screens
    hold the luckiest of all.

    Args:
        results: Numbers and results.
        rows: Of the same, by :func:`gemmviz.core.result_figures.table`.
    """
    best: dict[tuple[object, ...], Row] = {}
    for (_, result), row in zip(results, rows, strict=True):
        if row["verdict"] != "verified" or row["failure"] or not row["median_seconds"]:
            continue
        problem = replace(result.job.problem, seed=0, order="")
        what = result.device.key, problem, result.job.variant.operation
        if what not in best or _rank(row) < _rank(best[what]):
            best[what] = row
    return frozenset(row["id"] for row in best.values())


def _rank(row: Row) -> tuple[bool, float]:
    return row["samples"] < FEWEST_FOR_95, row["median_seconds"]


def _title(report: Report) -> str:
    kernels = {result.job.variant.title for _, result in report.results}
    devices = {device_label(result.device) for _, result in report.results}
    what = next(iter(kernels)) if len(kernels) == 1 else f"{len(kernels)} kernels"
    where = next(iter(devices)) if len(devices) == 1 else f"{len(devices)} devices"
    return f"Matrix multiplication: {what} on {where}"


def _count(source: str, rows: Sequence[Row]) -> str:
    verdicts = [row["verdict"] for row in rows]
    parts = [
        f"{verdicts.count(verdict)} {words}"
        for verdict, words in (("verified", "verified"), ("wrong", "wrong"),
                               ("unchecked", "not checked"), (None, "failed"))
        if verdict in verdicts
    ]  # fmt: skip
    return f"{len(rows)} of {source}: {', '.join(parts)}"


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}</section>\n"


def _figure(picture: Picture) -> str:
    caption = escape(picture.caption)
    # Not <picture>: a browser that prints would keep the source that it chose for the screen.
    images = "".join(
        f'<img class="{scheme}" src="{escape(uri)}" alt="{caption}" '
        f'width="{picture.width}" height="{picture.height}">'
        for scheme, uri in (("light", picture.light), ("dark", picture.dark))
    )
    return f"<figure>{images}<figcaption>{caption}</figcaption></figure>\n"


def _table(results: Sequence[tuple[int, Result]], rows: Sequence[Row], detailed: set[int]) -> str:
    fastest = fastest_of_each(results, rows)
    header = "".join(
        f'<th scope="col"{_class(place)}>{escape(name)}</th>' for place, name in enumerate(_HEADERS)
    )
    shown = list(zip(results, rows, strict=True))[-MOST_ROWS:]
    body = "".join(
        _table_row(number, result, row, fastest=number in fastest, linked=number in detailed)
        for (number, result), row in shown
    )
    text = (
        f'<div class="scroll"><table>\n<thead><tr>{header}</tr></thead>\n<tbody>\n{body}</tbody>\n'
        "</table></div>\n"
    )
    notes = ["± is half the interval of the median, relative to it."]
    if fastest:
        notes.append("In bold: the fastest verified result of its device and problem.")
    if len(shown) < len(results):
        notes.append(f"These are the last {len(shown):,} of {len(results):,} results.")
    return text + "".join(f'<p class="note">{escape(note)}</p>\n' for note in notes)


def _class(place: int) -> str:
    return ' class="number"' if place in _NUMBERS else ""


def _table_row(number: int, result: Result, row: Row, *, fastest: bool, linked: bool) -> str:
    job, outcome = result.job, outcome_of(result)
    summary = summarize(seconds_per_launch(result))
    struck = bool(outcome.objection)
    problem = ", ".join(filter(None, (job.problem.element, form_label(job.problem))))
    rate, share = row["flops_per_second"], row["library_share"]
    cells = (
        f'<a href="#result-{number}">{number}</a>' if linked else str(number),
        _two(job.variant.title, describe_parameters(job.parameters)),
        escape(device_label(result.device)),
        _two(shape_text(job.problem), problem),
        "–"
        if summary is None
        else _speed(duration(summary.median), struck=struck)
        + f"<small>{escape(_precision(summary))}</small>",
        _speed(throughput(rate) if rate is not None else "–", struck=struck),
        percent(share) if share is not None else "–",
        f'<span class="word {outcome.tone or "open"}">{escape(outcome.word)}</span>',
    )
    columns = "".join(f"<td{_class(place)}>{cell}</td>" for place, cell in enumerate(cells))
    marked = ' class="fastest"' if fastest else ""
    return f"<tr{marked}>{columns}</tr>\n"


def _precision(summary: Summary) -> str:
    """Half the interval of the median over the median."""
    if summary.count == 1:
        return "one sample"
    width = half_width(summary)
    written = percent(width) if width >= 0.1 else f"{100 * width:.2g} %"
    return f"±{written}" + ("" if summary.count >= FEWEST_FOR_95 else " (range)")


def _two(text: str, below: str) -> str:
    return escape(text) + (f"<small>{escape(below)}</small>" if below else "")


def _speed(text: str, *, struck: bool) -> str:
    return f"<s>{escape(text)}</s>" if struck else escape(text)


def _device(device: Device) -> str:
    rows = [
        (property_title(entry), entry.reason if entry.value is None else readable(entry))
        for entry in device.properties
    ]
    more = (
        f"<details><summary>All {len(rows)} properties that the driver reports</summary>\n"
        f"{facts(rows)}</details>\n"
        if rows
        else ""
    )
    title, known = escape(device_label(device)), facts(device_entries(device))
    return f"<article>\n<h3>{title}</h3>\n{known}{more}</article>\n"


_Sources = dict[tuple[str, str], tuple[Variant, int]]


def _sources(results: Iterable[Result]) -> _Sources:
    """Every kernel once, by id and source, with its place in the list."""
    found: _Sources = {}
    for result in results:
        variant = result.job.variant
        found.setdefault((variant.id, variant.source), (variant, len(found) + 1))
    return found


def _article(number: int, result: Result, pictures: Sequence[Picture], sources: _Sources) -> str:
    job, outcome = result.job, outcome_of(result)
    _, place = sources[job.variant.id, job.variant.source]
    title = f"{number}: {job.variant.title} {describe_parameters(job.parameters)}".strip()
    sections = "".join(
        f"<h4>{escape(section.title)}</h4>\n{facts(section.entries)}"
        for section in record_of(result)
        if section.title != "Check"
    )
    where = f"{shape_text(job.problem)} {job.problem.element} on {device_label(result.device)}"
    detail = f"<pre>{escape(result.failure.detail)}</pre>\n" if (
        result.failure is not None and result.failure.detail
    ) else ""  # fmt: skip
    return (
        f'<article id="result-{number}">\n<h3>{escape(title)}</h3>\n'
        f'<p class="note">{escape(where)} · <a href="#kernel-{place}">source</a></p>\n'
        f"{_speed_line(result)}"
        f'<p class="{outcome.tone or "open"}">{escape(outcome.sentence or outcome.word)}</p>\n'
        f"{detail}{''.join(map(_figure, pictures))}"
        f"<details><summary>Everything that was recorded</summary>\n{sections}</details>\n"
        "</article>\n"
    )


def _speed_line(result: Result) -> str:
    """The median with its precision and the throughput; nothing without a sample."""
    summary = summarize(seconds_per_launch(result))
    rate = flops_per_second(result, summary.median if summary is not None else None)
    if summary is None or rate is None:
        return ""
    text = f"{duration(summary.median)} {_precision(summary)}, {throughput(rate)}"
    return f"<p>{_speed(text, struck=bool(outcome_of(result).objection))}</p>\n"


def _source(place: int, variant: Variant) -> str:
    text = variant.source or "This is a library's own kernel: its source is not part of gemmviz."
    return (
        f'<article id="kernel-{place}">\n<h3>{escape(variant.title)}</h3>\n'
        f"<p>{escape(variant.summary)}</p>\n"
        f"<details><summary>{escape(variant.id)}.cl, {text.count(chr(10)):,} lines</summary>\n"
        f"<pre><code>{escape(text)}</code></pre></details>\n</article>\n"
    )
