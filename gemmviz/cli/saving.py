"""Keeps what a command measures in a results file, as it comes."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gemmviz.cli.selection import SelectionError, say
from gemmviz.core.messages import DevicesMeasured, RowMeasured, SampleBatch, TimerChosen
from gemmviz.core.model import Device, Job, Result, Samples
from gemmviz.core.store import ResultStore, StoreError
from gemmviz.engine.record import Record

_Item = TypeVar("_Item")
_EVERY_SECONDS = 0.4  # a sudden end loses this and what a child holds back, below 1 s in all


def add_results(parser: argparse.ArgumentParser) -> None:
    """Adds ``--results``."""
    parser.add_argument("--results", type=Path, metavar="FILE",
                        help="add what is measured to this results file, as it comes")  # fmt: skip


@dataclass(slots=True)
class _Followed:
    """A job under way: what came of it, its id in the file, and how many samples are there."""

    record: Record
    number: int | None = None
    saved: int = 0
    written_at: float = 0.0


class Saver:
    """Writes results into a file as they come; without a file it lets everything pass.

    Args:
        path: The file that ``--results`` names, made where there is none; None without the option.
        jobs: Those whose samples are written while they are measured.
        devices: The device of each.

    Raises:
        SelectionError: Nothing can be written into it.
    """

    def __init__(
        self, path: Path | None, jobs: Sequence[Job] = (), devices: Sequence[Device] = ()
    ) -> None:
        self._store = _opened(path) if path is not None else None
        pairs = zip(jobs, devices, strict=True)
        self._followed = {job.id: _Followed(Record(job, device)) for job, device in pairs}
        self._rows: list[Result] = []  # that are not in the file yet
        self._numbers: list[int] = []
        self._refused = False

    def followed(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """The same items, once what they bring is saved; on whatever thread asks for them.

        After what could not be saved nothing is tried until the end, for it may take seconds.
        """
        for item in items:
            if self._store is not None:
                if isinstance(item, DevicesMeasured | RowMeasured):
                    self._rows += item.results
                try:
                    if not self._refused:
                        self._take(self._store, item)
                except StoreError as error:
                    self._refused = True
                    say(f"The results are not saved: {error}")
            yield item

    def finish(self, results: Sequence[Result] = ()) -> bool:
        """Saves how the jobs ended, and closes the file; says on stderr what went wrong.

        Returns:
            Whether nothing did.
        """
        store = self._store
        if store is None:
            return True
        try:
            with store.batch():
                self._write_rows(store)
                for result in results:
                    self._end(store, result)
        except StoreError as error:
            say(f"The results were not saved: {error}")
            return False
        finally:
            store.close()
        if self._numbers:
            words = ", ".join(map(str, self._numbers))
            say(f"Saved as result{'s' * (len(self._numbers) != 1)} {words} in {store.path}")
        return True

    def _take(self, store: ResultStore, item: object) -> None:
        if self._rows:
            self._write_rows(store)
        followed = self._followed.get(getattr(item, "job_id", -1))
        if followed is None:
            return
        followed.record.take(item)  # type: ignore[arg-type]
        if isinstance(item, TimerChosen):
            followed.saved = 0
            if followed.number is not None:
                store.restart(followed.number)
        now = time.monotonic()
        if isinstance(item, SampleBatch) and now - followed.written_at >= _EVERY_SECONDS:
            followed.written_at = now
            self._write(store, followed)

    def _write_rows(self, store: ResultStore) -> None:
        with store.batch():
            numbers = [store.add(result) for result in self._rows]
        self._numbers += numbers
        self._rows.clear()

    def _write(self, store: ResultStore, followed: _Followed) -> None:
        """Writes the samples that have come since the last time."""
        result, start = followed.record.result(), followed.saved
        samples = result.samples
        with store.batch():
            number = store.begin(result) if followed.number is None else followed.number
            new = Samples(samples.launches[start:], samples.seconds[start:], samples.at[start:])
            store.extend(number, new)
        followed.number, followed.saved = number, len(samples)

    def _end(self, store: ResultStore, result: Result) -> None:
        followed = self._followed.get(result.job.id)
        number = followed.number if followed is not None else None
        if number is None:
            number = store.add(result)
        else:
            store.finish(number, result)
        self._numbers.append(number)


def _opened(path: Path) -> ResultStore:
    try:
        store = ResultStore.open(path)
    except StoreError as error:
        raise SelectionError(str(error), "refused") from error
    if store.read_only:
        store.close()
        raise SelectionError(store.problem, "refused")
    return store
