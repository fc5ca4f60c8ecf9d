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
    Listing,
    Message,
    RegistersRead,
    Work,
)
from gemmviz.core.model import Failure
from gemmviz.engine.transport import Connect, Transport, TransportClosed
from gemmviz.engine.watchdog import START_LIMIT_SECONDS, Watchdog

_ANSWERS = get_args(Message)
_LAST = (Finished, Failed, Listing, RegistersRead)
# Failures after which a fresh child may find what this one no longer has: state, or the device.
_LOST = ("driver", "not_found")
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 0.3


class Host:
    """A child started when first needed and replaced after a crash.

    ``converse`` belongs to one thread at a time; ``stop`` and ``close`` may come from any.
    ``environment`` is what each child gets besides this process's own.
    """

    def __init__(self, connect: Connect, environment: Mapping[str, str] | None = None) -> None:
        self._connect = connect
        self.environment: Mapping[str, str] = dict(environment or {})
        self._transport: Transport | None = None
        self._stopping: tuple[int, float] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def converse(
        self, request: Work, start_limit_seconds: float = START_LIMIT_SECONDS
    ) -> Iterator[Message]:
        """Yields the answers to ``request``; the last is Finished, Failed or the one asked for.

        The jobs of a comparison are heard too; the last bears the id of the request itself.

        Args:
            request: What the child is to do.
            start_limit_seconds: The longest silence before the first phase of a job, and of a
                listing.
        """
        watchdog = Watchdog(request, start_limit_seconds)
        over = False
        try:
            transport = self._alive()
            transport.forget_remarks()
            transport.send(encode_line(request))
            while True:
                line = transport.receive(_POLL_SECONDS)
                if line is None:
                    ending = self._overdue(watchdog)
                    if ending is not None:
                        self._drop(transport)
                        over = True
                        yield ending
                        return
                    continue
                message = decode_line(line)
                if not isinstance(message, _ANSWERS) or message.job_id not in watchdog.ids:
                    continue  # late words of a job that is over neither count nor prove life
                watchdog.hear(message)
                last = isinstance(message, _LAST) and message.job_id == watchdog.job_id
                lost = isinstance(message, Failed) and message.failure.kind in _LOST
                over = last and not lost
                yield message
                if last:
                    return
                watchdog.alive()  # after the yield: a slow listener is no hang
        except TransportClosed as closed:
            ending = self._ended(watchdog, closed)
            over = True
            yield ending
        except CodecError as error:
            sentence = "The child process sent something unreadable."
            yield Failed(watchdog.job_id, Failure("crash", sentence, str(error)))
        finally:
            if not over:
                # Nobody listens any more, nothing sensible comes, or the driver has lost its state.
                self._drop(self._transport)

    def _overdue(self, watchdog: Watchdog) -> Message | None:
        """What ends the job now without the child's word: a stop not followed, or a hang."""
        job_id, stopping = watchdog.job_id, self._stopping
        if stopping is not None and stopping[0] == job_id:
            return _stopped(job_id) if time.monotonic() >= stopping[1] else None
        hang = watchdog.overdue()
        return None if hang is None else Failed(job_id, hang)

    def _ended(self, watchdog: Watchdog, closed: TransportClosed) -> Message:
        """The word for a child that is gone."""
        transport, stopping = self._transport, self._stopping
        self._drop(transport)
        if stopping is not None and stopping[0] == watchdog.job_id:
            return _stopped(watchdog.job_id)
        sentence = f"The child process that talks to OpenCL ended {watchdog.doing}: {closed}."
        if watchdog.launching and "fault" in str(closed):
            sentence += " A kernel that reads or writes out of bounds does that."
        detail = transport.remarks() if transport is not None else ""
        return Failed(watchdog.job_id, Failure("crash", sentence, detail))

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
                    self._transport = self._connect(self.environment)
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


def _stopped(job_id: int) -> Finished:
    return Finished(job_id, stopped=True, reason="stopped")
