"""Status codes and what they mean for a run."""

import pytest

from gemmviz.engine.status import failure_of


@pytest.mark.parametrize(
    ("code", "ran", "kind"),
    [(-11, False, "build"), (-43, False, "build"), (-4, False, "out_of_memory"),
     (-5, False, "launch"), (-5, True, "driver"), (-54, False, "launch"), (-36, False, "driver"),
     (-9999, True, "driver"), (-9999, False, "driver"), (-4, True, "out_of_memory")],
)  # fmt: skip
def test_kinds(code: int, ran: bool, kind: str) -> None:
    failure = failure_of(code, "NAME", "running: words", ran=ran)
    assert failure.kind == kind
    assert failure.sentence.endswith(".")
    assert f"NAME ({code}) running: words" in failure.detail
