"""Of each recorded case: changes of all tables as JSON lines tell the rows that the server's own tool prints, column by
column, before and after, in the log's order.

A tool knows no names and prints what is rolled back, so columns are found by number, and rows that no line has are
counted here.
"""

import json
import re
from collections import Counter, defaultdict
from functools import cache

import pytest

import applier
from applier.binlog.archive.archive import open_archive
from applier.binlog.outline.outline_pass import outline_file
from applier.jobs.change_files.lines import JsonLines
from applier.jobs.changes.columns import feed_columns
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from applier.plan.log import read_history
from applier.plan.span import span_of
from applier.schema.table_filter import EVERYTHING
from tests.recorded.changes.record_tool_rows import cases, tool_rows
from tests.recorded.changes.tool_values import read, same
from tests.recorded.show import tool_events
from tests.recorded.show.tool_output import row_changes
from tests.support.folders import CASES

REFUSED = ("incident-mariadb", "incident-mysql", "statement-mariadb", "statement-mysql", "statement-mysql-mixed")
"""Cases that have no lines: changes that are not in the log."""
NOT_PRINTED = ("mariadb-old-temporal", "vector-alters-mysql")
"""Those that the server's tool stops at; mysqlbinlog 9.7 crashes (SIGSEGV) in the second one."""
NO_TYPE = "!! Don't know how to handle"
tools = cache(tool_rows)


def shown_rows(case, files):
    """The rows of the log with their places, as `show` has them; except for values that a tool gives up on they are
    what the tool prints."""
    shown = []
    for path in files:
        events = map(json.loads, tool_events.shown(str(path), "json").split("\n")[:-1])
        shown += [{**event, "file": path.name} for event in events if "op" in event]
    printed = row_changes(tools()[case])
    given_up = {row["table"] for row in printed for image in (row["before"], row["after"])
                if image and any(NO_TYPE in text for text in image.values())}
    known = ("op", "table", "before", "after")
    assert [{key: row[key] for key in known} for row in shown if row["table"] not in given_up] == [
        row for row in printed if row["table"] not in given_up]
    return shown


def definitions_of_source(case, folder):
    """What made the tables of a log for a replica with others: its source, outside the log. None for other cases."""
    if not (CASES / case / "target.sql").exists():
        return None
    before, _, _ = (CASES / case / "source.sql").read_text().partition("SET sql_log_bin = 1")
    path = folder / "source.sql"
    path.write_text("\n".join(line for line in before.splitlines() if re.match("(CREATE|USE) ", line)))
    return str(path)


class Log:
    """A case's lines, and which columns they are of."""

    def __init__(self, files, schema):
        uris = tuple(map(str, files))
        self.log = ChangeLog(ChangesOptions(uris, schema=schema, ignore_foreign_keys=True))
        self.tables, self.flavour = self.log.tables(EVERYTHING), self.log.flavour
        span = span_of([outline_file(file.uri) for file in open_archive(list(uris)).files])
        text = None if schema is None else open(schema).read()
        self._versions = defaultdict(list)
        for version in read_history(span, EVERYTHING.wanted, None, text).versions():
            self._versions[version.definition.database, version.definition.name].append(version)
        self._columns = {table: feed_columns(versions)[0] for table, versions in self._versions.items()}
        self._names = [outline.name for outline in span.outlines]

    def columns(self, table, file, position):
        """The number in the log of each column of the feed at a place, and its type there."""
        place = self._names.index(file), position
        version = next(version for version in self._versions[table]
                       if version.start <= place and (version.end is None or place < version.end))
        return {name: (f"@{number + 1}", version.definition.columns[number].type)
                for number, name in self._columns[table][version.id].items()}

    def lines(self, table):
        """The table's lines of rows, of all columns, or else of those that can be had of its whole log."""
        try:
            return self._lines(table, None)
        except applier.ApplierError:
            names = [name for name in self._names_of(table) if self._can(table, name)]
            return self._lines(table, tuple(names)) if names else []

    def _lines(self, table, columns):
        feed = self.log.feed(table, columns)
        known = JsonLines(table, feed.columns, feed.key, feed.order)
        return [read(text) for batch in feed.batches()
                for lines in known.lines(batch) for text in lines.text.tobytes().splitlines()]

    def _names_of(self, table):
        return sorted({name for names in self._columns[table].values() for name in names.values()})

    def _can(self, table, column):
        try:
            return all(batch is not None for batch in self.log.feed(table, (column,)).batches())
        except applier.ApplierError:
            return False


@pytest.mark.parametrize("case", REFUSED)
def test_logs_without_all_changes_are_refused(case):
    with pytest.raises((applier.UnsupportedEvent, applier.UnsupportedStatement)):
        Log(sorted((CASES / case).glob("binlog.0*")), None)


ROLLED_BACK = {"groups-mariadb": {"g.t": 11}, "transactions-mariadb": {"tx.a": 3}, "transactions-mysql": {"tx.a": 2},
               "transactions-mysql-nogtid": {"tx.a": 2}, "xa-failover-mysql/a": {"x.t": 4},
               "xa-failover-mysql/b": {"x.t": 2}}
"""Rows of the log that are in no line: their transactions were rolled back, or only prepared."""
OTHERS = {"mariadb-sequences": {"sq.s": 7, "sq.q": 2, "sq.q2": 1}, "ddl-mariadb": {"d1.sq": 3}}
"""The same of sequences."""


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("case", [case for case in cases() if case not in REFUSED + NOT_PRINTED])
def test_lines_are_the_rows_that_tools_print(case, tmp_path):
    files = sorted((CASES / case).glob("binlog.0*"))
    wanted = defaultdict(list)
    for row in shown_rows(case, files):
        wanted[row["table"], row["file"], row["pos"]].append(row)
    log, told = Log(files, definitions_of_source(case, tmp_path)), Counter()
    for table in log.tables:
        order = []
        for line in log.lines(table):
            if line["op"] in ("truncate", "alter"):
                continue
            place = line["table"], line["file"], line["pos"]
            row = wanted[place][told[place]]
            assert line["row"] == told[place] or "within" in row  # a payload has several events
            told[place] += 1
            order.append((line["commit_version"], place))
            assert row["op"] == line["op"]
            columns = log.columns(table, line["file"], line["pos"])
            for image in ("before", "after"):
                check_image(line[image], row[image], columns, log.flavour)
        assert order == sorted(order)
    left_out = Counter()
    for place, rows in wanted.items():
        left_out[place[0]] += len(rows) - told[place]
    assert +left_out == {**ROLLED_BACK, **OTHERS}.get(case, {})


def check_image(line, row, columns, flavour):
    """An image of a line is that of the log."""
    assert (line is None) == (row is None)
    for name, value in (line or {}).items():
        if name not in columns:
            assert value is None  # another definition has it
            continue
        number, kind = columns[name]
        assert same(value, row[number], kind, flavour), (name, kind, value, row[number])
