"""A child that produces one fault on demand: python fake_child.py FAULT."""

import os
import signal
import sys
import time

from gemmviz.core.codec import decode_line, encode_line
from gemmviz.core.messages import (
    DriversFound,
    Failed,
    Finished,
    ListDevices,
    Phase,
    RunJob,
    SampleBatch,
)
from gemmviz.core.model import Failure, Samples
from gemmviz.engine.child import main
from gemmviz.engine.environment import driver_files, prepare_environment, vendor_folders


def emit(message: object) -> None:
    sys.stdout.write(encode_line(message) + "\n")  # type: ignore[arg-type]
    sys.stdout.flush()


fault = sys.argv[1]
if fault == "deaf to all":
    time.sleep(60)
if fault == "drivers at odds":
    if "GEMMVIZ_DRIVERS" in os.environ:
        main()
    request = decode_line(sys.stdin.readline())
    assert isinstance(request, ListDevices)
    prepare_environment(os.environ)
    emit(DriversFound(request.job_id, driver_files(os.environ), vendor_folders(os.environ)))
    sys.stdout.write("LLVM ERROR: option registered twice\n")
    sys.exit(1)
request = decode_line(sys.stdin.readline())
assert isinstance(request, RunJob)
job = request.job
emit(Phase(job.id, "measure", limited=True))
emit(SampleBatch(job.id, Samples((1, 1), (1e-3, 2e-3), (0.1, 0.2))))
match fault:
    case "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    case "abort":
        sys.stderr.write("driver: assertion failed\n")
        sys.stderr.flush()
        os.abort()
    case "exit":
        sys.exit(3)
    case "deaf":
        time.sleep(60)
    case "half a line":
        sys.stdout.write('{"type": "Finis')
        sys.stdout.flush()
    case "half a line and silence":
        sys.stdout.write('{"type": "Finis')
        sys.stdout.flush()
        time.sleep(60)
    case "binary":
        os.write(1, bytes(range(256)) + b"\n")
        time.sleep(60)
    case "talkative":
        for _ in range(100):
            os.write(2, b"w\n" * 2**19)
        os.write(2, b"the last word\n")
        os.abort()
    case "no json":
        sys.stdout.write("Warning: unsupported device\n")
        sys.stdout.flush()
        time.sleep(60)
    case "state lost":
        emit(Failed(job.id, Failure("driver", "The driver failed.")))
        time.sleep(60)
    case "late words":
        emit(SampleBatch(job.id - 1, Samples((1,), (9.0,), (9.0,))))
        emit(Finished(job.id - 1))
        emit(Finished(job.id))
        time.sleep(60)
