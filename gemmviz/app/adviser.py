"""What to try next with the kernel and the device that are chosen, kept up to date."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal, Slot

from gemmviz.app.analysis_process import AnalysisProcess
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.access.machine import machine_for
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.situation import Measurement, Situation, imagined_device, timed
from gemmviz.core.experiments import Outcome, Throttle
from gemmviz.core.model import DeviceKey, Job, Parameters, Problem, Registers, Variant
from gemmviz.core.throttle import ThrottleCurve

CHILD = "gemmviz.app.advice_child"
_DELAY_MILLISECONDS = 200

_Configuration = tuple[DeviceKey, Variant, Parameters, Problem, str]  # the last: build options


class Adviser(QObject):
    """Asks a child process for findings whenever something that they rest on has changed.

    Only while somebody watches and nothing is being timed: looking through a catalogue's kernels
    takes a second or two of a processor. A question that is open when something is queued is given
    up, and asked again when that has ended. ``advised`` follows every change of what is known.
    """

    advised = Signal()

    def __init__(self, state: AppState, parent: QObject | None = None, child: str = CHILD) -> None:
        super().__init__(parent)
        self._state = state
        self._watched = False
        self._asked: Situation | None = None
        self._answered: Situation | None = None
        self._process = AnalysisProcess(child, self)
        self._process.answered.connect(self._on_answered)
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
        for begins in (state.job_queued, state.laboratory.experiment_started):
            begins.connect(self._on_timing_begun)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)

    @property
    def situation(self) -> Situation | None:
        """All that is known of what is chosen; None without a kernel or a device.

        Of a GPU that it is estimated for instead only its row of the tables is known.
        """
        state = self._state
        device, variant = state.device, state.setup.variant
        problem, estimate = state.setup.problem(), state.estimate
        if variant is not None and state.what_if is not None:
            return Situation(
                imagined_device(state.what_if), state.what_if, variant, state.setup.parameters,
                problem, candidates=state.catalog.variants,
                machine=machine_for(None, state.what_if), estimate=estimate,
            )  # fmt: skip
        if device is None or variant is None or device.type == "simulator":
            return None
        registers = estimate.registers if estimate is not None else None
        limits = state.limits
        like = Job(
            0, device.key, variant, state.setup.parameters, problem,
            policy=state.setup.policy_on(device), build_options=state.setup.build_options,
        )  # fmt: skip
        return Situation(
            device, limits, variant, state.setup.parameters, problem,
            candidates=state.catalog.variants,
            machine=machine_for(device, limits),
            estimate=estimate,
            measured=_measured(state.book.runs, like, {variant, *state.catalog.variants}),
            timer=state.timer,
            ceilings=state.laboratory.ceilings.get(device.key),
            throttle=self._curves.get(_configuration(like)),
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
        self._give_up()

    @Slot()
    def _on_changed(self) -> None:
        if self._watched:
            self._delay.start()

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        experiment, curve = outcome.experiment, outcome.answer
        if isinstance(experiment, Throttle) and isinstance(curve, ThrottleCurve):
            self._curves[_configuration(experiment.job)] = curve
        self._on_changed()

    @Slot()
    def _ask(self) -> None:
        situation = self.situation
        if situation is None or self._asked is not None or self.current or self._state.timing:
            self.advised.emit()  # an answer under way, or the end of what is timed, asks again
            return
        self._asked = situation
        self._process.ask("advice", situation)
        self.advised.emit()

    @Slot()
    def _on_timing_begun(self) -> None:
        if self._asked is not None:
            self._give_up()
            self.advised.emit()

    def _give_up(self) -> None:
        """End the child and forget what it was asked."""
        self._asked = None
        self._process.close()

    @Slot(object)
    def _on_answered(self, answer: object) -> None:
        """Keep the answer, and ask again where the question has changed meanwhile."""
        self._answered, self._asked = self._asked, None
        if isinstance(answer, tuple):
            self.findings, self.problem = answer, ""
        else:
            self.findings, self.problem = (), f"{answer}"
        if not self.current:
            self._on_changed()
        self.advised.emit()


def _configuration(job: Job) -> _Configuration:
    """What a throttling curve holds for, whatever the inputs."""
    problem = replace(job.problem, seed=0)
    return job.device, job.variant, job.parameters, problem, job.build_options


def _measured(
    runs: Iterable[Run], like: Job, known: Collection[Variant]
) -> tuple[Measurement, ...]:
    """What finished runs came to that can be compared, whatever their inputs.

    Args:
        runs: All of this session.
        like: What they must agree with: device, problem, state of the caches and build options.
        known: The kernels as their files are now; of others nothing counts.
    """
    found = []
    for run in runs:
        job = run.job
        about = replace(job.problem, seed=like.problem.seed)
        if job.device != like.device or about != like.problem or run.ended_early:
            continue
        if job.policy.cache != like.policy.cache or job.build_options != like.build_options:
            continue
        if job.dummy_local_bytes or job.variant not in known:
            continue
        measurement = Measurement(
            job.variant, job.parameters, check=run.check, build_options=job.build_options
        )
        summary = run.summary
        found.append(measurement if summary is None else timed(measurement, summary))
    return tuple(found)
