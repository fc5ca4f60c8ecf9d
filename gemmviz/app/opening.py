"""Opens whatever files a person hands over: results in any form, or kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.archive_reader import DocumentRead, Opened, OpenFile, ReadDocument
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.kept_sweep import KeptSweep
from gemmviz.core.result_document import MOST_PICTURE_RESULTS, DocumentError
from gemmviz.core.result_source import kind_of

MOST_SHOWN = MOST_PICTURE_RESULTS
"""So many results of one document are added to the session; more belong in a results file."""


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A document or picture that was opened.

    Attributes:
        runs: Its results as runs of this session.
        chart: Of a picture the tab that has such a chart, else "".
        kept: The sweep that it shows, if any.
    """

    runs: tuple[Run, ...]
    chart: str = ""
    kept: KeptSweep | None = None


@dataclass(frozen=True, slots=True)
class Openings:
    """What came of opening files: remarks for the status bar, and problems as sentences.

    ``document`` is the last one that was opened, if any.
    """

    remarks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    document: OpenedDocument | None = None


class Opener(QObject):
    """Opens files one after the other; ``ended`` brings the Openings once all are done.

    What takes a while is read on the archive's thread, so that the window goes on.
    """

    ended = Signal(object)

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._asked: list[OpenFile | ReadDocument] = []
        self._remarks: list[str] = []
        self._problems: list[str] = []
        self._document: OpenedDocument | None = None
        state.archive.reader.answered.connect(self._on_answered)

    def open(self, paths: Sequence[Path]) -> None:
        """Open results files, exported documents, pictures with results, and kernels' .toml."""
        for path in paths:
            try:
                self._begin(path)
            except DocumentError as error:
                self._problems.append(str(error))
        self._end()

    def complain(self, problem: str) -> None:
        """Tell of a problem together with those of the files."""
        self._problems.append(problem)

    def _begin(self, path: Path) -> None:
        if path.is_dir():
            self._problems.append(f"{path.name} is a folder: open the files in it.")
            return
        if path.suffix.lower() == ".cl":
            sentence = f"{path.name} is a kernel's source: open the .toml beside it."
            self._problems.append(sentence)
            return
        kind = kind_of(path)
        if kind == "kernel":
            problem = self._state.open_kernel(path)
            if problem:
                self._problems.append(f"{problem.removesuffix('.')}.")
            else:
                self._remarks.append(f"Opened the kernel {path.stem}")
            return
        request = (
            OpenFile((path,), place=True) if kind == "store" else ReadDocument(path, MOST_SHOWN)
        )
        self._asked.append(request)
        self._state.archive.reader.ask(request)

    @Slot(object, object)
    def _on_answered(self, request: object, answer: object) -> None:
        if request not in self._asked:
            return
        self._asked.remove(request)
        if isinstance(request, OpenFile) and isinstance(answer, Opened):
            remark = self._state.archive.remark
            words = f"Opened {request.paths[0].name}{': ' if remark else ''}{remark}"
            self._tell(words, answer.problem)
        elif isinstance(request, ReadDocument) and isinstance(answer, DocumentRead):
            self._show(request, answer)
        else:
            self._problems.append("A file was not opened; the terminal says what went wrong.")
        self._end()

    def _show(self, request: ReadDocument, read: DocumentRead) -> None:
        """Add the results of a document to the session and show the first."""
        runs = self._state.archive.show_ready(read.results)
        count = len(runs)
        results = f"{count} result{'s' * (count != 1)}"
        if runs:
            self._document = OpenedDocument(runs, read.chart, read.kept)
            self._state.log("results", f"{results} from {request.path.name}")
        words = f"Opened {results} of {request.path.name}"
        if read.thinned:
            words += "; only an even part of the samples is in it"
        self._tell(words, read.problem)

    def _tell(self, remark: str, problem: str) -> None:
        (self._problems if problem else self._remarks).append(problem or remark)

    def _end(self) -> None:
        if self._asked:
            return
        told = Openings(tuple(self._remarks), tuple(self._problems), self._document)
        self._document = None
        self._remarks.clear()
        self._problems.clear()
        self.ended.emit(told)
