"""Cyclic garbage goes on the GUI thread alone."""

from __future__ import annotations

import gc
import threading
import weakref

from PySide6.QtCore import QObject

from gemmviz.app.collector import GarbageCollector


class Node(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.itself = self


def test_a_cycle_goes_on_the_thread_of_the_gui(qtbot) -> None:
    gc.enable()
    collector = GarbageCollector()
    assert not gc.isenabled()
    went: list[int] = []
    known = weakref.finalize(Node(), lambda: went.append(threading.get_ident()))

    def work() -> None:
        for _ in range(2000):
            cycle: list[object] = []
            cycle.append(cycle)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert known.alive, "the worker's garbage was collected by the worker"
    qtbot.waitUntil(lambda: bool(went))
    assert went == [threading.get_ident()]
    collector.deleteLater()


def test_what_has_settled_is_left_alone() -> None:
    collector = GarbageCollector()
    before = gc.get_freeze_count()
    collector.settle()
    try:
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
