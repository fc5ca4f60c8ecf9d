"""An adviser for tests: what a kernel is called decides what becomes of the question."""

from __future__ import annotations

import os
import time

from gemmviz.app.access_child import serve
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.situation import Situation


def advise(situation: Situation) -> tuple[Finding, ...]:
    """One finding: the kernel's title."""
    if "fatal" in situation.variant.id:
        os._exit(7)
    if "endless" in situation.variant.id:
        time.sleep(3600)
    return (Finding("a.b", situation.variant.title, "1", "here", "Try."),)


if __name__ == "__main__":
    serve(lambda: {"advice": advise})
