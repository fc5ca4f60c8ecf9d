"""Owns one child: sends it a request, watches it, and turns every ending into a message."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from typing import get_args

from gemmviz.core.codec import CodecError, decode_line, encode_line
from gemmviz.core.messages import (
    Cancel,
    Failed,
    Finished,
    ListDevices,
    Listing,
    Message,
    Phase,
    ReadRegisters,
    RegistersRead,
    RunJob,
)
from gemmviz.core.model import Failure
from gemmviz.engine.transport import Connect, Transport, TransportClosed

_ANSWERS = get_args(Message)
_LAST = (Finished, Failed, Listing, RegistersRead)
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 0.3
_START_LIMIT_SECONDS = 60.0
# For a compiler or a large reference: long, but nothing waits for ever.
_PATIENCE_SECONDS = 600.0


class Host:
    """A child started when first needed and replaced after a crash.

    ``converse`` belongs to one thread at a time; ``stop`` and ``close`` may come from any.
    """

    def __init__(self, connect: Connect, environment: Mapping[str, str] | None = None) -> None:
        self._connect, self._environment = connect, dict(environment or {})
        self._transport: Transport | None = None
        self._stopping: tuple[int, float] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def converse(self, request: ListDevices | RunJob | ReadRegisters) -> Iterator[Message]:
        """Yields the answers to ``request``; the last is Finished, Failed or the one asked for."""
        job_id = request.job_id if isinstance(request, ListDevices) else request.job.id
        phase = Phase(job_id, "start", limited=False)
        limit = _START_LIMIT_SECONDS
        heard = time.monotonic()
        over = False
        try:
            transport = self._alive()
            transport.forget_remarks()
            transport.send(encode_line(request))
            while True:
                line = transport.receive(_POLL_SECONDS)
                if line is None:
                    ending = self._overdue(job_id, phase, heard, limit)
                    if ending is not None:
                        self._drop(transport)
                        over = True
                        yield ending
                        return
                    continue
                message = decode_line(line)
                if not isinstance(message, _ANSWERS) or message.job_id != job_id:
                    continue  # late words of a job that is over neither count nor prove life
                if isinstance(message, Phase) and isinstance(request, RunJob):
                    phase = message
                    limited = request.job.launch_limit_seconds
                    limit = limited if phase.limited else _PATIENCE_SECONDS
                lost = isinstance(message, Failed) and message.failure.kind == "driver"
                over = isinstance(message, _LAST) and not lost
                yield message
                if over or lost:
                    return
                heard = time.monotonic()  # after the yield: a slow listener is no hang
        except TransportClosed as closed:
            ending = self._ended(job_id, phase, closed)
            over = True
            yield ending
        except CodecError as error:
            sentence = "The child process sent something unreadable."
            yield Failed(job_id, Failure("crash", sentence, str(error)))
        finally:
            if not over:
                # Nobody listens any more, nothing sensible comes, or the driver's state is lost.
                self._drop(self._transport)

    def _overdue(self, job_id: int, phase: Phase, heard: float, limit: float) -> Message | None:
        """What ends the job now without the child's word: a stop not followed, or a hang."""
        now = time.monotonic()
        if self._stopping is not None and self._stopping[0] == job_id:
            return Finished(job_id, stopped=True) if now >= self._stopping[1] else None
        if now - heard > limit:
            sentence = (
                f"A launch took longer than the limit of {limit:g} s and was killed."
                if phase.limited
                else f"The driver gave no answer within {limit:g} s and was killed."
            )
            return Failed(job_id, Failure("hang", sentence, f"phase: {phase.name}"))
        return None

    def _ended(self, job_id: int, phase: Phase, closed: TransportClosed) -> Message:
        """The word for a child that is gone."""
        transport, stopping = self._transport, self._stopping
        self._drop(transport)
        if stopping is not None and stopping[0] == job_id:
            return Finished(job_id, stopped=True)
        doing = "starting" if phase.name == "start" else f"the phase {phase.name!r}"
        sentence = f"The child process that talks to OpenCL ended during {doing}: {closed}."
        if phase.limited and "fault" in str(closed):
            sentence += " A kernel that reads or writes out of bounds does that."
        detail = transport.remarks() if transport is not None else ""
        return Failed(job_id, Failure("crash", sentence, detail))

    def stop(self, job_id: int) -> None:
        """Ends a job: at its next launch, or by force after 0.3 s of silence. From any thread."""
        with self._lock:
            if self._stopping is None or self._stopping[0] != job_id:
                self._stopping = job_id, time.monotonic() + _GRACE_SECONDS
            transport = self._transport
        if transport is not None:
            with contextlib.suppress(TransportClosed):
                transport.send(encode_line(Cancel(job_id)))

    def close(self) -> None:
        """Ends the child; a conversation under way ends with it. From any thread."""
        with self._lock:
            self._closed = True
            transport = self._transport
        self._drop(transport)

    def _alive(self) -> Transport:
        with self._lock:
            if self._closed:
                raise TransportClosed("the app is closing")
            if self._transport is not None and not self._transport.alive():
                self._transport.kill()  # it died while nobody asked: reap it
                self._transport = None
            if self._transport is None:
                try:
                    self._transport = self._connect(self._environment)
                except OSError as error:
                    raise TransportClosed(f"it cannot be started ({error})") from error
            return self._transport

    def _drop(self, transport: Transport | None) -> None:
        if transport is None:
            return
        transport.kill()
        with self._lock:
            if self._transport is transport:
                self._transport = None
