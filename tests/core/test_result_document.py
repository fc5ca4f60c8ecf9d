"""Results as a document: there and back, its schema, and documents from strangers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gemmviz import __version__
from gemmviz.core.codec import to_json
from gemmviz.core.model import Samples
from gemmviz.core.policy import UNTIL_STOPPED
from gemmviz.core.result_document import (
    FORMAT,
    MOST_PICTURE_SAMPLES,
    DocumentError,
    document_parts,
    picture_text,
    read_document,
    read_results,
)
from tests.core.result_schema import PATH, SchemaError, conform, schema_text
from tests.core.store.saved import saved
from tests.views.error_maps import error_map

RESULT = saved()
ENTRY = to_json(RESULT)


def document(*results, **changes) -> str:
    """The text of a document with the results' JSON as given."""
    entries = [{"result": result} for result in results]
    return json.dumps({"format": FORMAT, "version": 1, "results": entries, **changes})


def test_a_document_comes_back_as_it_was() -> None:
    other = saved(128, job=replace(RESULT.job, policy=UNTIL_STOPPED))
    text = "".join(document_parts([(7, RESULT), (9, other)]))
    found = read_document(text, "x.json")
    assert found.results == ((7, RESULT), (9, other))
    assert found.app_version == __version__
    assert found.thinned == 0
    figures = json.loads(text)["results"][0]["figures"]
    assert figures["median_seconds"] == pytest.approx(1e-3, rel=1e-4)
    assert figures["parameters"] == {"TS": 16}


def test_samples_in_arrays_are_written_too() -> None:
    samples = RESULT.samples
    arrays = Samples(*(np.asarray(part) for part in (samples.launches, samples.seconds,
                                                     samples.at)))  # fmt: skip
    text = "".join(document_parts([(1, replace(RESULT, samples=arrays))]))
    assert read_document(text, "x.json").results == ((1, RESULT),)


def test_a_document_keeps_to_the_schema_in_the_resources() -> None:
    assert PATH.read_text(encoding="utf-8") == schema_text(), (
        "run python -m tests.core.result_schema, and raise VERSION if old documents break"
    )
    schema = json.loads(PATH.read_text(encoding="utf-8"))
    whole = json.loads("".join(document_parts([(1, RESULT)])))
    conform(whole, schema, schema)
    conform(json.loads(picture_text([saved(count=900)], 100)), schema, schema)
    whole["results"][0]["result"]["job"]["problem"]["m"] = "64"
    with pytest.raises(SchemaError, match=r"job\.problem\.m"):
        conform(whole, schema, schema)


def test_a_picture_carries_every_sample_up_to_a_limit() -> None:
    assert MOST_PICTURE_SAMPLES >= 10_000
    text = picture_text([RESULT, saved(128)])
    found = read_document(text, "x.png")
    assert [result for _, result in found.results] == [RESULT, saved(128)]
    assert found.thinned == 0
    assert text.isascii()
    assert "\n" not in text


def test_more_samples_are_thinned_evenly_and_that_is_said() -> None:
    many = saved(count=1000)
    found = read_document(picture_text([many, RESULT], 100), "x.png")
    (_, first), (_, second) = found.results
    assert 90 <= len(first.samples) <= 100
    assert 1 <= len(second.samples) <= 12
    assert first.samples.at[0] < 0.011
    assert first.samples.at[-1] > 0.98
    assert np.allclose(np.diff(first.samples.at), 0.011, rtol=0.1)
    assert found.thinned == 2


def test_white_space_in_a_source_survives_a_writer_that_folds_it() -> None:
    source = "  a\n\tb   c    d \r\n"
    variant = replace(RESULT.job.variant, source=source)
    text = picture_text([replace(RESULT, job=replace(RESULT.job, variant=variant))])
    assert "  " not in text
    folded = " ".join(text.split())
    assert read_document(folded, "x.png").results[0][1].job.variant.source == source


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "no results of gemmviz"),
        ('{"format": "else"}', "no results of gemmviz"),
        (document(version=2, app_version="9.1"), "version 2 .* written by gemmviz 9.1"),
        (document(version="1"), "version 1 .* reads version 1"),
        (document(results={}), "no list of results"),
        (document(results=[3]), "is no object"),
        (document(results=[{}]), "Result is no object"),
        (document({**ENTRY, "extra": 1}), "unknown field 'extra'"),
        (document({**ENTRY, "job": None}), "Result.job is no object"),
        (document({**ENTRY, "stop_reason": "boom"}), "stop_reason is 'boom'"),
    ],
)  # fmt: skip
def test_a_document_that_is_none_says_why(text, words) -> None:
    with pytest.raises(DocumentError, match=words) as said:
        read_document(text, "x.json")
    assert str(said.value).endswith(".")
    assert len(str(said.value)) < 500


def changed(path: str, value: object) -> dict[str, object]:
    """The result's JSON with another value at a path such as "job.problem.m"."""
    whole = json.loads(json.dumps(ENTRY))
    *folders, name = path.split(".")
    inner = whole
    for folder in folders:
        inner = inner[folder]
    inner[name] = value
    return whole


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("job.problem.m", 0, "matrices of 0 x 64 x 64"),
        ("job.problem.k", 2**40, "matrices of 64 x 64 x"),
        ("job.problem.element", "quad", "element type is 'quad'"),
        ("job.problem.alpha", "nan", "alpha or beta"),
        ("job.variant.operation", "divide", "computes 'divide'"),
        ("job.variant.id", " ", "no usable name"),
        ("job.variant.title", "t" * 5000, "no usable name"),
        ("job.parameters", [["TS", 1], ["TS", 2]], "parameters"),
        ("job.policy.min_seconds", -1.0, "policy"),
        ("job.policy.launches", -5, "policy"),
        ("samples.launches", [1], "not all complete"),
        ("samples.launches", [0] * 12, "without a launch"),
        ("samples.seconds", ["nan"] * 12, "no possible time"),
        ("samples.seconds", [0.0] * 7 + [1e-3] * 5, "took no time"),
        ("samples.seconds", [5e-324] * 12, "took no time"),
        ("samples.at", [-1.0] * 12, "no possible time"),
        ("finished_at", 1e300, "ended at no possible time"),
        ("finished_at", "nan", "ended at no possible time"),
        ("quantiles", [1.0], "quantiles"),
        ("quantiles", [5.0, 4.0, 3.0, 2.0, 1.0], "quantiles"),
        ("check.rows", -1, "fewer than no cells"),
    ],
)
def test_a_result_that_nobody_measured_is_refused(path, value, words) -> None:
    with pytest.raises(DocumentError, match=rf"Result 1 of x\.json was never measured: .*{words}"):
        read_document(document(changed(path, value)), "x.json")


def test_an_error_map_that_unpacks_to_more_than_it_says_is_refused() -> None:
    import base64  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    bomb = base64.b64encode(zlib.compress(b"\0" * 2**24)).decode()
    error_map = {"rows": 4, "cols": 4, "tile": [2, 2], "step_rows": 1, "step_cols": 1,
                 "excess": bomb, "place": bomb, "value": bomb, "expected": bomb}  # fmt: skip
    with pytest.raises(DocumentError, match="error map is damaged"):
        read_document(document(changed("error_map", error_map)), "x.json")


def test_an_error_map_without_tiles_is_refused() -> None:
    drawn = to_json(replace(error_map(), tile=(0, 4)))
    with pytest.raises(DocumentError, match="tiles of no size"):
        read_document(document(changed("error_map", drawn)), "x.json")
    whole = document(changed("error_map", to_json(error_map())))
    assert read_document(whole, "x.json").results[0][1].error_map == error_map()


def test_infinity_survives() -> None:
    endless = replace(RESULT, job=replace(RESULT.job, policy=UNTIL_STOPPED))
    found = read_document("".join(document_parts([(1, endless)])), "x.json").results[0][1]
    assert math.isinf(found.job.policy.limit_seconds)


def test_files_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"cannot be read: .+\."):
        read_results(tmp_path / "missing.json")
    with pytest.raises(DocumentError, match=r"cannot be read: .+\."):
        read_results(tmp_path)
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DocumentError, match=r"x\.json holds no results: it is not JSON"):
        read_results(path)
