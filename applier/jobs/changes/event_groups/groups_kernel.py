# mypy: allow-untyped-defs, no-check-untyped-defs
"""Copies the attributes of event groups into columns of the rows that they contain."""

import numpy as np

from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import copy_bytes, inline, kernel

MOST_DIGITS = 20
"""Of a GTID's number."""


@inline
def group_at(starts, position, group):
    """The number of the group that an offset is in, given the one of the offset before it (below 0: none was before),
    which is mostly the same or the one before it."""
    if group < 0 or position < starts[group]:
        return np.searchsorted(starts, position, side="right") - 1
    while group + 1 < len(starts) and starts[group + 1] <= position:
        group += 1
    return group


@kernel
def find_groups(positions, starts, versions, times, numbers, own_versions, own_times):
    """Fill the numbers of the groups that offsets are in (int64[n], mostly ascending), and their versions and times."""
    group = np.int64(-1)
    for row in range(len(positions)):
        group = group_at(starts, positions[row], group)
        numbers[row] = group
        own_versions[row] = versions[group]
        own_times[row] = times[group]


@kernel
def put_gtids(sources, numbers, prefix_offsets, prefixes, offsets, data, have_gtid):
    """Write GTIDs to an address: the text of a source (int64[n], below 0: it is null), which lies at the address
    `prefixes` by int64 offsets, and a number. Fills their int32[n + 1] offsets and, from zeros, their validity bitmap.
    """
    at = data
    offsets[0] = 0
    for row in range(len(sources)):
        source = sources[row]
        if source >= 0:
            first = prefix_offsets[source]
            at = copy_bytes(at, prefixes + first, prefix_offsets[source + 1] - first)
            at = put_unsigned(at, np.uint64(numbers[row]))
            have_gtid[row >> 3] |= np.uint8(1 << (row & 7))
        offsets[row + 1] = at - data
