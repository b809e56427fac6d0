"""What events of every type hold (EV-ALL), from real files and, for what no server writes any more, from its layout."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.events.contents import (
    Heartbeat,
    Incident,
    Payload,
    StartEncryption,
    StartV3,
    Statement,
    TransactionContext,
    ViewChange,
    content_of,
)
from applier.binlog.events.events import Event, Rotate, RowsHeader, read_events
from applier.binlog.events.format import NAMES, EventType
from applier.binlog.events.gtid_event import Gtid
from applier.binlog.events.statement_events import FileBlock, FileEnd, Intvar, Load, LoadQuery, Rand, UserVar
from applier.binlog.events.xa import XaPrepare
from applier.errors import ArchiveError
from applier.io.mapping import map_file
from tests.support.examples import examples
from tests.support.folders import CASES

WITHOUT_FIELDS = {EventType.UNKNOWN, EventType.STOP, EventType.SLAVE, EventType.IGNORABLE}


def content(kind: int, body: bytes):
    return content_of(Event(120, kind, 1_700_000_000, 7, 19 + len(body), 200, 0, None, memoryview(body)))


def contents(case: str, *kinds: EventType) -> list:
    files = sorted((CASES / case).glob("binlog.0*"))
    return [content_of(event) for file in files for event in read_events(map_file(str(file))) if event.type in kinds]


def test_the_statements_of_a_log_in_statement_format():
    """As mysqlbinlog and mariadb-binlog print them."""
    for case in ("statement-mysql", "statement-mariadb"):
        assert contents(case, EventType.INTVAR)[:2] == [Intvar("INSERT_ID", 3), Intvar("LAST_INSERT_ID", 3)]
        assert contents(case, EventType.RAND)[0] == Rand(12345, 67890)
        u, i, f, n, d = contents(case, EventType.USER_VAR)[:5]
        assert (u.name, u.type, u.value) == ("u", "string", "naïve".encode())
        assert (i.type, i.value, i.unsigned) == ("int", b"\xff" * 8, True)
        assert (f.type, struct.unpack("<d", f.value)) == ("real", (2.5,)) and n == UserVar("n", "string", None)
        assert d.type == "decimal" and d.value[1] == 3  # digits after the point
        assert contents(case, EventType.BEGIN_LOAD_QUERY)[0] == FileBlock(1, b"first line\nsecond, with a comma\n")
        load = contents(case, EventType.EXECUTE_LOAD_QUERY)[0]
        assert isinstance(load, LoadQuery) and (load.file_id, load.duplicates) == (1, 0)
        assert load.sql[load.name_start : load.name_end] == b" INFILE 'lab-load-data.txt' INTO"


def test_the_commit_times_and_versions_of_gtid_events():
    """As mysqlbinlog prints them, of plain and of tagged GTIDs; MariaDB's have none."""
    plain = contents("gtid-tags", EventType.GTID)
    first = next(gtid for gtid in plain if gtid.text == "762ab119-e549-11f1-83f8-02fc00000001:44722")
    assert first == Gtid(first.text, 1, 44722, 0, 1, None, 1795223999767910, 1795223999767910, 179, 90704, 90704)
    blue = next(gtid for gtid in contents("gtid-tags", EventType.GTID_TAGGED) if gtid.text.endswith("blue:5"))
    assert blue == Gtid("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:blue:5", 0, 5, 2, 3, None, 1795223999775552,
                        1795223999775552, 276, 90704, 90704)
    assert contents("groups-mariadb", EventType.MARIADB_GTID)[0].original_commit_timestamp is None


def test_a_gtid_that_came_from_another_server():
    """Where times and versions differ both are there; older versions end earlier."""
    fixed = b"\x00" + bytes(range(16)) + struct.pack("<qBqq", 9, 2, 3, 4)
    times = (5_000 | 1 << 55).to_bytes(7, "little") + (4_000).to_bytes(7, "little")
    versions = struct.pack("<II", 80400 | 1 << 31, 80039)
    gtid = content(EventType.GTID, fixed + times + b"\xfc\x2c\x01" + versions)
    assert (gtid.immediate_commit_timestamp, gtid.original_commit_timestamp) == (5000, 4000)
    assert (gtid.transaction_length, gtid.immediate_server_version, gtid.original_server_version) == (300, 80400, 80039)
    assert (gtid.last_committed, gtid.sequence_number) == (3, 4)
    old = content(EventType.GTID, fixed[:25])
    assert old.number == 9 and old.last_committed is old.immediate_commit_timestamp is None


@pytest.mark.parametrize(
    "kind, body, expected",
    [
        (EventType.START_V3, struct.pack("<H50sI", 3, b"4.1.22-log", 5), StartV3(3, "4.1.22-log", 5)),
        (EventType.ROTATE, bytes((4, *bytes(7))) + b"b.000002", Rotate("b.000002", 4)),
        (EventType.EXEC_LOAD, b"\x09\0\0\0", FileEnd(9)),
        (EventType.DELETE_FILE, b"\x09\0\0\0", FileEnd(9)),
        (EventType.APPEND_BLOCK, b"\x09\0\0\0xyz", FileBlock(9, b"xyz")),
        (EventType.INCIDENT, b"\1\0\4lost", Incident(1, "lost")),
        (EventType.HEARTBEAT, b"b.000002", Heartbeat("b.000002")),
        (EventType.HEARTBEAT_V2, b"\1\x02b.\2\3\xfc\0\1\0", Heartbeat("b.", 256)),
        (EventType.IGNORABLE, b"?", None),
        (EventType.START_ENCRYPTION, b"\1\2\0\0\0" + b"n" * 12, StartEncryption(1, 2, b"n" * 12)),
        (EventType.TRANSACTION_CONTEXT, struct.pack("<BIBIII", 2, 7, 1, 1, 1, 2) + b"idv\2\0ab\1\0c\0\0",
         TransactionContext("id", 7, True, b"v", (b"ab",), (b"c", b""))),
        (EventType.VIEW_CHANGE, struct.pack("<40sQI", b"1:2", 3, 4), ViewChange("1:2", 3, 4)),
        (EventType.TRANSACTION_PAYLOAD, b"\2\1\0\3\1\x63\1\1\2\0xx", Payload("ZSTD", 2, 99)),
        (EventType.XA_PREPARE, struct.pack("<BIII", 1, 7, 1, 0) + b"x", XaPrepare("X'78',X'',7", True)),
        (EventType.ROWS_QUERY, b"\3a b", Statement(b"a b")),
        (EventType.PRE_GA_WRITE_ROWS, b"\7" + bytes(5) + b"\1\0\2\3rows", RowsHeader(7, 1, b"", 2, None, b"\3", 10)),
        (EventType.PRE_GA_UPDATE_ROWS, b"\7" + bytes(5) + b"\1\0\2\3rows", RowsHeader(7, 1, b"", 2, b"\3", None, 10)),
        (EventType.WRITE_ROWS, b"\7" + bytes(7) + b"\4\0ex\2\3r", RowsHeader(7, 0, b"ex", 2, None, b"\3", 14)),
    ],
)  # fmt: skip
def test_fields_of_single_events(kind, body, expected):
    assert content(kind, body) == expected


LOADED = b"\1\2a\0bc\0t\0db\0"  # lengths and names of columns, table, database
CUT = ("db", "t", ("a", "bc"), ",", '"', "\\", "", "\n", 4)


def test_load_data_of_servers_before_5_0_3():
    fixed = struct.pack("<IIIBBI", 5, 6, 1, 1, 2, 2)
    old = content(EventType.LOAD, fixed + b',"\n\0\\\x04\x08' + LOADED + b"/tmp/f")
    new = content(EventType.NEW_LOAD, fixed + b'\1,\1"\1\n\0\1\\\x04' + LOADED + b"/tmp/f")
    create = content(EventType.CREATE_FILE, fixed + b"\x09\0\0\0" + b'\1,\1"\1\n\0\1\\\x04' + LOADED + b"/tmp/f\0block")
    assert old == new == Load(5, 6, 1, *CUT, "/tmp/f")
    assert create == Load(5, 6, 1, *CUT, "/tmp/f", 9, b"block")


@settings(max_examples=examples(600))
@given(st.sampled_from(sorted(NAMES)), st.binary(max_size=90))
def test_a_broken_body_is_an_archive_error_at_most(kind, body):
    try:
        found = content(kind, body)
    except ArchiveError as error:
        assert kind == EventType.FORMAT_DESCRIPTION or (error.mysql_errno, error.position) == (1610, 120)
    else:
        assert (found is None) == (kind in WITHOUT_FIELDS)
