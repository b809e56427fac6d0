"""The binlog writer: framing, checksums, event groups, and that real readers take what it writes."""

import hashlib
import itertools
import pathlib
import re
import struct
import uuid

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.events.table_map import parse_table_map
from applier.mysql.types import ColumnType
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Key, KeyPart
from applier.writer.row_encoder import RowChanges
from applier.writer.wire_columns import encode_table_map, wire_columns
from applier.writer.writer import BinlogWriter
from tests.recorded.binlog import writer_sample
from tests.support.raw_events import (
    ANONYMOUS,
    FORMAT,
    GTID,
    GTID_LIST,
    PREVIOUS,
    QUERY,
    ROTATE,
    TABLE_MAP,
    XID,
    read_events,
)

FLAVOURS = ("mysql", "mariadb")


def small_table(flavour: str = "mysql", name: str = "item") -> TableDefinition:
    columns = (
        Column("id", ColumnType("int"), nullable=False),
        Column("name", ColumnType("varchar", length=40, charset="utf8mb4")),
    )
    return TableDefinition("shop", name, columns, (Key("PRIMARY", "primary", (KeyPart("id"),)),), flavour=flavour)


def image(ids: list[int], names: list[str | None] | None = None) -> dict[str, pa.Array]:
    columns = {"id": pa.array(ids, pa.int32())}
    return columns if names is None else columns | {"name": pa.array(names, pa.string())}


def kinds(path: pathlib.Path, checksum: bool = True) -> list[int]:
    return [kind for _, kind, _ in read_events(path, checksum)]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_real_readers_take_these_bytes(tmp_path: pathlib.Path, flavour: str) -> None:
    """mysqlbinlog 9.7 and mariadb-binlog 10.11 verified this file's checksums and printed its rows: writer_sample."""
    path = tmp_path / "binlog.000001"
    writer_sample.write(path, flavour)
    digest, *lines = (writer_sample.RECORDS / f"{flavour}.txt").read_text().splitlines()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    inserts = "\n".join(lines).split("### INSERT INTO `sample`.`every`\n### SET\n")[1:]
    assert len(inserts) == writer_sample.ROWS
    old = writer_sample.values(flavour, 1)
    names = [column.name for column in writer_sample.every_type(flavour).columns]
    for row, printed in enumerate(inserts):
        values = dict(line[6:].split("=", 1) for line in re.split(r"\n### (?=[A-Z])", printed)[0].splitlines())
        for name, shown in ((name, values[f"@{names.index(name) + 1}"]) for name in ("ti", "dec", "t6", "v", "dtm6")):
            assert shown == expected_text(old[name][row], flavour), (row, name)


def expected_text(value: pa.Scalar, flavour: str) -> str:
    """A value as `mysqlbinlog -v` or `mariadb-binlog -v` prints it."""
    plain = value.as_py()
    if plain is None:
        return "NULL"
    if pa.types.is_integer(value.type):
        return f"{plain} ({plain + 256})" if plain < 0 else str(plain)
    if pa.types.is_duration(value.type):
        seconds, fraction = divmod(abs(value.value), 1_000_000)
        return (
            f"'{'-' * (value.value < 0)}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}'"
        )
    if pa.types.is_timestamp(value.type):
        return f"'{plain:%Y-%m-%d %H:%M:%S.%f}'"
    if pa.types.is_decimal(value.type):
        return str(plain)
    return "'" + (plain.replace("'", "\\'") if flavour == "mysql" else plain) + "'"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_table_maps_read_back(flavour: str) -> None:
    table = writer_sample.every_type(flavour)
    read = parse_table_map(encode_table_map(table))
    wire = wire_columns(table)
    assert (read.database, read.table) == ("sample", "every")
    assert read.types == tuple(column.type for column in wire)
    assert read.metadata == tuple(column.metadata for column in wire)
    assert read.nullable == tuple(column.nullable for column in wire)
    assert [unsigned for unsigned in read.unsigned if unsigned] == (
        [True] * 3 if flavour == "mysql" else []
    )  # id, si, y


def test_groups_of_mysql(tmp_path: pathlib.Path) -> None:
    """DDL is a group by itself, a transaction goes from its GTID and BEGIN to its XID; GTIDs count up."""
    with BinlogWriter(path := tmp_path / "b.000001") as log:
        log.query("CREATE DATABASE shop")
        with log.transaction():
            log.rows(RowChanges(small_table(), after=image([1], ["a"])))
        log.transactions([RowChanges(small_table(), before=image([1, 2]), after=image([1, 2]))])
    events = read_events(path)
    assert log.position == path.stat().st_size
    group = [GTID, QUERY, TABLE_MAP]
    assert [kind for _, kind, _ in events] == [
        FORMAT,
        PREVIOUS,
        GTID,
        QUERY,
        *group,
        30,
        XID,
        *group,
        31,
        XID,
        *group,
        31,
        XID,
    ]
    gtids = [body for _, kind, body in events if kind == GTID]
    assert [struct.unpack_from("<Q", body, 17)[0] for body in gtids] == [1, 2, 3, 4]
    assert [struct.unpack_from("<QQ", body, 26) for body in gtids] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert [body[0] for body in gtids] == [1, 0, 0, 0]


@settings(max_examples=25)
@given(width=st.sampled_from([0, 90, 200, 70_000]), rows=st.integers(1, 3))
def test_the_transaction_length_is_that_of_the_group(
    tmp_path_factory: pytest.TempPathFactory, width: int, rows: int
) -> None:
    """The length counts the GTID event itself, whose own size depends on the length."""
    path = tmp_path_factory.mktemp("log") / "b"
    table = TableDefinition("s", "t", (Column("v", ColumnType("mediumblob")),))
    with BinlogWriter(path) as log:
        log.query("x" * width)
        with log.transaction():
            log.rows(RowChanges(table, after={"v": pa.array([b"v" * width] * rows)}))
    events = read_events(path)[2:]
    starts = [index for index, (_, kind, _) in enumerate(events) if kind == GTID] + [len(events)]
    for first, last in itertools.pairwise(starts):
        body = events[first][2]
        told = {252: 2, 253: 3}.get(body[49], 0)
        length = int.from_bytes(body[50 : 50 + told], "little") if told else body[49]
        assert length == sum(len(event) + 23 for _, _, event in events[first:last])
        assert len(body) == 49 + 1 + told + 4


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_bulk_transactions_are_the_bytes_of_single_ones(tmp_path: pathlib.Path, flavour: str) -> None:
    """One call for n transactions writes what n calls write."""
    table, other = small_table(flavour), small_table(flavour, "other")
    names = ["a", None, "é" * 30, "", "z"]
    update = RowChanges(table, before=image([1, 2, 3, 4, 5], names), after=image([9, 8, 7, 6, 5], names[::-1]))
    delete = RowChanges(other, before=image([5, 4, 3, 2, 1]))
    with BinlogWriter(tmp_path / "bulk", flavour=flavour) as log:
        log.transactions([update, delete], np.arange(5) + 1_600_000_000)
    with BinlogWriter(tmp_path / "single", flavour=flavour) as log:
        for row in range(5):
            log.timestamp = 1_600_000_000 + row
            with log.transaction():
                for change in (update, delete):
                    one = [
                        part and {name: values.slice(row, 1) for name, values in part.items()}
                        for part in (change.before, change.after)
                    ]
                    log.rows(RowChanges(change.table, *one))
    bulk, single = (
        read_events(tmp_path / name)[3:] for name in ("bulk", "single")
    )  # MariaDB's third has the file's name
    assert bulk == single and len(bulk) >= 30


def test_large_statements_are_cut_into_events(tmp_path: pathlib.Path) -> None:
    """Rows events stay at 8 KB unless one row is longer; the last one alone ends the statement."""
    names = ["x" * 39] * 1000
    wide = TableDefinition("s", "w", (Column("v", ColumnType("blob")),))
    with BinlogWriter(path := tmp_path / "b") as log, log.transaction():
        log.rows(RowChanges(small_table(), after=image(list(range(1000)), names)))
        log.rows(RowChanges(wide, after={"v": pa.array([b"a" * 9000, b"b", b"c" * 9000])}))
    bodies = [body for _, kind, body in read_events(path) if kind == 30]
    first, second = ([body for body in bodies if body[0] == table] for table in (100, 101))
    assert all(len(body) < 8192 + 16 for body in first) and len(first) == 6
    assert b"".join(body[12:] for body in first).count(b"x" * 39) == 1000
    assert [len(body) > 9000 for body in second] == [True, False, True]
    assert [body[6] for body in first + second] == [0] * 5 + [1] + [0, 0, 1]


def test_minimal_images_hold_what_was_given(tmp_path: pathlib.Path) -> None:
    """IMG-U: the bitmaps say which columns an image has; NULL bits are for those alone."""
    with BinlogWriter(path := tmp_path / "b", checksum=False) as log:
        log.transactions([RowChanges(small_table(), before=image([7]), after={"name": pa.array([None], pa.string())})])
    body = next(body for _, kind, body in read_events(path, checksum=False) if kind == 31)
    assert body[10:] == b"\x02" + b"\x01\x02" + b"\x00\x07\0\0\0" + b"\x01"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_rotation_names_the_next_file_and_its_gtids(tmp_path: pathlib.Path, flavour: str) -> None:
    source = uuid.UUID("11111111-2222-4333-8444-555555555555")
    log = BinlogWriter(tmp_path / "binlog.000001", flavour=flavour, source=source)
    log.transactions([RowChanges(small_table(flavour), after=image([1, 2, 3], ["a", "b", "c"]))])
    log = log.rotate(tmp_path / "binlog.000002")
    log.query("CREATE DATABASE later")
    log.close()
    _, kind, body = read_events(tmp_path / "binlog.000001")[-1]
    assert (kind, body) == (ROTATE, struct.pack("<Q", 4) + b"binlog.000002")
    later = read_events(tmp_path / "binlog.000002")
    if flavour == "mysql":
        assert later[1][1:] == (PREVIOUS, struct.pack("<Q16sQQQ", 1, source.bytes, 1, 1, 4))
        assert struct.unpack_from("<Q", later[2][2], 17) == (4,)
    else:
        assert later[1][1:] == (GTID_LIST, struct.pack("<IIIQ", 1, 0, 1, 3))
        assert struct.unpack_from("<Q", later[3][2]) == (4,)


def test_logs_without_gtids(tmp_path: pathlib.Path) -> None:
    changes = [RowChanges(small_table(), after=image([1], ["a"]))]
    for gtids, expected in (
        ("anonymous", [FORMAT, PREVIOUS, ANONYMOUS, QUERY, TABLE_MAP, 30, XID]),
        ("none", [FORMAT, QUERY, TABLE_MAP, 30, XID]),
    ):
        with BinlogWriter(tmp_path / gtids, gtids=gtids) as log:
            log.transactions(changes)
        assert kinds(tmp_path / gtids) == expected


def test_a_group_that_fails_leaves_nothing(tmp_path: pathlib.Path) -> None:
    with BinlogWriter(path := tmp_path / "b") as log:
        with pytest.raises(ValueError, match="no column"), log.transaction():
            log.rows(RowChanges(small_table(), after=image([1], ["a"])))
            log.rows(RowChanges(small_table(), after={"id": pa.array([1]), "nothing": pa.array([1])}))
        with log.transaction(end="rollback"):
            log.rows(RowChanges(small_table(), after=image([1], ["a"])))
    assert kinds(path) == [FORMAT, PREVIOUS, GTID, QUERY, TABLE_MAP, 30, QUERY]
    assert read_events(path)[-1][2].endswith(b"\0ROLLBACK")


def test_what_cannot_be_written_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="one length"):
        RowChanges(small_table(), before=image([1, 2]), after=image([1]))
    with pytest.raises(ValueError, match="unknown flavour"):
        BinlogWriter(tmp_path / "b", flavour="postgres")
    with BinlogWriter(tmp_path / "b") as log:
        with pytest.raises(ValueError, match="in a transaction"):
            log.rows(RowChanges(small_table(), after=image([1], ["a"])))
        with pytest.raises(ValueError, match="a table of mariadb"):
            log.transactions([RowChanges(small_table("mariadb"), after=image([1], ["a"]))])
        with pytest.raises(ValueError, match="same number of rows"):
            log.transactions(
                [RowChanges(small_table(), after=image([1])), RowChanges(small_table(), after=image([1, 2]))]
            )
