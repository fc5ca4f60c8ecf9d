"""Real devices for the engine's tests: PoCL and Intel's runtime, in real children."""

from collections.abc import Iterator

import pytest

from gemmviz.core.messages import Listing
from gemmviz.core.model import Device
from gemmviz.engine.plan import Engine


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
