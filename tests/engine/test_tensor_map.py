"""Maps of matrices: what the driver is asked for, and what the kernel is given."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gemmviz.core.launch import merge_parameters
from gemmviz.core.model import DeviceKey, Job, Problem
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.kernel_runner import KernelRunner
from gemmviz.engine.libraries.cuda import Cuda
from gemmviz.engine.tensor_map import BYTES, TiledMatrix, encode
from tests.engine.fake_cuda import FakeCuda
from tests.engine.runs import CATALOG

GPU = DeviceKey("NVIDIA CUDA", "OpenCL 3.0", "NVIDIA H200")


class Encoder:
    """CUDA's driver where it makes maps: each holds what was asked for."""

    def __init__(self, _pci_address: str = "") -> None:
        self.asked: list[dict[str, Any]] = []
        self.places: list[int] = []
        self.closed = False

    def ask(self, name: str, *given: Any) -> None:
        assert name == "cuTensorMapEncodeTiled"
        room, kind, rank, address, dims, strides, box, steps, *manner = given
        assert rank == 2
        assert list(steps) == [1, 1]
        place = ctypes.cast(room, ctypes.c_void_p).value
        assert place is not None
        self.places.append(place)
        ctypes.memmove(place, bytes([len(self.places)] * BYTES), BYTES)
        self.asked.append({
            "type": kind, "address": address, "dims": list(dims), "strides": list(strides),
            "box": list(box), "manner": manner,
        })  # fmt: skip

    def close(self) -> None:
        self.closed = True


def test_the_driver_is_told_rows_and_tiles_in_its_own_units() -> None:
    encoder: Any = Encoder()
    half = TiledMatrix(0x7F00, (4104, 33), "half", (64, 128), 128)
    assert encode(encoder, half) == bytes([1] * 128)
    assert encode(encoder, TiledMatrix(0x100, (8, 5), "float", (4, 2), 0)) == bytes([2] * 128)
    encode(encoder, TiledMatrix(0x100, (8, 5), "float", (4, 2), 32, tf32=True))
    assert [place % 64 for place in encoder.places] == [0, 0, 0]  # or the driver refuses
    assert encoder.asked[0] == {
        "type": 6, "address": 0x7F00, "dims": [4104, 33], "strides": [8208], "box": [64, 128],
        "manner": [0, 3, 2, 0],
    }  # fmt: skip
    first, second = encoder.asked[1:]
    assert (first["type"], second["type"]) == (7, 11)  # as it is, and rounded to TF32
    assert (first["strides"], first["manner"][1], second["manner"][1]) == ([32], 0, 1)


def test_a_map_that_the_driver_refuses_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeCuda()
    monkeypatch.setattr("gemmviz.engine.libraries.cuda.ctypes.CDLL", lambda _: fake)
    cuda = Cuda("0000:01:00.0")
    fake.failing = "cuTensorMapEncodeTiled"
    with pytest.raises(DriverError) as raised:
        encode(cuda, TiledMatrix(0, (7, 7), "half", (64, 64), 128))
    assert "cuTensorMapEncodeTiled" in raised.value.failure.detail
    cuda.close()
    assert fake.left == []


def test_a_driver_without_maps_says_so_and_does_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old(FakeCuda):
        def __getattr__(self, name: str) -> Callable[..., int]:
            if name == "cuTensorMapEncodeTiled":
                raise AttributeError(name)
            return super().__getattr__(name)

    fake = Old()
    monkeypatch.setattr("gemmviz.engine.libraries.cuda.ctypes.CDLL", lambda _: fake)
    cuda = Cuda("0000:01:00.0")
    with pytest.raises(DriverError) as raised:
        encode(cuda, TiledMatrix(0, (8, 8), "half", (64, 64), 128))
    assert "too old: it has no cuTensorMapEncodeTiled" in raised.value.failure.sentence
    cuda.close()
    assert fake.left == []


class Kernel:
    log = ""

    def bind(self, arguments: list[Any]) -> None:
        self.arguments = arguments


class Session:
    """A device whose buffers are bytes of this process."""

    pci_address = "0000:01:00.0"

    def __init__(self) -> None:
        self.kernel = Kernel()
        self.steps: list[str] = []

    def build(
        self, _source: str, _options: object, _entry: str, step: str = ""
    ) -> tuple[Kernel, float]:
        self.steps.append(step)
        return self.kernel, 0.1

    def address(self, buffer: str) -> int:
        return {"a": 0xA000, "b": 0xB000}[buffer]

    def buffer(self, content: np.ndarray[Any, Any]) -> bytes:
        return content.tobytes()


@pytest.fixture
def encoders(monkeypatch: pytest.MonkeyPatch) -> list[Encoder]:
    made: list[Encoder] = []

    def make(pci_address: str) -> Encoder:
        assert pci_address == Session.pci_address
        made.append(Encoder())
        return made[-1]

    maker: Callable[[str], Encoder] = make
    monkeypatch.setattr("gemmviz.engine.kernel_runner.Cuda", maker)
    return made


def runner(kernel: str, problem: Problem, **chosen: int) -> tuple[KernelRunner, Session]:
    variant = CATALOG.find(kernel)
    session: Any = Session()
    job = Job(1, GPU, variant, merge_parameters(variant, chosen), problem)
    return KernelRunner(job, session), session


def test_a_kernel_gets_maps_of_its_matrices_and_zeros_for_scratch(encoders: list[Encoder]) -> None:
    made, session = runner("gpu_tensor", Problem(100, 200, 72, "half"), BM=256, BN=64)
    made.bind({"A": "a", "B": "b", "C": "c"})
    assert session.steps == ["ptx-sm_90a"]
    first, second, c, m, n, k, parts, counters = session.kernel.arguments
    assert (first, second, c, m, n, k) == (bytes([1] * 128), bytes([2] * 128), "c", 100, 200, 72)
    assert parts == bytes(2 * 132 * 256 * 64 * 4)
    assert counters == bytes(132 * 4)
    (encoder,) = encoders
    of_a, of_b = encoder.asked
    assert (of_a["address"], of_a["dims"], of_a["box"]) == (0xA000, [72, 100], [64, 256])
    assert (of_b["address"], of_b["dims"], of_b["box"]) == (0xB000, [200, 72], [64, 64])
    made.close()
    assert encoder.closed


def test_floats_are_rounded_on_their_way_where_tf32_is_meant(encoders: list[Encoder]) -> None:
    made, _ = runner("gpu_tf32", Problem(64, 64, 64))
    made.bind({"A": "a", "B": "b", "C": "c"})
    assert [asked["type"] for asked in encoders[0].asked] == [11, 11]


def test_a_kernel_without_maps_opens_nothing_of_cuda(encoders: list[Encoder]) -> None:
    made, session = runner("tiled", Problem(64, 64, 64))
    made.bind({"A": "a", "B": "b", "C": "c"})
    made.close()
    assert session.steps == [""]
    assert encoders == []
