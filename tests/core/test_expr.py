"""Formulas: right values, and a named error for everything outside the language."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemmviz.core.expr import ExprError, evaluate, names_in

_NAMES = {"TS": 16, "PAD": 1, "M": 100, "ZERO": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * TS * (TS + PAD) * 4", 2176),
        ("-7 // 2", -4),
        ("M % TS == 4", 1),
        ("TS <= 16 and not ZERO", 1),
        ("1 < TS < 16", 0),
        ("TS if M > TS else M", 16),
        ("ZERO or PAD", 1),
        ("+TS - -PAD", 17),
    ],
)
def test_values(text: str, value: int) -> None:
    assert evaluate(text, _NAMES) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("TS // ZERO", "divides by zero"),
        ("TS % ZERO", "divides by zero"),
        ("max(TS, 4)", "calls a function"),
        ("__import__('os')", "calls a function"),
        ("TS / 2", "use // for division"),
        ("2 ** 9999", "operator"),
        ("1 << 40", "operator"),
        ("~TS", "operator"),
        ("WPT + 1", "WPT, which is not known"),
        ("1.5 * TS", "no integer"),
        ("'a'", "no integer"),
        ("TS is M", "comparison"),
        ("TS.real", "not a formula"),
        ("[TS]", "not a formula"),
        ("lambda: 1", "not a formula"),
        ("TS +", "not a formula"),
        ("", "not a formula"),
        ("TS\0", "not a formula"),
        ("(" * 900, "not a formula"),
        ("1 +" * 500 + "1", "longer than"),
        ("-" * 990 + "1", "nested too deeply"),
        ("not " * 200 + "1", "nested too deeply"),
        ("*".join(["99999999999999999999"] * 12), "beyond any size"),
    ],
)
def test_errors_name_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ExprError, match=reason):
        evaluate(text, _NAMES)


def test_names() -> None:
    assert names_in("2 * TS * (M + PAD)") == {"TS", "M", "PAD"}


_OPERATORS = ["+", "-", "*", "//", "%", "<", "<=", "==", "!="]
_atoms = st.one_of(st.integers(0, 999).map(str), st.sampled_from(sorted(_NAMES)))
_formulas = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(_OPERATORS), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        # Formulas give truth where Python gives an operand, so ask for the truth of either.
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda parts: f"(({parts[0]} {parts[1]} {parts[2]}) != 0)"
        ),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
    ),
    max_leaves=8,
)


@given(_formulas)
def test_agrees_with_python(text: str) -> None:
    code = compile(ast.parse(text, mode="eval"), "formula", "eval")
    try:
        expected = eval(code, {"__builtins__": {}}, dict(_NAMES))
    except ZeroDivisionError:
        with pytest.raises(ExprError, match="zero"):
            evaluate(text, _NAMES)
        return
    assert evaluate(text, _NAMES) == int(expected)


@given(st.text(max_size=60))
def test_any_text_gives_a_value_or_a_named_error(text: str) -> None:
    try:
        assert isinstance(evaluate(text, _NAMES), int)
    except ExprError as error:
        assert str(error)
