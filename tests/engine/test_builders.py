"""Builds ahead, with children that crash on command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from gemmviz.core.messages import BuildAhead, Built, Failed
from gemmviz.core.model import Device, Failure, Job, KernelFacts, Problem
from gemmviz.core.policy import QUICK
from gemmviz.engine import builders
from gemmviz.engine.builders import BuildDone, Builders
from tests.engine.runs import CATALOG


class Child:
    """A host that answers each order with the next of its endings, then with a build."""

    def __init__(self, *crashes: bool) -> None:
        self.crashes = list(crashes)
        self.asked: list[int] = []

    @contextmanager
    def lent_host(self, *_: object) -> Iterator[Child]:
        yield self

    def converse(self, request: BuildAhead) -> Iterator[object]:
        self.asked.append(request.job.id)
        if self.crashes and self.crashes.pop(0):
            yield Failed(request.job.id, Failure("crash", "It ended as it started: an abort."))
        else:
            yield Built(request.job.id, KernelFacts(), "", 0.1)

    def close(self) -> None:
        pass


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, pocl: Device) -> Any:
    monkeypatch.setattr(builders, "keep_build", lambda *_: None)

    def build(child: Child) -> list[BuildDone]:
        variant = CATALOG.find("tiled")
        job = Job(0, pocl.key, variant, (("TS", 8),), Problem(8, 8, 8, seed=1), QUICK)
        work = Builders(child, pocl, 1)  # type: ignore[arg-type]
        work.order([replace(job, id=number) for number in range(3)])
        done: list[BuildDone] = []
        while work.outstanding:
            done += work.take(5.0)
        work.close()
        return done

    return build


def test_what_crashes_a_used_child_is_built_again_in_a_fresh_one(built: Any) -> None:
    """An earlier kernel may have written over the child's memory."""
    child = Child(False, True)
    assert [each.failure for each in built(child)] == [None, None, None]
    assert child.asked == [0, 1, 1, 2]


def test_what_crashes_a_fresh_child_has_failed(built: Any) -> None:
    child = Child(True, True)
    assert [each.failure is None for each in built(child)] == [False, False, True]
    assert child.asked == [0, 1, 2]


def test_what_crashes_twice_has_failed(built: Any) -> None:
    child = Child(False, True, True)
    assert [each.failure is None for each in built(child)] == [True, False, True]
    assert child.asked == [0, 1, 1, 2]
