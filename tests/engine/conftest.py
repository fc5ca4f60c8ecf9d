"""Real devices for the engine's tests: PoCL and Intel's runtime, in real children."""

import os
from collections.abc import Iterator, Mapping

import pytest

from gemmviz.core.messages import Listing
from gemmviz.core.model import Device
from gemmviz.engine.plan import Engine
from gemmviz.engine.transport import LocalTransport
from tests.engine.runs import run


@pytest.fixture(scope="session")
def listing() -> Listing:
    engine = Engine()
    try:
        return engine.list_devices()
    finally:
        engine.close()


def _device(listing: Listing, platform: str) -> Device:
    for found in listing.platforms:
        if platform in found.name and found.devices:
            return found.devices[0]
    pytest.fail(f"the tests need the {platform} platform: install gemmviz[test,intel]")


@pytest.fixture(scope="session")
def pocl(listing: Listing) -> Device:
    return _device(listing, "Portable Computing Language")


@pytest.fixture(scope="session")
def intel(listing: Listing) -> Device:
    return _device(listing, "Intel")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


class Children:
    """Remembers the children that an engine starts."""

    def __init__(self) -> None:
        self.started: list[LocalTransport] = []

    def __call__(self, environment: Mapping[str, str]) -> LocalTransport:
        self.started.append(LocalTransport(environment))
        return self.started[-1]


@pytest.fixture
def children() -> Children:
    return Children()


@pytest.fixture
def fresh(children: Children, pocl: Device) -> Iterator[Engine]:
    """An engine whose next run must work, whatever the test did to it."""
    engine = Engine(children)
    yield engine
    assert run(engine, pocl).verdict == "verified"
    engine.close()
    for child in children.started:
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)
