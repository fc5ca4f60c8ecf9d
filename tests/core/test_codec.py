"""The codec: every message survives the wire, and no other line is taken for one."""

import dataclasses
import json
import math
import typing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemmviz.core import messages
from gemmviz.core.codec import CodecError, decode_line, encode_line, from_json, to_json
from gemmviz.core.messages import Cancel, Checked, RunJob, SampleBatch
from gemmviz.core.model import Check, DeviceKey, Job, Problem, Samples, Variant

_numbers = st.floats(allow_nan=False)
st.register_type_strategy(
    Samples,
    st.builds(
        Samples,
        st.lists(st.integers(1, 9)).map(tuple),
        st.lists(_numbers).map(tuple),
        st.lists(_numbers).map(tuple),
    ),
)
_KINDS = [*typing.get_args(messages.Request), *typing.get_args(messages.Message)]


def _same(left: object, right: object) -> bool:
    """Equality in which NaN equals NaN."""
    return repr(left) == repr(right)


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_every_message_survives(kind: type, data: st.DataObject) -> None:
    message = data.draw(st.from_type(kind))
    line = encode_line(message)
    assert "\n" not in line
    assert _same(decode_line(line), message)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.text(max_size=8), inner, max_size=3)))  # fmt: skip
def test_other_json_is_a_named_error(data: object) -> None:
    for kind in (Job, Check, Variant):
        with pytest.raises(CodecError):
            from_json(kind, data)


@given(st.data())
def test_mutated_lines_are_messages_or_named_errors(data: st.DataObject) -> None:
    line = encode_line(SampleBatch(3, Samples((1, 1), (1e-3, 2e-3), (0.1, 0.2))))
    place = data.draw(st.integers(0, len(line)))
    cut = data.draw(st.integers(0, 5))
    mutated = line[:place] + data.draw(st.text(max_size=4)) + line[place + cut :]
    try:
        message = decode_line(mutated)
    except CodecError:
        return
    assert isinstance(message, tuple(_KINDS))


def test_non_finite_numbers_are_strict_json() -> None:
    check = Check("wrong", 1, 1, 1, max_error=math.inf, worst_value=math.nan)
    line = encode_line(Checked(1, check))
    assert json.loads(line, parse_constant=pytest.fail)["check"]["max_error"] == "inf"
    decoded = decode_line(line)
    assert isinstance(decoded, Checked)
    assert math.isnan(decoded.check.worst_value)


@pytest.mark.parametrize(
    "line",
    ["", "{}", "[]", "null", '{"type": "Nobody"}', '{"type": []}', '{"type": "Cancel"}',
     '{"type": "Cancel", "job_id": "1"}', '{"type": "Cancel", "job_id": 1, "x": 2}',
     '{"type": "Cancel", "job_id": true}', "[" * 100_000,
     '{"type": "SampleBatch", "job_id": 1, "samples": {"seconds": [1e999, "a"]}}'],
)  # fmt: skip
def test_bad_lines(line: str) -> None:
    with pytest.raises(CodecError):
        decode_line(line)


def test_the_error_names_the_field() -> None:
    job = Job(1, DeviceKey("p", "v", "n"), _variant(), (), Problem(1, 1, 1))
    data = json.loads(encode_line(RunJob(job)))
    data["job"]["problem"]["m"] = "wide"
    with pytest.raises(CodecError, match=r"RunJob\.job\.problem\.m is 'wide', not int"):
        decode_line(json.dumps(data))


def test_integers_are_accepted_as_floats_and_nothing_else_is_bent() -> None:
    assert from_json(Samples, {"seconds": [1, 2.5]}).seconds == (1.0, 2.5)
    with pytest.raises(CodecError):
        from_json(Cancel, {"job_id": 1.0})


def test_values_without_a_json_form_are_refused() -> None:
    with pytest.raises(CodecError, match="object"):
        to_json(object())


def _variant() -> Variant:
    blank = {f.name: "" for f in dataclasses.fields(Variant) if f.default is dataclasses.MISSING}
    return Variant(**{**blank, "arguments": (), "group": ("1",), "dims": ("rows",)})  # type: ignore[arg-type]
