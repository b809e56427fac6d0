"""Digests: XXH64 as others compute it, however the bytes come; and files whose bytes are not those of their digest."""

import random

import pytest

from applier.errors import SnapshotError
from applier.snapshot.files.digest import Digest, HashedSink, check_digest, digest_of

# of xxHash's own tests and its users': seed 0
KNOWN = {b"": "ef46db3751d8e999", b"a": "d24ec4f1a98c6e5b", b"abc": "44bc2cf5ad770999",
         b"Nobody inspects the spammish repetition": "fbcea83c8a378bf1"}


def _by_the_book(data):
    """XXH64 from its description, in Python's numbers."""
    mask, (p1, p2, p3, p4, p5) = 2**64 - 1, (
        0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)

    def rotated(word, bits):
        return (word << bits | word >> 64 - bits) & mask

    def round_(lane, word):
        return rotated((lane + word * p2) & mask, 31) * p1 & mask

    def word(at, size):
        return int.from_bytes(data[at:at + size], "little")

    at, value = 0, p5
    if len(data) >= 32:
        lanes = [(p1 + p2) & mask, p2, 0, -p1 & mask]
        while at + 32 <= len(data):
            lanes = [round_(lane, word(at + 8 * number, 8)) for number, lane in enumerate(lanes)]
            at += 32
        value = sum(map(rotated, lanes, (1, 7, 12, 18))) & mask
        for lane in lanes:
            value = ((value ^ round_(0, lane)) * p1 + p4) & mask
    value = (value + len(data)) & mask
    while at + 8 <= len(data):
        value, at = (rotated(value ^ round_(0, word(at, 8)), 27) * p1 + p4) & mask, at + 8
    if at + 4 <= len(data):
        value, at = (rotated(value ^ word(at, 4) * p1 & mask, 23) * p2 + p3) & mask, at + 4
    while at < len(data):
        value, at = rotated(value ^ word(at, 1) * p5 & mask, 11) * p1 & mask, at + 1
    value = (value ^ value >> 33) * p2 & mask
    value = (value ^ value >> 29) * p3 & mask
    return value ^ value >> 32


@pytest.mark.parametrize("data", KNOWN)
def test_known_hashes(data):
    assert digest_of(data) == f"xxh64:{KNOWN[data]}" == f"xxh64:{_by_the_book(data):016x}"


def test_every_length_however_it_comes():
    chance = random.Random(1)
    data = chance.randbytes(400)
    for length in range(200):
        expected = f"xxh64:{_by_the_book(data[:length]):016x}"
        made, at = Digest(), 0
        while at < length:
            size = chance.randrange(1, 70)
            made.update(memoryview(data)[at:min(length, at + size)])
            at += size
        assert str(made) == digest_of(data[:length]) == expected


def test_what_is_written_is_what_is_hashed(tmp_path):
    with open(tmp_path / "file", "wb") as file:
        sink = HashedSink(file)
        assert [sink.write(part) for part in (b"", b"ab", memoryview(b"c"))] == [0, 2, 1]
        sink.close()
    assert (sink.tell(), sink.digest, sink.closed) == (3, digest_of(b"abc"), True)
    assert (tmp_path / "file").read_bytes() == b"abc"


def test_another_digest_is_an_error_and_an_unknown_one_is_not_checked():
    check_digest(b"abc", digest_of(b"abc"), "f")
    check_digest(b"abc", None, "f")
    check_digest(b"abc", "newer:00", "f")
    with pytest.raises(SnapshotError, match="was changed") as error:
        check_digest(b"abd", digest_of(b"abc"), "f")
    assert error.value.file == "f" and error.value.exit_code == 2
