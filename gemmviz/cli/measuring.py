"""What the commands that measure share: their options, the job they make, and its progress."""

from __future__ import annotations

import argparse
import math
import queue
import secrets
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar, get_args

from gemmviz.cli.selection import say
from gemmviz.core.choice import quiet_by_default
from gemmviz.core.messages import (
    Built,
    Checked,
    Message,
    Phase,
    Progressed,
    SampleBatch,
    TimerChosen,
)
from gemmviz.core.model import (
    ELEMENTS,
    ORDERS,
    TRANSPOSES,
    Device,
    Job,
    Parameters,
    Problem,
    Variant,
)
from gemmviz.core.policy import PRESETS, Policy, fixed
from gemmviz.core.units import duration
from gemmviz.core.verdict import describe
from gemmviz.engine.plan import Engine

_PROGRESS_SECONDS = 0.2
_QUIET = {"auto": None, "on": True, "off": False}
_MESSAGES = get_args(Message)
Outcome = TypeVar("Outcome")


def add_problem(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a problem."""
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--size", type=_positive, default=512, help="M = N = K (default 512)")
    shape.add_argument("--shape", type=parse_shape, metavar="M,N,K")
    parser.add_argument("--element", choices=tuple(ELEMENTS), default="float")
    parser.add_argument("--seed", type=_seed, help="of the random inputs (default: a new one)")
    add_form(parser)


def add_form(parser: argparse.ArgumentParser) -> None:
    """Adds the options of how the matrices are stored, and of alpha and beta."""
    form = parser.add_argument_group(
        "form", "C = alpha op(A) op(B) + beta C; kernels that compute C = A B alone refuse others"
    )
    form.add_argument("--transpose", choices=TRANSPOSES, default="nn",
                      help="A and B, each stored as it is (n) or transposed (t)")  # fmt: skip
    form.add_argument("--order", choices=[order for order in ORDERS if order], default="",
                      help="matrices stored row by row or column by column (default: as the kernel "
                      "wants them)")  # fmt: skip
    form.add_argument("--alpha", type=_scalar, default=1.0, metavar="X", help="default 1")
    form.add_argument("--beta", type=_scalar, default=0.0, metavar="Y", help="default 0")


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a problem and of how it is measured."""
    add_problem(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--policy", choices=tuple(name.lower() for name in PRESETS),
                     default="standard", help="how sure to be before it ends")  # fmt: skip
    how.add_argument("--launches", type=_positive, metavar="N", help="N timed launches")
    parser.add_argument("--cache", choices=("warm", "rotating", "flush"), default="warm",
                        help="what the caches hold before a sample (default warm)")  # fmt: skip
    parser.add_argument("--per-launch", action="store_true",
                        help="make each launch a sample, however short")  # fmt: skip
    parser.add_argument("--quiet", choices=tuple(_QUIET), default="auto",
                        help="send nothing while launches are timed (auto: on GPUs)")  # fmt: skip
    parser.add_argument("--launch-limit", type=_seconds, metavar="SECONDS",
                        help="a launch longer than this is killed (default: 50 times what is "
                        "foreseen, at least 10)")  # fmt: skip
    parser.add_argument("--build-options", default="", metavar="TEXT")
    parser.add_argument("--no-check", action="store_true", help="do not compare with the reference")
    parser.add_argument("--force", action="store_true",
                        help="launch even what is predicted not to fit")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def make_problem(arguments: argparse.Namespace) -> Problem:
    """The problem that the options of ``add_problem`` describe; a seed that is missing is drawn."""
    if arguments.seed is None:
        arguments.seed = secrets.randbelow(2**31)
    m, n, k = arguments.shape or (arguments.size,) * 3
    return with_form(Problem(m, n, k, arguments.element, arguments.seed), arguments)


def with_form(problem: Problem, arguments: argparse.Namespace) -> Problem:
    """A problem in the form that the options of ``add_form`` describe."""
    return replace(
        problem,
        transpose=arguments.transpose,
        order=arguments.order,
        alpha=arguments.alpha,
        beta=arguments.beta,
    )


def make_job(
    arguments: argparse.Namespace,
    job_id: int,
    variant: Variant,
    parameters: Parameters,
    device: Device,
) -> Job:
    """The job that the options of ``add_measuring`` describe."""
    return Job(
        id=job_id,
        device=device.key,
        variant=variant,
        parameters=parameters,
        problem=make_problem(arguments),
        policy=_policy(arguments, device),
        check=not arguments.no_check,
        force=arguments.force,
        build_options=arguments.build_options,
        launch_limit_seconds=arguments.launch_limit,
    )


def _policy(arguments: argparse.Namespace, device: Device) -> Policy:
    base = PRESETS[arguments.policy.capitalize()]
    if arguments.launches is not None:
        base = fixed(arguments.launches)
    quiet = _QUIET[arguments.quiet]
    return replace(
        base,
        cache=arguments.cache,
        per_launch=arguments.per_launch,
        quiet=quiet_by_default(device) if quiet is None else quiet,
    )


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 2**31 - 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 1 to 2147483647")
    return int(text)


def _seed(text: str) -> int:
    if not text.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 0 on")
    return int(text)


def _scalar(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no time above zero")
    return value


def parse_shape(text: str) -> tuple[int, int, int]:
    """M, N and K of "M,N,K", as argparse wants it."""
    sizes = [_positive(word) for word in text.split(",")]
    if len(sizes) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is not M,N,K")
    return sizes[0], sizes[1], sizes[2]


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes of "64,128,256", rising and each once, as argparse wants them."""
    return tuple(sorted({_positive(word) for word in text.split(",")}))


def drain(
    engine: Engine, items: Iterable[Message | Outcome], job_id: int, progress: Progress
) -> Outcome:
    """Drains a run on a thread, so that an interrupt can stop it and still get its outcome.

    Args:
        engine: Stops the run.
        items: The messages, and last the outcome, which is no message.
        job_id: What the engine calls the run.
        progress: Is shown every message.
    """
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def take() -> None:
        try:
            for item in items:
                if isinstance(item, _MESSAGES):
                    progress.show(item)
                else:
                    progress.end()
                    ended.put(item)
        except BaseException as error:  # noqa: BLE001 (raised again on the main thread)
            ended.put(error)

    threading.Thread(target=take, daemon=True).start()
    while True:
        try:
            outcome = ended.get()
        except KeyboardInterrupt:
            engine.stop(job_id)
            continue
        if isinstance(outcome, BaseException):
            raise outcome
        done: Outcome = outcome
        return done


class Progress:
    """Progress on stderr: a line a phase, and one that is rewritten on a terminal.

    ``names`` tells jobs of several apart by their ids.
    """

    def __init__(self, names: dict[int, str] | None = None) -> None:
        self._names = names or {}
        self._launches = 0
        self._begun = self._shown = time.monotonic()
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def show(self, message: Message) -> None:
        """Shows one message."""
        name = self._names.get(message.job_id)
        name = f"{name}: " if name else ""
        match message:
            case Phase(name=phase):
                self._line(f"{name}{phase} ...")
            case Progressed(text=text):
                self._line(text)
            case Built(seconds=seconds, log=log):
                self._line(f"{name}built in {duration(seconds)}")
                if log and self._terminal:
                    self._line(log[:2000])
            case Checked(check=check):
                self._line(name + describe(check))
            case TimerChosen(trust=trust) if trust.badge != "events trusted":
                self._line(f"{name}{trust.badge}: {trust.sentence}")
            case SampleBatch(samples=samples):
                self._launches += sum(samples.launches)
                self._count()
            case _:
                pass

    def _line(self, text: str) -> None:
        say(f"[{time.monotonic() - self._begun:6.2f} s] {text}")

    def _count(self) -> None:
        now = time.monotonic()
        if self._terminal and now - self._shown >= _PROGRESS_SECONDS:
            self._shown = now
            say(f"\r{self._launches} launches", end="")

    def end(self) -> None:
        """Says how much was timed."""
        if self._terminal:
            say("\r", end="")
        if self._launches:
            self._line(f"{self._launches} launches timed")
