"""The command line: its words and which command answers them."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from gemmviz import __version__
from gemmviz.cli import (
    access,
    advise,
    bench,
    ceilings,
    check,
    claims,
    compare,
    devices,
    export,
    kernels,
    ladder,
    occupancy,
    results,
    run,
    sweep,
)
from gemmviz.cli.selection import say

_UNABLE = 2


class _Parser(argparse.ArgumentParser):
    """Complains of unknown words itself.

    argparse leaves them to the parser above a command's, whose usage names no options.
    """

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """All words parsed; none is left over."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, []


def run_command(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code; wrong words end with 2 as argparse does."""
    parser = _Parser(
        prog="gemmviz",
        description="A profiler for OpenCL matrix multiplication.",
        epilog="Without a command its window opens: gemmviz [--theme light|dark] [FILE ...]",
    )
    parser.add_argument("--version", action="version", version=f"gemmviz {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (
        devices, kernels, run, compare, sweep, ladder, bench, access, occupancy, ceilings, advise,
        claims, check, results, export,
    ):  # fmt: skip
        command.add_parser(commands)
    parsed = parser.parse_args(_joined(arguments))
    try:
        code: int = parsed.answer(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as `head` does; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _UNABLE
    except KeyboardInterrupt:
        return _UNABLE
    except Exception as error:  # noqa: BLE001 (1 means "wrong", so nothing else may end with it)
        say(f"gemmviz failed: {error!r}. Set GEMMVIZ_TRACE=1 to see where.")
        if os.environ.get("GEMMVIZ_TRACE"):
            traceback.print_exc()
        return _UNABLE
    return code


def _joined(arguments: Sequence[str]) -> list[str]:
    """``--build-options -DX`` as one word: argparse takes a value with a dash for an option.

    One of our own options behind it stays an option, so that argparse says what is missing.
    """
    words: list[str] = []
    for word in arguments:
        if words and words[-1] == "--build-options" and not word.startswith("--"):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words
