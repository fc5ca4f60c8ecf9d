"""Reads what compilers say: their errors at our lines, and their resource reports."""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path

from gemmviz.core.model import Registers, Variant

VERBOSE = "-cl-nv-verbose"
"""NVIDIA's option for a log that tells of registers."""

_BUILD_REPORT = re.compile(r"Build on <.*?>:\n\n(.*?)\n\(options: ", re.DOTALL)
_SAVED_SOURCE = re.compile(r"\(source saved as ([^\n]+)\)\s*\Z")
_MOST_LOG_BYTES = 256 * 1024


def compiler_words(message: str, source: str) -> str:
    """The compiler's log out of pyopencl's message.

    The copy of ``source`` that pyopencl leaves in the temporary folder goes, and nothing else: a
    log may hold any words.
    """
    saved = _SAVED_SOURCE.search(message)
    if saved is not None:
        copy = Path(saved[1])
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if copy.parent == Path(tempfile.gettempdir()) and copy.read_text() == source:
                copy.unlink()
    return "\n".join(report.strip() for report in _BUILD_REPORT.findall(message))


def shortened(log: str) -> str:
    """``log``, or the lines at its two ends where it is longer than a person could ever read.

    A compiler may warn once a line of an unrolled kernel: 100 MB are kept out of the pipe, the
    results and the window.
    """
    raw = log.encode("utf-8", "replace")
    if len(raw) <= _MOST_LOG_BYTES:
        return log
    head, tail = raw[: _MOST_LOG_BYTES // 2], raw[-_MOST_LOG_BYTES // 2 :]
    # Whole lines where there are any: half a line of a compiler misleads.
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :] or tail
    left_out = len(raw) - len(head) - len(tail)
    first, last = (part.decode("utf-8", "ignore").strip("\n") for part in (head, tail))
    return f"{first}\n... {left_out} more bytes\n{last}"


_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_SPILLED = re.compile(r"(\d+) bytes spill stores")


def parse_registers(log: str) -> Registers:
    """The resource report that NVIDIA's compiler writes under :data:`VERBOSE`."""
    found = (pattern.search(log) for pattern in (_USED, _SHARED, _SPILLED))
    return Registers(*(int(match[1]) if match else None for match in found))


def name_lines(log: str, variant: Variant, source: str) -> str:
    """A compiler's log with the file and lines that a person has, where it ignored ``#line``.

    NVIDIA's compiler and Oclgrind count lines of the whole assembled ``source`` and call it
    "<kernel>" and "input.cl".
    """
    head = source.count("\n", 0, len(source) - len(variant.source))

    def named(match: re.Match[str]) -> str:
        return f"{variant.id}.cl:{int(match[1]) - head}"

    return re.sub(r"(?:<kernel>|input\.cl):(\d+)", named, log)
