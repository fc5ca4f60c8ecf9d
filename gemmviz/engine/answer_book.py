"""Checks the answers of many kernels to one problem; equal answers are compared once."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from gemmviz.core.error_image import make_error_map
from gemmviz.core.launch import geometry
from gemmviz.core.messages import Checked, ErrorsMapped
from gemmviz.core.model import Check, Job
from gemmviz.core.reference import Answer, check
from gemmviz.engine.bench import Bench, Cancelled, Emit
from gemmviz.engine.opencl import Launches

Fingerprint = tuple[object, ...]


class AnswerBook:
    """The answers to one problem that were found right.

    An answer that equals one of them bit for bit is right as well, and most configurations of a
    kernel add up in the same order: so the reference is computed for few of them.
    """

    def __init__(self) -> None:
        self._right: dict[Fingerprint, Check] = {}
        self._of_job: dict[int, Fingerprint] = {}

    def first_right(
        self, bench: Bench, emit: Emit, cancelled: Cancelled, *, fresh: bool
    ) -> Launches | None:
        """Launches once and tells what the check found.

        A wrong answer may come of what another kernel left in A and B, so it is tried once more
        with all matrices filled anew.

        Args:
            bench: What is launched.
            emit: Sends a message.
            cancelled: Asked between two parts of the reference.
            fresh: Whether nothing else has used the matrices yet.

        Returns:
            The launch that was right; None where it was wrong, or cancelled.

        Raises:
            DriverError: The launch failed.
        """
        job = bench.job
        launches, answer = _launched(bench)
        key = _fingerprint(job, answer)
        found = self._right.get(key)
        if found is None or answer.outside:
            found = _compared(bench, answer, cancelled)
            if found is not None and found.verdict == "wrong" and not fresh:
                bench.matrices.renew()
                launches, answer = _launched(bench)
                key = _fingerprint(job, answer)
                found = _compared(bench, answer, cancelled)
        if found is None:
            return None
        if found.verdict == "verified":
            self._right[key] = found
            repeated = self._of_job.get(job.id) == key
            self._of_job[job.id] = key
            emit(Checked(job.id, replace(found, cells_differing=0) if repeated else found))
            return launches
        emit(Checked(job.id, found))
        made = make_error_map(
            job.variant, job.problem, bench.matrices.inputs, answer, tile=_tile(job),
            cancelled=cancelled,
        )  # fmt: skip
        if made is not None:
            emit(ErrorsMapped(job.id, made))
        bench.matrices.renew()  # it may have written into A or B
        return None


def _launched(bench: Bench) -> tuple[Launches, Answer]:
    bench.matrices.poison()
    bench.phase("check")
    launches = bench.launch(1)
    bench.phase("compare", limited=False)
    return launches, bench.matrices.answer()


def _compared(bench: Bench, answer: Answer, cancelled: Cancelled) -> Check | None:
    job = bench.job
    return check(
        job.variant, job.problem, bench.matrices.inputs, answer, tile=_tile(job),
        cancelled=cancelled,
    )  # fmt: skip


def _tile(job: Job) -> tuple[int, int]:
    return geometry(job.variant, job.parameters, job.problem).tile


def _fingerprint(job: Job, answer: Answer) -> Fingerprint:
    """What is equal for equal answers that are judged by the same bound."""
    whole = np.ascontiguousarray(answer.c).view(np.uint8)
    left = int(np.count_nonzero(answer.unwritten))
    return job.variant.precision, job.variant.operation, left, hashlib.blake2b(whole.data).digest()
