# mypy: allow-untyped-defs, no-check-untyped-defs
"""A tree's way from text and back, for kernels: a container's children are read, and all is written (tree_kernel.py).

Nothing in the text is believed: what the reading of a container meets that MySQL would not print is an error. What is
in a child is not looked into, but for where it ends.
"""

import numpy as np

from jsondiff.string_kernel import QUOTE, put_string, string_end, unescape
from jsondiff.tree_kernel import (
    ARRAY,
    CHILDREN,
    COUNT,
    END,
    FULL,
    HEAP,
    HEAP_ROOM,
    HEAP_USED,
    KEY,
    KEY_LENGTH,
    NODES_USED,
    NOT_JSON,
    OBJECT,
    OK,
    ROOM,
    SLOTS,
    SLOTS_ROOM,
    SLOTS_USED,
    START,
    UNREAD,
    child_at,
    compare_names,
    count_children,
    field,
    get,
    is_short_of,
    kind,
    name_node,
    new_node,
    put,
    put_field,
)
from keysearch.memory import copy_bytes, inline, load_byte, store_i32, store_u8

_OBJECT_END, _ARRAY_END, _COMMA, _COLON, _SPACE = 125, 93, 44, 58, 32
_MAX_OPEN = 128  # a path has at most 100 legs, so that no more containers than these are read within each other


@inline
def _value_end(at, end):
    """Where the value that begins here ends, at most at `end`."""
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
    """The name that begins here and the ": " behind it: (OK, FULL or NOT_JSON; start and length of the name without
    escapes; where its value begins)."""
    if at >= end or load_byte(at) != QUOTE:
        return NOT_JSON, at, 0, at
    name = at + 1
    quote, escaped = string_end(name, end)
    if end - quote < 3 or load_byte(quote + 1) != _COLON or load_byte(quote + 2) != _SPACE:
        return NOT_JSON, name, 0, at
    if not escaped:
        return OK, name, quote - name, quote + 3
    used = field(tree, HEAP_USED)
    if field(tree, HEAP_ROOM) - used < quote - name:
        return is_short_of(tree, HEAP), name, 0, at
    plain = field(tree, HEAP) + used
    plain_end = unescape(name, quote, plain)
    if plain_end == 0:
        return NOT_JSON, name, 0, at
    put_field(tree, HEAP_USED, plain_end - field(tree, HEAP))
    return OK, plain, plain_end - plain, quote + 3


@inline
def _read_children(tree, node):
    """Gives each child of the container a node and a slot. Returns OK, FULL or NOT_JSON."""
    at, end = field(tree, HEAP) + get(tree, node, START), field(tree, HEAP) + get(tree, node, END) - 1
    has_names = load_byte(at) == OBJECT
    if end <= at or load_byte(end) != (_OBJECT_END if has_names else _ARRAY_END):
        return NOT_JSON
    at += 1
    if at == end:
        return OK
    name, length, last, last_length = at, 0, at, -1
    while True:
        if has_names:
            result, name, length, at = _read_key(tree, at, end)
            if result != OK:
                return result
            if compare_names(last, last_length, name, length) >= 0:
                return NOT_JSON
            last, last_length = name, length
        value_end = _value_end(at, end)
        if value_end == at:
            return NOT_JSON
        slot = field(tree, SLOTS_USED)
        if slot == field(tree, SLOTS_ROOM):
            return is_short_of(tree, SLOTS)
        child = new_node(tree, at, value_end)
        if child < 0:
            return FULL
        name_node(tree, child, name, length)
        store_i32(field(tree, SLOTS) + 4 * slot, child)
        put_field(tree, SLOTS_USED, slot + 1)
        if value_end == end:
            return OK
        if end - value_end < 3 or load_byte(value_end) != _COMMA or load_byte(value_end + 1) != _SPACE:
            return NOT_JSON
        at = value_end + 2


@inline
def read_container(tree, node):
    """Makes the children of an array or object known, if they are not yet. Returns OK, FULL or NOT_JSON."""
    if get(tree, node, CHILDREN) != UNREAD:
        return OK
    heap_used, nodes_used, slots_used = field(tree, HEAP_USED), field(tree, NODES_USED), field(tree, SLOTS_USED)
    result = _read_children(tree, node)
    if result != OK:
        put_field(tree, HEAP_USED, heap_used)
        put_field(tree, NODES_USED, nodes_used)
        put_field(tree, SLOTS_USED, slots_used)
        return result
    count = field(tree, SLOTS_USED) - slots_used
    put(tree, node, CHILDREN, slots_used)
    put(tree, node, COUNT, count)
    put(tree, node, ROOM, count)
    return OK


@inline
def _put_separator(tree, container, node, is_first, to):
    """Writes what stands before a child's value."""
    if not is_first:
        store_u8(to, _COMMA)
        store_u8(to + 1, _SPACE)
        to += 2
    if kind(tree, container) == OBJECT:
        name = field(tree, HEAP) + get(tree, node, KEY)
        name_end = name + get(tree, node, KEY_LENGTH)
        to = put_string(name, name_end, name_end, to)
        store_u8(to, _COLON)
        store_u8(to + 1, _SPACE)
        to += 2
    return to


@inline
def write_text(tree, to, room_end):
    """Writes the document's text; returns where it ends, or 0 if that would be behind room_end."""
    containers, next_child = np.empty(_MAX_OPEN, np.int64), np.empty(_MAX_OPEN, np.int64)
    depth = node = name_room = 0
    while True:
        start, end = get(tree, node, START), get(tree, node, END)
        unread = get(tree, node, CHILDREN) == UNREAD
        if depth:
            name_room = 6 * get(tree, node, KEY_LENGTH) if kind(tree, containers[depth - 1]) == OBJECT else 0
        if room_end - to < (end - start if unread else 1) + name_room + 16 + depth:  # and all brackets that are open
            return 0
        if depth:
            to = _put_separator(tree, containers[depth - 1], node, next_child[depth - 1] == 1, to)
        if unread:
            to = copy_bytes(to, field(tree, HEAP) + start, end - start)
        else:
            store_u8(to, kind(tree, node))
            to += 1
            containers[depth], next_child[depth] = node, 0
            depth += 1
        while depth and next_child[depth - 1] == count_children(tree, containers[depth - 1]):
            depth -= 1
            store_u8(to, kind(tree, containers[depth]) + 2)  # '}' is two behind '{', ']' behind '['
            to += 1
        if depth == 0:
            return to
        node = child_at(tree, containers[depth - 1], next_child[depth - 1])
        next_child[depth - 1] += 1


@inline
def text_depth(at, end):
    """How deep the JSON text at at:end nests; 0 for a scalar."""
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
