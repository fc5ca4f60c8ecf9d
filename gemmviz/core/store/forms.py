"""A result as the columns, texts and blobs of a file, and back again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gemmviz.core.codec import CodecError, from_json, to_json
from gemmviz.core.labels import device_label, form_label
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.model import Result, Samples
from gemmviz.core.soundness import objection
from gemmviz.core.stats import summarize

_LONGEST_LOG = 4 * 2**20  # characters; a compiler that says more is cut off
_LONGEST_LABEL = 300
TEXTS = ("source", "variant", "device", "context", "log")
"""The texts of a result that are kept apart, since many results share them."""


class FormError(ValueError):
    """JSON that stands for no result; the message is a clause."""


@dataclass(frozen=True, slots=True)
class Form:
    """A result without its samples, ready to be written.

    ``columns`` are those of the table of results, ``texts`` the parts in ``TEXTS`` that it has, and
    ``body`` the rest as JSON.
    """

    columns: dict[str, Any]
    texts: dict[str, str]
    body: str


def form_of(result: Result, *, running: bool = False) -> Form:
    """What is written of a result."""
    data = to_json(replace(result, samples=Samples(), build_log=""))
    del data["samples"], data["build_log"]
    if data["placing"] is None:
        del data["placing"]  # so that an app that knows none reads the rest
    variant = data["job"].pop("variant")
    texts = {"source": variant.pop("source"), "variant": _dump(variant)}
    texts["device"] = _dump(data.pop("device"))
    if (context := data.pop("context")) is not None:
        data["load"] = context.pop("load")  # the one circumstance that is never the same
        texts["context"] = _dump(context)
    if result.build_log:
        texts["log"] = result.build_log[:_LONGEST_LOG]
    return Form(_columns(result, running), texts, _dump(data))


def result_of(texts: Mapping[str, str], body: str, samples: Samples) -> Result:
    """The result of a form and its samples.

    Raises:
        FormError: They do not stand for one; the file is damaged or from a newer version.
    """
    try:
        data = _load(body)
        variant = {**_load(texts["variant"]), "source": texts["source"]}
        data["job"] = {**data["job"], "variant": variant}
        data["device"] = _load(texts["device"])
        load = data.pop("load", None)
        data["context"] = None
        if "context" in texts:
            data["context"] = {**_load(texts["context"]), "load": load}
        result = from_json(Result, data)
    except (CodecError, KeyError, TypeError, AttributeError) as error:
        raise FormError(f"it does not decode ({str(error)[:100]})") from error
    except RecursionError as error:
        raise FormError("it is nested too deeply") from error
    if why := objection(result):
        raise FormError(why)
    return replace(result, samples=samples, build_log=texts.get("log", ""))


def sample_columns(result: Result) -> dict[str, Any]:
    """The columns that sum a result's samples up."""
    samples = result.samples
    seconds = np.asarray(samples.seconds, np.float64)
    launches = np.asarray(samples.launches, np.float64)
    summary = summarize(seconds / launches) if len(samples) else None
    columns: dict[str, Any] = dict.fromkeys(("median", "low", "high", "flops"))
    if summary is not None:
        columns |= {"median": summary.median, "low": summary.low, "high": summary.high}
        if summary.median > 0:
            columns["flops"] = flop(result.job.variant, result.job.problem) / summary.median
    return {**columns, "samples": len(samples), "launches": int(launches.sum())}


def verdict_of(result: Result) -> str:
    """What came of a result in one word: the verdict, else "failed" or "stopped"."""
    if result.failure is not None and result.failure.kind != "wrong":
        return "failed"
    if result.verdict is None:
        return "stopped" if result.stopped else "failed"
    return result.verdict


def search_text(parts: tuple[str, ...]) -> str:
    """What is searched for words, in one case."""
    return " ".join(parts).casefold()


def hash_of(text: str) -> bytes:
    """What a text is known by."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _columns(result: Result, running: bool) -> dict[str, Any]:
    job, problem = result.job, result.job.problem
    device = device_label(result.device)[:_LONGEST_LABEL]
    parameters = describe_parameters(job.parameters)
    failure = result.failure
    said = () if failure is None else (failure.kind, failure.sentence)
    library = result.context.library.text if result.context and result.context.library else ""
    form = form_label(problem)
    sizes = f"{problem.m}x{problem.n}x{problem.k}"
    words = (job.variant.title, job.variant.id, parameters, device, sizes, problem.element,
             form, library, *said)  # fmt: skip
    return {
        "running": int(running),
        "moment": result.finished_at,
        "kernel": job.variant.id,
        "title": job.variant.title,
        "parameters": parameters,
        "device": device,
        "m": problem.m,
        "n": problem.n,
        "k": problem.k,
        "size": float(problem.m)
        * problem.n
        * problem.k,  # a product of integers may exceed 64 bits
        "element": problem.element,
        "form": form,
        "verdict": "" if running else verdict_of(result),
        **sample_columns(result),
        "version": result.context.app_version if result.context is not None else "",
        "search": search_text(words),
    }


def _dump(data: Any) -> str:
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def _load(text: str) -> dict[str, Any]:
    """Parsed JSON of an object, its integers of 64 bits at most.

    Raises:
        FormError: It is none.
    """
    try:
        data = json.loads(text, parse_int=_integer, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise FormError("its JSON is damaged") from error
    if not isinstance(data, dict):
        raise FormError("its JSON is no object")
    return data


def _integer(digits: str) -> int:
    value = int(digits) if len(digits) <= 20 else 2**64
    if not -(2**63) <= value < 2**63:
        raise ValueError("an integer is too large")
    return value


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON")
