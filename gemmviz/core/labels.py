"""What platforms, devices and problems are called where a person reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from gemmviz.core.model import Device, Platform, Problem

_SHORT = {
    "Portable Computing Language": "PoCL",
    "Intel(R) OpenCL": "Intel",
    "Intel(R) OpenCL Graphics": "Intel GPU",
    "NVIDIA CUDA": "CUDA",
    "AMD Accelerated Parallel Processing": "AMD",
}


def platform_label(name: str, version: str) -> str:
    """A platform's usual name, with its own version where it states one: "PoCL 3.0"."""
    own = version.removeprefix("OpenCL ").partition(" ")[2]
    number = re.search(r"\d+\.\d[\w.-]*", own)
    return f"{_SHORT.get(name, name)} {number[0] if number else ''}".strip()


def device_label(device: Device) -> str:
    """A device with its platform: two drivers often give one piece of hardware the same name."""
    return f"{device.name} · {platform_label(device.platform, device.platform_version)}"


def file_word(text: str) -> str:
    """A text as a part of a file's name: small letters, digits, dots and dashes, perhaps none."""
    plain = unicodedata.normalize("NFKD", text.replace(" × ", "x"))
    ascii_text = plain.encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9.]+", "-", ascii_text.lower()).strip("-.")


def form_label(problem: Problem) -> str:
    """What a problem is besides its sizes: "TN, column by column, alpha 0.5, beta 2", or ""."""
    parts = []
    if problem.transpose != "nn":
        parts.append(problem.transpose.upper())
    if problem.order:
        parts.append(f"{problem.order} by {problem.order}")
    parts += [
        f"{name} {number_text(value)}"
        for name, value, usual in (("alpha", problem.alpha, 1.0), ("beta", problem.beta, 0.0))
        if value != usual
    ]
    return ", ".join(parts)


def formula(problem: Problem) -> str:
    """What a problem computes, and how its matrices lie: "C = 0.5 Aᵀ B + 2 C, row by row"."""
    a, b = (
        f"{name}ᵀ" if letter == "t" else name
        for name, letter in zip("AB", problem.transpose, strict=True)
    )
    scale = {1.0: "", -1.0: "-"}.get(problem.alpha, f"{number_text(problem.alpha)} ")
    text = f"C = {scale}{a} {b}"
    if problem.beta:
        sign, size = "-" if problem.beta < 0 else "+", abs(problem.beta)
        text += f" {sign} C" if size == 1 else f" {sign} {number_text(size)} C"
    return f"{text}, {problem.order} by {problem.order}" if problem.order else text


def number_text(value: float) -> str:
    """A number in the fewest digits that are read back as the same: "2", "0.1", "1e-07"."""
    text = f"{value:g}"
    return text if float(text) == value else repr(value)


def problem_label(problem: Problem, sign: str = "x") -> str:
    """Sizes, element type and form: "17 x 33 x 65 float, TN, beta 2"; ``sign`` is the times."""
    sizes = f" {sign} ".join(map(str, (problem.m, problem.n, problem.k)))
    return ", ".join(filter(None, (f"{sizes} {problem.element}", form_label(problem))))


def count_devices(platforms: Sequence[Platform]) -> str:
    """How many devices on how many platforms: "2 devices on 1 platform"."""
    count = sum(len(platform.devices) for platform in platforms)
    devices = f"{count} device{'s' * (count != 1)}"
    return f"{devices} on {len(platforms)} platform{'s' * (len(platforms) != 1)}"
