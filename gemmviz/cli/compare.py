"""``gemmviz compare``: measures kernels in turns and says which is faster; or devices."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gemmviz.cli.compare_devices import answer_devices
from gemmviz.cli.measuring import (
    Progress,
    add_measuring,
    drain,
    make_job,
    make_problem,
    parse_sizes,
)
from gemmviz.cli.picture import add_png
from gemmviz.cli.report import report
from gemmviz.cli.saving import Saver, add_results
from gemmviz.cli.selection import SelectionError, find_device, find_parameters, find_variant, say
from gemmviz.core.codec import to_json
from gemmviz.core.comparison import Comparison
from gemmviz.core.labels import problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device, Failure, Job, Result
from gemmviz.core.paired import describe
from gemmviz.core.policy import STOP_WORDS
from gemmviz.core.tuned import tuned_parameters
from gemmviz.engine.plan import Engine

_COMPARISON = 0


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "compare",
        help="measure kernels in turns and say which is faster",
        description="Each later kernel against the first: faster, slower, same or undecided. "
        "Exit code: 0 all answers are right, 1 one is wrong, 2 it could not run.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "kernels", nargs="*", metavar="KERNEL[:NAME=VALUE,...][@DEVICE]",
        help="an id or the path of a .toml, as tiled:TS=8@pocl",
    )  # fmt: skip
    parser.add_argument("--device", metavar="TEXT", help="where no @DEVICE stands")
    parser.add_argument(
        "--devices", metavar="all|TEXT,...",
        help="compare devices instead, with one kernel or each with its best one",
    )  # fmt: skip
    parser.add_argument("--sizes", type=parse_sizes, metavar="M,...",
                        help="of --devices: M = N = K (default 64,128,256,512,1024)")  # fmt: skip
    parser.add_argument("--ceilings", action="store_true",
                        help="of --devices: measure first what each can do at most")  # fmt: skip
    add_png(parser, "of --devices: draw them over the sizes")
    add_measuring(parser)
    add_results(parser)
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Runs the comparison and prints what came of it."""
    if arguments.devices is not None:
        return answer_devices(arguments)
    if arguments.png is not None or arguments.sizes is not None:
        return _unable(arguments, Failure("refused", "--sizes and --png belong to --devices."))
    if len(arguments.kernels) < 2:
        return _unable(arguments, Failure("refused", "A comparison takes two kernels or more."))
    engine = Engine()
    try:
        listing = engine.list_devices()
        pairs = [
            _job(arguments, number, word, listing)
            for number, word in enumerate(arguments.kernels, start=1)
        ]
        jobs, devices = [job for job, _ in pairs], [device for _, device in pairs]
        names = dict(zip((job.id for job in jobs), arguments.kernels, strict=True))
        saver = Saver(arguments.results, jobs, devices)
        items = saver.followed(engine.compare(jobs, devices, _COMPARISON))
        outcome = drain(engine, items, _COMPARISON, Progress(names))
        assert isinstance(outcome, Comparison)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the run began."))
    finally:
        engine.close()
    saved = saver.finish(outcome.results)
    if outcome.failure is not None:
        return _unable(arguments, outcome.failure)
    if len(outcome.versus) < len(jobs) - 1:
        return _unable(arguments, Failure("stopped", "Stopped before every kernel was measured."))
    if arguments.json:
        objects = [_object(outcome, place) for place in range(1, len(jobs))]
        print(json.dumps(objects[0] if len(objects) == 1 else objects, indent=2))
    else:
        _print(outcome, arguments.kernels)
    if not saved:
        return 2
    return 1 if outcome.wrong else 0


def _job(
    arguments: argparse.Namespace, number: int, word: str, listing: Listing
) -> tuple[Job, Device]:
    """The job of one word and its device."""
    rest, where = word, ""
    if not Path(word).exists():
        rest, _, where = word.partition("@")
    name, _, chosen = (rest, "", "") if Path(rest).exists() else rest.partition(":")
    variant = find_variant(name)
    parameters = find_parameters(variant, [part for part in chosen.split(",") if part])
    device = find_device(listing, where or arguments.device)
    if not chosen:
        parameters = tuned_parameters(variant, make_problem(arguments), device)
    return make_job(arguments, number, variant, parameters, device), device


def _object(outcome: Comparison, place: int) -> dict[str, Any]:
    """One kernel against the first as JSON; keys are only ever added."""
    versus = to_json(outcome.versus[place - 1])
    return {
        **versus,
        "stop_reason": outcome.reason,
        "valid": all(outcome.results[each].verdict != "wrong" for each in (0, place)),
        "first": report(outcome.results[0]),
        "other": report(outcome.results[place]),
        "failure": None,
    }


def _print(outcome: Comparison, words: list[str]) -> None:
    first = outcome.results[0]
    problem = first.job.problem
    print(f"{problem_label(problem)}, seed {problem.seed}")
    for result in outcome.results:
        print(f"  {_name(result)} on {result.device.name}, {result.device.platform}")
    for versus, word in zip(outcome.versus, words[1:], strict=True):
        print(describe(versus, word, words[0]))
    for result in outcome.wrong:
        print(f"The answer of {_name(result)} is wrong, so its speed counts for nothing.")
    if outcome.reason:
        print(f"Ended: {STOP_WORDS[outcome.reason]}.")


def _name(result: Result) -> str:
    return f"{result.job.variant.id} {describe_parameters(result.job.parameters)}".strip()


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why nothing could be compared; with ``--json`` in the same keys."""
    if arguments.json:
        keys = ("word", "ratio", "ratio_low", "ratio_high")
        print(json.dumps({**dict.fromkeys(keys), "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
        if failure.detail:
            say(failure.detail)
    return 2
