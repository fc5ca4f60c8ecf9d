"""An engine without OpenCL: yields the messages that a test writes down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from gemmviz.core.comparison import Comparison
from gemmviz.core.context import Context
from gemmviz.core.experiments import Experiment, Finding, Outcome
from gemmviz.core.messages import (
    Began,
    Built,
    Calibrated,
    Checked,
    ErrorsMapped,
    Finished,
    Listing,
    Message,
    Phase,
    Progressed,
    SampleBatch,
    TimerChosen,
)
from gemmviz.core.model import (
    Check,
    Device,
    Failure,
    Job,
    KernelFacts,
    Platform,
    Property,
    Registers,
    Result,
    Samples,
)
from gemmviz.core.paired import Versus
from gemmviz.core.trust import DeviceTimer, TimerTrust

H200 = Device(
    platform="NVIDIA CUDA",
    platform_version="OpenCL 3.0 CUDA 12.8.1",
    name="NVIDIA H200",
    type="GPU",
    vendor="NVIDIA Corporation",
    driver_version="580.65",
    opencl_version="OpenCL 3.0 CUDA",
    compute_units=132,
    clock_hz=1_980_000_000,
    local_mem_bytes=49152,
    local_mem_type="LOCAL",
    global_mem_bytes=140 * 2**30,
    max_alloc_bytes=35 * 2**30,
    global_cache_bytes=4 * 2**20,
    max_work_group_size=1024,
    max_work_item_sizes=(1024, 1024, 64),
    elements=("float", "double"),
    compute_capability="9.0",
    hardware="PCI 0000:01:00.0",
    properties=(
        Property("LOCAL_MEM_SIZE", 49152, "bytes"),
        Property("MAX_CLOCK_FREQUENCY", 1_980_000_000, "Hz"),
        Property("MAX_COMPUTE_UNITS", 132),
        Property("NAME", "NVIDIA H200"),
        Property("HALF_FP_CONFIG", None, reason="the driver refuses this query (status -30)"),
    ),
)
POCL = Device(
    platform="Portable Computing Language",
    platform_version="OpenCL 2.0 pocl 3.0-rc2",
    name="pthread-cpu",
    type="CPU",
    vendor="AuthenticAMD",
    compute_units=2,
    local_mem_bytes=2**20,
    local_mem_type="GLOBAL",
    global_mem_bytes=2**33,
    max_alloc_bytes=2**31,
    global_cache_bytes=32 * 2**20,
    max_work_group_size=4096,
    max_work_item_sizes=(4096, 4096, 4096),
    elements=("float", "double"),
    hardware="host processor",
    properties=(
        Property("LOCAL_MEM_SIZE", 2**20, "bytes"),
        Property("MAX_CLOCK_FREQUENCY", 0, "Hz"),
        Property("PROFILING_TIMER_RESOLUTION", 1e-9, "s"),
    ),
)
INTEL = Device(
    platform="Intel(R) OpenCL",
    platform_version="OpenCL 3.0 LINUX",
    name="Xeon",
    type="CPU",
    compute_units=2,
    local_mem_bytes=2**18,
    local_mem_type="GLOBAL",
    global_mem_bytes=2**33,
    max_alloc_bytes=2**31,
    max_work_group_size=8192,
    elements=("half", "float", "double"),
    hardware="host processor",
)
BROKEN = Device(
    platform="Broken",
    platform_version="OpenCL 1.2 broken 0.1",
    name="Broken CPU",
    type="CPU",
    hardware="host processor",
    unavailable="PoCL needs the linker ld, which is not on PATH",
)
PLATFORMS = (
    Platform("NVIDIA CUDA", H200.platform_version, "NVIDIA Corporation", (H200,)),
    Platform(POCL.platform, POCL.platform_version, "The pocl project", (POCL,)),
    Platform(INTEL.platform, INTEL.platform_version, "Intel", (INTEL,)),
    Platform("Broken", BROKEN.platform_version, "Nobody", (BROKEN,)),
    Platform("Empty", "OpenCL 1.2", "Nobody", (), "its driver fails"),
)
LISTING = Listing(-1, PLATFORMS, ("/etc/OpenCL/vendors",))
NOTHING = Listing(-1, (), ("/etc/OpenCL/vendors", "/opt/vendors"))
RIGHT = Check("verified", rows_checked=512, rows=512, cols=512, max_error=3.1e-6)
WRONG = Check(
    "wrong",
    rows_checked=64,
    rows=512,
    cols=512,
    cells_wrong=32000,
    max_error=12.5,
    worst_row=3,
    worst_col=17,
    worst_value=1.5,
    worst_expected=14.0,
)
FACTS = KernelFacts(local_bytes=2052, max_group_size=256, preferred_multiple=32, private_bytes=0)
CONTEXT = Context(
    app_version="1.2.3",
    system="Linux 6.1 x86_64",
    python="3.11.2",
    build_options="-cl-std=CL1.2",
    environment=(("POCL_AFFINITY", "1"),),
    affinity=True,
    load=0.25,
    cores=2,
)
TIMER = DeviceTimer(
    step_seconds=32e-9,
    reported_step_seconds=1e-9,
    launch_seconds=2.5e-6,
    round_trip_seconds=8e-6,
    empty_seconds=1.5e-6,
)
TRUSTED = TimerTrust(
    "events", "events trusted", "The device's clock counts 0.99 of the host's time.", 0.99, 100
)
HOST_USED = TimerTrust(
    "host", "host timing used", "100 of 100 launches ended at or before their start.", 0.0, 100,
    zero=100,
)  # fmt: skip
EQUAL = Versus("same", 1.001, 0.996, 1.004, 0.01, 50, 50)
QUANTILES = (1e-3, 1.01e-3, 1.03e-3, 1.05e-3, 1.06e-3)

Script = Callable[["FakeEngine", Job], Iterator[Message]]


def batch(job: Job, seconds: tuple[float, ...], start: float = 0.0) -> SampleBatch:
    """Samples that follow one another without a pause."""
    at, now = [], start
    for value in seconds:
        now += value
        at.append(now)
    return SampleBatch(job.id, Samples((1,) * len(seconds), seconds, tuple(at)))


def good_run(engine: FakeEngine, job: Job) -> Iterator[Message]:
    """Builds, is right, and takes about a millisecond a launch; 100 unless a number is set."""
    yield Began(job.id, CONTEXT)
    yield Phase(job.id, "build", limited=False)
    yield Built(job.id, FACTS, "", 0.08)
    yield Phase(job.id, "check", limited=True)
    yield Checked(job.id, RIGHT)
    yield Phase(job.id, "calibrate", limited=True)
    yield Calibrated(job.id, TIMER)
    yield Phase(job.id, "measure", limited=True, foreseen_seconds=1e-3)
    yield TimerChosen(job.id, TRUSTED)
    count = job.policy.launches or 100
    for done in range(0, count, 10):
        size = min(10, count - done)
        yield batch(job, tuple(1e-3 + 1e-5 * (i % 7) for i in range(size)), done * 1e-3)
    reason = "steady" if job.policy.launches is None else "launches"
    yield Finished(job.id, reason=reason, trust=TRUSTED, quantiles=QUANTILES)


def wrong_run(engine: FakeEngine, job: Job) -> Iterator[Message]:
    """The same with a wrong answer."""
    for message in good_run(engine, job):
        yield Checked(job.id, WRONG) if isinstance(message, Checked) else message


def host_timed_run(engine: FakeEngine, job: Job) -> Iterator[Message]:
    """A good run whose first samples, by a clock that turns out to lie, do not count."""
    for message in good_run(engine, job):
        match message:
            case TimerChosen():
                yield batch(job, (1e-9,) * 5)
                yield TimerChosen(job.id, HOST_USED)
            case Finished():
                yield replace(message, trust=HOST_USED, quantiles=())
            case _:
                yield message


def endless_run(engine: FakeEngine, job: Job) -> Iterator[Message]:
    """Gives samples until it is stopped."""
    yield Built(job.id, FACTS, "", 0.01)
    yield Checked(job.id, RIGHT)
    start = 0.0
    while not engine.wait_stopped(job.id, 0.002):
        yield batch(job, (1e-3,) * 20, start)
        start += 0.02
    yield Finished(job.id, stopped=True, reason="stopped", trust=TRUSTED)


def silent_run(engine: FakeEngine, job: Job) -> Iterator[Message]:
    """Says nothing before its Result."""
    yield from ()


class Record:
    """Gathers the messages of a job into its result."""

    def __init__(self, job: Job, device: Device) -> None:
        self.result = Result(job, device)
        self._parts: list[Samples] = []

    def take(self, message: Message) -> None:
        match message:
            case Began(context=context):
                self.result = replace(self.result, context=context)
            case Built(facts=facts, log=log):
                self.result = replace(self.result, facts=facts, build_log=log)
            case Checked(check=check):
                self.result = replace(self.result, check=check)
            case ErrorsMapped(error_map=error_map):
                self.result = replace(self.result, error_map=error_map)
            case Calibrated(timer=timer):
                self.result = replace(self.result, timer=timer)
            case TimerChosen(trust=trust):
                self.result = replace(self.result, trust=trust)
                self._parts.clear()
            case SampleBatch(samples=samples):
                self._parts.append(samples)
            case Finished(reason=reason, trust=trust, quantiles=quantiles, discarded=discarded):
                self.result = replace(
                    self.result, stop_reason=reason, quantiles=quantiles, discarded=discarded,
                    trust=trust or self.result.trust,
                )  # fmt: skip
            case _:
                pass
        if isinstance(message, SampleBatch | TimerChosen):
            whole = Samples(
                tuple(value for part in self._parts for value in part.launches),
                tuple(value for part in self._parts for value in part.seconds),
                tuple(value for part in self._parts for value in part.at),
            )
            self.result = replace(self.result, samples=whole)


class FakeEngine:
    """Runs ``script`` for every job; ``failure`` ends it instead of a good end."""

    def __init__(self, listing: Listing = LISTING, script: Script = good_run) -> None:
        self.listing, self.script = listing, script
        self.failure: Failure | None = None
        self.answer: Registers | None = Registers(36, 2048, 0)
        self.asked: list[Job] = []
        self.compared: list[tuple[Job, ...]] = []
        self.performed: list[Experiment] = []
        self.finding: Finding | None = None
        self.endless_experiments = False
        self.threads: dict[int, int] = {}
        self.spans: dict[int, tuple[float, float]] = {}
        self.closed = False
        self._stopped: set[int] = set()
        self._stop = threading.Condition()

    def list_devices(self) -> Listing:
        return self.listing

    def run(self, job: Job, device: Device) -> Iterator[Message | Result]:
        self.threads[job.id] = threading.get_ident()
        began = time.monotonic()
        record = Record(job, device)
        for message in self.script(self, job):
            record.take(message)
            yield message
        self.spans[job.id] = began, time.monotonic()
        yield self._result(record, job.id)

    def compare(
        self, jobs: Sequence[Job], devices: Sequence[Device], job_id: int
    ) -> Iterator[Message | Comparison]:
        """Lets the scripts of ``jobs`` take turns, a message each."""
        self.threads[job_id] = threading.get_ident()
        self.compared.append(tuple(jobs))
        began = time.monotonic()
        records = {job.id: Record(job, device) for job, device in zip(jobs, devices, strict=True)}
        scripts = [(job, self.script(self, job)) for job in jobs]
        while scripts:
            for job, script in list(scripts):
                message = next(script, None)
                if message is None or self.wait_stopped(job_id, 0):
                    scripts.remove((job, script))
                else:
                    records[job.id].take(message)
                    yield message
        self.spans[job_id] = began, time.monotonic()
        results = tuple(self._result(record, job_id) for record in records.values())
        stopped = job_id in self._stopped
        versus = () if stopped or self.failure else (EQUAL,) * (len(jobs) - 1)
        reason = "stopped" if stopped else "decided"
        yield Comparison(job_id, results, versus, self.failure, stopped, reason)

    def perform(self, experiment: Experiment) -> Iterator[Message | Outcome]:
        """Half done, done, and ``finding``; with ``endless_experiments`` not before a stop."""
        self.performed.append(experiment)
        job_id = experiment.job_id
        began = time.monotonic()
        yield Progressed(job_id, 0.5, "half")
        while self.endless_experiments and not self.wait_stopped(job_id, 0.002):
            pass
        stopped = job_id in self._stopped
        self.spans[job_id] = began, time.monotonic()
        yield Outcome(experiment, None if stopped else self.finding, self.failure, stopped)

    def _result(self, record: Record, job_id: int) -> Result:
        result = record.result
        failure = self.failure
        if failure is None and result.check is not None and result.check.verdict == "wrong":
            failure = Failure("wrong", "Wrong: 32,000 cells.", result.job.variant.finding)
        stopped = job_id in self._stopped
        return replace(result, failure=failure, stopped=stopped, finished_at=1_700_000_000.0)

    def registers(self, job: Job, device: Device) -> Registers | None:
        self.asked.append(job)
        return self.answer

    def stop(self, job_id: int) -> None:
        with self._stop:
            self._stopped.add(job_id)
            self._stop.notify_all()

    def close(self) -> None:
        self.closed = True
        with self._stop:
            self._stop.notify_all()

    def wait_stopped(self, job_id: int, seconds: float) -> bool:
        """Whether a job was stopped, waiting so long for it."""
        with self._stop:
            return self._stop.wait_for(lambda: self.closed or job_id in self._stopped, seconds)
