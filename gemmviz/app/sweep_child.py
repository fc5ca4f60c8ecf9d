"""The child process that counts sweeps: a Sweep comes in on stdin, its SweepCount goes out.

Run as ``python -m gemmviz.app.sweep_child`` by :class:`gemmviz.app.sweeping.SweepTrial`: thousands
of configurations take seconds to look through. It imports neither Qt nor OpenCL.
"""

from __future__ import annotations

from gemmviz.app.access_child import Kinds, serve


def _counting() -> Kinds:
    from gemmviz.core.sweep_count import count_sweep  # noqa: PLC0415

    return {"count": count_sweep}


if __name__ == "__main__":
    serve(_counting)
