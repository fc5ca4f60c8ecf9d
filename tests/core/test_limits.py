"""The limits tables: what they hold, how a row is found and what a bad row says."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.limits import limits_for, load_limits, named_limits
from gemmviz.core.limits_table import read_limits
from gemmviz.core.model import Device, Property
from gemmviz.core.paths import data_dir

GPU = Device("Platform", "OpenCL 3.0", "Some GPU", "GPU")


def intel(name: str, **queried: int | str) -> Device:
    entries = tuple(Property(f"CL_DEVICE_{key}", value) for key, value in queried.items())
    return replace(GPU, name=name, vendor="Intel(R) Corporation", properties=entries)


def code(device: Device) -> str | None:
    limits = limits_for(device)
    return limits.code if limits else None


def test_every_row_is_consistent():
    rows = load_limits()
    assert {row.vendor for row in rows} == {"NVIDIA", "AMD", "Intel"}
    assert load_limits() is rows
    for row in rows:
        assert row.max_group_size <= row.slots * row.lane_width, row.code
        assert row.default_per_group_bytes <= row.per_group_bytes, row.code
        assert row.per_group_bytes + row.reserved_bytes <= row.pool_bytes, row.code
        assert row.local_steps or row.per_group_bytes % row.local_granule == 0, row.code
        assert row.local_steps == tuple(sorted(row.local_steps)), row.code
        assert not row.local_steps or row.local_steps[-1] >= row.per_group_bytes, row.code
        assert "" not in {row.name, row.source, row.pool_name, row.warp_name}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("CC 9.0", "9.0"),
        ("9.0", "9.0"),
        ("cc9.0", "9.0"),
        ("sm_90", "9.0"),
        ("sm_90a", "9.0"),
        ("SM_120", "12.0"),
        ("gfx1030", "gfx1030"),
        ("GFX1030  CUMODE", "gfx1030 cumode"),
        ("gfx1030 wave64", "gfx1030 wave64"),
        ("gfx90a:sramecc+:xnack-", "gfx90a"),
        ("gfx803", "gfx803"),
        ("DG2", "xe_hpg_dg2_arc"),
        ("tgl", "gen12"),
        ("PVC", "xe_hpc_pvc"),
        ("Xe HP", "xe_hp_ats"),
        ("gen9", "gen9"),
        ("xe_lpg", "xe_lpg"),
    ],
)
def test_a_row_is_found_by_name(text: str, wanted: str):
    assert named_limits(text).code == wanted


def test_plain_rdna_means_workgroup_processor_mode_and_waves_of_32():
    limits = named_limits("gfx1030")
    assert (limits.pool_name, limits.lane_width, limits.slots) == ("WGP", 32, 64)
    assert "WGP mode and waves of 32" in limits.assumes


@pytest.mark.parametrize("text", ["", "9", "9.9", "2.1", "gfx94", "gfx1102 wave64", "GeForce"])
def test_an_unknown_name_lists_the_known(text: str):
    with pytest.raises(ValueError, match=r"one of NVIDIA 3\.0.*AMD gfx600.*Intel xe2_hpg.*\.$"):
        named_limits(text)


def test_an_ambiguous_name_lists_its_candidates():
    with pytest.raises(ValueError, match="several GPUs: say which of xe2_hpg, xe2_lpg"):
        named_limits("Arc")


@pytest.mark.parametrize(
    ("device", "wanted"),
    [
        (replace(GPU, compute_capability="9.0"), "9.0"),
        (replace(GPU, compute_capability="9.9"), None),
        (replace(GPU, gfx="gfx942:sramecc+:xnack-"), "gfx942"),
        (replace(GPU, gfx="gfx1030"), "gfx1030"),
        (replace(GPU, gfx="gfx1250"), None),
        (GPU, None),
        (replace(GPU, type="CPU", compute_capability="9.0"), None),
        (replace(GPU, type="simulator", gfx="gfx942"), None),
        (replace(GPU, name="Intel(R) Arc(TM) A770 Graphics"), None),
    ],
)
def test_a_device_gets_its_own_row_or_none(device: Device, wanted: str | None):
    assert code(device) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Intel(R) Arc(TM) A770 Graphics", "xe_hpg_dg2_arc"),
        ("Intel(R) Arc(TM) A370M Graphics", "xe_hpg_dg2_arc"),
        ("Intel(R) Arc(TM) B580 Graphics", "xe2_hpg"),
        ("Intel(R) Arc(TM) B390 GPU", None),
        ("Intel(R) Arc(TM) 140V GPU", "xe2_lpg"),
        ("Intel(R) Arc(TM) 140T GPU", None),
        ("Intel(R) Arc(TM) Graphics", "xe_lpg"),
        ("Intel(R) Data Center GPU Max 1550", "xe_hpc_pvc"),
        ("Intel(R) Data Center GPU Flex 170", "xe_hp_ats"),
        ("Intel(R) Iris(R) Xe MAX Graphics", "xe_dg1"),
        ("Intel(R) Iris(R) Xe Graphics", "gen12"),
        ("Mesa Intel(R) UHD Graphics 770 (ADL-S GT1)", "gen12"),
        ("Intel(R) Iris(R) Plus Graphics", "gen11"),
        ("Intel(R) Iris(R) Plus Graphics 655", "gen9"),
        ("Intel(R) UHD Graphics 630", "gen9"),
        ("Intel(R) HD Graphics 5500", None),
        ("Intel(R) UHD Graphics", None),
    ],
)
def test_an_intel_gpu_is_known_by_name(name: str, wanted: str | None):
    assert code(intel(name)) == wanted


def test_intels_own_queries_decide_where_the_name_does_not():
    version = 12 << 22 | 2 << 14 | 4
    assert code(intel("Intel(R) UHD Graphics", IP_VERSION_INTEL=version)) == "gen12"
    assert code(intel("Intel(R) Graphics [0x56a0]", IP_VERSION_INTEL="12.55")) == "xe_hpg_dg2_arc"
    assert code(intel("Intel(R) Graphics", IP_VERSION_INTEL=30 << 22)) is None
    shape = {"NUM_EUS_PER_SUB_SLICE_INTEL": 16, "NUM_THREADS_PER_EU_INTEL": 8}
    assert code(intel("Intel(R) Arc(TM) A770 Graphics", **shape)) == "xe_hpg_dg2_arc"
    # A name that contradicts what the driver counts is not believed.
    assert code(intel("Intel(R) Arc(TM) B580 Graphics", **shape)) is None


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "nvidia.csv",
            "9.0,2048,64",
            "9.0,2048,many",
            r"line 19: max_warps_per_sm must be a whole",
        ),
        ("nvidia.csv", "9.0,2048,64", "9.0,2048,0", r"line 19: max_warps_per_sm .* from 1 up"),
        ("nvidia.csv", "9.0,2048,64", "nine,2048,64", r"line 19: cc must be a compute capability"),
        ("nvidia.csv", "9.0,2048,64", "8.0,2048,64", r"line 19: '8\.0' is there twice"),
        ("amd.csv", "CDNA3,gfx942,64", "CDNA3,gfx942,", r"line 7: the column wave_size is missing"),
        ("amd.csv", "CDNA3,gfx942,64", "CDNA3,gfx942,64,1", r"line 7: it has more cells"),
        ("amd.csv", "vgpr_granule", "granule", r"line 2: the column vgpr_granule is missing"),
        (
            "intel.csv",
            "64,64,32|16,True",
            "64,64,8,True",
            r"line 5: Subgroup_Sizes must include 16",
        ),
        ("intel.csv", "Xe MAX\\b", "Xe (MAX\\b", r"line 8: device_names is no regular expression"),
    ],
)
def test_a_bad_row_names_file_and_line(tmp_path: Path, file, old, new, message):
    folder = shutil.copytree(data_dir("resources") / "limits", tmp_path / "limits")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=f"^{file}, {message}"):
        read_limits(folder)


def test_a_missing_table_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"nvidia\.csv"):
        read_limits(tmp_path)


@pytest.mark.parametrize(("text", "code"), [("NVIDIA 9.0", "9.0"), ("amd gfx1030", "gfx1030"),
                                             ("Intel gen12", "gen12")])  # fmt: skip
def test_names_are_taken_as_the_sentence_lists_them(text: str, code: str) -> None:
    assert named_limits(text).code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [("H100", "9.0"), ("nvidia h200", "9.0"), ("RTX 3080", "8.6"), ("GeForce RTX 3080 Ti", "8.6"),
     ("T4", "7.5"), ("tesla v100", "7.0"), ("L4", "8.9"), ("GTX 1080 Ti", "6.1")],
)  # fmt: skip
def test_a_card_names_its_row(text: str, code: str) -> None:
    assert named_limits(text).code == code


@pytest.mark.parametrize("text", ["RTX", "RTX 30800", "H1000", "Ti"])
def test_half_a_card_names_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="name a card"):
        named_limits(text)


def test_no_card_is_listed_twice() -> None:
    cards = [card for row in load_limits() for card in row.cards]
    assert len(cards) == len(set(cards)) > 50
