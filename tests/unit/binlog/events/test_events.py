"""Single events: on real files every one can be read; hostile bodies give an error."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.binlog.events import events
from applier.binlog.events.events import Event, read_events
from applier.binlog.events.format import EventType
from applier.errors import ArchiveError
from applier.io.mapping import map_file
from tests.support.folders import CASES

FILES = sorted(CASES.glob("*/binlog.0*"))


def events_of(case: str, *kinds: EventType) -> list[Event]:
    found = []
    for path in sorted((CASES / case).glob("binlog.0*")):
        found += [event for event in read_events(map_file(str(path))) if event.type in kinds]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_event_of_real_files_can_be_read(path):
    """EV-ACC, EV-CTX: bodies parse whole, and no context of MySQL 9.7 or MariaDB 10.11 is left unread."""
    at = 4
    for event in read_events(map_file(str(path))):
        # GRP-6; MariaDB 11.8 does not say where events within a group end
        assert event.position == at
        assert event.end_log_pos == at + event.size or (event.end_log_pos == 0 and "mariadb11" in path.parent.name)
        at += event.size
        if event.type == EventType.QUERY:
            query = events.parse_query(event.body)
            assert "unread" not in query.context and isinstance(query.text, str)
        elif event.type == EventType.QUERY_COMPRESSED:
            assert events.parse_query_compressed(event.body).sql.isascii()
        elif "GTID" in event.name and event.name not in ("PREVIOUS_GTIDS", "GTID_LIST"):
            events.parse_gtid(event.type, event.body, event.server_id)
        elif event.type == EventType.XID:
            assert events.parse_xid(event.body) > 0
        elif event.type == EventType.ROTATE:
            assert events.parse_rotate(event.body).position == 4
        elif "ROWS" in event.name and event.name not in ("ROWS_QUERY", "ANNOTATE_ROWS"):
            rows = events.parse_rows_header(event.type, event.body)
            assert rows.table_id and 0 < rows.rows_offset <= len(event.body)
            assert (rows.before is None) == event.name.startswith("WRITE")
            assert (rows.after is None) == event.name.startswith("DELETE")
    assert at == path.stat().st_size


def test_a_statement_and_its_context():
    """EV-CTX"""
    query = next(
        query
        for event in events_of("ddl-mysql", EventType.QUERY)
        if (query := events.parse_query(event.body)).sql.startswith(b"CREATE TABLE")
    )
    assert query.context["charset_client"] == 255 and query.context["foreign_key_checks"] == 1
    assert query.database and query.context["sql_mode"] > 0 and query.context["catalog"] == "std"


def test_the_statement_behind_rows():
    """EV-ANN"""
    texts = [
        events.parse_annotate_rows(event.body) for event in events_of("many-files-mariadb", EventType.ANNOTATE_ROWS)
    ]
    assert texts and all(text.split()[0].isalpha() for text in texts)


def test_gtids_of_each_kind():
    tagged = events_of("transactions-mysql", EventType.GTID_TAGGED)[0]
    gtid = events.parse_gtid(tagged.type, tagged.body, tagged.server_id)
    assert gtid.text == "1e59e2af-e516-11f1-af80-02fc00000001:tag_1:1" and (
        gtid.last_committed,
        gtid.sequence_number,
    ) == (2, 4)
    anonymous = events_of("transactions-mysql-nogtid", EventType.ANONYMOUS_GTID)[-1]
    assert events.parse_gtid(anonymous.type, anonymous.body, 1).text is None
    mariadb = events_of("transactions-mariadb", EventType.MARIADB_GTID)[-1]
    assert events.parse_gtid(mariadb.type, mariadb.body, mariadb.server_id).text == "0-777-43"


def test_text_in_the_clients_character_set():
    query = events.Query(1, 0, 0, "d", "CREATE TABLE é".encode("cp1252"), {"charset_client": 8})
    assert query.text == "CREATE TABLE é"
    assert events.Query(1, 0, 0, "d", b"\xff\xff", {"charset_client": 255}).text == b"\xff\xff"


def test_inflate_is_bounded_by_what_the_event_says():
    bomb = zlib.compress(bytes(1 << 20))
    assert events.inflate(b"\x83\x10\0\0" + bomb) == bytes(1 << 20)
    for data in (b"", b"\x83\x00\x10\0" + bomb, b"\x81\x10", b"\x13\x10\0\0" + bomb, b"\x83\x10\0\0" + bomb[:-20]):
        with pytest.raises(ArchiveError):
            events.inflate(data)


@given(st.binary(max_size=120), st.sampled_from(list(EventType)))
def test_hostile_bodies_give_an_error_or_a_value(body, kind):
    readers = [
        events.parse_query,
        events.parse_query_compressed,
        events.parse_xid,
        events.parse_rotate,
        lambda body: events.parse_gtid(kind, body, 1),
        lambda body: events.parse_rows_header(kind, body),
    ]
    for read in readers:
        try:
            read(body)
        except ArchiveError as reason:
            assert reason.mysql_errno == 1610


def test_a_file_that_ends_within_an_event(tmp_path):
    data = (CASES / "many-files-mysql/binlog.000001").read_bytes()
    for cut, reason in ((len(data) - 3, "does not fit"), (len(data) - 34, "header")):
        (tmp_path / f"binlog.{cut:06d}").write_bytes(data[:cut])
        with pytest.raises(ArchiveError, match=reason):
            list(read_events(map_file(str(tmp_path / f"binlog.{cut:06d}"))))
