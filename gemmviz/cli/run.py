"""``gemmviz run``: builds, checks and measures one kernel."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gemmviz.cli.measuring import Progress, add_measuring, drain, make_job, make_problem
from gemmviz.cli.picture import add_png, check_picture, drawn
from gemmviz.cli.report import report, suspicion
from gemmviz.cli.saving import Saver, add_results
from gemmviz.cli.selection import SelectionError, find_device, find_parameters, find_variant, say
from gemmviz.core.codec import to_json
from gemmviz.core.labels import problem_label
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.model import Device, Failure, Job, Result
from gemmviz.core.policy import STOP_WORDS
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.spread import describe_spread, spread_of
from gemmviz.core.stats import FEWEST_FOR_95, Summary, summarize
from gemmviz.core.tuned import tuned_parameters
from gemmviz.core.units import duration, throughput
from gemmviz.core.verdict import describe
from gemmviz.engine.plan import Engine


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
    parser.add_argument("--device", metavar="TEXT", help="part of a platform's or device's name")
    add_measuring(parser)
    add_results(parser)
    add_png(parser, "draw the live charts")
    parser.add_argument("--error-map", type=Path, metavar="FILE",
                        help="draw where a wrong answer is wrong")  # fmt: skip
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Runs the kernel and prints what came of it."""
    engine = Engine()
    try:
        check_picture("--png", arguments.png)
        check_picture("--error-map", arguments.error_map)
        variant = find_variant(arguments.kernel)
        parameters = find_parameters(variant, arguments.parameters)
        device = find_device(engine.list_devices(), arguments.device)
        if not arguments.parameters:
            parameters = tuned_parameters(variant, make_problem(arguments), device)
        job = make_job(arguments, 1, variant, parameters, device)
        saver = Saver(arguments.results, [job], [device])
        result = _run(engine, job, device, saver)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the run began."))
    finally:
        engine.close()
    saved = saver.finish([result])
    if arguments.json:
        print(json.dumps(report(result), indent=2))
    else:
        print_result(result)
    drawn = [
        _draw(result, arguments, path, kind)
        for path, kind in ((arguments.png, "samples"), (arguments.error_map, "errors"))
        if path is not None
    ]
    return _exit_code(result) if saved and all(drawn) else 2


def _run(engine: Engine, job: Job, device: Device, saver: Saver) -> Result:
    outcome = drain(engine, saver.followed(engine.run(job, device)), job.id, Progress())
    assert isinstance(outcome, Result)
    return outcome


def _exit_code(result: Result) -> int:
    if result.failure is not None:
        return 1 if result.failure.kind == "wrong" else 2
    return 0 if result.verdict in ("verified", "unchecked") else 2  # stopped before its check


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


def _times(summary: Summary, result: Result) -> str:
    """The median with how sure it is, in words."""
    launches = sum(result.samples.launches)
    if launches == 1:
        return f"one launch of {duration(summary.median)}"
    what = "95 % interval" if summary.count >= FEWEST_FOR_95 else "range"
    of = f"{launches} launches"
    if launches != summary.count:
        of += f" in {summary.count} samples"
    return (
        f"median {duration(summary.median)} of {of}, {what} "
        f"{duration(summary.low)} to {duration(summary.high)}, quartiles "
        f"{duration(summary.q1)} and {duration(summary.q3)}"
    )


def print_result(result: Result) -> None:
    """Prints what came of a run, for a person."""
    job, summary = result.job, summarize(seconds_per_launch(result))
    problem = job.problem
    chosen = describe_parameters(job.parameters)
    print(f"{job.variant.title} ({job.variant.id}){' ' if chosen else ''}{chosen}")
    print(f"{result.device.name}, {result.device.platform}")
    print(f"{problem_label(problem)}, seed {problem.seed}")
    if summary is not None:
        work = flop(job.variant, problem)
        note = "  (not valid: the result is wrong)" if result.verdict == "wrong" else ""
        print(f"{throughput(work / summary.median)}{note}")
        print(_times(summary, result))
        spread = spread_of(seconds_per_launch(result))
        for remark in describe_spread(spread) if spread is not None else ():
            print(remark)
    if result.context is not None and result.context.library is not None:
        print(f"Ran {result.context.library.text}.")
    if result.stop_reason:
        print(f"Ended: {STOP_WORDS[result.stop_reason]}.")
    if result.trust is not None:
        print(f"Timer: {result.trust.badge}. {result.trust.sentence}")
    if doubt := suspicion(result):
        print(f"Suspicious: {doubt}")
    if result.stopped:
        print("Stopped before the end.")
    if result.failure is not None:
        print(result.failure.sentence)
        if result.check is not None and result.check.pattern:
            print(result.check.pattern)
        if result.failure.detail:
            print(result.failure.detail)
    elif result.check is not None:
        print(describe(result.check))
    elif not job.check:
        print("Not checked.")


def _draw(result: Result, arguments: argparse.Namespace, path: Path, kind: str) -> bool:
    """Draws a PNG of the "samples" or the "errors"; says on stderr why not."""
    if kind == "samples" and not len(result.samples):
        say("There are no samples, so no picture was drawn.")
        return False
    if kind == "errors" and result.error_map is None:
        right = result.verdict == "verified"
        why = "the answer is right" if right else "nothing was compared"
        say(f"There is no error map: {why}.")
        return right

    def draw() -> None:
        from gemmviz.views.charts import picture  # noqa: PLC0415 (only where one is asked for)

        draws = picture.draw_result_png if kind == "samples" else picture.draw_error_map_png
        draws(result, path, scale=arguments.scale, theme=arguments.theme)

    return drawn(path, draw)
