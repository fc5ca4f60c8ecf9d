"""The access lens beside the GUI: questions answered by a child process and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.analysis_process import AnalysisProcess
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.report import AccessReport, Machine, Pad, Touches
from gemmviz.core.model import Parameters, Problem, Variant

CHILD = "gemmviz.app.access_child"
_KEPT = {"report": 256, "picture": 6, "pads": 64}  # answers; a picture may be megabytes
_WAITING = 32

Question = tuple[str, Variant, Parameters, Problem, Machine]


class AccessLens(QObject):
    """Answers at once what is known, and asks a child process for the rest.

    The newest question is answered first, and only the newest few wait: whoever wants an older
    answer asks again at ``report_ready``. Answers are kept by kernel source, parameters, problem
    and machine, the least recently used going first.

    ``report_ready`` follows every answer that came, whichever of the three it is.
    """

    report_ready = Signal()

    def __init__(self, parent: QObject | None = None, child: str = CHILD) -> None:
        super().__init__(parent)
        self._kept: dict[str, OrderedDict[Hashable, Any]] = {kind: OrderedDict() for kind in _KEPT}
        self._waiting: OrderedDict[Question, None] = OrderedDict()  # the newest last
        self._asked: Question | None = None
        self._closed = False
        self._process = AnalysisProcess(child, self)
        self._process.answered.connect(self._on_answered)

    def report(
        self, variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
    ) -> AccessReport | LensError | None:
        """What the lens says of a kernel; a LensError where it can say nothing.

        None while it is worked out: ``report_ready`` follows.
        """
        answer: AccessReport | LensError | None = self._find(
            "report", variant, parameters, problem, machine
        )
        return answer

    def picture(
        self, variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
    ) -> tuple[Touches, ...] | None:
        """What each access of the first work-group touches; empty where nothing can be said.

        Of very long loops it has the first steps.

        None while it is worked out: ``report_ready`` follows.
        """
        answer = self._find("picture", variant, parameters, problem, machine)
        return () if isinstance(answer, LensError) else answer

    def pads(
        self, variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
    ) -> tuple[Pad, ...] | None:
        """What other row lengths of the local arrays give; empty without any.

        None while it is worked out: ``report_ready`` follows.
        """
        answer = self._find("pads", variant, parameters, problem, machine)
        return () if isinstance(answer, LensError) else answer

    def known(
        self, variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
    ) -> tuple[AccessReport | LensError | None, tuple[Touches, ...] | None, tuple[Pad, ...] | None]:
        """Report, picture and pads as far as they are known, without asking for anything."""
        about = variant, parameters, replace(problem, seed=0), machine
        report, picture, pads = (
            self._kept[kind].get((kind, *about)) for kind in ("report", "picture", "pads")
        )
        return (
            report,
            () if isinstance(picture, LensError) else picture,
            () if isinstance(pads, LensError) else pads,
        )

    def close(self) -> None:
        """Forget every question and end the child; nothing is asked any more."""
        self._closed = True
        self._waiting.clear()
        self._asked = None
        self._process.close()

    def _find(
        self,
        kind: str,
        variant: Variant,
        parameters: Parameters,
        problem: Problem,
        machine: Machine,
    ) -> Any:
        question = kind, variant, parameters, replace(problem, seed=0), machine
        kept = self._kept[kind]
        if question in kept:
            kept.move_to_end(question)
            return kept[question]
        if not self._closed and self._asked != question:
            self._waiting.pop(question, None)
            self._waiting[question] = None
            while len(self._waiting) > _WAITING:
                self._waiting.popitem(last=False)
            self._ask_next()
        return None

    def _ask_next(self) -> None:
        """Hand the newest question to the child, which does one at a time."""
        if self._asked is None and self._waiting:
            self._asked, _ = self._waiting.popitem()
            self._process.ask(*self._asked)

    @Slot(object)
    def _on_answered(self, answer: object) -> None:
        """Keep the answer to the open question and go on to the next."""
        question, self._asked = self._asked, None
        if question is None:
            return
        kept = self._kept[question[0]]
        kept[question] = answer
        while len(kept) > _KEPT[question[0]]:
            kept.popitem(last=False)
        self.report_ready.emit()
        self._ask_next()
