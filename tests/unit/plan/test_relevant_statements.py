"""Statements that outlines leave out, count, or carry in part: a plan says the same without them."""

import pickle
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.events.format import EventType
from applier.binlog.outline import outline_notes
from applier.binlog.outline.outline import OutlineTask
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.plan.log import read_history
from applier.plan.prepared import resolve_prepared_transactions
from applier.plan.span import span_of
from applier.schema.history import relevance
from applier.schema.history.relevance import Relevance
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.writer.event_encoder import query
from tests.support.examples import examples
from tests.support.planning import Log

FILTER = TableFilter(ignored=parse_table_list(["other"]))
OF_NO_INTEREST = [
    "GRANT SELECT ON *.* TO 'a'@'%'", "FLUSH PRIVILEGES", "CREATE TEMPORARY TABLE x (a INT)",
    "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `x`", "CREATE VIEW v AS SELECT 1", "ANALYZE TABLE t", "/* nothing */",
    "SET sql_mode = ''", "INSERT INTO other.t VALUES (1)", "REPLACE other.t SET a = 'x'", "UPDATE other.t SET a = 1",
    "DELETE FROM other.t, other.u USING other.t JOIN other.u", "LOAD DATA INFILE 'x' INTO TABLE other.t",
]
CHANGE_ROWS = [
    "INSERT INTO t VALUES (1)", "INSERT INTO d.kept VALUES (1)", "UPDATE t, other.t SET t.a = 1", "CALL d.p()",
    "DELETE FROM t WHERE a IN (" + ", ".join(map(str, range(100))) + ")",
    "INSERT INTO t VALUES ('" + "long " * 100 + "')",
]
OF_TABLES = [
    "CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE other.t (id INT PRIMARY KEY)", "CREATE TABLE t LIKE other.t",
    "DROP TABLE IF EXISTS t", "DROP TABLE other.t", "RENAME TABLE other.t TO d.u", "ALTER TABLE t ADD b INT",
    "ALTER TABLE other.t ADD b INT", "TRUNCATE t", "CREATE DATABASE d CHARACTER SET latin1", "DROP DATABASE other",
    "CREATE TABLE kept (id INT PRIMARY KEY) ENGINE=MyISAM", "CREATE TABLE s AS SELECT 1",
]
BROKEN = ["INSERT INTO", "DROP TABLE 'x", "ALTER TABLE t FROBNICATE", "WHATEVER", "CREATE TABLE t", "DELETE FROM"]
STEPS = st.tuples(st.sampled_from(["alone", "alone", "alone", "commit", "rollback", "prepare"]),
                  st.sampled_from(OF_NO_INTEREST) | st.sampled_from(OF_TABLES) | st.sampled_from(CHANGE_ROWS)
                  | st.sampled_from(BROKEN), st.sampled_from(["d", "other", "", "old"]))


def write(path, steps):
    with Log(path) as log:
        for number, (end, sql, database) in enumerate(steps):
            if end == "alone":
                log.query(sql, database)
            elif end == "prepare":
                xid = f"X'{number:02x}',X'',1"
                log.emit_gtid(100, statement=False)
                log.event(EventType.QUERY, query(f"XA START {xid}", "", "mysql"))
                log.event(EventType.QUERY, query(sql, database, "mysql"))
                log.event(EventType.QUERY, query(f"XA END {xid}", "", "mysql"))
                log.event(EventType.XA_PREPARE, b"\0" + (1).to_bytes(4, "little") + (1).to_bytes(4, "little")
                          + bytes(4) + bytes([number]))
                if number % 3:
                    log.query(f"XA {'COMMIT' if number % 3 == 1 else 'ROLLBACK'} {xid}")
            else:
                with log.transaction(end):
                    log.query(sql, database)
    return log.path


def told(path, found, **options):
    """All that a plan takes from statements, or the error that it stops with."""
    try:
        span, _ = resolve_prepared_transactions(span_of(found), ())
        history = read_history(span, FILTER.wanted, None, None, **options)
    except ApplierError as error:
        return error.args, vars(error)
    return ([(version.definition, version.start, version.end, version.sources) for version in history.versions()],
            history.skipped, history.databases(), history.charset_assumed)


def outlined(path, told_by=None):
    [found] = ThisProcess().outline([OutlineTask(str(path), relevance=told_by)], lambda *_: None)
    return pickle.loads(pickle.dumps(found))


@settings(deadline=None, max_examples=examples(100))
@given(st.lists(STEPS, max_size=12), st.booleans(), st.sampled_from([{}, {"old": "d"}, {"d": "other"}]),
       st.sampled_from([0, 2]))
def test_a_plan_says_the_same(tmp_path_factory, steps, skip, rewrites, many):
    """AP-FILT: the same versions, counts and databases, or the same error at the same place."""
    path = write(tmp_path_factory.mktemp("log") / "b.000001", steps)
    options = {"rewrites": rewrites, "skip_statements": skip}
    with mock.patch.object(outline_notes, "MANY", many), mock.patch.object(relevance, "LONG", 150), \
            mock.patch.object(relevance, "BEGINNING", 300):
        found = outlined(path, Relevance(FILTER.wanted, rewrites, skip))
    assert told(path, [found], **options) == told(path, [outlined(path)], **options)


def test_what_is_of_no_interest_is_left_out(tmp_path, monkeypatch):
    """And what follows the statement at which every plan stops."""
    monkeypatch.setattr(outline_notes, "MANY", 0)
    path = write(tmp_path / "b.000001", [("alone", sql, "other") for sql in OF_NO_INTEREST])
    assert not outlined(path, Relevance(FILTER.wanted)).statements and outlined(path).statements
    path = write(tmp_path / "b.000002", [("alone", sql, "d") for sql in (OF_TABLES[0], *CHANGE_ROWS, *OF_TABLES)])
    assert [found.sql for found in outlined(path, Relevance(FILTER.wanted)).statements] == [
        OF_TABLES[0], CHANGE_ROWS[0]]
    skipping = outlined(path, Relevance(FILTER.wanted, {}, skip_statements=True))
    assert [found.sql for found in skipping.statements] == [OF_TABLES[0], *OF_TABLES]
    assert sum(kinds.total() for kinds in skipping.skipped.values()) == len(CHANGE_ROWS)


@pytest.mark.parametrize("end", ["rollback", "prepare"])
def test_what_may_be_void_is_carried_whole(tmp_path, monkeypatch, end):
    """A table of an engine without transactions may be named anywhere in it."""
    monkeypatch.setattr(outline_notes, "MANY", 0)
    sql = OF_NO_INTEREST[8] + "-- " + "x" * relevance.LONG
    path = write(tmp_path / "b.000001", [(end, sql, "d")])
    assert [found.sql for found in outlined(path, Relevance(FILTER.wanted)).statements] == [sql]


@pytest.mark.parametrize("text", ["'{}'", '"{}"', "1 /* {} */", "{}"])
def test_a_long_statement_is_carried_as_its_beginning(tmp_path, text):
    """If every plan stops there with the same words."""
    sql = f"INSERT INTO t VALUES ({text.format('words and more ' * 20_000)})"
    path = write(tmp_path / "b.000001", [("alone", sql, "d")])
    found, whole = outlined(path, Relevance(FILTER.wanted)), outlined(path)
    assert len(pickle.dumps(found)) < 8_000 and len(found.statements[0].sql) < 5_000 < len(whole.statements[0].sql)
    assert told(path, [found]) == told(path, [whole]) and "words" in told(path, [whole])[0][0]
