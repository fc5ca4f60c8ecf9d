"""Names of platforms and devices, and which device is meant by default."""

import pytest

from gemmviz.core.choice import default_device, matching_devices, measurable, newest
from gemmviz.core.labels import device_label, platform_label
from gemmviz.core.model import Device

POCL = Device("Portable Computing Language", "OpenCL 3.0 PoCL 3.1+debian  Linux", "pthread", "CPU")
INTEL = Device("Intel(R) OpenCL", "OpenCL 3.1 LINUX", "AMD EPYC", "CPU")
GPU = Device("NVIDIA CUDA", "OpenCL 3.0 CUDA 12.8.1", "NVIDIA H200", "GPU")
SIMULATOR = Device("Oclgrind", "OpenCL 1.2 (Oclgrind 21.10)", "Oclgrind Simulator", "simulator")
NO_LINKER = Device("Portable Computing Language", "OpenCL 3.0 PoCL 3.0", "x", "CPU",
                   unavailable="no linker")  # fmt: skip


@pytest.mark.parametrize(
    ("device", "label"),
    [(POCL, "pthread · PoCL 3.1"), (INTEL, "AMD EPYC · Intel"), (GPU, "NVIDIA H200 · CUDA 12.8.1"),
     (SIMULATOR, "Oclgrind Simulator · Oclgrind 21.10")],
)  # fmt: skip
def test_labels_tell_two_drivers_of_one_name_apart(device: Device, label: str) -> None:
    assert device_label(device) == label


def test_a_platform_without_a_version_of_its_own_keeps_its_name() -> None:
    assert platform_label("rusticl", "OpenCL 3.0") == "rusticl"


def test_the_default_is_a_device_that_can_run() -> None:
    assert default_device([SIMULATOR, INTEL, POCL, GPU]) == GPU
    assert default_device([SIMULATOR, INTEL, POCL]) == POCL
    assert default_device([NO_LINKER, INTEL]) == INTEL
    assert default_device([NO_LINKER]) == NO_LINKER
    assert default_device([SIMULATOR]) is None
    assert default_device([]) is None
    assert newest([]) is None


def test_ceilings_are_those_of_devices_that_work_and_are_real() -> None:
    assert measurable(iter([POCL, SIMULATOR, NO_LINKER, GPU])) == (POCL, GPU)


def test_platforms_are_matched_before_names() -> None:
    assert matching_devices([POCL, INTEL, GPU], "CUDA 12") == [GPU]
    assert matching_devices([POCL, INTEL, GPU], "epyc") == [INTEL]
    assert matching_devices([POCL, INTEL, GPU], "nothing") == []
