"""A child process that works things out beside the GUI, one question at a time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal, Slot

from gemmviz.app.access_child import pack, take_values
from gemmviz.core.access.errors import LensError

_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
_LONGEST_MILLISECONDS = 60_000
_DEATH_MILLISECONDS = 3000
_KILLED = "The analysis took more than a minute and was stopped."
_DIED = "The process of the analysis ended by itself: see the terminal."


class AnalysisProcess(QObject):
    """Starts ``python MODULE`` at the first question, and again after it died.

    Pure Python that works for a second would make the window stutter on any thread of this process.
    ``answered`` carries the answer to the open question, a LensError where there is none; a slot
    of it may ask the next one. The child ends with this process, however that ends.

    Args:
        module: What serves with :func:`gemmviz.app.access_child.serve`.
        parent: The owner.
    """

    answered = Signal(object)

    def __init__(self, module: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # -P: the folder that a person stands in may hold a numpy.py of their own.
        self._arguments = ["-P", "-m", module]
        self._process: QProcess | None = None
        self._buffer = bytearray()
        self._number = 0
        self._busy = False
        self._limit = QTimer(self, singleShot=True, interval=_LONGEST_MILLISECONDS)
        self._limit.timeout.connect(self._on_limit_passed)

    @property
    def busy(self) -> bool:
        """Whether a question is open."""
        return self._busy

    @property
    def running(self) -> bool:
        """Whether there is a child."""
        return self._process is not None

    def ask(self, kind: str, *arguments: object) -> None:
        """Put a question; none may be open."""
        assert not self._busy
        self._number += 1
        self._busy = True
        self._child().write(pack((self._number, kind, arguments)))
        self._limit.start()

    def close(self) -> None:
        """End the child without an answer."""
        self._limit.stop()
        self._busy = False
        self._buffer.clear()
        process, self._process = self._process, None
        if process is not None:
            process.blockSignals(True)
            process.kill()
            process.waitForFinished(_DEATH_MILLISECONDS)
            process.deleteLater()

    def _child(self) -> QProcess:
        if self._process is None:
            process = QProcess(self)
            environment = QProcessEnvironment.systemEnvironment()
            paths = (_PACKAGE_PARENT, environment.value("PYTHONPATH"))
            environment.insert("PYTHONPATH", os.pathsep.join(filter(None, paths)))
            environment.insert("OPENBLAS_NUM_THREADS", "1")
            process.setProcessEnvironment(environment)
            process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
            process.readyReadStandardOutput.connect(self._on_output)
            process.finished.connect(self._on_ended)
            process.errorOccurred.connect(self._on_error)
            process.start(sys.executable, self._arguments)
            self._process = process
        return self._process

    @Slot()
    def _on_output(self) -> None:
        if self._process is None:
            return
        self._buffer += self._process.readAllStandardOutput().data()
        for number, answer in take_values(self._buffer):
            if self._busy and number == self._number:
                self._busy = False
                self._limit.stop()
                self.answered.emit(answer)

    @Slot()
    def _on_limit_passed(self) -> None:
        self._give_up(_KILLED)

    @Slot()
    def _on_ended(self) -> None:
        self._give_up(_DIED)

    @Slot(QProcess.ProcessError)
    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:  # then ``finished`` never comes
            self._give_up(_DIED)

    def _give_up(self, sentence: str) -> None:
        """End the child; the next question gets a new one."""
        asked = self._busy
        self.close()
        if asked:
            self.answered.emit(LensError(sentence))
