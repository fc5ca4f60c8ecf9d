"""The access lens in a child of its own, which a plan may ask beside a window."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.report import AccessReport, Machine
from gemmviz.core.codec import CodecError, from_json, to_json
from gemmviz.core.model import Parameters, Problem, Variant
from gemmviz.engine.transport import Connect, LocalTransport, Transport, TransportClosed

LENS_COMMAND = (sys.executable, "-P", "-m", "gemmviz.engine.lens_child")
_LIMIT_SECONDS = 60.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Question:
    """A kernel at a problem, as the lens is asked about it."""

    variant: Variant
    parameters: Parameters
    problem: Problem
    machine: Machine


@dataclass(frozen=True, slots=True)
class Reply:
    """The report, or why there is none as a sentence."""

    report: AccessReport | None = None
    refusal: str = ""


def _connect(environment: Mapping[str, str]) -> Transport:
    return LocalTransport(environment, LENS_COMMAND)


class LensProcess:
    """A child that analyses one kernel at a time, started at the first question.

    The lens is pure Python that works for seconds: on a thread of a window's process it would make
    the window stutter. The child ends with this process, however that ends.
    """

    def __init__(self, connect: Connect = _connect) -> None:
        self._connect = connect
        self._transport: Transport | None = None

    def report(self, question: Question, stopped: Callable[[], bool]) -> AccessReport | None:
        """What the lens says of a kernel; None if ``stopped`` said so before it was known.

        Raises:
            LensError: Nothing can be said of it, or the child ended or took more than a minute.
        """
        until = time.monotonic() + _LIMIT_SECONDS
        try:
            if self._transport is None:
                self._transport = self._connect({})
            self._transport.send(json.dumps(to_json(question)))
            while (line := self._transport.receive(_POLL_SECONDS)) is None:
                if stopped():
                    self.close()
                    return None
                if time.monotonic() > until:
                    self.close()
                    raise LensError("The analysis took more than a minute and was stopped.")
            reply = from_json(Reply, json.loads(line))
        except (OSError, TransportClosed, CodecError, json.JSONDecodeError) as error:
            self.close()
            raise LensError(f"The process of the analysis failed: {error}.") from error
        if reply.report is None:
            raise LensError(reply.refusal)
        return reply.report

    def close(self) -> None:
        """Ends the child; the next question gets a new one."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.kill()
