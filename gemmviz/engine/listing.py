"""Lists devices: all drivers in one child, or each in its own where one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.core.messages import DriversFound, Failed, ListDevices, Listing
from gemmviz.core.model import DeviceKey, Failure, Platform
from gemmviz.engine.environment import only_drivers
from gemmviz.engine.host import Host

LIMIT_SECONDS = 30.0
ONE_LIMIT_SECONDS = 15.0
_AT_ONCE = 2
_JOB_ID = -1

OpenHost = Callable[[Mapping[str, str]], AbstractContextManager[Host]]
"""A host of a fresh child with these additions to its environment, closed at the end."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Every device that could be listed, and the driver of each where not all may be loaded.

    ``drivers`` is empty where all drivers get along in one process.
    """

    listing: Listing
    drivers: Mapping[DeviceKey, str] = field(default_factory=dict)

    def environment_of(self, devices: Iterable[DeviceKey]) -> dict[str, str]:
        """Additions to the environment of a child that is to open ``devices``.

        With them it loads no driver but theirs: another one may crash or hang it.
        """
        files = sorted({self.drivers[key] for key in devices if key in self.drivers})
        return only_drivers(files) if files else {}


def list_devices(
    open_host: OpenHost,
    limit_seconds: float = LIMIT_SECONDS,
    one_limit_seconds: float = ONE_LIMIT_SECONDS,
) -> Listed:
    """Every platform and device.

    A child loads every driver. Where it crashes, hangs or says nothing sensible, each driver is
    listed in a child of its own, and one that fails there is a platform without devices, named
    after its ``.icd`` file, whose ``problem`` is the reason.

    Args:
        open_host: Gives the hosts that are asked; two are open at once at most.
        limit_seconds: The longest silence of the child that loads every driver.
        one_limit_seconds: The longest silence of a child that loads one.
    """
    answer = _ask(open_host, {}, limit_seconds)
    if answer.failure is None:
        return Listed(answer.listing)
    if answer.found is None:  # it did not even come to the drivers
        sentence = " ".join((answer.failure.sentence, answer.failure.detail)).strip()
        return Listed(Listing(_JOB_ID, (), (), sentence))
    files, folders = answer.found.files, answer.found.folders
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="drivers") as pool:
        answers = list(
            pool.map(lambda file: _ask(open_host, only_drivers([file]), one_limit_seconds), files)
        )
    platforms: list[Platform] = []
    drivers: dict[DeviceKey, str] = {}
    for file, one in zip(files, answers, strict=True):
        if one.failure is not None:
            platforms.append(_broken(file, one.failure))
        for platform in one.listing.platforms:
            platforms.append(platform)
            for device in platform.devices:
                drivers.setdefault(device.key, file)
    problem = ""
    if all(one.failure is None for one in answers):
        problem = f"The drivers fail together and are used one by one: {answer.failure.sentence}"
    return Listed(Listing(_JOB_ID, tuple(platforms), folders, problem), drivers)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a listing child said: the drivers it was about to load, the devices, or its end."""

    listing: Listing
    found: DriversFound | None
    failure: Failure | None


def _ask(open_host: OpenHost, environment: Mapping[str, str], limit_seconds: float) -> _Answer:
    found: DriversFound | None = None
    failure = Failure("crash", "The list of devices came to no end.")
    with open_host(environment) as host:
        for message in host.converse(ListDevices(_JOB_ID), limit_seconds):
            match message:
                case DriversFound():
                    found = message
                case Listing():
                    return _Answer(message, found, None)
                case Failed():
                    failure = message.failure
                case _:
                    pass
    return _Answer(Listing(_JOB_ID, ()), found, failure)


def _broken(file: str, failure: Failure) -> Platform:
    """The row of a driver that cannot be listed."""
    reason = f"its driver fails ({file}): {failure.sentence}"
    return Platform(Path(file).name, "", "", (), reason)
