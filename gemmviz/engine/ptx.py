"""Turns the PTX that NVIDIA's OpenCL compiler writes into PTX for sm_90a, and keeps it on disk.

OpenCL's compiler writes for sm_90, which lacks some of a Hopper GPU's instructions: those of its
tensor cores. Inline assembler may hold them all the same, as comments that begin with ``//@``: the
compiler fills in the registers of an operand wherever it stands. Here the marks go, the target is
named anew, and the driver builds the result. What follows ``//@entry`` is a directive of the kernel
itself, and goes to where those stand.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gemmviz.core.paths import cache_dir

STEP = "ptx-sm_90a"
"""The name of this build step in a kernel's .toml."""

_MARK = "//@"
_DIRECTIVE = re.compile(rf"^.*{_MARK}entry (.*)$", re.MULTILINE)
_TARGET = re.compile(r"^\.target sm_90\b(?!a)", re.MULTILINE)
_GROUP = re.compile(r"^\.reqntid .*$", re.MULTILINE)
_MOST_FILES = 200


class PtxError(ValueError):
    """A compiler's output that is no PTX for sm_90 with marked lines; the message is a sentence."""


def patched(text: str) -> str:
    """PTX for sm_90 with its marked lines as instructions, and for sm_90a.

    Args:
        text: What the compiler wrote, of a source with one kernel.

    Raises:
        PtxError: It is something else, or a directive has no place to go to.
    """
    if not _TARGET.search(text):
        raise PtxError("The compiler's output is no PTX for sm_90, so it cannot become sm_90a.")
    if _MARK not in text:
        raise PtxError(f"The compiler's output has no line marked {_MARK}, so nothing is hidden.")
    directives = "".join(f"\n{directive.strip()}" for directive in _DIRECTIVE.findall(text))
    text = _DIRECTIVE.sub("", text)
    if directives:
        text, places = _GROUP.subn(lambda group: group[0] + directives, text)
        if places != 1:
            raise PtxError(f"A directive needs one kernel with its group's size, not {places}.")
    return _TARGET.sub(".target sm_90a", text).replace(_MARK, "")


def cache_file(parts: Iterable[str]) -> Path:
    """Where the PTX lies that was made of ``parts``: source, options, device, driver."""
    digest = hashlib.sha256("\0".join((STEP, *parts)).encode())
    return cache_dir() / "ptx" / f"{digest.hexdigest()}.ptx"


def kept(file: Path) -> str | None:
    """What was kept in a file, or None where nothing of use was."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text if ".target sm_90a" in text else None


def keep(file: Path, text: str) -> None:
    """Writes ``text`` to a file whole or not at all, and drops the oldest of too many.

    A cache that cannot be written is no failure: the next build takes longer.
    """
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as part:
            part.write(text)
        Path(name).replace(file)
        files = sorted(file.parent.glob("*.ptx"), key=lambda path: path.stat().st_mtime)
        for old in files[:-_MOST_FILES]:
            old.unlink(missing_ok=True)
