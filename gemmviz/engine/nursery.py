"""The process that bears children: it has imported all that they need, and forks when asked.

Run as ``python -m gemmviz.engine.nursery FD``, where FD is a socket of packets. It loads no driver
and has one thread, so that each child begins as if it were fresh, without the third of a second
that imports take.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from gemmviz.engine import child
from gemmviz.engine.environment import prepare_environment
from gemmviz.engine.offspring import MOST_BYTES

STREAMS = 3
"""A child gets stdin, stdout and stderr with the request that bears it."""


def main() -> None:
    """Serves until the host closes its end."""
    wire = socket.socket(fileno=int(sys.argv[1]))
    prepare_environment(os.environ)  # what is imported keeps files where that says
    prepared = dict(os.environ)
    import gemmviz.engine.service  # noqa: F401, PLC0415

    imported = {name: text for name, text in os.environ.items() if prepared.get(name) != text}
    gc.collect()
    gc.freeze()  # a collection in a child would copy all these pages
    while True:
        packet, streams, _, _ = socket.recv_fds(wire, MOST_BYTES, STREAMS)
        if not packet:
            return
        request = json.loads(packet)
        if "environment" not in request:
            _answer(wire, {"code": _code_of(request["pid"])})
            continue
        pid = os.fork()
        if not pid:
            wire.close()
            _begin({**imported, **request["environment"]}, streams)
            return
        for stream in streams:
            os.close(stream)
        _answer(wire, {"pid": pid})


def _answer(wire: socket.socket, answer: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError):  # a host that is gone shows in the next packet
        wire.send(json.dumps(answer).encode())


def _code_of(pid: int) -> int | None:
    """How a child ended, as subprocess has it, which is then forgotten; None before its end."""
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status) if ended else None


def _begin(environment: Mapping[str, str], streams: Sequence[int]) -> None:
    """Becomes a child."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    child.main()


if __name__ == "__main__":
    main()
