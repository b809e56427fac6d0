"""The weights of characters, as servers gave them: what collations compare instead of characters.

A table is a file weights_NAME.gz beside this module, recorded with WEIGHT_STRING from a real server:

    width     1 byte             how many bytes a weight has on the server
    counts    0x110000 bytes     for each code point how many weights it has: 0 (it is ignored) to 8; 0xF0 + i: UCA's
                                 two implicit ones, from 0xFB00 + 0x40 * i; 0xFF: the character set does not have it
    weights   uint16[…]          of all code points together; one that is alone, of a character below U+10000, less the
                                 code point; then those of contractions

Where characters weigh something else together, contractions_NAME.gz has, one behind the other, what these are: up to
three code points (uint32[3], 0 after the last) and how many weights they have (uint8).

In a key a weight is a code of one byte where a character of ASCII has it, and of three where none has: a byte that says
between which of those it stands, and the weight. So keys are as long as most texts are, no code begins another one, and
codes compare as weights do. A weight that has one byte on the server is its own code.
"""

import gzip
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

CODE_POINTS = 0x110000
POINT_BITS = 21
"""Of a code point in the key of a contraction."""
_IMPLICIT_BASE = 0xFB00
_CONTRACTED = ("uca1400_ai_ci",)
_CONTRACTION = np.dtype([("points", "<u4", 3), ("weights", "u1")])
# What an entry says in its highest byte, if not the length of a code (0: the character is ignored).
SEVERAL, IMPLICIT, UNKNOWN = 0x40, 0xF0, 0xFF
LONGEST_CODE = 3


class WeightTable(NamedTuple):
    """A table in the form that kernels read.

    entries: uint32[CODE_POINTS]: a code, as in `codes`; SEVERAL + n << 24 | where the n weights begin in `many`
    (uint16[…]); IMPLICIT << 24 | what the first weight counts from; UNKNOWN << 24. codes: uint32[65536], for each
    weight its code's length << 24 | the code, its first byte lowest. contractions: int64[n, 2], ascending: the code
    points of one as one number (a third one that it lacks is 0), and its entry. heads: uint8[…], 1 for each code point
    that begins one; none is behind the last.
    """

    entries: np.ndarray
    many: np.ndarray
    codes: np.ndarray
    contractions: np.ndarray
    heads: np.ndarray

    @property
    def space(self) -> int:
        """The code of U+0020."""
        return int(self.entries[0x20])


@cache
def weight_table(name: str) -> WeightTable:
    """The table of a name (read-only arrays; 5 MB)."""
    data = gzip.decompress(files("keysearch").joinpath(f"weights_{name}.gz").read_bytes())
    counts = np.frombuffer(data, np.uint8, CODE_POINTS, 1)
    weights = np.frombuffer(data, "<u2", -1, 1 + CODE_POINTS)
    lengths = np.where(counts < IMPLICIT, counts, 0).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    entries = counts.astype(np.uint32) << 24
    single, several = np.flatnonzero(lengths == 1), lengths > 1
    near = np.where(single < 0x10000, single, 0).astype(np.uint16)
    own = weights[starts[single]] + near
    codes = _codes(np.unique(own[single < 0x80])) if data[0] == 2 else 1 << 24 | np.arange(0x10000, dtype=np.uint32)
    entries[single] = codes[own]
    entries[several] = (entries[several] + (SEVERAL << 24)) | starts[several].astype(np.uint32)
    implied = np.flatnonzero((counts >= IMPLICIT) & (counts != UNKNOWN))
    entries[implied] = (IMPLICIT << 24 | _IMPLICIT_BASE) + (counts[implied].astype(np.uint32) - IMPLICIT) * 0x40
    entries.setflags(write=False)
    return WeightTable(entries, weights, codes, *_contractions(name, int(lengths.sum())))


def _contractions(name: str, start: int) -> tuple[np.ndarray, np.ndarray]:
    """The contractions of a table and their heads, as WeightTable has them; their weights begin at `start`."""
    if name not in _CONTRACTED:
        return np.empty((0, 2), np.int64), np.empty(0, np.uint8)
    records = np.frombuffer(gzip.decompress(files("keysearch").joinpath(f"contractions_{name}.gz").read_bytes()),
                            _CONTRACTION)
    points, counts = records["points"].astype(np.int64), records["weights"].astype(np.int64)
    keys = (points[:, 0] << POINT_BITS | points[:, 1]) << POINT_BITS | points[:, 2]
    entries = (SEVERAL + counts) << 24 | start + np.cumsum(counts) - counts
    heads = np.zeros(points[:, 0].max() + 1, np.uint8)
    heads[points[:, 0]] = 1
    return np.stack([keys, entries], 1)[np.argsort(keys)].copy(), heads


def _codes(short: np.ndarray) -> np.ndarray:
    """The codes of all weights; `short` are those that get one byte, ascending. The i-th of them is 2 * i + 1; what is
    before it, but after the one before, is 2 * i with its own two bytes."""
    weights = np.arange(0x10000, dtype=np.uint32)
    places = np.searchsorted(short, weights).astype(np.uint32)
    long = 3 << 24 | (weights & 0xFF) << 16 | (weights >> 8) << 8 | 2 * places
    return np.where(np.isin(weights, short), 1 << 24 | (2 * places + 1), long).astype(np.uint32)
