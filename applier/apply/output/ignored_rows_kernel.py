# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds the rows that a copy drops because of duplicate unique keys (ALTER IGNORE)."""

from keysearch.memory import kernel

NO_VALUE = -1
"""The group of a row whose key has a NULL: it conflicts with no row."""
PLAIN, CLUSTERED, HASHED = range(3)
"""The kinds of keys, by when the server detects a duplicate: in a later index, in the clustered index, which it writes
first, or before it writes the row (by a hash)."""


@kernel
def copy_rows(groups, kinds, holders, undoes, kept, numbers):
    """Copy rows in order, given the group of each row in each key: int64[keys, rows]; rows of a group have the same
    value. kinds: uint8[keys], hashed keys first, then the clustered one. holders: int64[keys, groups], initially -1,
    for the row that has the value. undoes: a duplicate in the clustered index removes the row that was written last.
    Outputs: kept, bool[rows]; numbers, int64[rows], how many rows had been written before. Returns the number of
    duplicates in the clustered index."""
    last, written, duplicates = -1, 0, 0
    for row in range(groups.shape[1]):
        taken = -1
        for key in range(groups.shape[0]):
            group = groups[key, row]
            if group != NO_VALUE and holders[key, group] >= 0:
                taken = kinds[key]
                break
        numbers[row] = written
        kept[row] = taken < 0
        if taken < 0:
            for key in range(groups.shape[0]):
                if groups[key, row] != NO_VALUE:
                    holders[key, groups[key, row]] = row
            last = row
            written += 1
        elif taken == CLUSTERED:
            duplicates += 1
            if undoes and last >= 0:
                kept[last] = False
                for key in range(groups.shape[0]):
                    if groups[key, last] != NO_VALUE:
                        holders[key, groups[key, last]] = -1
            last = -1
        elif taken == PLAIN:
            last = -1
    return duplicates
