"""A summary of logs that were made for it: which part, which tables, in how much memory, and how it is shown."""

import itertools
import json
from datetime import UTC, datetime
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import applier
from applier import cli
from applier.binlog.events.format import EventType
from applier.jobs.summary import totals as totals_of_splits
from applier.jobs.summary.counting import Counted, SplitCounts
from applier.jobs.summary.figures import RowCounts, TimeCounts, widths_from
from applier.jobs.summary.totals import Totals
from applier.jobs.summary.who import NO_THREAD, threads_of
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.folders import ROOT
from tests.support.small_logs import commit, delete, insert, new_log, update

NOON = 1_773_489_600  # 2026-03-14 12:00:00 UTC
HOSTILE = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture
def archive(tmp_path):
    """A transaction of 3 rows at noon, one of 5 at 12:07, one of 2 and DDL at 12:59."""
    folder = tmp_path / "logs"
    folder.mkdir()
    with new_log(folder, timestamp=NOON, server_id=7) as log:
        commit(log, insert([(n, n, "a") for n in range(3)]))
        log.timestamp = NOON + 7 * 60
        commit(log, insert([(9, 9, "b")]), update([(n, n, "a") for n in range(2)], [(n, n, "b") for n in range(2)]),
               delete([(9, 9, "b"), (2, 2, "a")]))
        log.timestamp = NOON + 59 * 60
        commit(log, delete([(0, 0, "b"), (1, 1, "b")]))
        log.query(f"ALTER TABLE item COMMENT '{HOSTILE}'", "shop")
    return folder


def test_what_happened_at_a_glance(archive):
    summary = applier.summary(archive)
    assert summary.rows == RowCounts(4, 2, 4) and summary.transactions == 3 and summary.groups == 5
    assert [one.words for one in summary.largest] == [
        "1 insert into shop.item, 2 updates of shop.item, 2 deletes from shop.item", "3 inserts into shop.item",
        "2 deletes from shop.item"]
    assert [(one.server_id, one.thread_id, one.gtid[-1]) for one in summary.largest] == [
        (7, 1, "3"), (7, 1, "2"), (7, 1, "4")]
    assert [(step.time - NOON, step.kinds) for step in summary.times] == [
        (0, (3, 0, 0)), (420, (1, 2, 2)), (3540, (0, 0, 2))]
    assert [one.sql.split()[0] for one in summary.statements] == ["CREATE", "ALTER"]
    assert (summary.first_time, summary.last_time) == (NOON, NOON + 3540)


def test_a_large_transaction_has_the_statement_of_its_first_rows(tmp_path):
    """With binlog_rows_query_log_events; the other one was logged without it."""
    with new_log(tmp_path) as log:
        with log.transaction():
            for number, sql in enumerate([b"INSERT INTO item SELECT 1", b"INSERT INTO item SELECT 2"]):
                log.event(EventType.ROWS_QUERY, bytes([len(sql)]) + sql)
                log.rows(insert([(number, 1, "a")]))
        commit(log, insert([(9, 9, "b")]))
    assert [one.statement for one in applier.summary(tmp_path).largest] == ["INSERT INTO item SELECT 1", None]


def test_times_gtids_and_the_end_are_values(archive):
    summary = applier.summary(archive)
    noon = datetime(2026, 3, 14, 12, tzinfo=UTC)
    assert (summary.first_at, summary.last_at) == (noon, noon.replace(minute=59))
    assert [step.at.minute for step in summary.times] == [0, 7, 59]
    assert [one.at for one in summary.largest] == [noon.replace(minute=7), noon, noon.replace(minute=59)]
    assert [one.at.minute for one in summary.statements] == [0, 59]
    assert (str(summary.end), str(summary.end.gtids), summary.end.time) == (
        summary.position, summary.gtids, summary.last_at)
    assert applier.summary(archive, stop=summary.end).rows == summary.rows
    assert "end" not in summary.to_json()
    later = applier.summary(archive, start=noon.replace(year=2027))
    assert later.transactions == 0 and later.end == summary.end


def test_a_part_of_the_log_and_some_tables(archive):
    largest = applier.summary(archive).largest[0]
    at = {"start": (largest.file, largest.start), "stop": (largest.file, largest.end)}
    assert applier.summary(archive, **at).rows == RowCounts(1, 2, 2)
    assert applier.summary(archive, start=datetime(2026, 3, 14, 12, 7, tzinfo=UTC)).rows == RowCounts(1, 2, 4)
    assert applier.summary(archive, start=datetime(2026, 3, 14, 12, 7, tzinfo=UTC)).n_statements == 1
    assert applier.summary(archive, stop=datetime(2026, 3, 14, 12, 7, tzinfo=UTC)).rows == RowCounts(3, 0, 0)
    others = applier.summary(archive, ignore_tables="shop.item")
    assert (others.rows, others.transactions, others.largest, others.n_statements) == (RowCounts(), 0, (), 0)
    assert applier.summary(archive, tables="shop", top=1).n_statements == 2
    assert len(applier.summary(archive, tables="shop", top=1).largest) == 1


def test_ddl_has_its_gtid_and_where_to_stop_before_it(archive, capsys):
    summary = applier.summary(archive)
    ddl = summary.statements[-1]
    assert ddl.gtid.endswith(":5") and ddl.start < ddl.position
    before = applier.summary(archive, stop=(ddl.file, ddl.start))
    assert (before.rows, before.n_statements) == (summary.rows, summary.n_statements - 1)
    assert cli.main(["summary", "--binlogs", str(archive)]) == 0
    assert f"{ddl.file}:{ddl.start}, {ddl.gtid}" in " ".join(capsys.readouterr().out.split())


def test_changes_that_are_logged_as_statements_are_counted(archive):
    with BinlogWriter(archive / "other.000001") as log:
        log.query("INSERT INTO t VALUES (1)", "d")
        log.query("INSERT INTO t VALUES (2)", "d")
    [found] = applier.summary(archive / "other.000001").logged_as_statements
    assert (found.table, found.kind, found.statements) == ("d.t", "INSERT", 2)


def test_a_table_that_was_altered_is_counted_with_both_definitions(tmp_path):
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        for sql in ("CREATE TABLE d.t (a INT)", "CREATE TABLE d.t (a INT, b VARCHAR(5))"):
            [table] = parse_statement(sql, default_database="d", flavour="mysql")
            values = {"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])}
            columns = {column.name: values[column.name] for column in table.definition.columns}
            commit(log, RowChanges(table.definition, after=columns))
    [table] = applier.summary(tmp_path / "binlog.000001").tables
    assert (table.table, table.inserts, table.transactions) == ("d.t", 4, 2)


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_an_encrypted_log_is_refused(flavour):
    with pytest.raises(applier.EncryptedBinlog):
        applier.summary(ROOT / f"tests/recorded/binlog/encrypted/{flavour}.000001")


def test_damage_stops_with_its_place(archive):
    file = archive / "binlog.000001"
    log = bytearray(file.read_bytes())
    largest = applier.summary(archive).largest[0]
    log[largest.end - 40] ^= 1
    file.write_bytes(log)
    with pytest.raises(applier.ArchiveError) as damaged:
        applier.summary(archive)
    assert damaged.value.file == str(file) and largest.start < damaged.value.position < largest.end


def test_a_torn_end_is_left_out_and_told(archive):
    file = archive / "binlog.000001"
    file.write_bytes(file.read_bytes()[:-10])
    summary = applier.summary(archive)
    assert summary.rows == RowCounts(4, 2, 4) and summary.n_statements == 1
    assert any("ends within an event group" in note for note in summary.notes)


def test_rows_that_were_rolled_back_are_said_to_be(archive):
    with BinlogWriter(archive / "other.000001") as log, log.transaction(end="rollback"):
        log.rows(insert([(1, 1, "a")]))
    [largest] = applier.summary(archive / "other.000001").largest
    assert largest.rolled_back


# ---- memory

def split(*, minutes=(), tables=("d.t",), largest=()):
    counts = SplitCounts(transactions=1)
    counts.tables = {name: np.array([1, 0, 0, 1, 10]) for name in tables}
    counts.times = {(minute, name): np.array([1, 0, 0]) for minute in minutes for name in tables}
    counts.largest = [Counted(rows, "u", None, 1, None, {}, False) for rows in largest]
    return counts


def test_steps_become_longer_where_there_are_too_many():
    totals = Totals(0, most_steps=10)
    for minute in range(40):
        totals.add(split(minutes=[minute]))
    assert totals.seconds_each == 300
    assert totals.by_time() == tuple(TimeCounts(5, time=300 * step, table="d.t") for step in range(8))


def test_minutes_that_come_when_steps_are_longer_are_added_up():
    totals = Totals(0, most_steps=10)
    totals.add(split(minutes=range(20)))
    totals.add(split(minutes=range(20, 40)))
    assert totals.by_time() == tuple(TimeCounts(5, time=300 * step, table="d.t") for step in range(8))


def test_times_that_no_clock_shows_lengthen_steps_without_end():
    totals = Totals(0, most_steps=3)
    totals.add(split(minutes=range(0, 1 << 27, 1 << 22)))
    assert len(totals.by_time()) <= 3 and sum(step.inserts for step in totals.by_time()) == 32


@pytest.mark.parametrize("seconds", [60, 3600, 7 * 86400, 28 * 86400])
def test_steps_stay_as_they_are_where_few_enough(seconds):
    assert next(iter(widths_from(seconds))) == seconds
    assert all(longer % width == 0 for width, longer in itertools.pairwise(itertools.islice(widths_from(60), 12)))


def test_many_tables_lengthen_steps():
    totals = Totals(0, most_entries=100)
    totals.add(split(minutes=range(10), tables=[f"d.t{n}" for n in range(60)]))
    assert len(totals.by_time()) <= 120 and sum(step.inserts for step in totals.by_time()) == 600


def test_only_the_largest_are_kept_the_first_of_equals():
    totals = Totals(2)
    for part in ([5, 1], [7, 5], [5]):
        totals.add(split(largest=part))
    assert [one.rows for one in totals.largest] == [7, 5] and len(totals.largest) == 2


def threads(*counted):
    """A split with transactions (thread, inserted rows)."""
    ids, rows = np.array(counted).T
    return SplitCounts(threads=threads_of(np.full(len(ids), 7), ids, np.stack([rows, 0 * rows, 0 * rows], axis=1)))


def test_threads_with_the_most_rows():
    """A thread that is unknown takes no place among them."""
    totals = Totals(2)
    totals.add(threads((1, 5), (2, 4), (NO_THREAD, 100), (1, 1)))
    totals.add(threads((2, 4), (3, 1)))
    totals.add(SplitCounts())
    assert [(one.thread_id, one.kinds, one.transactions, one.server_id) for one in totals.threads()] == [
        (2, (8, 0, 0), 2, 7), (1, (6, 0, 0), 2, 7)]
    assert not totals.forgot_threads


def test_of_very_many_threads_those_with_few_rows_are_forgotten(monkeypatch):
    monkeypatch.setattr(totals_of_splits, "MOST_THREADS", 10)
    totals = Totals(3)
    for part in range(20):
        totals.add(threads((1000, 1), *((10 * part + number, number) for number in range(8))))
    assert totals.forgot_threads and totals.threads()[0].rows >= 7 and len(totals.threads()) == 3


# ---- what people see

class Page(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.sources, self.open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]


def test_the_page_needs_nothing_and_shows_names_as_text(archive, tmp_path):
    file = tmp_path / "page.html"
    assert cli.main(["summary", "--binlogs", str(archive), "--html", str(file)]) == 0
    html = file.read_text()
    page = Page(html)
    assert page.tags.count("figure") == 2 and "url(" not in html
    assert page.sources and all(source.startswith("#transaction-") for source in page.sources)
    assert "These are the first" not in html  # there are all statements of DDL
    assert "script" not in page.tags and "&lt;script&gt;alert(1)" in html and "\x1b" not in html
    for text in ("1 insert into shop.item, 2 updates", "2026-03-14 12:07:00 UTC", "Row changes, 1 minute each"):
        assert text in html


def test_a_page_over_a_file_that_cannot_be_written(archive, capsys):
    assert cli.main(["summary", "--binlogs", str(archive), "--html", str(archive / "no" / "page.html")]) == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_a_summary_as_json(archive, capsys):
    assert cli.main(["summary", "--binlogs", str(archive), "--json", "--start-datetime", "2026-03-14T12:07:00+00:00",
                     "--stop-datetime", "2026-03-14T12:59:00+00:00", "--top", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == {"inserts": 1, "updates": 2, "deletes": 2}
    [largest] = found["largest"]
    assert largest["time"] == "2026-03-14T12:07:00+00:00" and largest["tables"][0]["table"] == "shop.item"
    [step] = found["by_time"]
    assert step == {"inserts": 1, "updates": 2, "deletes": 2, "table": "shop.item", "time": "2026-03-14T12:07:00+00:00"}


def test_a_summary_on_the_terminal(archive, capsys):
    assert cli.main(["summary", "--binlogs", str(archive)]) == 0
    shown = capsys.readouterr().out
    assert "10 row changes in 3 transactions: 4 inserts, 2 updates, 4 deletes" in shown
    [line] = [line for line in shown.splitlines() if "3 inserts into shop.item" in line]
    assert line.split()[0] == "2:" and "2026-03-14 12:00:00 UTC" in line and "██████████████▍" in line
    assert "\x1b" not in shown and "\\x1b" in shown


@pytest.mark.parametrize("options", [["--top", "-1"], ["--stop-gtid", "0-1-1", "--stop-datetime", "2026-01-01"]])
def test_options_that_make_no_sense(archive, options, capsys):
    assert cli.main(["summary", "--binlogs", str(archive), *options]) == 2
    assert "hint: give" in capsys.readouterr().err


def test_a_log_without_rows(tmp_path, capsys):
    BinlogWriter(tmp_path / "binlog.000001").close()
    assert cli.main(["summary", "--binlogs", str(tmp_path), "--html", str(tmp_path / "page.html")]) == 0
    assert "0 row changes in 0 transactions" in capsys.readouterr().out
