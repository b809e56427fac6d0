# mypy: allow-untyped-defs, no-check-untyped-defs
"""A JSON document as a tree over its text, for kernels: a container is read only when a path leads into it.

A tree is the address of TREE_FIELDS int64s, which have the addresses of three buffers:

    heap     bytes      the document's text as MySQL prints it, then what was added to it
    nodes    int32s     NODE_FIELDS for a value that is known by itself; node 0 is the document
    slots    int32s     the nodes of a read container's children, one after another

A value that is not a container read before is its text, which is copied as it stands. A container that was read has
COUNT children from slot CHILDREN on, in room for ROOM; those of an object have names without escapes in the heap, and
are in MySQL's order of members: by the names' length, then by their bytes.

Where a buffer is too short, a call changes nothing of what the tree means, says FULL, and which one in SHORT. Positions
in the text are addresses, in nodes they count from the heap's start.
"""

import numpy as np

from keysearch.memory import copy_bytes, inline, load_byte, load_i32, load_i64, store_i32, store_i64

HEAP, NODES, SLOTS, HEAP_ROOM, NODES_ROOM, SLOTS_ROOM, HEAP_USED, NODES_USED, SLOTS_USED, DIFFS, SHORT = range(11)
"""A tree's fields: addresses; how many bytes, nodes and slots there is room for; how many are in use; how many diffs
were applied since the document was loaded; HEAP, NODES, SLOTS or OUT, the buffer that was too short."""
OUT = 3
TREE_FIELDS = 11

START, END, KEY, KEY_LENGTH, CHILDREN, COUNT, ROOM = range(7)
NODE_FIELDS = 7
"""A node's fields."""

OK, FULL, NOT_JSON = range(3)

OBJECT, ARRAY = 123, 91
"""What `kind` says of containers: the bytes that they begin with."""
UNREAD = -1
"""CHILDREN of what is a text."""
_MORE_ROOM = 8


@inline
def field(tree, name):
    return load_i64(tree + 8 * name)


@inline
def put_field(tree, name, value):
    store_i64(tree + 8 * name, value)


@inline
def get(tree, node, name):
    return np.int64(load_i32(field(tree, NODES) + 4 * (NODE_FIELDS * node + name)))


@inline
def put(tree, node, name, value):
    store_i32(field(tree, NODES) + 4 * (NODE_FIELDS * node + name), value)


@inline
def is_short_of(tree, buffer):
    """Says which buffer is too short; FULL."""
    put_field(tree, SHORT, buffer)
    return FULL


@inline
def load(tree, at, end):
    """Makes the text at at:end, of one byte at least, the document. Returns OK or FULL."""
    if field(tree, HEAP_ROOM) < end - at:
        return is_short_of(tree, HEAP)
    copy_bytes(field(tree, HEAP), at, end - at)
    put_field(tree, HEAP_USED, end - at)
    put_field(tree, NODES_USED, 0)
    put_field(tree, SLOTS_USED, 0)
    put_field(tree, DIFFS, 0)
    new_node(tree, field(tree, HEAP), field(tree, HEAP) + end - at)
    return OK


@inline
def new_node(tree, at, end):
    """A node for the value whose text is at at:end in the heap, or -1 for lack of room."""
    node = field(tree, NODES_USED)
    if node == field(tree, NODES_ROOM):
        is_short_of(tree, NODES)
        return -1
    put_field(tree, NODES_USED, node + 1)
    put(tree, node, START, at - field(tree, HEAP))
    put(tree, node, END, end - field(tree, HEAP))
    put(tree, node, CHILDREN, UNREAD)
    return node


@inline
def name_node(tree, node, name, length):
    """Gives a member its name, at an address in the heap."""
    put(tree, node, KEY, name - field(tree, HEAP))
    put(tree, node, KEY_LENGTH, length)


@inline
def kind(tree, node):
    """OBJECT, ARRAY, or what else a value begins with."""
    return load_byte(field(tree, HEAP) + get(tree, node, START))


@inline
def count_children(tree, node):
    return get(tree, node, COUNT)


@inline
def child_at(tree, node, index):
    """The node of a read container's child."""
    return np.int64(load_i32(field(tree, SLOTS) + 4 * (get(tree, node, CHILDREN) + index)))


@inline
def _put_child(tree, node, index, child):
    store_i32(field(tree, SLOTS) + 4 * (get(tree, node, CHILDREN) + index), child)


@inline
def compare_names(name, length, other, other_length):
    """Below, above or equal 0 as a member is before, behind or equal to another by their names."""
    if length != other_length:
        return length - other_length
    for i in range(length):
        difference = load_byte(name + i) - load_byte(other + i)
        if difference:
            return difference
    return 0


@inline
def find_member(tree, node, name, length):
    """(The index of the read object's first member that is not before this name, whether it is the one.)"""
    low, high = 0, get(tree, node, COUNT)
    while low < high:
        middle = (low + high) // 2
        child = child_at(tree, node, middle)
        key = field(tree, HEAP) + get(tree, child, KEY)
        order = compare_names(key, get(tree, child, KEY_LENGTH), name, length)
        if order == 0:
            return middle, True
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return low, False


@inline
def insert_child(tree, node, index, child):
    """Puts a node at this index of a read container's children. Returns OK or FULL."""
    count = get(tree, node, COUNT)
    if count == get(tree, node, ROOM):
        room, to = 2 * count + _MORE_ROOM, field(tree, SLOTS_USED)
        if field(tree, SLOTS_ROOM) - to < room:
            return is_short_of(tree, SLOTS)
        old = field(tree, SLOTS) + 4 * get(tree, node, CHILDREN)
        copy_bytes(field(tree, SLOTS) + 4 * to, old, 4 * count)
        put_field(tree, SLOTS_USED, to + room)
        put(tree, node, CHILDREN, to)
        put(tree, node, ROOM, room)
    for i in range(count, index, -1):
        _put_child(tree, node, i, child_at(tree, node, i - 1))
    _put_child(tree, node, index, child)
    put(tree, node, COUNT, count + 1)
    return OK


@inline
def remove_child(tree, node, index):
    count = get(tree, node, COUNT) - 1
    for i in range(index, count):
        _put_child(tree, node, i, child_at(tree, node, i + 1))
    put(tree, node, COUNT, count)


@inline
def replace_child(tree, node, index, child):
    """Puts a node in the place, and under the name, of the child at this index."""
    old = child_at(tree, node, index)
    put(tree, child, KEY, get(tree, old, KEY))
    put(tree, child, KEY_LENGTH, get(tree, old, KEY_LENGTH))
    _put_child(tree, node, index, child)
