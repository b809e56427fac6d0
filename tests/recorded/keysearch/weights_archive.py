"""The file that record_weights.py writes: keysearch.collation_tables says what it holds."""

import io
import json
import zipfile

import numpy as np

from keysearch.collation import MOST_BYTES
from keysearch.collation_tables import IMPLICIT_FIRSTS, LONGEST_CODE
from tests.recorded.keysearch.learnt_collation import Collation, remapped
from tests.recorded.keysearch.record_collations import ARCHIVE
from tests.recorded.keysearch.weights_of_server import Weights


class Archive:
    """The tables of collations as members of a ZIP file, equal ones once."""

    def __init__(self):
        self.members: dict[str, bytes] = {}
        self.index: dict[str, list[str]] = {}
        self._levels: dict[str, list[str]] = {}

    def add(self, collation: Collation) -> list[str]:
        """A collation's levels. Returns the members that have them."""
        names = []
        for level in range(collation.n_levels):
            parent = self._levels[collation.parent.name][level] if collation.parent else None
            data = table(collation, level, parent)
            if data is None:
                names.append(parent)
                continue
            same = next((name for name, other in self.members.items() if other == data), None)
            if same is None:
                same = f"{collation.name}.{level + 1}" if collation.n_levels > 1 else collation.name
                self.members[same] = data
            names.append(same)
        self._levels[collation.name] = names
        return names

    def write(self) -> None:
        with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_LZMA) as archive:
            for name, data in {"index": json.dumps(self.index, indent=0).encode(), **self.members}.items():
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_LZMA)


def table(collation: Collation, level: int, parent: str | None) -> bytes | None:
    """One level of a collation; None where it is its parent's."""
    remap = collation.remaps[level]
    strings = sorted(text for text in collation.own if len(text) > 1)
    singles = {ord(text): levels[level] for text, levels in collation.own.items() if len(text) == 1}
    if collation.parent is None:
        points = range(0x110000)
    else:
        points = sorted(point for point, weights in singles.items()
                        if remapped(collation.parent.of(chr(point))[level], remap) != weights)
        if not points and not remap and not strings:
            return None
    near = level == 0  # in others most characters have the same weight
    counts, weights = bytearray(), []
    for point in points:
        own = singles.get(point)
        base = implicit_base(point, own)
        if own is None or base is not None:
            counts.append(0xFF if own is None else 0xF0 + IMPLICIT_FIRSTS.index(base))
            continue
        counts.append(count_of(chr(point), own))
        weights += [own[0] - point & 0xFFFF] if near and len(own) == 1 and point < 0x10000 else own
    joined = [collation.own[text][level] for text in strings]
    weights += [weight for own in joined for weight in own]
    olds = sorted(remap)
    arrays = {"points": np.diff(np.array(points if parent else [], np.int64), prepend=0).astype("<u4"),
              "counts": np.frombuffer(bytes(counts), np.uint8),
              "weights": np.array(weights, "<u2"),
              "lengths": np.array([len(text) for text in strings], np.uint8),
              "strings": np.array([ord(c) for text in strings for c in text], "<u4"),
              "joined": np.array([count_of(*both) for both in zip(strings, joined, strict=True)], np.uint8),
              "olds": np.diff(np.array(olds, np.int64), prepend=0).astype("<u2"),
              "news": np.array([remap[old] - old & 0xFFFF for old in olds], "<u2")}
    head = {"parent": parent, "near": near,
            "arrays": {name: [array.dtype.str, len(array)] for name, array in arrays.items()}}
    out = io.BytesIO()
    out.write(json.dumps(head).encode() + b"\n")
    for array in arrays.values():
        out.write(array.tobytes())
    return out.getvalue()


def implicit_base(point: int, weights: Weights | None) -> int | None:
    if weights is None or len(weights) != 2 or weights[1] != point & 0x7FFF | 0x8000:
        return None
    base = weights[0] - (point >> 15)
    return base if base in IMPLICIT_FIRSTS else None


def count_of(text: str, weights: Weights) -> int:
    if len(weights) * LONGEST_CODE > len(text.encode()) * MOST_BYTES:
        raise SystemExit(f"{text!r} has {len(weights)} weights")
    return len(weights)
