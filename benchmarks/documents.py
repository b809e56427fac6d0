"""JSON documents: the binary form read, and partial updates applied, whole columns at once."""

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from benchmarks import end_to_end, peers
from benchmarks.changed_rows import MEMBERS, document, member
from benchmarks.measure import Cost, best, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench
from jsondiff import wire
from jsondiff.apply import apply_diffs
from jsondiff.binary import to_text
from jsondiff.diff import Diff, Operation
from jsondiff.encode import encode
from jsondiff.path import parse
from jsondiff.text import to_text as text_of

COLUMN_BYTES = 4_000_000
_PYTHON_BYTES = 400_000  # python-mysql-replication gets this much of a column
DOCUMENTS, _UPDATES = 1000, 100
_SERVER_UPDATES = 10_000  # of a log, that a server is given
_DIFFERENT = 20  # documents, which are there again and again


def documents(bench: Bench) -> list[Table]:
    """Columns of documents, made here, and a whole log of partial updates."""
    reading = Table(
        "Binary JSON to text",
        "MB of binary JSON a second of one core's CPU time, to the text that the server prints; against "
        "python-mysql-replication's decoder, which makes Python objects (a string by one copy, which escapes nothing). "
        "Not measured, for want of a program that runs them here: go-mysql and the Java connector.",
        ["documents", "bytes each", "this", "python-mysql-replication", "this ÷ python-mysql-replication"],
    )
    for kind in KINDS:
        cost, size, each = in_child(read, kind)
        try:
            theirs, read_bytes = in_child(read_with_python, kind)
            other = read_bytes / theirs.cpu / 1e6
        except ImportError:
            other = None
        ours = size / cost.cpu / 1e6
        reading.rows.append([kind, number(each), number(ours), number(other), ratio(ours, other)])
    updating = Table(
        "Partial updates of JSON",
        f"CPU of one core for {_UPDATES} diffs, one a row change, on each of {DOCUMENTS:,} documents of {MEMBERS} "
        "members; text in and text out.",
        ["diffs", "bytes a document", "ms", "M diffs/s"],
    )
    for kind in DIFFS:
        cost, each = in_child(update, kind)
        updating.rows.append(
            [kind, number(each), number(cost.cpu * 1e3), number(DOCUMENTS * _UPDATES / cost.cpu / 1e6)]
        )
    return [reading, updating, replaying(bench)]


def replaying(bench: Bench) -> Table:
    """A log whose second file has nothing but partial updates."""
    log = bench.workload("documents")
    updates = peers.count_transactions(log.files[1])
    measured = min(updates, _SERVER_UPDATES)
    server = None
    if (reader := bench.applying_reader) is not None:
        server = peers.estimate_with_server(reader, bench.server, log.files, log.database, (measured, updates))
    table = Table(
        "A log of partial updates of JSON",
        f"{updates:,} transactions, each a partial update of one of {updates // _UPDATES:,} documents of 10 KB, with "
        f"minimal images; {log.size / 1e6:.0f} MB. Cold: the command line, from start to published snapshot. Warm: in "
        "a Spark session that has run it before. Plain: the same tasks in one process without Spark. "
        f"`mysqlbinlog | mysql` is measured on the first {measured:,} updates, and scaled.",
        ["run", "seconds", "updates a second", "`mysqlbinlog | mysql` ÷ this"],
    )
    runs = (
        ("cold, local[2]", in_child(end_to_end.cold, log.files, bench.folder)),
        ("warm, local[2]", in_child(end_to_end.warm, log.files, bench.folder)),
        ("plain, one process", in_child(end_to_end.plain, log.files, bench.folder)),
        ("mysqlbinlog | mysql", server),
    )
    for name, cost in runs:
        if cost is not None:
            table.rows.append([name, number(cost.wall), number(updates / cost.wall),
                               ratio(server.wall, cost.wall) if server else "–"])
    return table


def read(kind: str) -> tuple[Cost, int, float]:
    """Documents of a kind to text: (cost, bytes, bytes of one). Like those below, for a process of its own."""
    made = documents_of(kind, COLUMN_BYTES)
    column, size = pa.array(made, pa.binary()), sum(map(len, made))
    return best(lambda: to_text(column)), size, size / len(made)


def read_with_python(kind: str) -> tuple[Cost, int]:
    """Documents of a kind by python-mysql-replication: (cost, bytes). Raises ImportError where that does not exist."""
    from pymysqlreplication.json_binary import parse_json

    made = documents_of(kind, _PYTHON_BYTES)
    return best(lambda: [parse_json(document[0], document[1:]) for document in made], 2), sum(map(len, made))


def update(kind: str) -> tuple[Cost, float]:
    """Diffs of a kind on documents: (cost, bytes of a document)."""
    dice = random.Random(2)
    texts = [text_of(document(dice)) for _ in range(_DIFFERENT)]
    chains = [[wire.encode([DIFFS[kind](dice)]) for _ in range(_UPDATES)] for _ in texts]
    column = pa.array(texts * (DOCUMENTS // _DIFFERENT))
    diffs = pa.array([value for chain in chains for value in chain] * (DOCUMENTS // _DIFFERENT), pa.binary())
    starts = np.arange(DOCUMENTS + 1) * _UPDATES
    if apply_diffs(column, diffs, starts).codes.any():
        raise AssertionError("a diff does not go with its document")
    return best(lambda: apply_diffs(column, diffs, starts)), sum(map(len, texts)) / len(texts)


def documents_of(kind: str, size: int) -> list[bytes]:
    dice = random.Random(1)
    made = [encode(KINDS[kind](dice)) for _ in range(50)]
    return made * max(1, size // sum(map(len, made)))


def _order(dice: random.Random, items: int) -> dict:
    return {
        "id": dice.randrange(10**9),
        "customer": {"name": "Jörg Müller", "email": f"jm{dice.randrange(10**6)}@example.com", "vip": False},
        "total": dice.randrange(10**6) / 100,
        "note": None,
        "tags": ["new", "web"],
        "items": [
            {"sku": f"SKU-{dice.randrange(10**6):06d}", "name": "Some product of ours", "qty": dice.randrange(9),
             "price": dice.randrange(10**5) / 100}
            for _ in range(items)
        ],
    }  # fmt: skip


KINDS: dict[str, Callable[[random.Random], object]] = {
    "orders of 3 items": lambda dice: _order(dice, 3),
    "orders of 100 items": lambda dice: _order(dice, 100),
    "1,000 integers": lambda dice: [dice.randrange(10**6) for _ in range(1000)],
    "1,000 doubles": lambda dice: [dice.random() for _ in range(1000)],
    "strings of 1 KB": lambda dice: ["x" * 1000 for _ in range(10)],
    "strings of 1 KB, not ASCII": lambda dice: ["Съешь ещё этих мягких булок. " * 20 for _ in range(10)],
    "strings of 1 KB, a tenth escaped": lambda dice: ["One line of a text \"of ours\".\n" * 32 for _ in range(10)],
}
DIFFS: dict[str, Callable[[random.Random], Diff]] = {
    "a member replaced": lambda dice: Diff(
        Operation.REPLACE, parse(f"$.{member(dice.randrange(MEMBERS))}"), dice.randrange(10**6)
    ),
    "a member three levels down replaced": lambda dice: Diff(
        Operation.REPLACE, parse("$.last.seen.by"), f"user {dice.randrange(1000)}"
    ),
    "appended to an array": lambda dice: Diff(
        Operation.INSERT, parse("$.log[1000]"), {"at": dice.randrange(10**9), "what": "login"}
    ),
}
