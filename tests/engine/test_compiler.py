"""Compilers' words: errors at our lines, registers where the compiler names them."""

import tempfile
from pathlib import Path

import pytest

from gemmviz.core.launch import assemble
from gemmviz.core.model import Problem, Registers
from gemmviz.engine.compiler import compiler_words, name_lines, parse_registers, shortened
from tests.engine.runs import CATALOG

_NVIDIA = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'tiled' for 'sm_90'
ptxas info    : Function properties for tiled
ptxas         .     0 bytes stack frame, 16 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 31 registers, used 1 barriers, 2052 bytes smem, 396 bytes cmem[0]
"""


def test_registers() -> None:
    assert parse_registers(_NVIDIA) == Registers(31, 2052, 16)
    assert parse_registers("") == Registers()


def test_only_the_bindings_own_copy_of_the_source_goes(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    with tempfile.NamedTemporaryFile("w", suffix=".cl", delete=False) as copy:
        copy.write("the source")
    for named in (victim, Path(copy.name), tmp_path, tmp_path / "absent"):
        compiler_words(f"error: (source saved as {named})\nmore words", "the source")
    compiler_words(f"no\n(source saved as {copy.name})", "another source")
    compiler_words(f"no\n(source saved as {victim})", "precious")
    assert victim.exists()
    assert Path(copy.name).exists()
    compiler_words(f"no\n(source saved as {copy.name})\n", "the source")
    assert not Path(copy.name).exists()


def test_the_log_is_found_in_the_bindings_message() -> None:
    message = (
        "clBuildProgram failed\n\nBuild on <pyopencl.Device 'X' on 'Y' at 0x1>:\n\n"
        "x.cl:1:2: error: no\n\n(options: -cl-std=CL1.2)\n"
    )
    assert compiler_words(message, "") == "x.cl:1:2: error: no"
    assert compiler_words("something else", "") == ""


def test_a_log_that_nobody_could_read_keeps_its_ends() -> None:
    line = "own.cl:5:7: warning: “i” is never used\n"
    count = 100 * 2**20 // len(line.encode()) + 1
    cut = shortened("first\n" + line * count + "last")
    assert len(cut.encode()) <= 256 * 1024 + 100
    lines = cut.split("\n")
    assert (lines[0], lines[-1]) == ("first", "last")
    (gap,) = [index for index, text in enumerate(lines) if "more bytes" in text]
    assert {*lines[1:gap], *lines[gap + 1 : -1]} == {line.strip()}
    left_out = int(lines[gap].split()[1])
    assert left_out % len(line.encode()) == 0
    assert left_out // len(line.encode()) == count - (len(lines) - 3)


def test_logs_of_usual_length_and_of_one_line() -> None:
    assert shortened("a\nb") == "a\nb"
    endless = shortened("é" * 2**20)
    assert endless.startswith("éé")
    assert endless.endswith("éé")
    assert f"... {2 * 2**20 - 256 * 1024} more bytes" in endless


@pytest.mark.parametrize("place", ["<kernel>:6:3", "input.cl:6:3"])
def test_lines_are_ours_where_a_compiler_ignores_the_line_directive(place: str) -> None:
    tiled = CATALOG.find("tiled")
    source = assemble(tiled, (("TS", 8),), Problem(1, 1, 1))
    named = name_lines(f"{place}: error: unknown", tiled, source)
    assert named == "tiled.cl:3:3: error: unknown"
