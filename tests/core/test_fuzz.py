"""Ten thousand broken files and ten thousand broken lines: nothing but named errors."""

import contextlib
import json
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemmviz.core.catalog import CatalogError, load_catalog, load_variant
from gemmviz.core.codec import CodecError, decode_line, encode_line
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import (
    assemble,
    default_parameters,
    dynamic_local_bytes,
    expected_verdict,
    geometry,
)
from gemmviz.core.messages import (
    Built,
    Checked,
    CompareJobs,
    DriversFound,
    Failed,
    Finished,
    ListDevices,
    Listing,
    Phase,
    RunJob,
    SampleBatch,
)
from gemmviz.core.model import (
    ELEMENTS,
    Check,
    Device,
    DeviceKey,
    Failure,
    Job,
    KernelFacts,
    Platform,
    Problem,
    Property,
    Samples,
    Variant,
)
from gemmviz.core.paths import data_dir

FILES = LINES = 10_000
DEVICES = (
    Device("p", "v", "large", "GPU", max_work_group_size=1024, local_mem_bytes=2**16,
           max_work_item_sizes=(1024, 1024, 64), elements=tuple(ELEMENTS), global_mem_bytes=2**30,
           max_alloc_bytes=2**28, compute_capability="9.0"),
    Device("p", "v", "unknown", "GPU"),
)  # fmt: skip
PROBLEMS = (Problem(1, 1, 1), Problem(64, 48, 32, "half"), Problem(2**17, 3, 2**17, "double"))
JUNK_TEXT = ("", "\0", "é😀", "\ud83d".encode("utf-8", "replace").decode(), "\u202e", "'" * 99,
             "a" * 5000, "{", "]]", "\\", '"""', "__import__('os')", "%n%s", "../../x")  # fmt: skip
JUNK_NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 1.5, -0.0, 1e308,
                float("inf"), float("nan"), True, False)  # fmt: skip
ATOMS = ("M", "N", "K", "TS", "BM", "element_bytes", "max_group_size", "local_limit", "nobody",
         "0", "1", "7", "64", "9" * 40, "9" * 999, "0xffff", "1.5", "'a'", "True")  # fmt: skip
OPERATORS = ("+", "-", "*", "//", "%", "**", "/", "<<", "==", "<", "and", "or", "is", "in", ",")


def _formula(dice: random.Random, depth: int = 0) -> str:
    roll = dice.random()
    if depth > 3 or roll < 0.35:
        return dice.choice(ATOMS)
    left, right = _formula(dice, depth + 1), _formula(dice, depth + 1)
    if roll < 0.75:
        return f"{left} {dice.choice(OPERATORS)} {right}"
    if roll < 0.85:
        return f"({left}) if {right} else 3"
    if roll < 0.95:
        return f"{dice.choice(('-', 'not ', '~', 'abs', '('))}({left})"
    return dice.choice(("-", "(", "1+", "not ")) * dice.choice((3, 90, 300)) + left


def _junk(dice: random.Random, depth: int = 0) -> Any:
    """A value of any kind that a file may hold."""
    roll = dice.random()
    if roll < 0.3:
        return _formula(dice)
    if roll < 0.5:
        return dice.choice(JUNK_NUMBERS)
    if roll < 0.7 or depth > 2:
        return dice.choice(JUNK_TEXT)
    if roll < 0.85:
        return [_junk(dice, depth + 1) for _ in range(dice.randrange(4))]
    return {dice.choice(("local", "value", "buffer", "scratch", "type", "rows", "x")):
            _junk(dice, depth + 1) for _ in range(dice.randrange(4))}  # fmt: skip


def _toml(value: Any) -> str:
    """A value as TOML writes it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value)
        case int() | float():
            return hex(value) if type(value) is int and value > 10**300 else str(value)
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return f"{{ {', '.join(f'{json.dumps(k)} = {_toml(v)}' for k, v in value.items())} }}"


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in ``value`` with each key of it."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, inner in list(items):
        found.append((value, key))
        if isinstance(inner, dict | list):
            found += _places(inner)
    return found


def _broken_values(dice: random.Random, data: dict[str, Any]) -> bytes:
    """Keys dropped, renamed or doubled, types swapped, formulas and numbers made up."""
    data = json.loads(json.dumps(data))
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        holder, key = dice.choice(_places(data))
        roll = dice.random()
        if roll < 0.15 and isinstance(holder, dict):
            holder[dice.choice(("titel", "N", "é", "", "parameters"))] = holder.pop(key)
        elif roll < 0.3:
            del holder[key]
        elif roll < 0.5:
            holder[key] = _formula(dice)
        else:
            holder[key] = _junk(dice)
        if not data or not _places(data):
            break
    return "\n".join(f"{json.dumps(key)} = {_toml(value)}" for key, value in data.items()).encode()


def _broken_bytes(dice: random.Random, raw: bytes) -> bytes:
    """Cut, overwritten, shuffled or padded with junk."""
    at, length = dice.randrange(len(raw)), dice.choice((1, 1, 3, 40, 400))
    match dice.randrange(6):
        case 0:
            return raw[:at]
        case 1:
            return raw[:at] + dice.randbytes(length) + raw[at + length :]
        case 2:
            return raw[:at] + raw[at + length :]
        case 3:
            lines = raw.splitlines(keepends=True)
            dice.shuffle(lines)
            return b"".join(lines)
        case 4:
            nest = dice.choice((b"[", b"{a=", b"a.", b'"', b"#", b"(", b"0x" + b"f" * 5000))
            return raw[:at] + nest * dice.choice((1, 50, 2000)) + raw[at:]
        case _:
            bits = bytearray(raw)
            for _ in range(length):
                place = dice.randrange(len(bits))
                bits[place] ^= 1 << dice.randrange(8)
            return bytes(bits)


def _use(variant: Variant) -> None:
    """What the app asks of a variant before anything runs."""
    parameters = default_parameters(variant)
    for problem in PROBLEMS:
        for device in DEVICES:
            refusal(variant, parameters, problem, device)
        assemble(variant, parameters, problem)
        for ask in (geometry, dynamic_local_bytes, expected_verdict):
            with contextlib.suppress(ExprError):
                ask(variant, parameters, problem)
    job = Job(1, DeviceKey("p", "v", "n"), variant, parameters, PROBLEMS[0])
    decode_line(encode_line(RunJob(job)))


def test_broken_kernel_files(tmp_path: Path) -> None:
    dice = random.Random(20261130)
    folder = data_dir("kernels")
    sources = {path.stem: path.read_bytes() for path in folder.glob("*.cl")}
    pairs = [(path.read_bytes(), sources.get(path.stem, b"\n"))  # a library has no source
             for path in sorted(folder.glob("*.toml"))]  # fmt: skip
    parsed = [tomllib.loads(toml.decode()) for toml, _ in pairs]
    path = tmp_path / "broken.toml"
    source = path.with_suffix(".cl")
    loaded = 0
    for _ in range(FILES):
        which = dice.randrange(len(pairs))
        toml, code = pairs[which]
        roll = dice.random()
        if roll < 0.6:
            toml = _broken_values(dice, parsed[which])
        elif roll < 0.9:
            toml = _broken_bytes(dice, toml)
        else:
            code = _broken_bytes(dice, code)
        for file, content in ((path, toml), (source, code)):
            file.unlink(missing_ok=True)  # writing over an old file waits for the disk
            file.write_bytes(content)
        try:
            variant = load_variant(path)
        except CatalogError as error:
            assert error.file == "broken.toml"
            assert error.reason
            assert len(str(error)) < 3000
            continue
        _use(variant)
        loaded += 1
    assert 0.05 * FILES < loaded < 0.95 * FILES


def _messages() -> list[str]:
    """Lines as they cross the pipe in either direction."""
    variants = load_catalog(data_dir("kernels")).variants
    jobs = tuple(
        Job(number, DeviceKey("p", "v", "n"), variant, default_parameters(variant), problem)
        for number, variant in enumerate(variants)
        for problem in PROBLEMS[:1]
    )
    described = Device("p", "v", "n", "CPU", properties=(Property("X", 1, "bytes"),))
    listed = (Platform("p", "v", "w", (described,)),)
    return [
        encode_line(message)
        for message in (
            *map(RunJob, jobs), CompareJobs(-1, jobs[:2]), ListDevices(-1), Listing(-1, listed),
            DriversFound(-1, ("/a.icd",), ("/",)), Phase(1, "check", limited=True),
            Built(1, KernelFacts(1, 2, 3, 4, (1, 1, 1)), "log", 0.5),
            Checked(1, Check("wrong", 1, 2, 3, max_error=float("nan"))),
            SampleBatch(1, Samples((1, 2), (0.5, 1e-9), (0.1, 0.2))),
            Finished(1, stopped=True, quantiles=(0.1, 0.2)), Failed(1, Failure("hang", "It hung.")),
        )
    ]  # fmt: skip


def _broken_line(dice: random.Random, line: str, others: list[str]) -> str:
    """Bits flipped, cut, fields swapped for others' or for junk, nested deeply."""
    roll = dice.random()
    if roll < 0.35:
        return _broken_bytes(dice, line.encode()).decode("utf-8", "replace")
    data = json.loads(line)
    if roll < 0.45:
        data["type"] = json.loads(dice.choice(others))["type"]
        return json.dumps(data)
    holder, key = dice.choice(_places(data))
    if roll < 0.6:
        del holder[key]
    elif roll < 0.7:
        other_holder, other_key = dice.choice(_places(json.loads(dice.choice(others))))
        holder[key] = other_holder[other_key]
    elif roll < 0.9:
        holder[key] = _junk(dice)
    else:
        holder[key] = "NEST"
        depth = dice.choice((20, 300, 900, 990, 1000, 100_000)) - dice.randrange(20)
        opening, closing = dice.choice((("[", "]"), ('{"a":', "}")))
        return json.dumps(data).replace('"NEST"', opening * depth + "1" + closing * depth)
    return json.dumps(data)


def test_broken_lines() -> None:
    dice = random.Random(20261130)
    lines = _messages()
    decoded = 0
    for _ in range(LINES):
        line = _broken_line(dice, dice.choice(lines), lines)
        try:
            message = decode_line(line)
        except CodecError as error:
            assert len(str(error)) < 3000
            continue
        encode_line(message)
        decoded += 1
    assert 0.02 * LINES < decoded < 0.95 * LINES


def test_every_recursion_depth_of_a_line_is_a_named_error() -> None:
    def at_depth(frames: int, then: Callable[[], None]) -> None:
        if frames:
            at_depth(frames - 1, then)
        else:
            then()

    for depth in range(600, 1000, 10):
        line = f'{{"type": "Cancel", "job_id": {"[" * depth}{"]" * depth}}}'

        def decode(line: str = line) -> None:
            with contextlib.suppress(CodecError):
                raise AssertionError(decode_line(line))

        for frames in (0, 100):
            at_depth(frames, decode)
