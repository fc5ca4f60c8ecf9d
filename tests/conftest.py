"""What every test run shares: no screen unless asked for, caches of its own, no silent skips."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Generator

import pytest
from pytestqt.qtbot import QtBot

# Before any Qt import. A run in a real window sets xcb itself.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Children inherit it: neither kernels nor registers of earlier runs are found again.
_home = tempfile.mkdtemp(prefix="gemmviz-tests-")
os.environ["XDG_CACHE_HOME"] = f"{_home}/cache"
os.environ["XDG_CONFIG_HOME"] = f"{_home}/config"
os.environ["XDG_DATA_HOME"] = f"{_home}/data"
# A busy machine is slow and not wrong: pytest-qt's 5 s would let its load decide a test.
for _wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals):
    _wait.__kwdefaults__["timeout"] = 30_000
# As in the app: a collection on a worker's thread would destroy widgets there.
gc.disable()
atexit.register(shutil.rmtree, _home, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that would be skipped fails: what it needs must be installed."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


@pytest.fixture(autouse=True, scope="module")
def _collected() -> Generator[None]:
    """What the tests of a module leave in cycles goes on the thread that made it."""
    yield
    gc.collect()
