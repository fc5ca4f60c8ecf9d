"""A minute of at least 20,000 samples a second: every one kept, and the memory that takes."""

import resource

from gemmviz.core.messages import SampleBatch
from tests.benchmarks.bench import choose, spin, spin_until, window_with_devices
from tests.benchmarks.rows import row

_SECONDS = 60


def main() -> None:
    window = window_with_devices()
    state = window.state
    choose(state, "Portable", "tiled", 32)
    sent = 0
    take = state._workers._engine.run  # type: ignore[attr-defined]

    def counted(job: object, device: object) -> object:
        nonlocal sent
        for event in take(job, device):
            if isinstance(event, SampleBatch):
                sent += len(event.samples)
            yield event

    state._workers._engine.run = counted  # type: ignore[attr-defined]
    state.start()
    spin(_SECONDS)
    state.stop()
    spin_until(lambda: not state.active)
    assert state.shown is not None
    kept = len(state.shown.buffer)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row("samples a second for a minute", kept / _SECONDS, "1/s", 20_000, most=False)
    row("samples that the engine sent and the app lost", sent - kept, "", 0)
    row("largest memory of the app", memory, "MiB", 400)
    window.close()


if __name__ == "__main__":
    main()
