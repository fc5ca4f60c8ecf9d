"""The child process of the access lens: one question a line comes in, one reply a line goes out.

Run as ``python -m gemmviz.engine.lens_child`` by :class:`gemmviz.engine.lens.LensProcess`. It
imports neither Qt nor OpenCL.
"""

from __future__ import annotations

import json
import queue
import sys

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import analyse
from gemmviz.core.codec import from_json, to_json
from gemmviz.engine.child import Wire, listen
from gemmviz.engine.lens import Question, Reply


def reply_to(question: Question) -> Reply:
    """The report, or the sentence of why there is none."""
    try:
        return Reply(
            analyse(question.variant, question.parameters, question.problem, question.machine)
        )
    except LensError as error:
        return Reply(refusal=str(error))
    except Exception as error:  # noqa: BLE001 (a fault of the lens must not end it)
        return Reply(refusal=f"The access lens failed: {type(error).__name__}: {error}.")


def main() -> None:
    """Serves until the host closes the pipe, also amid an analysis."""
    wire = Wire()
    questions: queue.Queue[str] = queue.Queue()
    listen(sys.stdin, questions.put)
    while True:
        question = from_json(Question, json.loads(questions.get()))
        wire.write(json.dumps(to_json(reply_to(question))))


if __name__ == "__main__":
    main()
