"""Which columns the before-images of a table have, as far as a file's outline shows.

An outline keeps up to 64 rows events of each table and file, evenly spread, with their bitmaps; and for all events, the
columns that some before-image does not have. So every frequent layout is seen; for the others, only the columns that
may be missing are known.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable

from applier.binlog.events.events import parse_rows_header
from applier.errors import ArchiveError
from applier.plan.used_tables import UsedTable

_HEADER = 19
_TYPE = 4


@dataclasses.dataclass(frozen=True)
class BeforeImages:
    """Before-images with the same columns. present: these, by their numbers in the log. samples: how many sampled
    events have such images; 0: none, but some before-images may have as few columns."""

    present: frozenset[int]
    samples: int


def before_images(uses: Iterable[UsedTable]) -> list[BeforeImages]:
    """Return the layouts of a table's before-images, the most frequent first; empty if rows are only inserted."""
    seen: Counter[frozenset[int]] = Counter()
    fewest: set[int] | None = None
    for used in uses:
        columns = range(len(used.table_map.types))
        for number in range(len(used.files)):
            for sample in used.samples(number):
                present = _present(sample)
                if present is not None:
                    seen[present] += 1
        if lacked := {column for column in columns if used.use.lacked_columns >> column & 1}:
            left = set(columns) - lacked
            fewest = left if fewest is None else fewest & left
    found = [BeforeImages(present, samples) for present, samples in seen.most_common()]
    if fewest is not None and frozenset(fewest) not in seen:
        found.append(BeforeImages(frozenset(fewest), 0))
    return found


def _present(event: bytes) -> frozenset[int] | None:
    """Return the columns of the before-images of a rows event, which may be truncated; None if it has none."""
    try:
        header = parse_rows_header(event[_TYPE], event[_HEADER:])
    except ArchiveError:  # truncated within bitmaps of thousands of columns
        return None
    if header.before is None:
        return None
    bits = int.from_bytes(header.before, "little")
    return frozenset(column for column in range(header.n_columns) if bits >> column & 1)
