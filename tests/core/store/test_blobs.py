from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.core.model import Samples
from gemmviz.core.store.blobs import (
    BLOCK,
    MOST_TEXT_BYTES,
    BlobError,
    pack_samples,
    pack_text,
    unpack_samples,
    unpack_text,
)

_SECONDS = st.one_of(
    st.floats(0, 1e8),
    st.integers(0, 10**10).map(lambda ticks: ticks * 1e-9),
    st.integers(0, 10**10).map(lambda ticks: ticks / 1e9),
    st.just(-0.0),
)
_SAMPLE = st.tuples(st.integers(1, 2**31 - 1), _SECONDS, _SECONDS)


def _bits(values) -> bytes:
    return np.asarray(values, np.float64).tobytes()


@settings(max_examples=80, deadline=None)
@given(st.lists(_SAMPLE, max_size=40))
def test_every_sample_comes_back_bit_for_bit(found):
    launches, seconds, at = zip(*found, strict=True) if found else ((), (), ())
    blocks = [data for _, data in pack_samples(Samples(launches, seconds, at))]
    back = unpack_samples(blocks, 1000)
    assert tuple(back.launches) == launches
    assert _bits(back.seconds) == _bits(seconds)
    assert _bits(back.at) == _bits(at)


def test_samples_of_the_devices_clock_take_few_bytes():
    ticks = np.random.default_rng(1).normal(1e6, 1e4, 50_000).astype(np.int64)
    samples = Samples((1,) * len(ticks), ticks * 1e-9, np.cumsum(ticks) * 1e-9)
    packed = sum(len(data) for _, data in pack_samples(samples))
    assert packed < 9 * len(ticks)  # 24 bytes a sample as they are


def test_long_runs_are_cut_into_blocks_and_only_so_many_are_read():
    count = BLOCK + 10
    samples = Samples(np.ones(count, np.int32), np.full(count, 1e-3), np.arange(count) * 1e-3)
    blocks = list(pack_samples(samples))
    assert [size for size, _ in blocks] == [BLOCK, 10]
    assert len(unpack_samples((data for _, data in blocks), 10**6)) == count
    assert len(unpack_samples((data for _, data in blocks), BLOCK + 3)) == BLOCK + 3


def _block(head: bytes, rest: bytes = b"") -> bytes:
    return zlib.compress(head + rest)


@pytest.mark.parametrize(
    "block",
    [
        b"", b"nonsense", None, "text", 3,
        _block(b"ddc"), _block(b"ccc" + (0).to_bytes(4, "little")),
        _block(b"ccc" + (2**32 - 1).to_bytes(4, "little"), b"\0" * 24),
        _block(b"xyz" + (1).to_bytes(4, "little"), b"\0" * 24),
        _block(b"ccc" + (1).to_bytes(4, "little"), b"\0" * 24),  # no launch at all
        _block(b"ccc" + (1).to_bytes(4, "little"), b"\0" * 25),
        _block(b"ccc" + (1).to_bytes(4, "little"), np.array([np.nan, 1, 1]).tobytes()),
        _block(b"ccc" + (1).to_bytes(4, "little"), np.array([1, -1.0, 1]).tobytes()),
        _block(b"ccc" + (1).to_bytes(4, "little"), np.array([1, 1.0, np.inf]).tobytes()),
        zlib.compress(b"\0" * 2**26),
    ],
)  # fmt: skip
def test_a_strange_block_is_refused(block):
    with pytest.raises(BlobError):
        unpack_samples([block], 1000)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_damaged_block_never_breaks_anything_else(data):
    samples = Samples((1, 2, 3), (1e-3, 2e-3, 3e-3), (0.1, 0.25, 0.5))
    block = bytearray(next(pack_samples(samples))[1])
    for _ in range(data.draw(st.integers(1, 4))):
        block[data.draw(st.integers(0, len(block) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = unpack_samples([bytes(block)], 1000)
    except BlobError:
        return
    assert all(launches >= 1 for launches in found.launches)


@pytest.mark.parametrize("text", ["", "a", "Grüße\0\n", "\ud800 half a pair", "x" * 10**6])
def test_texts_come_back(text):
    assert unpack_text(pack_text(text)) == text.encode("utf-8", "replace").decode()


def test_a_text_that_unpacks_to_too_much_or_is_cut_is_refused():
    bomb = zlib.compress(b"a" * (MOST_TEXT_BYTES + 1), 9)
    for data in (bomb, pack_text("abc")[:-1], zlib.compress(b"\xff\xfe"), None):
        with pytest.raises(BlobError):
            unpack_text(data)
