"""A compiler's output for sm_90 becomes one for sm_90a, and is kept for the next time."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gemmviz.core.model import Device
from gemmviz.engine import ptx
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.opencl import Session
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, run

PTX = """
.version 9.0
.target sm_90, texmode_independent
.entry mine(
)
.reqntid 384, 1, 1
{
	.reg .f32 %f<9>;
	// begin inline asm
	//@{ .reg .pred p; wgmma.mma_async.sync.aligned {%f1, %f2}, %rd1, p; }
	// end inline asm
	//@wgmma.commit_group.sync.aligned;
}
"""
ENTRY = "	//@entry .maxnreg 168\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("gemmviz.engine.ptx.cache_dir", lambda: tmp_path)
    return tmp_path / "ptx"


def test_marked_lines_become_instructions_for_another_target() -> None:
    text = ptx.patched(PTX)
    assert ".target sm_90a, texmode_independent\n" in text
    assert "\n\t{ .reg .pred p; wgmma.mma_async.sync.aligned {%f1, %f2}, %rd1, p; }\n" in text
    assert "\n\twgmma.commit_group.sync.aligned;\n" in text
    assert "//@" not in text
    same = PTX.replace("//@", "").replace("sm_90", "sm_90a")
    assert text == same  # other comments and all else stay


def test_a_directive_goes_before_the_body() -> None:
    text = ptx.patched(PTX.replace("	.reg .f32", ENTRY + "	.reg .f32"))
    assert "\n.reqntid 384, 1, 1\n.maxnreg 168\n{\n" in text
    assert text.count(".maxnreg") == 1
    assert "entry .maxnreg" not in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no PTX for sm_90"),
        ("\x7fELF //@", "no PTX for sm_90"),
        (PTX.replace("sm_90", "sm_80"), "no PTX for sm_90"),
        (PTX.replace("sm_90", "sm_90a"), "no PTX for sm_90"),
        (PTX.replace("sm_90", "sm_900"), "no PTX for sm_90"),
        (PTX.replace("//@", "//"), "nothing is hidden"),
        (PTX.replace(".reqntid 384, 1, 1\n", "") + ENTRY, "one kernel with its group's size"),
        (PTX + PTX.replace(".target", "//") + ENTRY, "one kernel with its group's size"),
    ],
)
def test_other_output_is_refused_in_one_sentence(text: str, words: str) -> None:
    with pytest.raises(ptx.PtxError, match=words) as raised:
        ptx.patched(text)
    assert str(raised.value).endswith(".")


def test_what_was_kept_is_found_by_all_that_it_was_made_of(folder: Path) -> None:
    file = ptx.cache_file(("source", "-cl-std=CL1.2", "GPU", "580"))
    assert file.parent == folder
    assert ptx.kept(file) is None
    ptx.keep(file, ptx.patched(PTX))
    assert ptx.kept(file) == ptx.patched(PTX)
    others = [("source", "", "GPU", "580"), ("source", "-cl-std=CL1.2", "GPU", "581"),
              ("source-cl-std=CL1.2", "GPU", "580")]  # fmt: skip
    assert file not in [ptx.cache_file(parts) for parts in others]
    assert [path.name for path in folder.iterdir()] == [file.name]  # no part of one beside it


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", PTX.encode()])
def test_a_damaged_file_is_as_none(damage: bytes) -> None:
    file = ptx.cache_file(("source",))
    ptx.keep(file, ptx.patched(PTX))
    file.write_bytes(damage)
    assert ptx.kept(file) is None


def test_the_oldest_of_too_many_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemmviz.engine.ptx._MOST_FILES", 3)
    files = [ptx.cache_file((str(number),)) for number in range(5)]
    for age, file in enumerate(files):
        ptx.keep(file, ptx.patched(PTX))
        os.utime(file, (1000 + age, 1000 + age))
    assert sorted(folder.iterdir()) == sorted(files[2:])


def test_a_folder_that_cannot_be_written_is_no_failure(folder: Path) -> None:
    folder.write_text("a file stands in its place")
    ptx.keep(ptx.cache_file(("source",)), PTX)
    assert folder.is_file()


class Driver:
    """OpenCL as far as a session builds: it counts what it compiles and assembles."""

    class Error(Exception):
        """What the driver says when it refuses."""

        code = -11

    program_info = SimpleNamespace(BINARIES="binaries")

    def __init__(self, output: bytes = PTX.encode() + b"\0") -> None:
        self.output = output
        self.compiled: list[str] = []
        self.assembled: list[str] = []
        self.options: list[list[str]] = []

    def Program(self, _context: object, *what: Any) -> Any:
        if len(what) == 1:
            return SimpleNamespace(build=self._building(self.compiled, what[0]))
        return SimpleNamespace(build=self._building(self.assembled, what[1][0].decode()))

    def _building(self, built: list[str], text: str) -> Callable[..., Any]:
        def build(options: list[str], cache_dir: bool = True) -> Any:
            built.append(text)
            self.options.append(options)
            if "damaged" in text:
                raise self.Error
            return SimpleNamespace(get_info=lambda _: [self.output], text=text)

        return build


def opened(monkeypatch: pytest.MonkeyPatch, driver: Driver) -> Session:
    monkeypatch.setattr("gemmviz.engine.opencl.cl", driver)
    session = object.__new__(Session)
    session._context = None
    session._device = SimpleNamespace(name="GPU", driver_version="580")
    return session


def test_the_compiler_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    session = opened(monkeypatch, driver)
    options = ("-cl-std=CL1.2", "-cl-nv-verbose")
    programs: list[Any] = [session._through_ptx("source", options) for _ in range(2)]
    assert driver.compiled == ["source"]
    assert driver.assembled == [ptx.patched(PTX)] * 2
    assert [program.text for program in programs] == [ptx.patched(PTX)] * 2
    # A language version means nothing to the assembler and silences its report.
    assert driver.options == [list(options), ["-cl-nv-verbose"], ["-cl-nv-verbose"]]
    session._through_ptx("another source", options)
    assert driver.compiled == ["source", "another source"]


def test_a_kept_text_that_the_driver_refuses_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    session = opened(monkeypatch, driver)
    file = ptx.cache_file(("source", "GPU", "580"))
    ptx.keep(file, ptx.patched(PTX) + "damaged")
    session._through_ptx("source", ())
    assert driver.compiled == ["source"]
    assert ptx.kept(file) == ptx.patched(PTX)


def test_output_that_is_no_ptx_is_not_kept(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    session = opened(monkeypatch, Driver(b"\x7fELF"))
    with pytest.raises(DriverError) as raised:
        session._through_ptx("source", ())
    assert raised.value.failure.kind == "build"
    assert "no PTX for sm_90" in raised.value.failure.sentence
    assert not folder.exists()


def test_a_driver_of_another_kind_is_told_so(engine: Engine, pocl: Device) -> None:
    marked = replace(CATALOG.find("naive_coalesced"), build=ptx.STEP)
    failure = run(engine, pocl, marked).failure
    assert failure is not None
    assert (failure.kind, failure.sentence) == (
        "build", "The compiler's output is no PTX for sm_90, so it cannot become sm_90a.",
    )  # fmt: skip
