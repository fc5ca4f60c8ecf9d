"""The child process of the access lens: questions come in on stdin, answers go out on stdout.

Run as ``python -m gemmviz.app.access_child`` by :class:`gemmviz.app.access_lens.AccessLens`. It
imports neither Qt nor OpenCL. Both ends are this program, so a frame is a pickle behind its length.
"""

from __future__ import annotations

import math
import os
import pickle
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, BinaryIO

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.report import Touches

Kinds = dict[str, Callable[..., object]]
LENGTH_BYTES = 8
"""In front of each frame: its length, most significant byte first."""
MOST_ELEMENTS = 2**19
"""Of one access in a picture: 512 steps of 1024 work-items."""


def pack(value: object) -> bytes:
    """A value as one frame."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def take_values(buffer: bytearray) -> list[Any]:
    """Cut all complete frames off ``buffer`` and give their values."""
    values, start = [], 0
    with memoryview(buffer) as view:  # nothing is copied: a picture has megabytes
        while len(view) - start >= LENGTH_BYTES:
            body = start + LENGTH_BYTES
            end = body + int.from_bytes(view[start:body], "big")
            if len(view) < end:
                break
            values.append(pickle.loads(view[body:end]))  # noqa: S301 (our own)
            start = end
    del buffer[:start]
    return values


def first_steps(touches: tuple[Touches, ...], most: int = MOST_ELEMENTS) -> tuple[Touches, ...]:
    """The same share of the steps of every access, so that none has more than ``most`` elements."""
    largest = max((part.elements.size for part in touches), default=0)
    if largest <= most:
        return touches
    share = most / largest
    return tuple(
        replace(part, elements=part.elements[: math.ceil(share * len(part.elements))].copy())
        for part in touches
    )


def _read(stream: BinaryIO, questions: queue.Queue[Any]) -> None:
    """Reads on a thread of its own, so that the end of the app is seen amid an analysis."""
    buffer = bytearray()
    while piece := os.read(stream.fileno(), 2**16):
        buffer += piece
        for question in take_values(buffer):
            questions.put(question)
    os._exit(0)


def _answer(kinds: Kinds, kind: str, arguments: tuple[Any, ...]) -> Any:
    """An answer, or the sentence of why there is none as a LensError."""
    try:
        return kinds[kind](*arguments)
    except LensError as error:
        return error
    except Exception as error:  # noqa: BLE001 (a fault of the lens must not end it)
        return LensError(f"The access lens failed: {type(error).__name__}: {error}.")


def serve(load: Callable[[], Kinds]) -> None:
    """Answer questions until the app closes the pipe.

    Args:
        load: Gives the functions that answer, by the kinds of questions; called once the pipe is
            being read, since importing them takes its time.
    """
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints does not reach the wire
    questions: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, questions), daemon=True).start()
    kinds = load()
    while True:
        number, kind, arguments = questions.get()
        wire.write(pack((number, _answer(kinds, kind, arguments))))
        wire.flush()


def _lens() -> Kinds:
    from gemmviz.core.access import lens  # noqa: PLC0415

    def picture(*about: Any) -> tuple[Touches, ...]:
        return first_steps(lens.trace(*about))

    return {"report": lens.analyse, "picture": picture, "pads": lens.pads}


if __name__ == "__main__":
    serve(_lens)
