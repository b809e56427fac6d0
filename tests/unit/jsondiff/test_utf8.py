"""UTF-8 against Python's decoder."""

import itertools
import random

import numpy as np

from jsondiff.kernels.utf8_kernel import is_utf8

LEADS = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
         0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]  # fmt: skip
"""Bytes on both sides of every border of the standard."""
CHARACTERS = "a\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"


def expected(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def found(data: bytes) -> bool:
    return is_utf8(np.array(bytearray(data), np.uint8))


def test_every_sequence_of_bytes_at_the_borders_of_the_standard():
    """Alone, at the end of blocks and across them."""
    outcomes = set()
    for length in range(4):
        for sequence in map(bytes, itertools.product(LEADS, repeat=length)):
            good = expected(sequence)
            outcomes.add(good)
            for before, behind in ((0, 0), (31, 0), (30, 40)):
                assert found(b"a" * before + sequence + b"b" * behind) == good, (sequence, before, behind)
    assert outcomes == {True, False}


def test_characters_of_four_bytes():
    leads, others = (0xEF, 0xF0, 0xF1, 0xF4, 0xF5), (0x7F, 0x80, 0xC0)
    for sequence in map(bytes, itertools.product(leads, (0x7F, 0x8F, 0x90, 0xBF, 0xC0), others, others)):
        assert found(b"b" * 29 + sequence) == expected(sequence), sequence


def test_a_bad_byte_anywhere_in_a_long_text():
    """Behind ASCII that is skipped, among characters of all lengths, at the end."""
    dice = random.Random(1)
    for _ in range(2000):
        parts = dice.choices([*CHARACTERS, "a" * 40, "é" * 20, "a" * 600], k=dice.randrange(1, 30))
        data = bytearray("".join(parts).encode())
        assert found(data)
        data[dice.randrange(len(data))] = dice.randrange(256)
        assert found(data) == expected(data)
        cut = data[: dice.randrange(len(data) + 1)]
        assert found(cut) == expected(cut)
