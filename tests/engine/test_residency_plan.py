"""How a probe is given as many registers as the kernel, by a compiler that goes up in leaps."""

from collections.abc import Callable

import pytest

from gemmviz.core.launch import Geometry
from gemmviz.core.model import Device, Job, Registers
from gemmviz.engine.residency_plan import live_values
from tests.engine.runs import make_job

H200 = Device("NVIDIA CUDA", "OpenCL 3.0", "H200", "GPU", vendor="NVIDIA",
              compute_capability="9.0")  # fmt: skip
SHAPE = Geometry((16, 16), (16, 16), (16, 16), 2048)


class Compiler:
    """Stands in for an engine that reads registers; ``given`` says them by the values kept."""

    def __init__(self, given: Callable[[int], int | None]) -> None:
        self._given = given
        self.asked: list[int] = []

    def registers(
        self, job: Job, device: Device, experiment_id: int | None = None
    ) -> Registers | None:
        live = job.variant.source.count("const uint live")
        self.asked.append(live)
        found = self._given(live)
        return None if found is None else Registers(found)


def even(live: int) -> int:
    return live + 10


def leaping(live: int) -> int:
    """As seen on an H200: 116 values give 165 registers."""
    return live + 10 if live < 100 else live + 49 if live < 150 else 251


@pytest.mark.parametrize("given", [even, leaping])
@pytest.mark.parametrize("wanted", [30, 36, 80, 128, 165, 183, 255])
def test_the_probe_has_what_is_said_of_it(given: Callable[[int], int], wanted: int) -> None:
    compiler = Compiler(given)
    live, found = live_values(compiler, make_job(H200), H200, SHAPE, wanted)  # type: ignore[arg-type]
    assert found == given(live)
    assert len(compiler.asked) <= 6
    nearest = min(range(257), key=lambda each: abs(given(each) - wanted))
    if -(-given(nearest) // 8) == -(-wanted // 8):
        assert -(-found // 8) == -(-wanted // 8)


def test_a_compiler_that_says_nothing_is_asked_once() -> None:
    compiler = Compiler(lambda live: None if live else 0)
    live, found = live_values(compiler, make_job(H200), H200, SHAPE, 40)  # type: ignore[arg-type]
    assert found is None
    assert compiler.asked == [live]
