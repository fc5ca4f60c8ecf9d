"""A child process and the pipe to it: everything that another machine would replace."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

# -P: the folder that a person stands in may hold a numpy.py of their own.
CHILD_COMMAND = (sys.executable, "-P", "-m", "gemmviz.engine.child")
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])

_STDERR_LINES = 200
_STDERR_LINE_LENGTH = 2000


class TransportClosed(Exception):  # noqa: N818 (a state, not a mistake)
    """The other side is gone; the message says how it ended."""


class Transport(Protocol):
    """A running child: lines go down, lines come up."""

    def send(self, line: str) -> None:
        """Sends one line; raises TransportClosed."""

    def receive(self, timeout_seconds: float) -> str | None:
        """The next line, or None if none came in time; raises TransportClosed."""

    def alive(self) -> bool:
        """Whether the child has not ended."""

    def kill(self) -> None:
        """Ends the child at once, whatever it does; may be called twice."""

    def remarks(self) -> str:
        """The end of what the child and its drivers printed since ``forget_remarks``."""

    def forget_remarks(self) -> None:
        """Drops what was printed so far: it belongs to an earlier request."""


Connect = Callable[[Mapping[str, str]], Transport]
"""Starts a child with additions to its environment."""


def _child_environment(additions: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with ``additions`` and a way to the package.

    CUDA_CACHE_DISABLE goes unless it is asked for: it would make every measured build a cold one.
    """
    inherited = {name: text for name, text in os.environ.items() if name != "CUDA_CACHE_DISABLE"}
    path = [_PACKAGE_PARENT, *filter(None, [inherited.get("PYTHONPATH")])]
    return {
        **inherited,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUNBUFFERED": "1",
        **additions,
    }


class LocalTransport:
    """A child on this machine, in a process group of its own."""

    def __init__(
        self, environment: Mapping[str, str], command: Sequence[str] = CHILD_COMMAND
    ) -> None:
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_child_environment(environment),
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._remarks: deque[str] = deque(maxlen=_STDERR_LINES)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._readers = (
            threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._listen, args=(self._process.stderr,), daemon=True),
        )
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def _read(self, stream: IO[str]) -> None:
        with contextlib.suppress(ValueError, OSError):
            for line in stream:
                self._lines.put(line)
        self._lines.put(None)

    def _listen(self, stream: IO[str]) -> None:
        with contextlib.suppress(ValueError, OSError):
            while line := stream.readline(_STDERR_LINE_LENGTH):
                self._remarks.append(line)

    def send(self, line: str) -> None:
        """Sends one line.

        Raises:
            TransportClosed: The child has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise TransportClosed(self._ending()) from error

    def receive(self, timeout_seconds: float) -> str | None:
        """The next line, or None if none came within ``timeout_seconds``.

        Raises:
            TransportClosed: The child has ended and every line was delivered.
        """
        try:
            line = self._lines.get(timeout=timeout_seconds)
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)
            raise TransportClosed(self._ending())
        return line

    def alive(self) -> bool:
        """Whether the child has not ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Kills the child and whatever it started, and waits for its end."""
        # The group outlives a child that has ended, if a compiler it started still runs.
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join(timeout=1)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def remarks(self) -> str:
        """The last lines that the child and its drivers printed since ``forget_remarks``."""
        return "".join(self._remarks)

    def forget_remarks(self) -> None:
        """Drops what was printed so far."""
        self._remarks.clear()

    def _ending(self) -> str:
        """How the child ended, in words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        code = self._process.returncode
        if code is None:
            return "its pipe closed"
        if code >= 0:
            return f"it ended with code {code}"
        known = {
            signal.SIGSEGV: "a segmentation fault",
            signal.SIGABRT: "an abort",
            signal.SIGKILL: "killed from outside, as a system short of memory does",
            signal.SIGBUS: "a bus error",
            signal.SIGFPE: "an arithmetic fault",
            signal.SIGILL: "an illegal instruction",
        }
        return known.get(signal.Signals(-code), signal.Signals(-code).name)
