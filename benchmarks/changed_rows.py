"""Logs whose first file fills tables and whose second has nothing but changes to these rows, one row an event.

A server can be given the first file and a part of the second, so that what a change costs it is known without the rest.
"""

import random

import numpy as np
import pyarrow as pa

from applier.writer.row_encoder import RowChanges
from benchmarks.archive import STATEMENT_ROWS, Archive, filled_table
from jsondiff import wire
from jsondiff.diff import Diff, Operation
from jsondiff.encode import encode
from jsondiff.path import parse

_FULL_SIZE, _SIZE_OF_ALL_DOCUMENTS = 440e6, 40e6  # bytes of logs in which nothing is less than it says below
_ROWS, _ROWS_WITH_ALIKE, _ALIKE = 1_000_000, 200_000, 100
_DOCUMENTS, _UPDATES, MEMBERS = 1000, 100, 300
CHILDREN = 10
_BLOCK = 100  # transactions that are written by one call; no row is changed twice in one


def keyed(archive: Archive, keys: str = ", PRIMARY KEY (id)") -> None:
    """A third of the rows are deleted, the others updated once on an average; `keys`: of the table's definition."""
    dice = np.random.default_rng(5)
    archive.file_bytes = None
    blocks = max(4, int(_ROWS * min(1.0, archive.size / _FULL_SIZE)) // (3 * _BLOCK))
    table = filled_table(archive, "sbtest1", "int", keys, 3 * _BLOCK * blocks, dice)
    archive.begin_file()
    passing, first, second = dice.permutation(len(table)).reshape(3, blocks, _BLOCK)
    for block in range(blocks):
        archive.log.timestamp += 1
        updates = [table.update_k(first[block], True), table.update_c(second[block], True)]
        archive.log.transactions([*updates, RowChanges(table.definition, before=table.image(passing[block]))])


def keyless(archive: Archive) -> None:
    """The same on a table that has no key."""
    keyed(archive, "")


def alike(archive: Archive) -> None:
    """Each row is updated once; the key has as many rows for each value as another."""
    dice = np.random.default_rng(4)
    archive.file_bytes = None
    blocks = max(4, int(_ROWS_WITH_ALIKE * min(1.0, archive.size / _FULL_SIZE)) // _BLOCK)
    table = filled_table(archive, "sbtest1", "int", ", KEY k_1 (k)", _BLOCK * blocks, dice, alike=_ALIKE)
    archive.begin_file()
    for rows in dice.permutation(len(table)).reshape(blocks, _BLOCK):
        archive.log.timestamp += 1
        archive.log.transactions([table.update_c(rows, True)])


def cascades(archive: Archive) -> None:
    """Parents with CHILDREN children each; a tenth of the parents is deleted, one a transaction, and what goes with
    them is not in the log."""
    dice = np.random.default_rng(7)
    archive.file_bytes = None
    count = max(4 * _BLOCK, int(_ROWS * min(1.0, archive.size / _FULL_SIZE)))
    parents = archive.create(
        "CREATE TABLE orders (id int NOT NULL PRIMARY KEY, customer int NOT NULL, note varchar(60) NOT NULL)")
    children = archive.create(
        "CREATE TABLE order_lines (id int NOT NULL PRIMARY KEY, order_id int NOT NULL, item int NOT NULL, quantity int "
        "NOT NULL, price int NOT NULL, KEY (order_id), CONSTRAINT lines_of FOREIGN KEY (order_id) REFERENCES orders "
        "(id) ON DELETE CASCADE)")

    def image(ids: np.ndarray) -> dict[str, pa.Array]:
        notes = pa.array([b"left at the door, as agreed"] * len(ids), pa.binary())
        return {"id": pa.array(ids, pa.int32()), "customer": pa.array(ids * 7919 % 50_000, pa.int32()), "note": notes}

    for first in range(1, count + 1, STATEMENT_ROWS):
        ids = np.arange(first, min(first + STATEMENT_ROWS, count + 1))
        archive.log.timestamp += 1
        with archive.log.transaction():
            archive.log.rows(RowChanges(parents, after=image(ids)))
            for lines in np.arange((first - 1) * CHILDREN, (int(ids[-1])) * CHILDREN).reshape(CHILDREN, -1):
                numbers = {"id": lines, "order_id": lines // CHILDREN + 1,
                           **{name: dice.integers(1, 10_000, len(lines)) for name in ("item", "quantity", "price")}}
                archive.log.rows(RowChanges(children, after={name: pa.array(values, pa.int32())
                                                             for name, values in numbers.items()}))
    archive.begin_file()
    for ids in dice.permutation(np.arange(1, count + 1))[:count // 10 // _BLOCK * _BLOCK].reshape(-1, _BLOCK):
        archive.log.timestamp += 1
        archive.log.transactions([RowChanges(parents, before=image(ids))])


def documents(archive: Archive) -> None:
    """A transaction is one update of one document: JSON_SET of a member, to what was not there yet."""
    dice = random.Random(6)
    archive.file_bytes = None
    count = max(10, int(_DOCUMENTS * min(1.0, archive.size / _SIZE_OF_ALL_DOCUMENTS)))
    table = archive.create("CREATE TABLE documents (id int NOT NULL PRIMARY KEY, doc json)")
    keys = pa.array(range(count), pa.int32())
    with archive.log.transaction():
        stored = pa.array([encode(document(dice)) for _ in range(count)], pa.binary())
        archive.log.rows(RowChanges(table, after={"id": keys, "doc": stored}))
    archive.begin_file()
    paths = [parse(f"$.{member(number)}") for number in range(MEMBERS)]
    for turn in range(_UPDATES):
        values = (10**6 * (turn + 1) + number for number in range(count))
        diffs = [wire.encode([Diff(Operation.REPLACE, dice.choice(paths), value)]) for value in values]
        change = RowChanges(table, before={"id": keys}, after={"doc": pa.array(diffs, pa.binary())}, diffs=("doc",))
        archive.log.timestamp += 1
        archive.log.transactions([change])


def document(dice: random.Random) -> dict:
    """A document of about 10 KB: MEMBERS members of several types, an array, and something three levels down."""
    values = (dice.randrange(10**6), "x" * dice.randrange(40), {"on": True, "levels": [1, 2, 3]}, dice.random())
    members = {member(number): dice.choice(values) for number in range(MEMBERS)}
    return members | {"last": {"seen": {"by": "nobody"}}, "log": []}


def member(number: int) -> str:
    """The name of a member."""
    return f"key{number:03d}"
