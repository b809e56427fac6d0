# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that applies partial updates to documents: a chain of column values of the log to each.

What the operations do, and to which paths, is apply_json_diffs in MySQL's sql/json_diff.cc: all diffs of a value are
read before the first one is applied, no path is wrapped (`$[0]` is no place in a scalar), and none may be `$` alone.
"""

from typing import NamedTuple

import numpy as np

from jsondiff.binary_kernel import MAX_DEPTH
from jsondiff.path_kernel import CELL_FROM_END, LEG_BYTES, MEMBER, leg_index, leg_kind, leg_name, read_path
from jsondiff.string_kernel import is_utf8
from jsondiff.tree_kernel import (
    ARRAY,
    DIFFS,
    FULL,
    HEAP,
    HEAP_ROOM,
    HEAP_USED,
    NOT_JSON,
    OBJECT,
    OK,
    OUT,
    child_at,
    count_children,
    field,
    find_member,
    insert_child,
    is_short_of,
    kind,
    load,
    name_node,
    new_node,
    put_field,
    remove_child,
    replace_child,
)
from jsondiff.tree_text_kernel import read_container, text_depth, write_text
from jsondiff.wire_kernel import (
    DIFF_FIELDS,
    INSERT,
    OPERATION,
    PATH,
    PATH_END,
    REMOVE,
    diff_field,
    read_diff,
)
from keysearch.addresses import address_of
from keysearch.memory import copy_bytes, inline, kernel, load_byte, load_i64, store_i32

BAD_FORMAT, BAD_PATH, BAD_DATA = 3, 4, 5
ON_NULL, ON_ROOT, NOT_THERE, IS_THERE, TOO_DEEP, LONG_NAME = range(6, 12)
"""What is wrong with a diff, or with the document that it would make; besides OK and NOT_JSON."""

VALUES, OFFSETS, FIRSTS, TEXTS, ENDS, BAD = range(6)
"""The fields of column values, addresses: of their bytes, of the offsets of each value in these and of the number of
each one's first document (int64s); of the texts of all documents in them, of an int64 and then two for each, where it
starts and ends there, and of a byte for each, whether it is no binary JSON."""

_DIFF_BYTES = 8 * DIFF_FIELDS
SCRATCH_BYTES = _DIFF_BYTES + MAX_DEPTH * LEG_BYTES
"""Room to read a diff and its path."""

_MAX_NAME = 65535
_ENOUGH_DIFFS = 64
_NULL = int.from_bytes(b"null", "little")


class Results(NamedTuple):
    """What becomes of each document: arrays of a row each, and offsets of one more."""

    offsets: np.ndarray  # int64, of the texts
    valid: np.ndarray  # bool, False where the text is NULL
    codes: np.ndarray  # uint8, OK or an error
    failed: np.ndarray  # int64, the column value that could not be applied, or -1
    numbers: np.ndarray  # int64, the number of the diff in it, or -1


@inline
def _read_operands(diff, legs, values, document, tree):
    """Brings a diff's path and the text of its data to the heap: (OK, FULL or an error; the number of legs; where the
    text starts and ends)."""
    path, path_end = diff_field(diff, PATH), diff_field(diff, PATH_END)
    start = end = field(values, TEXTS)
    has_data = diff_field(diff, OPERATION) != REMOVE
    if has_data:
        start += load_i64(field(values, ENDS) + 16 * document + 8)
        end += load_i64(field(values, ENDS) + 16 * document + 16)
    used = field(tree, HEAP_USED)
    if field(tree, HEAP_ROOM) - used < path_end - path + end - start:
        return is_short_of(tree, HEAP), 0, 0, 0
    to = field(tree, HEAP) + used
    text = copy_bytes(to, path, path_end - path)
    n_legs = read_path(to, text, legs, MAX_DEPTH)
    if n_legs < 0:
        return BAD_PATH, 0, 0, 0
    if has_data and (load_byte(field(values, BAD) + document) or not is_utf8(start, end)):
        return BAD_DATA, 0, 0, 0
    text_end = copy_bytes(text, start, end - start)
    put_field(tree, HEAP_USED, text_end - field(tree, HEAP))
    return OK, n_legs, text, text_end


@inline
def _child(tree, node, leg):
    """Where a leg leads among a read container's children: (their index, or where one would be inserted; whether there
    is one; whether the container is of the kind that has such children)."""
    if leg_kind(leg) == MEMBER:
        if kind(tree, node) != OBJECT:
            return 0, False, False
        name, name_end = leg_name(leg)
        index, found = find_member(tree, node, name, name_end - name)
        return index, found, True
    if kind(tree, node) != ARRAY:
        return 0, False, False
    count, index = count_children(tree, node), leg_index(leg)
    if leg_kind(leg) == CELL_FROM_END:
        return max(count - 1 - index, 0), index < count, True
    return min(index, count), index < count, True


@inline
def _seek(tree, legs, n_legs):
    """Follows a path's legs, but for what the last one leads to: (OK, FULL or an error; the last container; the index
    in it; whether there is a child)."""
    node, index, found = 0, 0, False
    for i in range(n_legs):
        if i:
            if not found:
                return NOT_THERE, node, index, found
            node = child_at(tree, node, index)
        if kind(tree, node) != OBJECT and kind(tree, node) != ARRAY:
            return NOT_THERE, node, index, found
        result = read_container(tree, node)
        if result != OK:
            return result, node, index, found
        index, found, fits = _child(tree, node, legs + LEG_BYTES * i)
        if not fits:
            return NOT_THERE, node, index, found
    return OK, node, index, found


@inline
def _change(operation, legs, n_legs, start, end, tree):
    """Changes the tree as one diff says, the text of whose data is start:end in the heap. Returns OK, FULL or an
    error."""
    if n_legs == 0:
        return ON_ROOT
    if n_legs > MAX_DEPTH:  # no container is that deep
        return NOT_THERE
    result, node, index, found = _seek(tree, legs, n_legs)
    if result != OK:
        return result
    leg = legs + LEG_BYTES * (n_legs - 1)
    if operation == INSERT:
        return _insert(tree, node, index, found, leg, start, end)
    if not found:
        return NOT_THERE
    if operation == REMOVE:
        remove_child(tree, node, index)
        return OK
    child = new_node(tree, start, end)
    if child < 0:
        return FULL
    replace_child(tree, node, index, child)
    return OK


@inline
def _insert(tree, node, index, found, leg, start, end):
    is_member = leg_kind(leg) == MEMBER
    name, name_end = leg_name(leg) if is_member else (start, start)
    if is_member and found:
        return IS_THERE
    if name_end - name > _MAX_NAME:
        return LONG_NAME
    child = new_node(tree, start, end)
    if child < 0:
        return FULL
    name_node(tree, child, name, name_end - name)
    return insert_child(tree, node, index, child)


@inline
def _reload(tree, room, room_end):
    """Writes the document out and reads it in again: what is not part of it any more gives its room back. Returns OK or
    FULL."""
    end = write_text(tree, room, room_end)
    return load(tree, room, end) if end else is_short_of(tree, OUT)


@inline
def _is_too_deep(tree, room, room_end):
    """Whether the document nests deeper than a server stores: OK, FULL or TOO_DEEP."""
    end = write_text(tree, room, room_end)
    if end == 0:
        return is_short_of(tree, OUT)
    return TOO_DEEP if text_depth(room, end) > MAX_DEPTH else OK


@inline
def _apply_value(values, value, rejected, tree, room, room_end, scratch):
    """Applies the diffs of one column value: (OK, FULL or an error; the number of the diff that has it).

    rejected: the error that all diffs have on this document, or OK. Room that may be written to is at room:room_end. A
    diff that cannot be applied gives way to a later one that is no diff at all: the server reads all of them first."""
    offsets, diff, legs = field(values, OFFSETS) + 8 * value, scratch, scratch + _DIFF_BYTES
    at, end = field(values, VALUES) + load_i64(offsets), field(values, VALUES) + load_i64(offsets + 8)
    document = load_i64(field(values, FIRSTS) + 8 * value)
    number = bad = deep = 0
    while at < end:
        after = read_diff(at, end, diff)
        if after == 0:
            return BAD_FORMAT, number
        if rejected != OK:
            put_field(tree, HEAP_USED, 0)  # the document is not needed any more
        result, n_legs, start, text_end = _read_operands(diff, legs, values, document, tree)
        if result == OK and rejected == OK:
            result = _change(diff_field(diff, OPERATION), legs, n_legs, start, text_end, tree)
        if result == FULL:  # done again, if it is worth while to free the room that earlier diffs took
            if field(tree, DIFFS) < _ENOUGH_DIFFS or rejected != OK or _reload(tree, room, room_end) != OK:
                return FULL, number
            continue
        if result == BAD_PATH or result == BAD_DATA:
            return result, number
        if result != OK:
            rejected, bad = result, number
        elif n_legs + text_depth(start, text_end) > MAX_DEPTH:
            deep = number + 1
        put_field(tree, DIFFS, field(tree, DIFFS) + 1)
        document += 1 if diff_field(diff, OPERATION) != REMOVE else 0
        at = after
        number += 1
    if deep and rejected == OK:
        return _is_too_deep(tree, room, room_end), deep - 1
    return rejected, bad


@inline
def _apply_chain(at, end, valid, values, first, last, tree, room, room_end, scratch):
    """Applies the values first to last - 1 to the document at at:end, which is NULL where it is not valid: (OK, FULL or
    an error; the value and the number of the diff in it that has it; whether the document stays NULL)."""
    rejected = OK if valid else ON_NULL
    if valid and (at == end or not is_utf8(at, end)):
        rejected = NOT_JSON
    elif valid and load(tree, at, end) != OK:
        return FULL, first, 0, False
    for value in range(first, last):
        offsets = field(values, OFFSETS) + 8 * value
        if load_i64(offsets) == load_i64(offsets + 8):
            if rejected == ON_NULL:
                rejected = OK
                store_i32(scratch, _NULL)
                if load(tree, scratch, scratch + 4) != OK:
                    return FULL, value, 0, False
            continue
        result, number = _apply_value(values, value, rejected, tree, room, room_end, scratch)
        if result != OK:
            return result, value, number, False
    return NOT_JSON if rejected == NOT_JSON else OK, first, 0, rejected == ON_NULL


@kernel
def apply_chains(texts, offsets, valid, values, chains, row, tree, scratch, out, to, results):
    """Writes the texts of the documents from number `row` on to out[to:], as long as there is room.

    texts: uint8, offsets: int64[n + 1] into it, valid: bool[n]; values, tree: int64 arrays of their fields; chains:
    int64[n + 1], the values of each document; scratch: uint8[SCRATCH_BYTES]; out: uint8; results: the rows done are
    written. Returns (the first row not done: n when all are; end of the text). For another row, tree[SHORT] says which
    buffer must be larger, and the row is to be done again."""
    base, room, room_end = address_of(texts), address_of(out), address_of(out) + len(out)
    tree_at, values_at, scratch_at = address_of(tree), address_of(values), address_of(scratch)
    while row < len(valid):
        start, end, first, last = base + offsets[row], base + offsets[row + 1], chains[row], chains[row + 1]
        result, written, is_null = OK, room + to, not valid[row]
        if first < last:
            result, value, number, is_null = _apply_chain(start, end, valid[row], values_at, first, last, tree_at,
                                                          room + to, room_end, scratch_at)  # fmt: skip
        results.codes[row], results.failed[row], results.numbers[row] = result, -1, -1
        if result != OK:
            results.failed[row], results.numbers[row] = value, number
        elif not is_null and first < last:
            written = write_text(tree_at, room + to, room_end)
        elif not is_null:
            written = copy_bytes(room + to, start, end - start) if end - start <= room_end - room - to else 0
        if written == 0:
            is_short_of(tree_at, OUT)
        if written == 0 or result == FULL:
            return row, to
        to = written - room
        results.valid[row] = result == OK and not is_null
        row += 1
        results.offsets[row] = to
    return row, to
