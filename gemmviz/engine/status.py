"""What an OpenCL status code means for a run: its kind and a sentence, never by message text."""

from __future__ import annotations

from gemmviz.core.model import Failure

_KINDS = {
    -4: "out_of_memory",
    -5: "launch",
    -6: "out_of_memory",
    -11: "build",
    -15: "build",
    -17: "build",
    -38: "launch",
    -43: "build",
    -45: "build",
    -46: "build",
    -48: "build",
    -49: "launch",
    -50: "launch",
    -51: "launch",
    -52: "launch",
    -53: "launch",
    -54: "launch",
    -55: "launch",
    -56: "launch",
    -61: "out_of_memory",
    -63: "launch",
    -66: "build",
    -67: "build",
}
_SENTENCES = {
    "build": "The driver's compiler rejected the kernel.",
    "out_of_memory": "The device ran out of memory.",
    "launch": "The driver refused the launch.",
    "driver": "The driver failed and its state may be lost; the next run starts a fresh process.",
}


def failure_of(code: int, name: str, detail: str, *, ran: bool = False) -> Failure:
    """The Failure that a status code stands for.

    Args:
        code: The status that the driver returned.
        name: Its name, as "OUT_OF_RESOURCES".
        detail: What was being done, and the driver's own words.
        ran: The kernel had been launched, so that a refusal is a fault of the kernel and the
            driver's state may be lost with it.
    """
    kind = _KINDS.get(code, "driver")
    if ran and kind == "launch":
        kind = "driver"
    sentence = _SENTENCES[kind]
    if kind == "launch":
        sentence = f"The driver refused the launch: {name}."
    return Failure(kind, sentence, f"{name} ({code}) {detail}")
