# mypy: allow-untyped-defs, no-check-untyped-defs
"""A JSON document as a tree over its text, for kernels: a container is read only when a path leads into it.

A TREE (apply_records.py) has three buffers:

    heap     bytes      the document's text as MySQL prints it, then what diffs add to it
    nodes    NODEs      the values that are known by themselves; node 0 is the document
    slots    int32s     the numbers of the nodes of a read container's children, one after another

A value that is not a read container is its text, which is copied as it stands. A read container has children in slots;
the members of an object have names without escapes in the heap, and are in MySQL's order: by the names' length, then by
their bytes.

Where a buffer is too short, a call changes nothing of what the tree means and says which buffer. Positions in the text
are addresses, in nodes they count from the heap's start.
"""

import numpy as np

from jsondiff.kernels.apply_records import UNREAD, Status, node_at
from keysearch.memory import copy_bytes, inline, load_byte, load_i32, store_i32

OBJECT, ARRAY = 123, 91
"""The `kind` of containers: the bytes with which they begin."""
_MORE_ROOM = 8


@inline
def load(tree, at, end):
    """Make the text at at:end, of one byte at least, the document. Returns DONE or HEAP_FULL."""
    if tree.heap_room < end - at:
        return Status.HEAP_FULL
    copy_bytes(tree.heap, at, end - at)
    tree.heap_used = end - at
    tree.nodes_used = tree.slots_used = tree.n_diffs = 0
    new_node(tree, tree.heap, tree.heap + end - at)
    return Status.DONE


@inline
def new_node(tree, at, end):
    """Add a node for the value whose text is at at:end in the heap; returns its number, or -1 for lack of room."""
    number = tree.nodes_used
    if number == tree.nodes_room:
        return -1
    tree.nodes_used = number + 1
    node = node_at(tree.nodes, number)
    node.start, node.end, node.children = at - tree.heap, end - tree.heap, UNREAD
    return number


@inline
def name_node(tree, number, name, length):
    """Give a member its name, which is at an address in the heap."""
    node = node_at(tree.nodes, number)
    node.key, node.key_length = name - tree.heap, length


@inline
def kind(tree, node):
    """OBJECT, ARRAY, or what else a value begins with."""
    return load_byte(tree.heap + node.start)


@inline
def child_at(tree, node, index):
    """The number of a read container's child."""
    return np.int64(load_i32(tree.slots + 4 * (node.children + index)))


@inline
def _put_child(tree, node, index, child):
    store_i32(tree.slots + 4 * (node.children + index), child)


@inline
def compare_names(name, length, other, other_length):
    """Compare members by their names: below 0, above 0 or 0 as the first sorts before, behind or with the other."""
    if length != other_length:
        return length - other_length
    for i in range(length):
        difference = load_byte(name + i) - load_byte(other + i)
        if difference:
            return difference
    return 0


@inline
def find_member(tree, node, name, length):
    """(The index of the read object's first member that does not sort before this name, whether it has this name.)"""
    low, high = 0, np.int64(node.n_children)
    while low < high:
        middle = (low + high) // 2
        child = node_at(tree.nodes, child_at(tree, node, middle))
        order = compare_names(tree.heap + child.key, child.key_length, name, length)
        if order == 0:
            return middle, True
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return low, False


@inline
def insert_child(tree, node, index, child):
    """Put a node at this index of a read container's children. Returns DONE or SLOTS_FULL."""
    count = np.int64(node.n_children)
    if count == node.room:
        room, to = 2 * count + _MORE_ROOM, tree.slots_used
        if tree.slots_room - to < room:
            return Status.SLOTS_FULL
        copy_bytes(tree.slots + 4 * to, tree.slots + 4 * node.children, 4 * count)
        tree.slots_used = to + room
        node.children, node.room = to, room
    for i in range(count, index, -1):
        _put_child(tree, node, i, child_at(tree, node, i - 1))
    _put_child(tree, node, index, child)
    node.n_children = count + 1
    return Status.DONE


@inline
def remove_child(tree, node, index):
    count = np.int64(node.n_children) - 1
    for i in range(index, count):
        _put_child(tree, node, i, child_at(tree, node, i + 1))
    node.n_children = count


@inline
def replace_child(tree, node, index, child):
    """Replace the child at this index by a node, under the same name."""
    old, new = node_at(tree.nodes, child_at(tree, node, index)), node_at(tree.nodes, child)
    new.key, new.key_length = old.key, old.key_length
    _put_child(tree, node, index, child)
