"""The part of the log that counts, and what every table was in it."""

from types import SimpleNamespace

import pytest

from applier.binlog.events.format import EventType
from applier.binlog.outline.outline import TableUse
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.samples import Samples
from applier.binlog.outline.stop import StopCondition
from applier.errors import SchemaError, UnsupportedEvent, UnsupportedStatement
from applier.plan.log import read_history
from applier.plan.span import span_of
from applier.plan.used_tables import used_tables
from applier.schema.ddl.ddl import parse_statement
from applier.schema.table_filter import TableFilter
from applier.writer import event_encoder
from applier.writer.wire_columns import encode_table_map
from tests.support.planning import Log, plan, table

T = table()


def test_a_span_ends_with_the_file_that_the_stop_fell_into(tmp_path):
    """GRP-2: later files do not count, whatever is in them."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        _, stop = log.insert(T, 1)
        log.insert(T, 2)
        log.rotate(tmp_path / "b.000002").close()
    condition = StopCondition(("b.000001", stop))
    outlines = [outline_file(str(tmp_path / f"b.00000{n}"), stop=condition) for n in (1, 2)]
    span = span_of(outlines)
    assert [outline.name for outline in span.outlines] == ["b.000001"]
    position = span.end_position(None)
    assert (position.file, position.offset, position.flavour) == ("b.000001", stop, "mysql")
    assert position.gtid_set.endswith(":1-2")
    assert len(span_of([outlines[1]]).outlines) == 1


def test_versions_of_a_table_within_a_file(tmp_path):
    """TRUNCATE and DROP end a version; rows belong to the one that is there."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        log.insert(T, 1)
        log.query("TRUNCATE d.t")
        truncated = log.position
        log.insert(T, 1)
        log.query("DROP TABLE d.t")
        dropped = log.position
        made = log.create(T)
        log.insert(T, 1)
    _, history, versions = plan(tmp_path, [log.path])
    assert [(item.version.start[1], item.version.end and item.version.end[1]) for item in versions][1:] == \
        [(truncated, dropped), (made, None)]
    assert len(history.live()) == 1
    assert [unit.target is None for item in versions for unit in item.units] == [True, True, False]


def test_rows_of_a_table_that_nothing_defines(tmp_path):
    with Log(tmp_path / "b.000001") as log:
        start, _ = log.insert(T, 1)
    with pytest.raises(SchemaError, match="has no definition") as error:
        plan(tmp_path, [log.path])
    assert error.value.table == "d.t" and start < error.value.position < log.position
    assert plan(tmp_path, [log.path], ignored=(("d", "t"),))[2] == []


def test_rows_before_the_table_is_made(tmp_path):
    """A definition that came later does not hold before."""
    with Log(tmp_path / "b.000001") as log:
        log.insert(T, 1)
        log.create(T)
    with pytest.raises(SchemaError, match="has no definition"):
        plan(tmp_path, [log.path])


def test_what_was_rolled_back_does_not_count(tmp_path):
    """GRP-1: neither its rows nor its statements as text."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        with log.transaction("rollback"):
            log.query("INSERT INTO t VALUES (1, 1)", "d")
        log.insert(T, 1)
    span, _, versions = plan(tmp_path, [log.path])
    assert len(span.outlines[0].rolled_back) == 1 and len(versions) == 1


def test_dml_as_text_stops_on_a_wanted_table_only(tmp_path):
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        with log.transaction():
            log.query("INSERT INTO t VALUES (1, 1)", "d")
    span = span_of([outline_file(log.path)])
    with pytest.raises(UnsupportedStatement) as error:
        read_history(span, TableFilter().wanted, None, None)
    assert error.value.file == log.path and error.value.gtid
    wanted = TableFilter(ignored=(("d", "t"),)).wanted
    assert used_tables(span, read_history(span, wanted, None, None), wanted) == []


def test_a_table_over_several_files(tmp_path):
    """A definition holds in all files after the one with its statement."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        with log.rotate(tmp_path / "b.000002") as second:
            with second.transaction():
                pass
            Log.insert(second, T, 1, 2)
    span, _, [item] = plan(tmp_path, [tmp_path / "b.000001", tmp_path / "b.000002"])
    assert [[*used.files] for used in item.uses] == [[1]]
    assert span.end_position(None).file == "b.000002"


@pytest.mark.parametrize("kind, body, says", [(172, b"?", "172 (PARTIAL_ROW_DATA"), (99, b"?", "type 99"),
                                              (EventType.INCIDENT, b"\1\0\0", "INCIDENT")])
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK", ""])
def test_what_is_not_known_stops_the_replay_also_where_a_group_is_taken_back(kind, body, says, end, tmp_path):
    """EV-IGN, EV-INC: a replica stops as it reads the event; what follows from it is unknown."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        log.emit_gtid(0, statement=False)
        log.event(EventType.QUERY, event_encoder.query("BEGIN", "", "mysql"))
        log.event(kind, body)
        if end:
            log.event(EventType.QUERY, event_encoder.query(end, "", "mysql"))
        log.insert(T, 1)
    span = span_of([outline_file(str(tmp_path / "b.000001"))])
    with pytest.raises(UnsupportedEvent) as error:
        read_history(span, lambda database, name: True, None, None)
    assert says in str(error.value)


def test_the_tables_of_a_file_are_looked_for_by_name():
    """However many files there are, versions of other tables are looked at once: 200 files of 1,000 tables took a
    minute."""
    [created], [other] = (parse_statement(f"CREATE TABLE d.{name} (a INT PRIMARY KEY)") for name in "tu")
    looked = []

    class Other:
        start, end = (-1, 0), None

        @property
        def definition(self):
            looked.append(self)
            return other.definition

    version = SimpleNamespace(id=1, definition=created.definition, start=(-1, 0), end=None)
    history = SimpleNamespace(versions=lambda: [Other(), version], renamed=lambda name: name)
    use = TableUse(encode_table_map(created.definition), 100, 1, 1, False, 0, 0, False)
    counts = []
    for files in (1, 40):
        looked.clear()
        outline = SimpleNamespace(tables=[use], samples=Samples(), start=4, end=900, uri="b",
                                  format=SimpleNamespace(flavour="mysql"))
        span = SimpleNamespace(outlines=[outline] * files)
        found = used_tables(span, history, lambda database, table: True)
        [table] = found
        assert (table.versions, [*table.files], [*table.numbers]) == ((version,), [*range(files)], [0] * files)
        assert (table.use.n_events, table.use.n_bytes, use.n_events) == (files, files, 1)
        counts.append(len(looked))
    assert counts[0] == counts[1]


def test_a_table_map_of_many_files_is_there_once(tmp_path):
    """With what all of them have, and where; apart where the table is another version."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        for number in (2, 3, 4):
            Log.insert(log, T, *range(number))
            log = log.rotate(tmp_path / f"b.{number:06d}")
            if number == 3:
                log.query("TRUNCATE d.t")
        Log.delete(log, T, 1)
        log.close()
    paths = sorted(tmp_path.glob("b.*"))
    alone = [outline_file(str(path)).tables[0] for path in paths]
    span, history, _ = plan(tmp_path, paths)
    first, later = used_tables(span, history, TableFilter().wanted)
    assert ([*first.files], [*later.files], first.table_map) == ([0, 1], [2, 3], later.table_map)
    assert [used.versions[0].id for used in (first, later)] == [0, 1]
    for used, uses in ((first, alone[:2]), (later, alone[2:])):
        assert (used.use.n_events, used.use.n_bytes) == (2, sum(use.n_bytes for use in uses))
        assert used.use.first_position == uses[0].first_position
        assert [*used.sample_counts()] == [1, 1] and used.samples(1) == outline_file(
            span.outlines[used.files[1]].uri).samples.of(0)
    assert not first.use.may_cascade and later.use.may_cascade
    assert [use.n_events for outline in span.outlines for use in outline.tables] == [1] * 4
