"""Which columns the before-images of a table have, as far as a file's outline tells.

An outline keeps up to 64 rows events of a table and file, evenly spread, with their bitmaps; and for all events, which
columns some before-image lacks. So every layout that is at all common is seen, and of the others what they may lack.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable

from applier.binlog.events.events import parse_rows_header
from applier.binlog.events.table_map import TableMap
from applier.binlog.outline.outline import TableUse
from applier.errors import ArchiveError

_HEADER = 19
_TYPE = 4


@dataclasses.dataclass(frozen=True)
class BeforeImages:
    """Before-images that have the same columns. present: these, by their numbers in the log. samples: how many of the
    sampled events have such images; 0: not one, but there may be before-images that lack as much as this."""

    present: frozenset[int]
    samples: int


def before_images(uses: Iterable[tuple[TableUse, TableMap]]) -> list[BeforeImages]:
    """The layouts of a table's before-images, the most frequent ones first; none where rows are only inserted."""
    seen: Counter[frozenset[int]] = Counter()
    fewest: set[int] | None = None
    for use, table_map in uses:
        columns = range(len(table_map.types))
        for sample in use.samples:
            present = _present(sample)
            if present is not None:
                seen[present] += 1
        if lacked := {column for column in columns if use.lacked_columns >> column & 1}:
            left = set(columns) - lacked
            fewest = left if fewest is None else fewest & left
    found = [BeforeImages(present, samples) for present, samples in seen.most_common()]
    if fewest is not None and frozenset(fewest) not in seen:
        found.append(BeforeImages(frozenset(fewest), 0))
    return found


def _present(event: bytes) -> frozenset[int] | None:
    """The columns of the before-images of a rows event, which may be cut off; None where it has none."""
    try:
        header = parse_rows_header(event[_TYPE], event[_HEADER:])
    except ArchiveError:  # cut off within bitmaps of thousands of columns
        return None
    if header.before is None:
        return None
    bits = int.from_bytes(header.before, "little")
    return frozenset(column for column in range(header.n_columns) if bits >> column & 1)
