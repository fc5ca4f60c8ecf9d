"""The child process of the adviser: situations come in on stdin, findings go out on stdout.

Run as ``python -m gemmviz.app.advice_child`` by :class:`gemmviz.app.adviser.Adviser`. It imports
neither Qt nor OpenCL.
"""

from __future__ import annotations

from gemmviz.app.access_child import Kinds, serve


def _advice() -> Kinds:
    from gemmviz.core.advice.advise import advise  # noqa: PLC0415

    return {"advice": advise}


if __name__ == "__main__":
    serve(_advice)
