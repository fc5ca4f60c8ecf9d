"""Answers the requests of a child; every failure becomes a message."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable

from gemmviz.core.expr import ExprError
from gemmviz.core.messages import (
    BuildAhead,
    CompareJobs,
    CountGroups,
    DriversFound,
    Failed,
    LaunchOnce,
    ListDevices,
    Listing,
    Message,
    ReadCeilings,
    ReadRegisters,
    RunJob,
    TakeTurns,
    Work,
)
from gemmviz.core.model import DeviceKey, Failure
from gemmviz.engine.ahead import build_ahead
from gemmviz.engine.ceilings import read_ceilings
from gemmviz.engine.discovery import DriverError, list_platforms
from gemmviz.engine.environment import driver_files, vendor_folders
from gemmviz.engine.execute import compare_jobs, launch_once, read_registers, run_job
from gemmviz.engine.opencl import Session
from gemmviz.engine.residency import count_groups
from gemmviz.engine.turns import TurnTaker


class Service:
    """Holds the open devices of a child; ``emit`` sends to the host, ``cancelled`` asks it."""

    def __init__(self, emit: Callable[[Message], None], cancelled: Callable[[int], bool]) -> None:
        self._emit, self._cancelled = emit, cancelled
        self._sessions: dict[DeviceKey, Session] = {}
        self._turns = TurnTaker(self._session, emit)

    def answer(self, request: Work) -> None:
        """Answers one request, whatever happens."""
        if isinstance(request, RunJob | BuildAhead | ReadRegisters | CountGroups | LaunchOnce):
            job_id = request.job.id
        else:
            job_id = request.job_id
        try:
            self._dispatch(request)
        except DriverError as error:
            self._emit(Failed(job_id, error.failure))
        except ExprError as error:
            failure = Failure("refused", f"The metadata has no value here: {error}.")
            self._emit(Failed(job_id, failure))
        except MemoryError as error:
            failure = Failure("out_of_memory", "This machine ran out of memory.", repr(error))
            self._emit(Failed(job_id, failure))
        except Exception as error:  # noqa: BLE001 (the host must hear of any fault)
            failure = Failure("driver", f"The run failed: {error}.", traceback.format_exc())
            self._emit(Failed(job_id, failure))

    def _dispatch(self, request: Work) -> None:
        match request:
            case ListDevices(job_id=job_id):
                files, folders = driver_files(os.environ), vendor_folders(os.environ)
                self._emit(DriversFound(job_id, files, folders))  # said before one can crash
                self._emit(Listing(job_id, list_platforms(), folders))
            case RunJob(job=job):
                run_job(job, self._session(job.device), self._emit, lambda: self._cancelled(job.id))
            case CompareJobs(job_id=job_id):
                compare_jobs(request, self._session, self._emit, lambda: self._cancelled(job_id))
            case TakeTurns(job_id=job_id):
                self._turns.answer(request, lambda: self._cancelled(job_id))
            case BuildAhead(job=job):
                build_ahead(request, self._session(job.device), self._emit)
            case ReadRegisters(job=job):
                read_registers(job, self._session(job.device), self._emit)
            case LaunchOnce(job=job):
                launch_once(job, self._session(job.device), self._emit)
            case ReadCeilings(job_id=job_id, device=device):
                session = self._session(device.key)
                read_ceilings(request, session, self._emit, lambda: self._cancelled(job_id))
            case CountGroups(job=job):
                session = self._session(job.device)
                count_groups(request, session, self._emit, lambda: self._cancelled(job.id))

    def _session(self, key: DeviceKey) -> Session:
        if key not in self._sessions:
            self._sessions[key] = Session(key)
        return self._sessions[key]
