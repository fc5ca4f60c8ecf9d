"""The command line: its words and which command answers them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gemmviz import __version__
from gemmviz.cli import devices, kernels, occupancy, run


def run_command(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code; wrong words end with 2 as argparse does."""
    parser = argparse.ArgumentParser(
        prog="gemmviz",
        description="A profiler for OpenCL matrix multiplication; without a command, its window.",
    )
    parser.add_argument("--version", action="version", version=f"gemmviz {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (devices, kernels, run, occupancy):
        command.add_parser(commands)
    parsed = parser.parse_args(_joined(arguments))
    code: int = parsed.answer(parsed)
    return code


def _joined(arguments: Sequence[str]) -> list[str]:
    """``--build-options -DX`` as one word: argparse takes a value with a dash for an option."""
    words: list[str] = []
    for word in arguments:
        if words and words[-1] == "--build-options":
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words
