"""A child process and the pipe to it: everything that another machine would replace."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

# -P: the folder that a person stands in may hold a numpy.py of their own.
CHILD_COMMAND = (sys.executable, "-P", "-m", "gemmviz.engine.child")
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])

_REMARK_BYTES = 64 * 1024
_MOST_LINE_BYTES = 64 * 2**20
_DEATH_SECONDS = 5.0


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


def child_environment(additions: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with ``additions`` and a way to the package.

    CUDA_CACHE_DISABLE goes unless it is asked for: it would make every measured build a cold one.
    The reference is computed by one thread: on a busy machine two took up to ten times as long.
    OpenBLAS's threads spin for 2^26 cycles after a call, on cores that a kernel measured in turns
    with it wants; 2^16 are enough to be found awake by a call that follows at once.
    """
    inherited = {name: text for name, text in os.environ.items() if name != "CUDA_CACHE_DISABLE"}
    path = [_PACKAGE_PARENT, *filter(None, [inherited.get("PYTHONPATH")])]
    return {
        "OPENBLAS_NUM_THREADS": "1",
        "OPENBLAS_THREAD_TIMEOUT": "16",
        **inherited,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUNBUFFERED": "1",
        **additions,
    }


class Process(Protocol):
    """What a transport needs of a child that leads a process group.

    It is as :class:`subprocess.Popen`, but for ``kill``, which ends the whole group.
    """

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def returncode(self) -> int | None:
        """How it ended, as far as it was asked."""

    def poll(self) -> int | None:
        """How it ended, or None before that."""

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end; raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """Kills it and whatever it started."""


class Spawned(subprocess.Popen[bytes]):
    """A child that was started as a program."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        streams: Sequence[int] = (subprocess.PIPE,) * 3,
    ) -> None:
        """Starts it, with new pipes or with these as stdin, stdout and stderr.

        Raises:
            OSError: It cannot be started.
        """
        stdin, stdout, stderr = streams
        super().__init__(
            list(command), stdin=stdin, stdout=stdout, stderr=stderr,
            env=dict(environment), start_new_session=True,
        )  # fmt: skip

    def kill(self) -> None:
        """Kills it and whatever it started."""
        # The group outlives a child that has ended, if a compiler it started still runs.
        kill_group(self.pid)


def kill_group(leader: int) -> None:
    """Kills all processes of a group; of one that is only about to be formed its leader."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(leader, signal.SIGKILL)


class LocalTransport:
    """A child on this machine, in a process group of its own.

    Threads do all reading and writing, so that no call here waits for a child that is stopped.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        command: Sequence[str] = CHILD_COMMAND,
        process: Process | None = None,
    ) -> None:
        """Starts a child, unless ``process`` is one that was started with all that it needs.

        Raises:
            OSError: It cannot be started.
        """
        self._process = process or Spawned(command, child_environment(environment))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._outgoing: queue.Queue[str | None] = queue.Queue()
        self._remarks = bytearray()
        self._remarks_lock = threading.Lock()
        self._threads = {
            stream: threading.Thread(target=target, args=(stream,), daemon=True)
            for stream, target in (
                (self._process.stdin, self._write),
                (self._process.stdout, self._read),
                (self._process.stderr, self._listen),
            )
        }
        for thread in self._threads.values():
            thread.start()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def _write(self, stream: IO[bytes]) -> None:
        # A child that is gone shows in what it no longer says.
        with contextlib.suppress(ValueError, OSError), stream:
            while (line := self._outgoing.get()) is not None:
                stream.write(line.encode("utf-8", "replace") + b"\n")
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(ValueError, OSError), stream:
            while line := stream.readline(_MOST_LINE_BYTES):
                self._lines.put(line.decode("utf-8", "replace"))
        self._lines.put(None)

    def _listen(self, stream: IO[bytes]) -> None:
        # By blocks: a driver may print 100 MB of one-byte lines.
        with contextlib.suppress(ValueError, OSError), stream:
            while block := os.read(stream.fileno(), _REMARK_BYTES):
                with self._remarks_lock:
                    self._remarks += block
                    del self._remarks[:-_REMARK_BYTES]

    def send(self, line: str) -> None:
        """Sends one line as soon as the child takes it.

        Raises:
            TransportClosed: The child has ended.
        """
        if not self.alive():
            raise TransportClosed(self._ending())
        self._outgoing.put(line)

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
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            # A process inside a driver's call may not even be killed; nobody waits for that.
            self._process.wait(_DEATH_SECONDS)
        self._outgoing.put(None)
        for stream, thread in self._threads.items():
            thread.join(timeout=1)
            if not thread.is_alive():  # else something that left the group holds the pipe
                with contextlib.suppress(OSError):
                    stream.close()

    def remarks(self) -> str:
        """The end of what the child and its drivers printed since ``forget_remarks``."""
        with self._remarks_lock:
            printed = bytes(self._remarks)
        if len(printed) == _REMARK_BYTES:
            printed = printed[printed.find(b"\n") + 1 :]  # no half a line
        return printed.decode("utf-8", "replace")

    def forget_remarks(self) -> None:
        """Drops what was printed so far."""
        with self._remarks_lock:
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
        try:
            number = signal.Signals(-code)
        except ValueError:  # a real-time signal has no name
            return f"signal {-code}"
        return known.get(number, number.name)
