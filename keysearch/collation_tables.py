"""The weights of characters, as servers gave them: what collations compare instead of characters.

weights.zip, beside this module, has one table for each level by which a collation compares: UCA's first level is of
letters, the second of accents, the third of case. A table is a line of JSON, {parent, near, arrays: {name: [type,
length]}}, and then these arrays one behind the other:

    points    in a table with a parent, the code points whose weights differ from the parent's, each less the one
              before; empty in one without, which has all code points
    counts    how many weights each of these has: 0 (it is ignored) to 8; 0xF0 + i: the two implicit ones of
              IMPLICIT_FIRSTS[i]; 0xFF: the character set does not have it
    weights   all weights of all of these; in a `near` table, a character below U+10000 that has one weight has it less
              the code point; then the weights of strings
    lengths   of strings whose characters have weights of their own together ("contractions"); the longest one counts
    strings   their code points
    joined    how many weights each of them has
    olds      the parent's weights that are replaced, each less the one before
    news      what replaces them, less what they were

The member `index` says by which tables each collation compares (keysearch.collation).

In a key a weight that an ASCII character has is a code of one byte, any other a code of three: a byte that says between
which of the former it sorts, and the weight. So keys are about as long as most texts, no code is a prefix of another,
and codes compare as weights do. If all weights of a table have one byte, they are their own codes.
"""

import io
import json
import zipfile
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from keysearch.records import struct

CODE_POINTS = 0x110000
POINT_BITS = 21
"""Bits of a code point in a step's number."""
IMPLICIT_FIRSTS = (0xFB00, 0xFB40, 0xFB80, 0xFBC0, 0xD800)
"""The bases of the first of two implicit weights: UCA's, and one for characters whose weight is their number."""
_TAILED = range(0xFB00, 0xFC00)
"""Weights of UCA that a part of a code point follows."""
# An entry's highest byte, if it is not the length of a code (0: the character is ignored).
SEVERAL, IMPLICIT, UNKNOWN = 0x40, 0xF0, 0xFF
LONGEST_CODE = 3
_MOST_SHORT = 127
"""Codes of one byte at most: each takes two of a byte's values, and one is for weights above them all."""
_KEPT = 16
"""How many tables stay in memory."""


STEP, _, step_at = struct("step", number=np.int64, entry=np.int64, node=np.int64)
"""A step in the tree of the strings that have weights of their own. `number` is the node that it leaves (0: the root)
<< POINT_BITS | a code point, `entry` the string's entry up to there (0: it only begins others), and `node` the one that
it leads to (0: no string is longer)."""


class WeightTable(NamedTuple):
    """A table in the form that kernels read.

    entries: uint32[CODE_POINTS]: a code, as in `codes`; SEVERAL + n << 24 | where the n weights begin in `weights`
    (uint16[…]); IMPLICIT << 24 | what the first weight counts from; UNKNOWN << 24. codes: uint32[65536], for each
    weight its code's length << 24 | the code, its first byte lowest. steps: STEP[n], ascending by number. heads:
    uint8[…], 1 for each code point that begins a string with weights of its own; the last item is a 1.
    """

    entries: np.ndarray
    weights: np.ndarray
    codes: np.ndarray
    steps: np.ndarray
    heads: np.ndarray

    @property
    def space(self) -> int:
        """The code of U+0020."""
        return int(self.entries[0x20])


class _Recorded(NamedTuple):
    """A table as the servers have it. counts: uint8[CODE_POINTS], IMPLICIT whatever the first weight. firsts:
    uint32[CODE_POINTS], what implicit weights count from, or where the weights begin in `weights`: uint16[…]. strings:
    {code points: how many weights they have << 32 | where these begin}."""

    counts: np.ndarray
    firsts: np.ndarray
    weights: np.ndarray
    strings: dict[tuple[int, ...], int]


@cache
def collation_index() -> dict[str, list[str]]:
    """The tables of each collation, one a level."""
    index: dict[str, list[str]] = json.loads(_member("index"))
    return index


@lru_cache(_KEPT)
def weight_table(name: str) -> WeightTable:
    """The table with this name (read-only arrays; 5 MB)."""
    counts, firsts, weights, strings = _recorded(name)
    entries = counts.astype(np.uint32) << 24
    single, several = np.flatnonzero(counts == 1), np.flatnonzero((counts > 1) & (counts < IMPLICIT))
    own = weights[firsts[single]]
    codes = _codes(np.unique(own[single < 0x80])[-_MOST_SHORT:], weights)
    entries[single] = codes[own]
    entries[several] = (entries[several] + (SEVERAL << 24)) | firsts[several].astype(np.uint32)
    implied = counts == IMPLICIT
    entries[implied] |= firsts[implied].astype(np.uint32)
    entries.setflags(write=False)
    return WeightTable(entries, weights, codes, *_tree(strings))


def _recorded(name: str) -> _Recorded:
    """Read a table; what it does not have is its parent's."""
    data = io.BytesIO(_member(name))
    head = json.loads(data.readline())
    arrays = {key: np.frombuffer(data.read(np.dtype(kind).itemsize * length), kind)
              for key, (kind, length) in head["arrays"].items()}
    if head["parent"] is None:
        points = np.arange(CODE_POINTS)
        counts, firsts = np.empty(CODE_POINTS, np.uint8), np.zeros(CODE_POINTS, np.uint32)
        weights: np.ndarray = np.empty(0, np.uint16)
        strings: dict[tuple[int, ...], int] = {}
    else:
        points = np.cumsum(arrays["points"], dtype=np.int64)
        counts, firsts, weights, strings = _remapped(_parent(head["parent"]), arrays["olds"], arrays["news"])
    said = arrays["counts"]
    is_implicit = (said >= IMPLICIT) & (said != UNKNOWN)
    lengths = np.where(said < IMPLICIT, said, 0).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    own = arrays["weights"].astype(np.uint16)
    near = np.flatnonzero((lengths == 1) & (points < 0x10000) & head["near"])
    own[starts[near]] += points[near].astype(np.uint16)
    counts[points] = np.where(is_implicit, IMPLICIT, said)
    firsts[points] = len(weights) + starts
    for number, first in enumerate(IMPLICIT_FIRSTS):
        firsts[points[said == IMPLICIT + number]] = first
    ends, joined = np.cumsum(arrays["lengths"], dtype=np.int64), arrays["joined"].astype(np.int64)
    starts = len(weights) + int(lengths.sum()) + np.cumsum(joined) - joined
    texts = arrays["strings"].tolist()
    for length, end, start, count in zip(arrays["lengths"].tolist(), ends.tolist(), starts.tolist(), joined.tolist(),
                                         strict=True):
        strings[tuple(texts[end - length:end])] = count << 32 | start
    return _Recorded(counts, firsts, np.concatenate([weights, own]), strings)


@lru_cache(_KEPT)
def _parent(name: str) -> _Recorded:
    return _recorded(name)


def _remapped(parent: _Recorded, olds: np.ndarray, news: np.ndarray) -> _Recorded:
    """Copy a table with some weights replaced."""
    counts, firsts, weights = parent.counts.copy(), parent.firsts.copy(), parent.weights.copy()
    if len(olds):
        new = np.arange(0x10000, dtype=np.uint16)
        new[np.cumsum(olds, dtype=np.uint16)] += news
        is_lead = (weights >= _TAILED.start) & (weights < _TAILED.stop)
        is_tail = np.zeros(len(weights), bool)
        is_tail[1:] = is_lead[:-1]
        weights = np.where(is_tail, weights, new[weights])
        implied = np.flatnonzero(counts == IMPLICIT)
        firsts[implied] = new[firsts[implied] + (implied >> 15)] - (implied >> 15)
    return _Recorded(counts, firsts, weights, dict(parent.strings))


def _tree(strings: dict[tuple[int, ...], int]) -> tuple[np.ndarray, np.ndarray]:
    """The steps and heads of a WeightTable."""
    nodes: dict[tuple[int, ...], int] = {(): 0}
    for text in strings:
        for length in range(1, len(text)):
            nodes.setdefault(text[:length], len(nodes))
    ends = {(nodes[text[:-1]] << POINT_BITS | text[-1]): text for text in {*strings, *nodes} if text}
    steps = [(step, _string_entry(strings[text]) if text in strings else 0, nodes.get(text, 0))
             for step, text in sorted(ends.items())]
    heads = np.zeros(max((text[0] for text in strings), default=-1) + 1, np.uint8)
    heads[[text[0] for text in strings]] = 1
    return np.array(steps, STEP), heads


def _string_entry(weights: int) -> int:
    return SEVERAL + (weights >> 32) << 24 | weights & 0xFFFFFFFF


def _codes(short: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The codes of all weights. `short`, ascending, has those whose code is one byte, for the i-th 2 * i + 1. A weight
    between the one before and the i-th has the code 2 * i and then its own two bytes."""
    numbers = np.arange(0x10000, dtype=np.uint32)
    if weights.max(initial=0) < 0x100:
        return 1 << 24 | numbers
    indexes = np.searchsorted(short, numbers).astype(np.uint32)
    long = 3 << 24 | (numbers & 0xFF) << 16 | (numbers >> 8) << 8 | 2 * indexes
    return np.where(np.isin(numbers, short), 1 << 24 | (2 * indexes + 1), long).astype(np.uint32)


def _member(name: str) -> bytes:
    with files("keysearch").joinpath("weights.zip").open("rb") as file, zipfile.ZipFile(file) as archive:
        return archive.read(name)
