"""The statement behind a change, where the log has it: what `show` prints before the rows."""

import io
import json
import struct

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import applier
from applier import cli
from applier.jobs.change_files.job import write_changes
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangeFilesOptions, ChangesOptions
from applier.schema.table_filter import EVERYTHING
from tests.recorded.show import tool_events
from tests.support.compressing import compress_transactions, plain_events, seal
from tests.support.real_server import Case

CASES = {"compressed-mysql": 3, "groups-mariadb": 20, "mysql-types-number-time": 27, "transactions-mariadb": 40,
         "compressed-mariadb": 5, "mariadb-row-image-minimal": 20}
"""Cases with payloads, XA transactions and savepoints, and how many statements are found at least."""
SECOND_END = "transactions-mariadb", "binlog.000002", 3612
"""Rows of a statement, which changes tables of two engines, behind an event that says that it is its last one. They
could as well be of another statement, of which the log has none."""


def wanted(case):
    """By file and position of rows events: the statements behind them, in the log's order."""
    found = {}
    for path in case.binlogs:
        statement = None
        for line in tool_events.shown(str(path), "json").split("\n")[:-1]:
            event = json.loads(line)
            if event["type"] in ("ROWS_QUERY", "ANNOTATE_ROWS"):
                statement = event["fields"]["sql"]
            elif event["type"] not in ("TABLE_MAP",) and "op" not in event:
                statement = None
            if "op" in event:
                behind = found.setdefault((path.name, event["pos"]), [])
                if statement is not None and statement not in behind[-1:]:
                    behind.append(statement)
    return found


def feeds(case):
    log = ChangeLog(ChangesOptions(tuple(map(str, case.binlogs)), ignore_foreign_keys=True))
    for name in log.tables(EVERYTHING):
        try:
            feed = log.feed(name, None).with_statements()
            yield pa.Table.from_batches(feed.batches(), feed.schema)
        except applier.ApplierError:  # two types of a column
            continue


@pytest.mark.parametrize("name", CASES)
def test_statements_are_those_before_the_rows(name):
    """Of a compressed transaction, whose changes have one place, it must be the only one."""
    case, told = Case(name), set()
    behind = wanted(case)
    for changes in feeds(case):
        for row in changes.select(["_change_type", "_file", "_pos", "_statement"]).to_pylist():
            if row["_change_type"] in ("truncate", "alter"):
                assert row["_statement"] is None
                continue
            place = row["_file"], row["_pos"]
            statements = [] if (name, *place) == SECOND_END else behind[place]
            assert row["_statement"] == (statements[0] if len(statements) == 1 else None)
            told.update(statements[:1])
    assert len(told) >= CASES[name]


def lines(name, format, statements=True):
    out = io.BytesIO()
    options = ChangesOptions(tuple(map(str, Case(name).binlogs)), ignore_foreign_keys=True)
    write_changes(ChangeFilesOptions(options, "-", format, statements=statements), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_lines_have_them_where_the_log_has_some():
    """If they are asked for: a line without one has no such member; Debezium's query is always there."""
    assert not any("statement" in line for line in lines("transactions-mariadb", "json", statements=False))
    assert {line["source"]["query"] for line in lines("transactions-mariadb", "debezium", statements=False)} == {None}
    told = lines("transactions-mariadb", "json")
    assert {line.get("statement", "") is None for line in told} == {False}
    assert {line["source"]["query"] for line in lines("transactions-mariadb", "debezium")} == {
        line.get("statement") for line in told} > {None}
    assert not any("statement" in line for line in lines("row-image-full", "json"))
    assert {line["source"]["query"] for line in lines("key-moves-full", "debezium")} == {None}


def test_files_have_the_column_that_was_asked_for(tmp_path):
    case = Case("mysql-types-number-time")
    for format, more in (("parquet", ["--statements"]), ("csv", ["--statements"]), ("arrow", [])):
        assert cli.main(["changes", "--binlogs", *map(str, case.binlogs), "--tables", "types.ints", "--format", format,
                         "--output", str(tmp_path / format), *more]) == 0
    want = applier.changes(case.binlogs, "types.ints", statements=True).to_arrow()["_statement"].to_pylist()
    read = pq.read_table(tmp_path / "parquet/types/ints/changes.parquet")
    assert read["_statement"].to_pylist() == want
    table = csv.read_csv(tmp_path / "csv/types/ints/changes.csv", parse_options=csv.ParseOptions(
        newlines_in_values=True))
    assert table["_statement"].to_pylist() == want
    with pa.ipc.open_stream(tmp_path / "arrow/types/ints/changes.arrows") as stream:
        assert "_statement" not in stream.schema.names


def test_whole_rows_have_them_too(tmp_path):
    """By the same places; and a log without any has nulls."""
    case = Case("transactions-mariadb")
    single, whole = (applier.changes(case.binlogs, "tx.a", complete=complete, statements=True).to_arrow()
                     for complete in (False, True))
    assert whole["_statement"].to_pylist() == single["_statement"].to_pylist()
    assert single["_statement"].null_count == 1
    none = applier.changes(Case("row-image-full").binlogs, "img.pk", statements=True).to_arrow()
    assert none.column_names[-1] == "_statement" and none["_statement"].null_count == len(none) > 0


def with_some_statements(path, to):
    """The log with a statement before two of three table maps, as of a session that writes some; and by the offsets of
    its rows events, in how many transactions they are, and which statement is behind them."""
    out, found, group, maps, statement = bytearray(b"\xfebin"), {}, 0, 0, None
    for event in plain_events(path):
        kind = event[4]
        group += kind in (33, 34)
        if kind == 19:
            maps += 1
            if maps % 3:
                statement = f"UPDATE of map {maps}"
                body = bytes([len(statement)]) + statement.encode()
                out += seal(struct.pack("<IBIIIH", 7, 29, 1, 0, 0, 0) + body)
        if kind in (30, 31, 32):
            found[len(out)] = group, statement
            statement = statement if not event[25] & 1 else None  # it is the statement's last one
        out += seal(event)
    to.write_bytes(out)
    return found


def test_a_compressed_transaction_has_its_only_statement(tmp_path):
    """Of several it is unknown which one is behind a change. Without compression, rows that follow a statement's last
    ones have none."""
    plain, packed = tmp_path / "binlog.000001", tmp_path / "packed" / "binlog.000001"
    packed.parent.mkdir()
    found = with_some_statements(Case("transactions-mysql").binlogs[0], plain)
    compress_transactions(plain, packed)
    rows = applier.changes(plain, "tx.a", statements=True, ignore_foreign_keys=True).to_arrow()
    assert rows["_statement"].to_pylist() == [found[place][1] for place in rows["_pos"].to_pylist()]
    assert 0 < rows["_statement"].null_count < len(rows)
    by_group = {group: [] for group, _ in found.values()}
    for group, statement in found.values():
        if statement is not None and statement not in by_group[group]:
            by_group[group].append(statement)
    assert max(map(len, by_group.values())) > 1
    again = applier.changes(packed, "tx.a", statements=True, ignore_foreign_keys=True).to_arrow()
    groups = [found[place][0] for place in rows["_pos"].to_pylist()]
    assert again["_statement"].to_pylist() == [
        by_group[group][0] if len(by_group[group]) == 1 else None for group in groups]
    assert 0 < again["_statement"].null_count < len(again)
