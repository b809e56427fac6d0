"""Of each table of each recorded case: changes as JSON lines and as CSV say what the feed says. (That this is what the
servers' own tools print: test_lines_and_tools.py.)"""

import io
import json
import pickle
from datetime import UTC, timedelta
from decimal import Decimal
from functools import cache

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import applier
from applier.jobs.change_files.lines import JsonLines
from applier.jobs.change_files.tables import row_file
from applier.jobs.changes.feed import OF_CHANGES
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from applier.schema.table_filter import EVERYTHING
from tests.support.folders import CASES
from tests.support.real_server import Case

OPERATIONS = {"insert": "insert", "update_preimage": "update", "delete": "delete", "truncate": "truncate",
              "alter": "alter"}


def as_lines(table, feed, batches):
    known = JsonLines(table, feed.columns, feed.key, feed.order)
    return b"".join(lines.text.tobytes() for batch in batches for lines in known.lines(batch)).splitlines()


def as_csv(feed, batches):
    out = io.BytesIO()
    with row_file("csv", out, feed.schema, feed.columns, ("d", "t")) as file:
        for batch in batches:
            file.add(batch)
    return out.getvalue()


def shown(value, column):
    """A value of the feed as a line has it."""
    kind = column.type
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, timedelta):
        micros = abs(value) // timedelta(microseconds=1)
        seconds, micros = divmod(micros, 1_000_000)
        sign = "-" if value < timedelta() else ""
        return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"
    if kind.base in ("datetime", "timestamp"):
        digits = {0: 0, 1: 3, 2: 3, 3: 3}.get(kind.fsp, 6)
        text = value.replace(tzinfo=None).isoformat(" ", "microseconds")[:19 + bool(digits) + digits]
        return text + ("Z" if value.tzinfo is not None else "")
    if kind.base == "date":
        return value.isoformat()
    if kind.base == "decimal":
        return Decimal(value)
    if kind.base == "json":
        try:
            return json.loads(value, parse_float=Decimal)
        except ValueError:
            return value
    return value


def same(value, line, column):
    if column.type.base in ("float", "double"):
        return (value is None) == (line is None) and (value is None or pa.scalar(
            float(line), pa.float32() if column.type.base == "float" else pa.float64()).as_py() == value)
    if column.type.base == "vector":
        return value == (line and [pa.scalar(float(part), pa.float32()).as_py() for part in line])
    return value == line


def check_image(row, line, columns):
    """A row of the feed and its image in a line: the same columns, the same values."""
    present = set(columns) if row["_present"] is None else set(row["_present"])
    assert list(line) == [name for name in columns if name in present]
    for name, value in line.items():
        assert same(shown(row[name], columns[name]), value, columns[name]), (name, row[name], value)


@cache
def feeds(name):
    """The feed of each table of a case that has one, and its batches."""
    return list(read(Case(name)))


def read(case):
    log = ChangeLog(ChangesOptions(tuple(map(str, case.binlogs)), ignore_foreign_keys=True))
    try:
        names = log.tables(EVERYTHING)
    except applier.ApplierError:
        return
    for name in names:
        try:
            feed = log.feed(name)
            yield name, feed, list(feed.batches())
        except applier.ApplierError:  # columns of two types
            continue


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", sorted(folder.name for folder in CASES.iterdir() if Case(folder.name).binlogs))
def test_lines_are_the_feed(name):
    for table, feed, batches in feeds(name):
        lines = [json.loads(line, parse_float=Decimal) for line in as_lines(table, feed, batches)]
        changes = pa.Table.from_batches(batches, feed.schema)
        rows = iter(changes.to_pylist())
        for line in lines:
            row = next(rows)
            kind = row["_change_type"]
            assert (line["table"], line["op"]) == (".".join(table), OPERATIONS[kind])
            assert (line["gtid"], line["file"], line["pos"], line["row"]) == (
                row["_gtid"], row["_file"], row["_pos"], row["_row"])
            assert line["cascaded"] is row["_cascaded"]
            assert (line["server_id"], line["thread_id"]) == (row["_server_id"], row["_thread_id"])
            assert line["ts"] == row["_commit_timestamp"].astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
            before, after = line["before"], line["after"]
            if kind in ("update_preimage", "delete"):
                check_image(row, before, feed.columns)
            else:
                assert before is None
            if kind == "update_preimage":
                row = next(rows)
            if kind in ("update_preimage", "insert"):
                check_image(row, after, feed.columns)
                assert line.get("diffs") == (row["_diffs"] and json.loads(row["_diffs"]))
            else:
                assert after is None
            found = before if before is not None else after
            if not feed.key or found is None:
                assert not line["key"]
            else:
                assert line["key"] == {name: found[name] for name in found if name in feed.key}
        assert next(rows, None) is None
        check_csv(as_csv(feed, batches), changes, feed)


def check_csv(text, changes, feed):
    names = feed.schema.names
    read = csv.read_csv(io.BytesIO(text), convert_options=csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, quoted_strings_can_be_null=False,
        null_values=[""]), parse_options=csv.ParseOptions(newlines_in_values=True))
    assert read.schema.names == names and len(read) == len(changes)
    for name in names:
        nulls = [value is None for value in changes[name].to_pylist()]
        assert [value is None for value in read[name].to_pylist()] == nulls
        if changes[name].type == pa.string() or name in ("_file", "_gtid"):
            assert read[name].to_pylist() == changes[name].to_pylist()
        elif pa.types.is_decimal(changes[name].type):
            assert [value and Decimal(value) for value in read[name].to_pylist()] == changes[name].to_pylist()
    assert OF_CHANGES.names == names[-len(OF_CHANGES):]


@pytest.mark.parametrize("name", sorted(folder.name for folder in CASES.iterdir()
                                        if len(Case(folder.name).binlogs) > 1))
def test_parts_of_a_feed_add_up_to_it(name):
    """As tasks get them; statements that are no row changes, and XA transactions whose commit is elsewhere, too."""
    for _, feed, batches in feeds(name):
        parts = [pickle.loads(pickle.dumps(part)) for part in feed.parts(1)]
        in_parts = pa.Table.from_batches((batch for part in parts for batch in part.batches()), feed.schema).to_pylist()
        assert sorted(in_parts, key=lambda row: row["_commit_version"]) == (
            pa.Table.from_batches(batches, feed.schema).to_pylist())
