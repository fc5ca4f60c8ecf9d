"""What to try next with the kernel and the device that are chosen, kept up to date."""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QObject,
    QProcess,
    QProcessEnvironment,
    QTimer,
    Signal,
    Slot,
)

from gemmviz.app.access_child import pack, take_frame
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import machine_for
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.situation import Measurement, Situation, timed
from gemmviz.core.experiments import Outcome, Throttle
from gemmviz.core.model import Device, DeviceKey, Parameters, Problem, Registers
from gemmviz.core.throttle import ThrottleCurve

CHILD_ARGUMENTS = ("-P", "-m", "gemmviz.app.advice_child")
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
_DELAY_MILLISECONDS = 200
_DEATH_MILLISECONDS = 3000
_DIED = "The process of the adviser ended by itself: see the terminal."

_Configuration = tuple[DeviceKey, str, Parameters, Problem]


class Adviser(QObject):
    """Asks a child process for findings whenever something that they rest on has changed.

    Only while somebody watches and nothing is being timed: looking through a catalogue's kernels
    takes a second or two of a processor. ``advised`` follows every change of what is known.
    """

    advised = Signal()

    def __init__(
        self,
        state: AppState,
        parent: QObject | None = None,
        child: tuple[str, ...] = CHILD_ARGUMENTS,
    ) -> None:
        super().__init__(parent)
        self._state, self._child_arguments = state, child
        self._watched = False
        self._asked: tuple[int, Situation] | None = None
        self._answered: Situation | None = None
        self._count = 0
        self._buffer = bytearray()
        self._process: QProcess | None = None
        self._curves: dict[_Configuration, ThrottleCurve] = {}
        self.findings: tuple[Finding, ...] = ()
        self.problem = ""
        # While a person steps through values nothing is asked for those passed by.
        self._delay = QTimer(self, singleShot=True, interval=_DELAY_MILLISECONDS)
        self._delay.timeout.connect(self._ask)
        for signal in (
            state.setup_changed, state.catalog_loaded, state.estimated, state.job_ended,
            state.comparison_ended, state.timer_measured, state.book.run_added, state.book.cleared,
            state.laboratory.ceilings_changed,
        ):  # fmt: skip
            signal.connect(self._on_changed)
        state.laboratory.experiment_ended.connect(self._on_experiment_ended)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)

    @property
    def situation(self) -> Situation | None:
        """All that is known of what is chosen; None without a kernel or a device."""
        state = self._state
        device, variant = state.device, state.setup.variant
        if device is None or variant is None or device.type == "simulator":
            return None
        problem = state.setup.problem()
        estimate = state.estimate if state.what_if is None else None
        registers = estimate.registers if estimate is not None else None
        limits = state.limits
        return Situation(
            device, limits, variant, state.setup.parameters, problem,
            candidates=state.catalog.variants,
            machine=machine_for(device, limits),
            estimate=estimate,
            measured=_measured(state.book.runs, device, problem),
            timer=state.timer,
            ceilings=state.laboratory.ceilings.get(device.key),
            throttle=self._curves.get((device.key, variant.id, state.setup.parameters, problem)),
            registers=Registers(registers) if registers is not None else None,
        )  # fmt: skip

    @property
    def waiting(self) -> bool:
        """Whether what is known is about to be replaced."""
        return self._asked is not None or self._delay.isActive()

    @property
    def current(self) -> bool:
        """Whether the findings are about what is chosen now."""
        return self._answered is not None and self._answered == self.situation

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks at the findings; nothing is worked out for nobody."""
        self._watched = watched
        if watched:
            self._on_changed()

    @Slot()
    def close(self) -> None:
        """End the child; nothing is asked any more."""
        self._watched = False
        self._delay.stop()
        self._end_child()

    @Slot()
    def _on_changed(self) -> None:
        if self._watched:
            self._delay.start()

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        experiment, curve = outcome.experiment, outcome.answer
        if isinstance(experiment, Throttle) and isinstance(curve, ThrottleCurve):
            job = experiment.job
            problem = replace(job.problem, seed=0)
            self._curves[job.device, job.variant.id, job.parameters, problem] = curve
        self._on_changed()

    @Slot()
    def _ask(self) -> None:
        situation = self.situation
        if situation is None or self._asked is not None or self.current:
            self.advised.emit()  # an answer that is under way asks again
            return
        if self._state.active or self._state.comparing:
            return  # the end of the run asks again
        self._count += 1
        self._asked = self._count, situation
        self._child().write(pack((self._count, "advice", (situation,))))
        self.advised.emit()

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
            process.finished.connect(self._on_child_ended)
            process.errorOccurred.connect(self._on_error)
            process.start(sys.executable, list(self._child_arguments))
            self._process = process
        return self._process

    def _end_child(self) -> None:
        process, self._process, self._asked = self._process, None, None
        self._buffer.clear()
        if process is not None:
            process.disconnect(self)
            process.kill()
            process.waitForFinished(_DEATH_MILLISECONDS)
            process.deleteLater()

    @Slot()
    def _on_output(self) -> None:
        if self._process is None:
            return
        self._buffer += self._process.readAllStandardOutput().data()
        while (body := take_frame(self._buffer)) is not None:
            number, answer = pickle.loads(body)  # noqa: S301 (both ends are this program)
            if self._asked is not None and self._asked[0] == number:
                self._settle(answer)

    def _settle(self, answer: object) -> None:
        """Keep the answer, and ask again where the question has changed meanwhile."""
        assert self._asked is not None
        self._answered, self._asked = self._asked[1], None
        if isinstance(answer, tuple):
            self.findings, self.problem = answer, ""
        else:
            self.findings, self.problem = (), f"{answer}"
        if not self.current:
            self._on_changed()
        self.advised.emit()

    @Slot()
    def _on_child_ended(self) -> None:
        asked = self._asked
        self._end_child()
        if asked is not None:
            self._asked = asked
            self._settle(LensError(_DIED))

    @Slot(QProcess.ProcessError)
    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:  # then ``finished`` never comes
            self._on_child_ended()


def _measured(runs: list[Run], device: Device, problem: Problem) -> tuple[Measurement, ...]:
    """What finished runs of the same problem on a device came to, whatever their inputs."""
    found = []
    for run in runs:
        job, about = run.job, replace(run.job.problem, seed=problem.seed)
        if run.device.key != device.key or about != problem or run.ended_early:
            continue
        if job.dummy_local_bytes:
            continue
        measurement = Measurement(
            job.variant, job.parameters, check=run.check, build_options=job.build_options
        )
        summary = run.summary
        found.append(measurement if summary is None else timed(measurement, summary))
    return tuple(found)
