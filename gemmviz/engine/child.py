"""The child process: requests come in on stdin, messages go out on the former stdout.

Run as ``python -m gemmviz.engine.child``. File descriptor 1 points at stderr before any driver is
loaded, so that a driver that prints never reaches the wire.
"""

from __future__ import annotations

import faulthandler
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import TextIO

from gemmviz.core.codec import CodecError, decode_line, encode_line
from gemmviz.core.messages import Cancel, Message, Work
from gemmviz.engine.environment import confine_loader, prepare_environment


class Wire:
    """A protocol's way out, on a duplicate of stdout; stdout itself now goes to stderr."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)

    def emit(self, message: Message) -> None:
        """Sends one message."""
        self.write(encode_line(message))

    def write(self, line: str) -> None:
        """Sends one line."""
        self._stream.write(line + "\n")
        self._stream.flush()


def listen(stream: TextIO, take: Callable[[str], None]) -> None:
    """Hands over each line on a thread of its own, and ends the process after the last."""

    def read() -> None:
        for line in stream:
            take(line)
        # The host is gone: end at once, whatever goes on.
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()


class Inbox:
    """Reads requests on a thread of its own, so that a cancel is seen while a kernel runs."""

    def __init__(self, stream: TextIO) -> None:
        self._requests: queue.Queue[Work] = queue.Queue()
        self._cancelled: set[int] = set()
        listen(stream, self._take)

    def _take(self, line: str) -> None:
        try:
            request = decode_line(line)
        except CodecError as error:
            sys.stderr.write(f"{error}\n")
            return
        if isinstance(request, Cancel):
            self._cancelled.add(request.job_id)
        elif isinstance(request, Work):
            self._requests.put(request)

    def next(self) -> Work:
        """Waits for the next request."""
        return self._requests.get()

    def cancelled(self, job_id: int) -> bool:
        """Whether the host asked this job to end."""
        return job_id in self._cancelled


def main() -> None:
    """Serves until the host closes the pipe."""
    wire = Wire()
    faulthandler.enable()
    inbox = Inbox(sys.stdin)
    prepare_environment(os.environ)
    # Imported only now: drivers read the environment when the loader first looks for them.
    from gemmviz.engine.service import Service  # noqa: PLC0415

    confine_loader(os.environ)
    service = Service(wire.emit, inbox.cancelled)
    while True:
        service.answer(inbox.next())


if __name__ == "__main__":
    main()
