"""Rows come in any order and leave in the order of their key, whatever fits in memory."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.errors import ReplayStopped
from applier.jobs.importing.sorted_rows import SortedRows
from applier.jobs.importing.sql.inserts import FAIL, KEEP, TAKE
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot.writer import TableTarget

KEYS = {"int": "INT", "bytes": "VARCHAR(9) CHARACTER SET binary"}


def table(kind, has_key=True):
    """A table d.t (k, v) whose key is of a kind."""
    key = ", PRIMARY KEY (k)" if has_key else ""
    [created] = parse_statement(f"CREATE TABLE t (k {KEYS[kind]} NOT NULL, v INT{key})", default_database="d")
    return created.definition


def key_of(number, kind):
    return number if kind == "int" else b"%d" % number


def collected(folder, kind, chunks, chunk_bytes, on_duplicate=FAIL, has_key=True):
    """The rows of the files after all chunks (lists of (key, value)) were added, each with its own policy if given."""
    place = TableTarget(str(folder), "t")
    (folder / "t").mkdir(exist_ok=True)
    (folder / "spill").mkdir(exist_ok=True)
    rows = SortedRows(table(kind, has_key), place, str(folder / "spill"), chunk_bytes=chunk_bytes)
    schema = pa.schema([("k", pa.int32() if kind == "int" else pa.binary()), ("v", pa.int32())])
    for number, chunk in enumerate(chunks):
        keys = [key_of(key, kind) for key, _ in chunk]
        added = pa.table([keys, [value for _, value in chunk]], schema=schema)
        rows.add(added, on_duplicate if isinstance(on_duplicate, int) else on_duplicate[number])
    files = rows.finish()
    assert list((folder / "spill").iterdir()) == []
    assert sorted(file.path for file in files) == sorted(f"t/{path.name}" for path in (folder / "t").iterdir())
    read = pa.concat_tables(pq.read_table(folder / file.path, partitioning=None) for file in files)
    return list(zip(*read.to_pydict().values(), strict=True)), files


@pytest.mark.parametrize("kind", KEYS)
@settings(max_examples=30)
@given(data=st.data())
def test_any_order_any_chunks(tmp_path_factory, kind, data):
    """Chunks that continue are written at once, others are merged: sorted by key, nothing lost, nothing left beside
    it."""
    numbers = data.draw(st.lists(st.integers(0, 10**6), unique=True, max_size=300))
    if data.draw(st.booleans()):
        numbers.sort()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(numbers)), max_size=6)))
    chunks = [[(n, n % 7) for n in numbers[a:b]] for a, b in zip([0, *cuts], [*cuts, len(numbers)], strict=True)]
    chunk_bytes = data.draw(st.sampled_from([1, 400, 1 << 20]))
    rows, files = collected(tmp_path_factory.mktemp("rows"), kind, [c for c in chunks if c], chunk_bytes)
    assert rows == sorted((key_of(n, kind), n % 7) for n in numbers)
    assert sum(file.rows for file in files) == len(numbers)


@pytest.mark.parametrize("chunk_bytes", [1, 1 << 20])
@pytest.mark.parametrize("kind", KEYS)
@settings(max_examples=30)
@given(inserts=st.lists(st.tuples(st.integers(0, 20), st.sampled_from([KEEP, TAKE])), min_size=1, max_size=60))
def test_keys_that_are_there(tmp_path_factory, kind, chunk_bytes, inserts):
    """INSERT IGNORE keeps the older row, REPLACE takes the newer one, in the order of the statements."""
    expected = {}
    for number, (key, policy) in enumerate(inserts):
        if policy == TAKE or key not in expected:
            expected[key] = number
    chunks = [[(key, number)] for number, (key, _) in enumerate(inserts)]
    rows, _ = collected(tmp_path_factory.mktemp("rows"), kind, chunks, chunk_bytes, [policy for _, policy in inserts])
    assert rows == sorted((key_of(key, kind), number) for key, number in expected.items())


@pytest.mark.parametrize("chunk_bytes", [1, 1 << 20])
@pytest.mark.parametrize("kind", KEYS)
def test_a_key_twice_stops(tmp_path, kind, chunk_bytes):
    """1062, naming the key, as a server does that loads the dump."""
    with pytest.raises(ReplayStopped, match=r"PRIMARY \(k\) = \(.*7.*\).*1062"):
        collected(tmp_path, kind, [[(1, 1), (7, 2)], [(3, 3), (7, 4)]], chunk_bytes)


def test_without_a_key_rows_stay_in_their_order(tmp_path):
    """A table without a key has no order; equal rows are several."""
    rows, [file] = collected(tmp_path, "int", [[(3, 1), (1, 1)], [(3, 1)]], 1, has_key=False)
    assert rows == [(3, 1), (1, 1), (3, 1)]
    assert (file.min_key, file.max_key) == (None, None)
