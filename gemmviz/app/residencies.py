"""What is asked and known of occupancy beyond the estimate: curves, counts and throttling."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.estimator import question
from gemmviz.app.state import AppState
from gemmviz.core.experiments import Experiment, MeasureResidency, Outcome, Throttle
from gemmviz.core.expr import ExprError
from gemmviz.core.labels import problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.messages import Progressed
from gemmviz.core.model import DeviceKey, Job
from gemmviz.core.residency import Residency
from gemmviz.core.steps import StepCurve, step_curves
from gemmviz.core.throttle import ThrottleCurve

_MOST_KEPT = 6  # throttling curves of one device shown together


@dataclass(frozen=True, slots=True)
class Counted:
    """A count, or why there is none."""

    residency: Residency | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Throttling:
    """A throttling curve with the kernel, parameters and shape that it is of."""

    name: str
    curve: ThrottleCurve


class Residencies(QObject):
    """Counts groups and throttles the chosen kernel, and keeps what came of it.

    Answers are kept by kernel, parameters, element type, options and device: a setup that is chosen
    again shows its own. ``changed`` says that something of this is new.
    """

    changed = Signal()

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._counts: dict[Job, Counted] = {}
        self._throttlings: dict[DeviceKey, dict[Job, Throttling]] = {}
        self._asked: dict[int, Job] = {}
        self.progress = ""
        self.failure = ""
        laboratory = state.laboratory
        laboratory.experiment_advanced.connect(self._on_experiment_advanced)
        laboratory.experiment_ended.connect(self._on_experiment_ended)

    @property
    def busy(self) -> bool:
        """Whether something is being measured here."""
        return bool(self._asked)

    @property
    def refusal(self) -> str:
        """Why nothing can be measured for the chosen kernel and device, or ""."""
        state = self._state
        if state.setup.variant is None or state.device is None:
            return "Choose a kernel and a device to measure on."
        if state.what_if is not None:
            return f"{state.what_if.name} is not here to measure on: the curves are an estimate."
        if state.device.unavailable:
            return state.device.unavailable
        if state.setup.variant.library:
            return "The kernels of a library are its own: none can be counted or held back."
        if state.device.type == "simulator":
            return "A simulator has no compute units to count groups on."
        return ""

    def curves(self) -> tuple[StepCurve, ...]:
        """The step curves of the setup, for the selected device or the GPU of a what-if."""
        state = self._state
        variant, estimate = state.setup.variant, state.estimate
        if variant is None or estimate is None:
            return ()
        what_if = state.what_if
        try:
            return step_curves(
                variant,
                state.setup.parameters,
                state.setup.problem(),
                what_if or state.limits,
                device=None if what_if is not None else state.device,
                registers=estimate.registers,
                local_limit=estimate.per_group_bytes,
            )
        except (ExprError, ValueError):
            return ()

    @property
    def counted(self) -> Counted | None:
        """What was counted for the setup on the selected device; none while a what-if holds."""
        asked = self._question()
        return None if asked is None or self._state.what_if is not None else self._counts.get(asked)

    @property
    def throttlings(self) -> tuple[Throttling, ...]:
        """The curves of the selected device, that of the present setup last if there is one."""
        state, asked = self._state, self._question()
        if state.device is None:
            return ()
        kept = self._throttlings.get(state.device.key, {})
        others = [each for job, each in kept.items() if job != asked]
        present = [kept[asked]] if asked is not None and asked in kept else []
        return (*others, *present)

    @property
    def throttled(self) -> Throttling | None:
        """The curve of the present setup, or None."""
        state, asked = self._state, self._question()
        if state.device is None or asked is None:
            return None
        return self._throttlings.get(state.device.key, {}).get(asked)

    def measure(self, *, instrumented: bool) -> None:
        """Count the groups of the setup on the selected device; ``changed`` follows."""
        job = self._job()
        if job is not None and self._state.device is not None:
            self._start(MeasureResidency(job, self._state.device, instrumented))

    def throttle(self) -> None:
        """Measure the setup with fewer and fewer groups; ``changed`` follows."""
        job = self._job()
        if job is not None and self._state.device is not None:
            self._start(Throttle(job.id, job, self._state.device))

    def stop(self) -> None:
        """End what is being measured here."""
        for job_id in list(self._asked):
            self._state.laboratory.stop(job_id)

    def _start(self, experiment: MeasureResidency | Throttle) -> None:
        asked = self._question()
        if self.refusal or self.busy or asked is None:
            return
        self._asked[experiment.job_id] = asked
        self.progress, self.failure = "waiting for its turn", ""
        self._state.laboratory.start(experiment)
        self.changed.emit()

    def _question(self) -> Job | None:
        """What an answer is kept by."""
        state = self._state
        if state.setup.variant is None or state.device is None:
            return None
        return question(state.setup, state.device)

    def _job(self) -> Job | None:
        state, asked = self._state, self._question()
        if asked is None or state.device is None:
            return None
        return replace(
            asked,
            id=state.laboratory.next_id(),
            problem=state.setup.problem(state.setup.seed or 0),
            policy=state.setup.policy_on(state.device),
            launch_limit_seconds=state.setup.launch_limit_seconds,
        )

    @Slot(int, object)
    def _on_experiment_advanced(self, job_id: int, events: tuple[object, ...]) -> None:
        said = [event for event in events if isinstance(event, Progressed)]
        if job_id in self._asked and said:
            share = said[-1].share
            self.progress = said[-1].text
            if share is not None:
                self.progress += f", {100 * share:.0f} %"
            self.changed.emit()

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        asked = self._asked.pop(outcome.experiment.job_id, None)
        if asked is None:
            return
        self.progress = ""
        self.failure = outcome.failure.sentence if outcome.failure is not None else ""
        experiment, answer = outcome.experiment, outcome.answer
        if isinstance(answer, Residency):
            self._counts[asked] = Counted(answer)
        elif isinstance(experiment, MeasureResidency) and self.failure:
            self._counts[asked] = Counted(None, self.failure)
        elif isinstance(answer, ThrottleCurve):
            kept = self._throttlings.setdefault(asked.device, {})
            kept.pop(asked, None)
            kept[asked] = Throttling(_name(experiment), answer)
            while len(kept) > _MOST_KEPT:
                del kept[next(iter(kept))]
        self.changed.emit()


def _name(experiment: Experiment) -> str:
    """A throttled kernel with its parameters and shape."""
    assert isinstance(experiment, Throttle)
    job = experiment.job
    what = job.variant.id, describe_parameters(job.parameters), problem_label(job.problem)
    return " ".join(filter(None, what))
