"""Children that a nursery bears: as good as spawned ones, but without the wait for their imports.

See :mod:`gemmviz.engine.nursery` for the other side.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import IO, Any

from gemmviz.engine.transport import (
    CHILD_COMMAND,
    LocalTransport,
    Spawned,
    child_environment,
    kill_group,
)

MOST_BYTES = 2**18
"""No packet to or from a nursery is longer."""

_COMMAND = (sys.executable, "-P", "-m", "gemmviz.engine.nursery")
# What is read when a process starts, or when what it has imported starts.
_EARLY = ("LD_", "PYTHON", "OPENBLAS_", "OMP_", "GLIBC_", "MALLOC_", "LANG", "LC_")
_BIRTH_SECONDS = 60.0
_UNKNOWN = 255  # how a child ended when nobody is left to tell


class Nursery:
    """Starts children; the process that bears them is started for the first and ends at close.

    All methods may be called from any thread, and none waits for a process but ``ask``.
    """

    def __init__(self) -> None:
        self._lock, self._asking = threading.Lock(), threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._wire: socket.socket | None = None
        self._early: Mapping[str, str] = {}
        self._closed = False

    def connect(self, environment: Mapping[str, str]) -> LocalTransport:
        """Starts a child with additions to this process's environment.

        Raises:
            OSError: It cannot be started.
        """
        whole = child_environment(environment)
        if not self._serves(whole):
            return LocalTransport(environment)
        return LocalTransport(environment, process=Offspring(self, whole))

    def ask(self, request: Mapping[str, Any], streams: Sequence[int] = ()) -> Any:
        """What the nursery answers; it waits until that has begun.

        Raises:
            OSError: It has ended.
        """
        with self._asking:
            wire = self._wire
            if wire is None:
                raise ConnectionError("there is no nursery")
            socket.send_fds(wire, [json.dumps(request).encode()], streams)
            packet = wire.recv(MOST_BYTES)
        if not packet:
            raise ConnectionError("the nursery has ended")
        return json.loads(packet)

    @property
    def closed(self) -> bool:
        """Whether no child is wanted any more."""
        return self._closed

    def close(self) -> None:
        """Ends the process that bears; children that live go on."""
        with self._lock:
            self._closed = True
            wire, process = self._wire, self._process
        if wire is None or process is None:
            return
        with contextlib.suppress(OSError):  # who waits for an answer is told that none comes
            wire.shutdown(socket.SHUT_RDWR)
        process.kill()
        process.wait()
        with self._asking:
            wire.close()

    def _serves(self, environment: Mapping[str, str]) -> bool:
        """Whether a child of this environment can be born; starts the process that bears."""
        with self._lock:
            if self._closed:
                return False
            if self._process is None:
                self._start(child_environment({}))
            return self._alive() and _early(environment) == self._early

    def _start(self, environment: Mapping[str, str]) -> None:
        self._early = _early(environment)
        with contextlib.suppress(OSError, AttributeError):  # a system that lacks one of these
            os.close(os.pidfd_open(os.getpid()))
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    [*_COMMAND, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()], env=dict(environment), start_new_session=True,
                )  # fmt: skip
            self._wire = ours

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None


class Offspring:
    """A child of a nursery, as a :class:`gemmviz.engine.transport.Process`.

    It is born on a thread of its own, since the nursery may still import what it needs. Where that
    has ended, the child is spawned as any process.
    """

    def __init__(self, nursery: Nursery, environment: Mapping[str, str]) -> None:
        self._nursery, self._environment = nursery, dict(environment)
        (stdin, down), (up, stdout), (remarks, stderr) = os.pipe(), os.pipe(), os.pipe()
        self.stdin: IO[bytes] | None = os.fdopen(down, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(up, "rb")
        self.stderr: IO[bytes] | None = os.fdopen(remarks, "rb")
        self.returncode: int | None = None
        self._lock = threading.Lock()
        self._born = threading.Event()
        self._doomed = False
        self._pid = 0
        self._end: int | None = None  # readable once it has ended
        self._spawned: Spawned | None = None
        streams = (stdin, stdout, stderr)
        threading.Thread(target=self._bear, args=(streams,), daemon=True).start()

    @property
    def pid(self) -> int:
        """Its process id; waits for its birth."""
        self._born.wait(_BIRTH_SECONDS)
        return self._pid

    def poll(self) -> int | None:
        """How it ended, or None before that."""
        with self._lock:
            if self.returncode is None and self._spawned is not None:
                self.returncode = self._spawned.poll()
            elif self.returncode is None and self._end is not None and _readable(self._end, 0.0):
                self._bury()
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end.

        Raises:
            subprocess.TimeoutExpired: It lives on.
        """
        if not self._born.wait(timeout):
            raise subprocess.TimeoutExpired(CHILD_COMMAND, timeout or 0.0)
        if self._spawned is not None:
            self.returncode = self._spawned.wait(timeout)
        elif self._end is not None:
            _readable(self._end, timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(CHILD_COMMAND, timeout or 0.0)
        return code

    def kill(self) -> None:
        """Kills it and whatever it started; one that is not yet born dies at birth."""
        with self._lock:
            self._doomed = True
            if self._spawned is not None:
                self._spawned.kill()
            elif self._pid:
                kill_group(self._pid)
            elif not self._born.is_set():
                self.returncode = -9
                self._born.set()

    def _bear(self, streams: Sequence[int]) -> None:
        pid, end = 0, None
        try:
            pid = int(self._nursery.ask({"environment": self._environment}, streams)["pid"])
            end = os.pidfd_open(pid)
            weakref.finalize(self, os.close, end)
        except OSError:
            pid = 0
        with self._lock:
            self._pid, self._end = pid, end
            if self._doomed and pid:
                kill_group(pid)
                self._bury()
            elif not pid and not self._doomed:
                self._spawn(streams)
            self._born.set()
        for stream in streams:
            os.close(stream)

    def _spawn(self, streams: Sequence[int]) -> None:
        if self._nursery.closed:
            self.returncode = _UNKNOWN
            return
        try:
            self._spawned = Spawned(CHILD_COMMAND, self._environment, streams)
        except OSError:
            self.returncode = _UNKNOWN
            return
        self._pid = self._spawned.pid

    def _bury(self) -> None:
        """Asks the nursery how it ended, and forgets it."""
        code = None
        with contextlib.suppress(OSError):
            if self._end is not None:
                _readable(self._end, None)
            code = self._nursery.ask({"pid": self._pid})["code"]
        self.returncode = _UNKNOWN if code is None else int(code)


def _early(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in environment.items() if name.startswith(_EARLY)}


def _readable(descriptor: int, timeout_seconds: float | None) -> bool:
    poll = select.poll()
    with contextlib.suppress(OSError):
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(None if timeout_seconds is None else 1000 * timeout_seconds))
    return False
