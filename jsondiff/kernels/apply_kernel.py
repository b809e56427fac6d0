# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that applies partial updates to documents: a chain of column values of the log to each.

The operations and their paths follow apply_json_diffs in MySQL's sql/json_diff.cc: all diffs of a value are read before
the first one is applied, no path is wrapped (`$[0]` names nothing in a scalar), and none may be `$` alone.
"""

from typing import NamedTuple

import numpy as np

from jsondiff.kernels.apply_records import Status, is_full, node_at, span_at, state_at
from jsondiff.kernels.binary_kernel import MAX_DEPTH
from jsondiff.kernels.path_kernel import CELL_FROM_END, MEMBER, leg_at, read_path
from jsondiff.kernels.string_kernel import is_utf8
from jsondiff.kernels.tree_kernel import (
    ARRAY,
    OBJECT,
    child_at,
    find_member,
    insert_child,
    kind,
    load,
    name_node,
    new_node,
    remove_child,
    replace_child,
)
from jsondiff.kernels.tree_text_kernel import read_container, text_depth, write_text
from jsondiff.kernels.wire_kernel import INSERT, REMOVE, read_diff
from keysearch.addresses import address_of
from keysearch.memory import copy_bytes, inline, kernel, load_byte, load_i64, store_i32

_MAX_NAME = 65535
_ENOUGH_DIFFS = 64
_NULL = int.from_bytes(b"null", "little")


class Documents(NamedTuple):
    """The documents and their chains: arrays of a row each, and two of one more."""

    texts: np.ndarray  # uint8
    offsets: np.ndarray  # int64, of the texts
    valid: np.ndarray  # bool, False for NULL
    chains: np.ndarray  # int64, the first column value of each
    bases: np.ndarray  # int64, the row before it whose result it begins with, instead of its text, or -1


class Results(NamedTuple):
    """The results for the documents: arrays of a row each, and offsets of one more."""

    offsets: np.ndarray  # int64, of the texts
    valid: np.ndarray  # bool, False where the text is NULL
    codes: np.ndarray  # uint8, a Status
    failed: np.ndarray  # int64, the column value that could not be applied, or -1
    numbers: np.ndarray  # int64, the number of the diff in it, or -1


@inline
def _read_operands(state, document):
    """Read a diff's path, and copy the text of its data to the heap: (DONE, HEAP_FULL or an error; the number of legs;
    start and end of the text)."""
    diff, tree, values = state.diff, state.tree, state.values
    path, path_end, used = diff.path, diff.path_end, tree.heap_used
    start = end = values.texts
    has_data = diff.operation != REMOVE
    if has_data:
        span = span_at(values.spans, document)
        start += span.start
        end += span.end
    if tree.heap_room - used < path_end - path + end - start:
        return Status.HEAP_FULL, 0, 0, 0
    to = tree.heap + used
    text = copy_bytes(to, path, path_end - path)
    n_legs = read_path(to, text, state.legs, MAX_DEPTH)
    if n_legs < 0:
        return Status.BAD_PATH, 0, 0, 0
    if has_data and (load_byte(values.is_bad + document) or not is_utf8(start, end)):
        return Status.BAD_DATA, 0, 0, 0
    text_end = copy_bytes(text, start, end - start)
    tree.heap_used = text_end - tree.heap
    return Status.DONE, n_legs, text, text_end


@inline
def _child(tree, node, leg):
    """Look up a leg among a read container's children: (the child's index, or where one would be inserted; whether it
    exists; whether the container is of the kind that has such children)."""
    if leg.kind == MEMBER:
        if kind(tree, node) != OBJECT:
            return 0, False, False
        index, found = find_member(tree, node, leg.key, leg.key_end - leg.key)
        return index, found, True
    if kind(tree, node) != ARRAY:
        return 0, False, False
    count, index = np.int64(node.n_children), leg.index
    if leg.kind == CELL_FROM_END:
        return max(count - 1 - index, 0), index < count, True
    return min(index, count), index < count, True


@inline
def _seek(tree, legs, n_legs):
    """Follow a path's legs to the container that its last one is about: (DONE, the buffer that is too short, or an
    error; the container's node; the index in it; whether a child exists)."""
    number, index, found = 0, 0, False
    for i in range(n_legs):
        if i:
            if not found:
                return Status.NOT_THERE, number, index, found
            number = child_at(tree, node_at(tree.nodes, number), index)
        node = node_at(tree.nodes, number)
        if kind(tree, node) != OBJECT and kind(tree, node) != ARRAY:
            return Status.NOT_THERE, number, index, found
        status = read_container(tree, node)
        if status != Status.DONE:
            return status, number, index, found
        index, found, fits = _child(tree, node, leg_at(legs, i))
        if not fits:
            return Status.NOT_THERE, number, index, found
    return Status.DONE, number, index, found


@inline
def _change(state, n_legs, start, end):
    """Apply one diff to the tree; the text of its data is start:end in the heap. Returns DONE, the buffer that is too
    short, or an error."""
    if n_legs == 0:
        return Status.ON_ROOT
    if n_legs > MAX_DEPTH:  # no container is that deep
        return Status.NOT_THERE
    tree, operation = state.tree, state.diff.operation
    status, number, index, found = _seek(tree, state.legs, n_legs)
    if status != Status.DONE:
        return status
    node = node_at(tree.nodes, number)
    if operation == INSERT:
        return _insert(tree, node, index, found, leg_at(state.legs, n_legs - 1), start, end)
    if not found:
        return Status.NOT_THERE
    if operation == REMOVE:
        remove_child(tree, node, index)
        return Status.DONE
    child = new_node(tree, start, end)
    if child < 0:
        return Status.NODES_FULL
    replace_child(tree, node, index, child)
    return Status.DONE


@inline
def _insert(tree, node, index, found, leg, start, end):
    """Insert the value whose text is start:end into a container. Returns as `_change` does."""
    is_member = leg.kind == MEMBER
    name, name_end = (leg.key, leg.key_end) if is_member else (start, start)
    if is_member and found:
        return Status.IS_THERE
    if name_end - name > _MAX_NAME:
        return Status.LONG_NAME
    child = new_node(tree, start, end)
    if child < 0:
        return Status.NODES_FULL
    name_node(tree, child, name, name_end - name)
    return insert_child(tree, node, index, child)


@inline
def _free_room(state):
    """Start and end of the free room for texts."""
    return state.out + state.out_used, state.out + state.out_room


@inline
def _reload(state):
    """Write the document and load it again, which frees the room of what it has no more. Returns DONE, HEAP_FULL or
    OUT_FULL."""
    room, room_end = _free_room(state)
    end = write_text(state.tree, room, room_end)
    return load(state.tree, room, end) if end else Status.OUT_FULL


@inline
def _check_depth(state):
    """Return whether a server stores a document that is nested so deep: DONE, TOO_DEEP or OUT_FULL."""
    room, room_end = _free_room(state)
    end = write_text(state.tree, room, room_end)
    if end == 0:
        return Status.OUT_FULL
    return Status.TOO_DEEP if text_depth(room, end) > MAX_DEPTH else Status.DONE


@inline
def _apply_value(state, value, rejected):
    """Apply the diffs of one column value: (DONE, the buffer that is too short, or an error; the number of its diff).

    rejected: the error of all diffs on this document, or DONE. A malformed diff outranks one before it that could not
    be applied, since a server reads all of them first."""
    tree, values, diff = state.tree, state.values, state.diff
    offsets = values.offsets + 8 * value
    at, end = values.bytes + load_i64(offsets), values.bytes + load_i64(offsets + 8)
    document = load_i64(values.first_documents + 8 * value)
    number = bad = deep = 0
    while at < end:
        after = read_diff(at, end, diff)
        if after == 0:
            return (Status.BAD_OPERATION if load_byte(at) > REMOVE else Status.BAD_FORMAT), number
        if rejected != Status.DONE:
            tree.heap_used = 0  # the document is not needed any more
        status, n_legs, start, text_end = _read_operands(state, document)
        if status == Status.DONE and rejected == Status.DONE:
            status = _change(state, n_legs, start, text_end)
        if is_full(status):  # try again, if that frees the room which enough earlier diffs took
            if rejected == Status.DONE and tree.n_diffs >= _ENOUGH_DIFFS:
                status = _reload(state)
            if status != Status.DONE:
                return status, number
            continue
        if status == Status.BAD_PATH or status == Status.BAD_DATA:
            return status, number
        if status != Status.DONE:
            rejected, bad = status, number
        elif n_legs + text_depth(start, text_end) > MAX_DEPTH:
            deep = number + 1
        tree.n_diffs += 1
        document += 1 if diff.operation != REMOVE else 0
        at = after
        number += 1
    if deep and rejected == Status.DONE:
        return _check_depth(state), deep - 1
    return rejected, bad


@inline
def _apply_chain(state, at, end, valid, first, last):
    """Apply the values first to last - 1 to the document at at:end, which is NULL if it is not valid: (DONE, the buffer
    that is too short, or an error; its value; the number of its diff in that; whether the document stays NULL)."""
    tree = state.tree
    rejected = Status.DONE if valid else Status.ON_NULL
    if valid and (at == end or not is_utf8(at, end)):
        rejected = Status.NOT_JSON
    elif valid:
        status = load(tree, at, end)
        if status != Status.DONE:
            return status, first, 0, False
    for value in range(first, last):
        offsets = state.values.offsets + 8 * value
        if load_i64(offsets) == load_i64(offsets + 8):
            if rejected == Status.ON_NULL:
                rejected = Status.DONE
                store_i32(state.legs, _NULL)  # its memory is not in use
                status = load(tree, state.legs, state.legs + 4)
                if status != Status.DONE:
                    return status, value, 0, False
            continue
        status, number = _apply_value(state, value, rejected)
        if status != Status.DONE:
            return status, value, number, False
    return Status.NOT_JSON if rejected == Status.NOT_JSON else Status.DONE, first, 0, rejected == Status.ON_NULL


@kernel
def apply_chains(documents, state_address, results):
    """Write the texts of the documents from row `row` of the STATE on, and their results, as long as there is room.

    documents: Documents; results: Results. Returns DONE when all rows are done, else which buffer is too short for
    row `row`, which the next call does again."""
    state, base = state_at(state_address), address_of(documents.texts)
    while state.row < len(documents.valid):
        row = state.row
        start, end, valid = base + documents.offsets[row], base + documents.offsets[row + 1], documents.valid[row]
        first, last, before = documents.chains[row], documents.chains[row + 1], documents.bases[row]
        status, value, number = Status.DONE, first, np.int64(0)
        if before >= 0:
            start, end = state.out + results.offsets[before], state.out + results.offsets[before + 1]
            valid, status = results.valid[before], np.int64(results.codes[before])
            if status != Status.DONE:
                value, number = results.failed[before], results.numbers[before]
        is_null = not valid
        if first < last and status == Status.DONE:
            status, value, number, is_null = _apply_chain(state, start, end, valid, first, last)
        if is_full(status):
            return status
        room, room_end = _free_room(state)
        written, has_failed = room, status != Status.DONE
        if not has_failed and not is_null:
            if first < last:
                written = write_text(state.tree, room, room_end)
            else:
                written = copy_bytes(room, start, end - start) if end - start <= room_end - room else 0
            if written == 0:
                return Status.OUT_FULL
        state.out_used = written - state.out
        results.codes[row] = status
        results.failed[row], results.numbers[row] = (value, number) if has_failed else (-1, -1)
        results.valid[row] = not has_failed and not is_null
        results.offsets[row + 1] = state.out_used
        state.row += 1
    return Status.DONE
