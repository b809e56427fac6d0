# mypy: allow-untyped-defs, no-check-untyped-defs
"""Text to a tree and back, in kernels: reads the children of a container, and writes the whole (tree_kernel.py).

Nothing in the text is believed: what MySQL would not print in a container that is read is an error. Of a child only its
end is looked for.
"""

import numpy as np

from jsondiff.kernels.apply_records import UNREAD, Status, node_at
from jsondiff.kernels.string_kernel import QUOTE, put_string, string_end, unescape
from jsondiff.kernels.tree_kernel import ARRAY, OBJECT, child_at, compare_names, kind, name_node, new_node
from keysearch.memory import copy_bytes, inline, load_byte, store_i32, store_u8

_OBJECT_END, _ARRAY_END, _COMMA, _COLON, _SPACE = 125, 93, 44, 58, 32
_MAX_OPEN = 128  # containers that are read within each other: a path has at most 100 legs


@inline
def _value_end(at, end):
    """Where the value at `at` ends, `end` at most."""
    depth = 0
    while at < end:
        byte = load_byte(at)
        if byte == QUOTE:
            at, _ = string_end(at + 1, end)
        elif byte == OBJECT or byte == ARRAY:
            depth += 1
        elif byte == _OBJECT_END or byte == _ARRAY_END:
            if depth == 0:
                return at  # the end of the container that a scalar is in
            depth -= 1
            if depth == 0:
                return at + 1
        elif byte == _COMMA and depth == 0:
            return at
        at += 1
    return end


@inline
def _read_key(tree, at, end):
    """Read the name at `at` and the ": " behind it: (DONE, HEAP_FULL or NOT_JSON; start and length of the name without
    escapes; where its value begins)."""
    if at >= end or load_byte(at) != QUOTE:
        return Status.NOT_JSON, at, 0, at
    name = at + 1
    quote, escaped = string_end(name, end)
    if end - quote < 3 or load_byte(quote + 1) != _COLON or load_byte(quote + 2) != _SPACE:
        return Status.NOT_JSON, name, 0, at
    if not escaped:
        return Status.DONE, name, quote - name, quote + 3
    if tree.heap_room - tree.heap_used < quote - name:
        return Status.HEAP_FULL, name, 0, at
    plain = tree.heap + tree.heap_used
    plain_end = unescape(name, quote, plain)
    if plain_end == 0:
        return Status.NOT_JSON, name, 0, at
    tree.heap_used = plain_end - tree.heap
    return Status.DONE, plain, plain_end - plain, quote + 3


@inline
def _read_children(tree, node):
    """Add a node and a slot for each child of the container. Returns DONE, NOT_JSON or the buffer that is too short."""
    at, end = tree.heap + node.start, tree.heap + node.end - 1
    has_names = load_byte(at) == OBJECT
    if end <= at or load_byte(end) != (_OBJECT_END if has_names else _ARRAY_END):
        return Status.NOT_JSON
    at += 1
    if at == end:
        return Status.DONE
    name, length, last, last_length = at, 0, at, -1
    while True:
        if has_names:
            status, name, length, at = _read_key(tree, at, end)
            if status != Status.DONE:
                return status
            if compare_names(last, last_length, name, length) >= 0:
                return Status.NOT_JSON
            last, last_length = name, length
        value_end = _value_end(at, end)
        if value_end == at:
            return Status.NOT_JSON
        if tree.slots_used == tree.slots_room:
            return Status.SLOTS_FULL
        child = new_node(tree, at, value_end)
        if child < 0:
            return Status.NODES_FULL
        name_node(tree, child, name, length)
        store_i32(tree.slots + 4 * tree.slots_used, child)
        tree.slots_used += 1
        if value_end == end:
            return Status.DONE
        if end - value_end < 3 or load_byte(value_end) != _COMMA or load_byte(value_end + 1) != _SPACE:
            return Status.NOT_JSON
        at = value_end + 2


@inline
def read_container(tree, node):
    """Read the children of an array or object, unless they were read. Returns DONE, NOT_JSON or the buffer that is too
    short."""
    if node.children != UNREAD:
        return Status.DONE
    heap_used, nodes_used, slots_used = tree.heap_used, tree.nodes_used, tree.slots_used
    status = _read_children(tree, node)
    if status != Status.DONE:
        tree.heap_used, tree.nodes_used, tree.slots_used = heap_used, nodes_used, slots_used
        return status
    node.children = slots_used
    node.n_children = node.room = tree.slots_used - slots_used
    return Status.DONE


@inline
def _put_separator(tree, container, node, is_first, to):
    """Write the text before a child's value."""
    if not is_first:
        store_u8(to, _COMMA)
        store_u8(to + 1, _SPACE)
        to += 2
    if kind(tree, container) == OBJECT:
        name = tree.heap + node.key
        name_end = name + node.key_length
        to = put_string(name, name_end, name_end, to)
        store_u8(to, _COLON)
        store_u8(to + 1, _SPACE)
        to += 2
    return to


@inline
def write_text(tree, to, room_end):
    """Write the document's text; returns where it ends, or 0 if that would be behind room_end."""
    containers, next_child = np.empty(_MAX_OPEN, np.int64), np.empty(_MAX_OPEN, np.int64)
    depth = number = name_room = 0
    while True:
        node = node_at(tree.nodes, number)
        unread = node.children == UNREAD
        size = np.int64(node.end - node.start)
        if depth:
            container = node_at(tree.nodes, containers[depth - 1])
            name_room = 6 * np.int64(node.key_length) if kind(tree, container) == OBJECT else 0
        if room_end - to < (size if unread else 1) + name_room + 16 + depth:  # depth: brackets that are open
            return 0
        if depth:
            to = _put_separator(tree, node_at(tree.nodes, containers[depth - 1]), node, next_child[depth - 1] == 1, to)
        if unread:
            to = copy_bytes(to, tree.heap + node.start, size)
        else:
            store_u8(to, kind(tree, node))
            to += 1
            containers[depth], next_child[depth] = number, 0
            depth += 1
        while depth and next_child[depth - 1] == node_at(tree.nodes, containers[depth - 1]).n_children:
            depth -= 1
            opening = kind(tree, node_at(tree.nodes, containers[depth]))
            store_u8(to, opening + 2)  # '}' is two behind '{', ']' behind '['
            to += 1
        if depth == 0:
            return to
        number = child_at(tree, node_at(tree.nodes, containers[depth - 1]), next_child[depth - 1])
        next_child[depth - 1] += 1


@inline
def text_depth(at, end):
    """How deep the JSON text at at:end is nested; 0 for a scalar."""
    depth = deepest = 0
    while at < end:
        byte = load_byte(at)
        if byte == QUOTE:
            at, _ = string_end(at + 1, end)
        elif byte == OBJECT or byte == ARRAY:
            depth += 1
            deepest = max(deepest, depth)
        elif byte == _OBJECT_END or byte == _ARRAY_END:
            depth -= 1
        at += 1
    return deepest
