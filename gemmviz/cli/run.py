"""``gemmviz run``: builds, checks and times one kernel."""

from __future__ import annotations

import argparse
import json
import queue
import secrets
import sys
import threading
import time
from pathlib import Path
from typing import Any

from gemmviz.cli.selection import SelectionError, find_device, find_parameters, find_variant, say
from gemmviz.core.codec import to_json
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.messages import Built, Checked, Message, Phase, SampleBatch
from gemmviz.core.model import ELEMENTS, Device, Failure, Job, Problem, Result
from gemmviz.core.stats import FEWEST_FOR_95, Summary, summarize
from gemmviz.core.units import duration, throughput
from gemmviz.core.verdict import describe
from gemmviz.engine.plan import Engine

_PROGRESS_SECONDS = 0.2


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "run",
        help="build, check and time a kernel",
        description="Exit code: 0 verified, 1 the result is wrong, 2 it could not run.",
        allow_abbrev=False,
    )
    parser.add_argument("kernel", metavar="KERNEL", help="an id, or the path of a .toml")
    parser.add_argument("-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the kernel, as TS=16")  # fmt: skip
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--size", type=_positive, default=512, help="M = N = K (default 512)")
    shape.add_argument("--shape", type=_shape, metavar="M,N,K")
    parser.add_argument("--device", metavar="TEXT", help="part of a platform's or device's name")
    parser.add_argument("--element", choices=tuple(ELEMENTS), default="float")
    parser.add_argument("--launches", type=_positive, default=100, help="timed launches")
    parser.add_argument("--seed", type=_seed, help="of the random inputs (default: a new one)")
    parser.add_argument("--launch-limit", type=_seconds, default=10.0, metavar="SECONDS",
                        help="a launch longer than this is killed (default 10)")  # fmt: skip
    parser.add_argument("--build-options", default="", metavar="TEXT")
    parser.add_argument("--no-check", action="store_true", help="do not compare with the reference")
    parser.add_argument("--force", action="store_true",
                        help="launch even what is predicted not to fit")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw the live charts")
    parser.add_argument("--scale", type=int, choices=(1, 2, 3, 4), default=1, help="of the PNG")
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="of the PNG")
    parser.set_defaults(answer=answer)


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 2**31 - 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 1 to 2147483647")
    return int(text)


def _seed(text: str) -> int:
    if not text.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 0 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no time above zero")
    return value


def _shape(text: str) -> tuple[int, int, int]:
    sizes = [_positive(word) for word in text.split(",")]
    if len(sizes) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not M,N,K")
    return sizes[0], sizes[1], sizes[2]


def _check_picture(path: Path | None) -> None:
    """Refuses a picture that could not be saved before anything is run for it.

    Raises:
        SelectionError: The name does not end in .png, or its folder does not exist.
    """
    if path is not None and path.suffix.lower() != ".png":
        raise SelectionError(f"--png {path} does not end in .png.", "refused")
    if path is not None and not path.parent.is_dir():
        raise SelectionError(f"--png {path}: there is no folder {path.parent}.", "refused")


def answer(arguments: argparse.Namespace) -> int:
    """Runs the kernel and prints what came of it."""
    engine = Engine()
    try:
        _check_picture(arguments.png)
        variant = find_variant(arguments.kernel)
        parameters = find_parameters(variant, arguments.parameters)
        device = find_device(engine.list_devices(), arguments.device)
        m, n, k = arguments.shape or (arguments.size,) * 3
        seed = secrets.randbelow(2**31) if arguments.seed is None else arguments.seed
        job = Job(
            id=1,
            device=device.key,
            variant=variant,
            parameters=parameters,
            problem=Problem(m, n, k, arguments.element, seed),
            launches=arguments.launches,
            check=not arguments.no_check,
            force=arguments.force,
            build_options=arguments.build_options,
            launch_limit_seconds=arguments.launch_limit,
        )
        result = _run(engine, job, device)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the run began."))
    finally:
        engine.close()
    if arguments.json:
        print(json.dumps(_report(result), indent=2))
    else:
        _print(result)
    code = _exit_code(result)
    if arguments.png is not None and not _draw(result, arguments):
        return 2
    return code


def _run(engine: Engine, job: Job, device: Device) -> Result:
    """Drains the run on a thread, so that an interrupt can stop it and still get its result."""
    ended: queue.SimpleQueue[Result | BaseException] = queue.SimpleQueue()

    def drain() -> None:
        progress = _Progress(job)
        try:
            for item in engine.run(job, device):
                if isinstance(item, Result):
                    progress.end()
                    ended.put(item)
                else:
                    progress.show(item)
        except BaseException as error:  # noqa: BLE001 (raised again on the main thread)
            ended.put(error)

    threading.Thread(target=drain, daemon=True).start()
    while True:
        try:
            outcome = ended.get()
        except KeyboardInterrupt:
            engine.stop(job.id)
            continue
        if isinstance(outcome, Result):
            return outcome
        raise outcome


class _Progress:
    """Progress on stderr: a line a phase, and one that is rewritten on a terminal."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._done = 0
        self._begun = self._shown = time.monotonic()
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def show(self, message: Message) -> None:
        match message:
            case Phase(name=name):
                self._line(f"{name} ...")
            case Built(seconds=seconds, log=log):
                self._line(f"built in {duration(seconds)}")
                if log and self._terminal:
                    self._line(log[:2000])
            case Checked(check=check):
                self._line(describe(check))
            case SampleBatch(samples=samples):
                self._done += len(samples)
                self._count()
            case _:
                pass

    def _line(self, text: str) -> None:
        say(f"[{time.monotonic() - self._begun:6.2f} s] {text}")

    def _count(self) -> None:
        now = time.monotonic()
        if self._terminal and now - self._shown >= _PROGRESS_SECONDS:
            self._shown = now
            say(f"\r{self._done} of {self._job.launches} launches", end="")

    def end(self) -> None:
        if self._terminal:
            say("\r", end="")
        if self._done:
            self._line(f"{self._done} launches timed")


def _summary(result: Result) -> Summary | None:
    return summarize(result.samples.seconds)


def _exit_code(result: Result) -> int:
    if result.failure is not None:
        return 1 if result.failure.kind == "wrong" else 2
    return 0 if result.verdict in ("verified", "unchecked") else 2  # stopped before its check


def _report(result: Result) -> dict[str, Any]:
    """The run as JSON; keys are only ever added."""
    job, summary = result.job, _summary(result)
    work = flop(job.variant, job.problem)
    rate = None if summary is None else work / summary.median
    return {
        "device": result.device.name,
        "platform": result.device.platform,
        "platform_version": result.device.platform_version,
        "driver_version": result.device.driver_version,
        "kernel": job.variant.id,
        "parameters": dict(job.parameters),
        "m": job.problem.m,
        "n": job.problem.n,
        "k": job.problem.k,
        "input_element": job.problem.element,
        "output_element": job.problem.element,
        "seed": job.problem.seed,
        "verdict": result.verdict,
        "median_seconds": summary and summary.median,
        "median_low_seconds": summary and summary.low,
        "median_high_seconds": summary and summary.high,
        "flops_per_second": rate,
        "launches": sum(result.samples.launches),
        "discarded": result.discarded,
        "stopped": result.stopped,
        "samples": [
            {"launches": launches, "seconds": seconds}
            for launches, seconds in zip(
                result.samples.launches, result.samples.seconds, strict=True
            )
        ],
        "max_error": result.check and to_json(result.check.max_error),
        "check": to_json(result.check),
        "kernel_facts": to_json(result.facts),
        "build_log": result.build_log,
        "failure": to_json(result.failure),
    }


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why nothing could run; with ``--json`` in the same keys."""
    if arguments.json:
        keys = ("device", "kernel", "parameters", "m", "n", "k", "input_element", "output_element",
                "verdict", "median_seconds", "flops_per_second", "launches", "samples",
                "max_error")  # fmt: skip
        report = {**dict.fromkeys(keys), "launches": 0, "samples": [], "failure": to_json(failure)}
        report["kernel"] = arguments.kernel
        print(json.dumps(report, indent=2))
    else:
        say(failure.sentence)
    return 2


def _times(summary: Summary) -> str:
    """The median with how sure it is, in words."""
    if summary.count == 1:
        return f"one launch of {duration(summary.median)}"
    what = "95 % interval" if summary.count >= FEWEST_FOR_95 else "range"
    return (
        f"median {duration(summary.median)} of {summary.count} launches, {what} "
        f"{duration(summary.low)} to {duration(summary.high)}, quartiles "
        f"{duration(summary.q1)} and {duration(summary.q3)}"
    )


def _print(result: Result) -> None:
    job, summary = result.job, _summary(result)
    problem = job.problem
    chosen = describe_parameters(job.parameters)
    print(f"{job.variant.title} ({job.variant.id}){' ' if chosen else ''}{chosen}")
    print(f"{result.device.name}, {result.device.platform}")
    print(f"{problem.m} x {problem.n} x {problem.k} {problem.element}, seed {problem.seed}")
    if summary is not None:
        work = flop(job.variant, problem)
        note = "  (not valid: the result is wrong)" if result.verdict == "wrong" else ""
        print(f"{throughput(work / summary.median)}{note}")
        print(_times(summary))
    if result.stopped:
        print("Stopped before the end.")
    if result.failure is not None:
        print(result.failure.sentence)
        if result.failure.detail:
            print(result.failure.detail)
    elif result.check is not None:
        print(describe(result.check))
    elif not job.check:
        print("Not checked.")


def _draw(result: Result, arguments: argparse.Namespace) -> bool:
    """Draws the PNG; says on stderr why not."""
    if not len(result.samples):
        say("There are no samples, so no picture was drawn.")
        return False
    # Qt is imported only when a picture is asked for.
    from gemmviz.views.display import missing_library  # noqa: PLC0415

    if (problem := missing_library()) is not None:
        say(problem)
        return False
    from gemmviz.views.charts.picture import draw_result_png  # noqa: PLC0415

    try:
        draw_result_png(result, arguments.png, scale=arguments.scale, theme=arguments.theme)
    except OSError as error:
        say(str(error))
        return False
    say(f"Saved {arguments.png}")
    return True
