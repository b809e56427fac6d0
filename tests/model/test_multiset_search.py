"""Tables without a unique key whose images hold all columns: replays against the reference replica.

Rules: FIND, FIND-ROWS, IDX-R2, APP-R5, APP-R7, AP-IDEM.
"""

import tempfile
from collections import Counter
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.apply.search import multiset_search
from applier.apply.search.multiset_search import MultisetSearch
from applier.apply.tables import table_walk
from applier.binlog.events.compression import compressed, inflated
from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.compressing import compress_transactions
from tests.support.examples import examples
from tests.support.replica import Column, Table

CREATE = "CREATE TABLE t (a INT, s VARCHAR(20), d DOUBLE, b BLOB, KEY k (a))"
KINDS = {"a": pa.int32(), "s": pa.string(), "d": pa.float64(), "b": pa.binary()}
ROW = st.tuples(st.none() | st.integers(0, 2), st.sampled_from([None, "", "x"]),
                st.sampled_from([None, 0.0, 1.5]), st.sampled_from([None, b"\0", b"blob" * 30]))


class OtherBits(RowChanges):
    """A change whose first image has ones behind the bits of NULLs, of four columns: they say nothing."""

    def rows(self):
        [row] = super().rows().to_pylist()
        return pa.array([bytes([row[0] | 0xF0]) + row[1:]], pa.binary())


class Log:
    """A log of one table, and the rows that a replica has after it, in the order in which they came."""

    def __init__(self, folder, sql=CREATE, kinds=KINDS):
        self.folder, self.kinds = folder, kinds
        self.replica = Table("t", [Column(name, "", nullable=True) for name in kinds], [], idempotent=True)
        self.binlog = BinlogWriter(folder / "binlog.000001")
        self.binlog.query("CREATE DATABASE d")
        self.binlog.query(sql, "d")
        [created] = parse_statement(sql, default_database="d", flavour="mysql")
        self.definition = created.definition

    def image(self, rows):
        return {name: pa.array(values, self.kinds[name])
                for name, values in zip(self.kinds, zip(*rows, strict=True), strict=True)}

    def change(self, *changes, others=()):
        """A transaction of (before, after), either None; where it begins. The changes of the numbers `others` are of
        OtherBits."""
        begin = self.binlog.position
        with self.binlog.transaction():
            for number, (before, after) in enumerate(changes):
                images = [None if row is None else self.image([row]) for row in (before, after)]
                self.binlog.rows((OtherBits if number in others else RowChanges)(self.definition, *images))
                self.replica.apply(*(None if row is None else dict(zip(self.kinds, row, strict=True))
                                     for row in (before, after)))
        return begin

    @property
    def rows(self):
        return [tuple(row.values()) for row in self.replica.rows]

    @property
    def missed(self):
        return len(self.replica.suppressed)

    def replay(self, name="out", binlog="binlog.000001", **options):
        result = replay_with(ThisProcess(1), ReplayOptions((f"{self.folder}/{binlog}",), f"{self.folder}/{name}",
                                                           **options))
        table = manifest.load(f"{self.folder}/{name}").table("d", "t")
        held = [tuple(row.values()) for file in table.files
                for row in pq.read_table(self.folder / name / file.path).to_pylist()]
        return result, held


@st.composite
def changes(draw, missing):
    """Transactions, mostly about existing rows; with `missing` about others, too."""
    live, found = [], []
    for _ in range(draw(st.integers(1, 8))):
        group = []
        for _ in range(draw(st.integers(1, 5))):
            what = draw(st.integers(0, 2))
            if what and missing and draw(st.integers(0, 5)) == 0:
                before = draw(ROW)
            elif what and live:
                before = draw(st.sampled_from(live))
            else:
                what, before = 0, None
            after = draw(ROW) if what != 2 else None
            if before is None or before in live:
                live += [after] if after is not None else []
                live.remove(before) if before is not None else None
            group.append((before, after))
        found.append(group)
    return found


@settings(max_examples=examples(40))
@given(st.booleans().flatmap(lambda idempotent: st.tuples(st.just(idempotent), changes(idempotent))),
       st.sampled_from([1, 3, 8192]), st.integers(0, 7))
def test_a_replay_holds_what_a_list_of_rows_holds(history, batch_rows, middle):
    """The whole log, and its first part and the rest from there: rows of the base and of the log are alike."""
    idempotent, groups = history
    with tempfile.TemporaryDirectory() as name, mock.patch.object(table_walk, "BATCH_ROWS", batch_rows):
        log, position = Log(Path(name)), None
        options = {"exec_mode": "idempotent" if idempotent else "strict"}
        for number, group in enumerate(groups):
            position = log.binlog.position if number <= middle else position
            log.change(*group)
        log.binlog.close()
        result, held = log.replay(**options)
        assert Counter(held) == Counter(log.rows) and result.conflicts == log.missed
        if len(set(held)) == len(held) and not _was_ambiguous(groups):
            assert held == log.rows
        first, _ = log.replay("first", stop_position=("binlog.000001", position), **options)
        rest, held = log.replay("rest", base=f"{name}/first", **options)
        assert Counter(held) == Counter(log.rows) and first.conflicts + rest.conflicts == log.missed


def _was_ambiguous(groups):
    """Return whether at some point two rows were alike, one of which a change took."""
    live = []
    for before, after in (change for group in groups for change in group):
        if live.count(before) > 1:
            return True
        if before is None:
            live.append(after)
        elif before in live:
            live[live.index(before):live.index(before) + 1] = [] if after is None else [after]
    return False


def test_bytes_tell_the_rows_as_long_as_they_can(tmp_path):
    """Nothing is decoded, and no row store filled, where each before-image's bytes are those of a row."""
    log = Log(tmp_path)
    log.change(*[(None, (n, "x", 0.5, b"b")) for n in range(200)])
    log.change(*[((n, "x", 0.5, b"b"), (n, "y", 0.5, None) if n % 2 else None) for n in range(200)])
    log.binlog.close()
    with mock.patch.object(multiset_search, "ImageDecoder", return_value=None):
        result, held = log.replay()
    assert held == log.rows and len(held) == 100
    [table] = result.tables
    assert (table.inserts, table.updates, table.deletes, table.found) == (200, 100, 100, {"key": 200})


def test_a_row_that_is_missing_is_named(tmp_path):
    """1032: in the midst of a batch, whatever was found before; the position is that of the event."""
    log = Log(tmp_path)
    log.change(*[(None, (n, "x", None, b"b")) for n in range(5)])
    begin = log.change(((3, "x", None, b"b"), None), ((3, "x", None, b"b"), (4, "y", 1.0, None)))
    log.change(((4, "x", None, b"b"), None))
    log.binlog.close()
    for options in ({}, {"base": str(tmp_path / "base")}):
        if options:
            log.replay("base", stop_position=("binlog.000001", begin))
        with pytest.raises(ReplayStopped, match="can't find record: the row to update or "
                                                "delete does not exist") as stopped:
            log.replay(**options)
        error = stopped.value
        assert (error.mysql_errno, error.table, error.key) == (1032, "d.t", "the row (3, 'x', NULL, b'b')")
        assert error.position > begin


@pytest.mark.parametrize("mode", ["strict", "idempotent"])
def test_values_of_several_forms_are_found_after_all(tmp_path, mode):
    """From an image on whose row has other bytes values are compared, for all rows."""
    log = Log(tmp_path)
    log.change(*[(None, (n, "x", 0.0, None)) for n in range(6)])
    middle = log.change(((1, "x", 0.0, None), None), ((2, "x", 0.0, None), (2, "y", 1.0, None)),
                        ((3, "x", 0.0, None), (3, "z", 0.0, None)), (None, (7, "x", 0.0, None)), others=[1])
    log.change(((3, "z", 0.0, None), None), ((7, "x", 0.0, None), None), others=[1])
    log.binlog.close()
    result, held = log.replay(exec_mode=mode)
    assert held == log.rows == [(0, "x", 0.0, None), (2, "y", 1.0, None), *[(n, "x", 0.0, None) for n in (4, 5)]]
    [table] = result.tables
    assert (table.inserts, table.updates, table.deletes, table.found, result.conflicts) == (7, 2, 3, {"key": 5}, 0)
    log.replay("base", stop_position=("binlog.000001", middle))
    assert log.replay("rest", base=str(tmp_path / "base"), exec_mode=mode)[1] == log.rows


def test_rows_of_the_base_keep_their_places(tmp_path):
    """Return whether a row of the base was changed or not, and one of two that are alike."""
    log = Log(tmp_path)
    log.change(*[(None, (n % 4, "x", None, None)) for n in range(6)])
    middle = log.change(((1, "x", None, None), None), ((3, "x", None, None), (3, "y", None, None)),
                        ((0, "x", None, None), None), (None, (9, "x", None, None)),
                        ((0, "x", None, None), (0, "y", None, None)), ((9, "x", None, None), (9, "y", None, None)))
    log.binlog.close()
    log.replay("base", stop_position=("binlog.000001", middle))
    result, held = log.replay(base=str(tmp_path / "base"))
    assert Counter(held) == Counter(log.rows)
    assert [row[0] for row in held if row[0] in (2, 3, 9)] == [2, 3, 9] and held[-1] == (9, "y", None, None)
    [table] = result.tables
    assert (table.inserts, table.updates, table.deletes, table.rows) == (1, 3, 2, 5)


def test_deleted_rows_of_compressed_events_stay_readable(tmp_path, monkeypatch):
    """A row of the base is found by the before-image of a delete in a compressed event, whose memory is used again."""
    log = Log(tmp_path)
    rows = [(n, "x" * (n % 7), None, b"%d" % n * 40) for n in range(300)]
    log.change(*[(None, row) for row in rows])
    log.binlog = log.binlog.rotate(tmp_path / "binlog.000002")
    log.change(*[(row, None) for row in rows[::2]])
    log.change(*[(row, None) for row in rows[1::4]])
    log.binlog.close()
    log.replay("base")
    monkeypatch.setattr(compressed, "AHEAD_BYTES", 1500)
    monkeypatch.setattr(inflated, "BUFFER_BYTES", 4000)
    (tmp_path / "compressed").mkdir()
    compress_transactions(tmp_path / "binlog.000002", tmp_path / "compressed/binlog.000002")
    _, held = log.replay(binlog="compressed/binlog.000002", base=str(tmp_path / "base"))
    assert held == log.rows == rows[3::4]


def test_partial_images_and_unique_keys_are_the_row_stores(tmp_path):
    """What a multiset cannot tell is not given to it."""
    made = []
    with mock.patch.object(MultisetSearch, "__init__", lambda self, *a: made.append(a) or 1 / 0):
        for number, sql in enumerate((CREATE.replace("KEY k", "UNIQUE KEY k"), CREATE)):
            folder = tmp_path / str(number)
            folder.mkdir()
            log = Log(folder, sql)
            log.change((None, (1, "x", None, None)))
            if number:
                with log.binlog.transaction():
                    log.binlog.rows(RowChanges(log.definition, before={"a": pa.array([1], pa.int32())}))
            log.binlog.close()
            log.replay()
    assert not made
