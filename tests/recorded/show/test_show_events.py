"""Single events as text and JSON: every type has a place (EV-ALL), and what is damaged gives an error."""

import io
import json
import pathlib
import random
import shutil
import struct
from struct import pack

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.archive.reader import FileEvent
from applier.binlog.events.format import NAMES, EventType, FormatDescription
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile
from applier.jobs.replay.job import replay_with
from applier.jobs.show import show
from applier.jobs.show.json_lines import event_line
from applier.jobs.show.printing import EventPrinter
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from jsondiff import wire
from jsondiff.diff import Diff, Operation
from jsondiff.path import parse
from tests.recorded.show import tool_events
from tests.recorded.show.tool_output import binlogs
from tests.support.examples import examples
from tests.support.row_model import (
    ABSENT,
    BY_NAME,
    UPDATE,
    as_file,
    image,
    rows_event,
    table_map_body,
    table_map_event,
)

DESCRIPTION = FormatDescription("9.7.4", "mysql", False, 19, bytes(42), 0)
NO_FILE = MappedFile("binlog.000001", 0, np.empty(0, np.uint8), 0)


def event(kind: int, body: bytes = b"", group_id: int | None = None, position: int = 120) -> FileEvent:
    header = position, kind, 1_700_000_000, 7, 19 + len(body), 200, 0, group_id
    return FileEvent(*header, memoryview(body), NO_FILE, DESCRIPTION)


HEAD = pathlib.Path(binlogs("many-files-mysql")[0]).read_bytes()


def head_without_checksums() -> bytes:
    """The format description of a real server, as if it wrote no checksums."""
    head = bytearray(HEAD[4:4 + int.from_bytes(HEAD[13:17], "little")])
    head[-5] = 0
    return bytes(head)


_ALWAYS = ("SET @@session.auto_increment_increment=1, @@session.auto_increment_offset=1/*!*/;",
           "SET @@session.lc_time_names=0/*!*/;", "SET @@session.collation_database=DEFAULT/*!*/;", "")
"""What the first statement of a file sets that its event does not mention."""


def printed(kind: int, body: bytes, form: str = "text") -> str:
    """What is printed of an event, after a head of a real server's."""
    head = head_without_checksums()
    log = as_file(head, pack("<IBIIIH", 1_700_000_000, kind, 7, 19 + len(body), 200, 0) + body)
    parts: list[bytes] = []
    printer = EventPrinter(log, form, parts.append)
    printer.print(4 + len(head), log.size, 4)
    printer.end()
    return b"".join(parts).decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    "kind, body, title, more",
    [
        (EventType.STOP, b"", "Stop", []),
        (EventType.XA_PREPARE, b"\0\x07\0\0\0\1\0\0\0" + bytes(4) + b"x", "XA PREPARE X'78',X'',7",
         ["XA PREPARE X'78',X'',7", "/*!*/;"]),
        (EventType.XA_PREPARE, b"\1" + bytes(12), "XA PREPARE X'',X'',0", ["XA COMMIT X'',X'',0 ONE PHASE", "/*!*/;"]),
        (200, b"", "Unknown(200)", []),
        (EventType.XID, b"\x05" + bytes(7), "Xid = 5", ["COMMIT/*!*/;"]),
        (EventType.ROTATE, b"\x04" + bytes(7) + b"binlog.000002", "Rotate to binlog.000002  pos: 4", []),
        (EventType.INTVAR, b"\x02\x09" + bytes(7), "Intvar", ["SET INSERT_ID=9/*!*/;"]),
        (EventType.RAND, b"\x01" + bytes(7) + b"\x02" + bytes(7), "Rand", ["SET @@RAND_SEED1=1, @@RAND_SEED2=2/*!*/;"]),
        (EventType.ROWS_QUERY, b"\x08INSERT\nx", "Rows_query", ["# INSERT", "# x"]),
        (EventType.ANNOTATE_ROWS, b"DELETE \xe9", "Annotate_rows:", ["#Q> DELETE \udce9"]),
        (EventType.USER_VAR, b"\1\0\0\0u\0\0\xff\0\0\0\2\0\0\0\xc3\xa9", "User_var",
         ["SET @`u`:=_utf8mb4 0xC3A9 COLLATE `utf8mb4_0900_ai_ci`/*!*/;"]),
        (EventType.USER_VAR, b"\1\0\0\0i\0\2\x21\0\0\0\x08\0\0\0" + b"\xff" * 8 + b"\1", "User_var",
         ["SET @`i`:=18446744073709551615/*!*/;"]),
        (EventType.USER_VAR, b"\1\0\0\0n\1", "User_var", ["SET @`n`:=NULL/*!*/;"]),
        (EventType.BEGIN_LOAD_QUERY, b"\1\0\0\0abc", "", ["#Begin_load_query: file_id: 1  block_len: 3"]),
        (EventType.DELETE_FILE, b"\1\0\0\0", "", ["#Delete_file: file_id=1"]),
        (EventType.INCIDENT, b"\1\0\4lost", "",
         ["# Incident: LOST_EVENTS", "RELOAD DATABASE; # Sh" "all generate syntax error"]),
        (EventType.PRE_GA_DELETE_ROWS, b"\7" + bytes(5) + b"\1\0\1\1r",
         "Delete_rows_old: table id 7 flags: STMT_END_F",
         ["# the rows within PRE_GA_DELETE_ROWS events are not shown"]),
        (EventType.EXECUTE_LOAD_QUERY, b"\x05\0\0\0\x01\0\0\0\0\0\0\0\0\7" + bytes(12) + b"\0LOAD",
         "Execute_load_query\tthread_id=5\texec_time=1\terror_code=0",
         ["SET TIMESTAMP=1700000000/*!*/;", "SET @@session.pseudo_thread_id=5/*!*/;", "LOAD", "/*!*/;",
          "# file_id: 7 "]),
        (EventType.USER_VAR, b"\1\0\0\0d\0\4\0\0\0\0\4\0\0\0\3\1\x8c\5", "User_var", ["SET @`d`:=12.5/*!*/;"]),
        (EventType.NEW_LOAD, b"\5" + bytes(11) + b"\1\1\1\0\0\0" + bytes(6) + b"\1c\0t\0d\0f",
         "New_load\tthread_id=5\texec_time=0", ["use `d`/*!*/;", "# LOAD DATA INFILE 'f' INTO TABLE `t` (`c`)"]),
        (EventType.BINLOG_CHECKPOINT, b"\x03\0\0\0abc", "Binlog checkpoint abc", []),
        (EventType.PREVIOUS_GTIDS, bytes(8), "Previous-GTIDs", ["# [empty]"]),
        (EventType.MARIADB_GTID, b"\x09" + bytes(7) + b"\x01\0\0\0\x20" + bytes(6), "GTID 1-7-9 ddl",
         ["/*M!100101 SET @@session.skip_parallel_replication=1*//*!*/;",
          "/*M!100001 SET @@session.gtid_domain_id=1*//*!*/;", "/*M!100001 SET @@session.server_id=7*//*!*/;",
          "/*M!100001 SET @@session.gtid_seq_no=9*//*!*/;", "START TRANSACTION", "/*!*/;",
          "ROLLBACK /* added by mysqlbinlog */ /*!*/;"]),
        (EventType.ANONYMOUS_GTID, bytes(25) + b"\x02" + b"\x01" + bytes(7) + b"\x02" + bytes(7),
         "Anonymous_GTID\tlast_committed=1\tsequence_number=2\trbr_only=yes",
         ["/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*//*!*/;",
          "SET @@SESSION.GTID_NEXT= 'ANONYMOUS'/*!*/;"]),
        (EventType.QUERY, b"\x05\0\0\0\x01\0\0\0\x02\x03\0\0\0a`\0SELECT\n1",
         "Query\tthread_id=5\texec_time=1\terror_code=3",
         ["use `a```/*!*/;", "SET TIMESTAMP=1700000000/*!*/;", "SET @@session.pseudo_thread_id=5/*!*/;", "SELECT\n1",
          "/*!*/;"]),
        (EventType.PARTIAL_UPDATE_ROWS, b"\xff\xff\xff\0\0\0\x01\0\x02\0\x01\xff\xff",
         "Update_rows_partial: table id 16777215 flags: STMT_END_F", []),
    ],
)  # fmt: skip
def test_what_an_event_says(kind, body, title, more):
    at, header, rest = printed(kind, body).split("\n", 2)
    assert at == f"# at {4 + int.from_bytes(HEAD[13:17], 'little')}"
    assert header.partition(" \t")[2] == title
    assert [line for line in rest.split("\n") if line not in _ALWAYS] == "\n".join(more).split("\n")[:len(rest)]


def test_every_event_type_has_a_place():
    """EV-ALL, in JSON: a name and a place for every type; fields, or an error for a body that lacks them."""
    for kind, name in NAMES.items():
        try:
            shown = json.loads(event_line(event(kind), None, None))
        except ArchiveError as error:
            assert (error.position, error.mysql_errno) == (120, 1610) or kind == EventType.FORMAT_DESCRIPTION
        else:
            assert (shown["pos"], shown["end"], shown["type"], shown["server_id"]) == (120, 200, name, 7)
            assert isinstance(shown["fields"], dict)


def test_the_fields_of_an_event_in_json():
    body = b"\5\0\0\0\1\0\0\0\1\3\0\0\0a\0SELECT \xff"
    fields = json.loads(event_line(event(EventType.QUERY, body), None, None))["fields"]
    assert (fields["thread_id"], fields["database"], fields["sql"]) == (5, "a", "SELECT \udcff")
    line = event_line(event(EventType.APPEND_BLOCK, b"\1\0\0\0abc"), None, None)
    assert json.loads(line)["fields"] == {"file_id": 1, "data": 3}


def test_a_statement_shows_what_it_ran_in_where_that_changes(tmp_path):
    """EV-CTX: as mysqlbinlog sets it before the statement."""
    text = shown_text("ddl-mysql")
    first = text[: text.index("CREATE")]
    for variable in ("sql_mode", "foreign_key_checks=1", "unique_checks=1", "autocommit=1", "character_set_client=255",
                     "collation_connection=255", "collation_server=255", "pseudo_thread_id="):
        assert f"@@session.{variable}" in first
    assert 0 < text.count("SET @@session.sql_mode") < text.count("SET TIMESTAMP")
    zones = shown_text("ddl-mysql")
    assert "SET @@session.time_zone='" in zones


def shown_text(case: str) -> str:
    return "".join(tool_events.shown(file, "text") for file in binlogs(case))


def test_the_group_id_of_27_byte_headers_is_shown():
    """GRP-3."""
    headers = [line for line in lines_of(with_group_ids(), "text") if " server id " in line]
    assert len(headers) == 2 and " group id 77 \t" in headers[1] and "group id" not in headers[0]


def with_group_ids() -> MappedFile:
    """A head that says that headers have 27 bytes, and a STOP event with one."""
    head = bytearray(head_without_checksums())
    head[19 + 56] = 27
    return as_file(bytes(head), pack("<IBIIIHQ", 1, EventType.STOP, 7, 27, 200, 0, 77))


@settings(max_examples=examples(500))
@given(st.sampled_from(sorted(NAMES)), st.binary(max_size=80), st.sampled_from(("text", "json")))
def test_a_broken_body_is_an_archive_error_at_most(kind, body, form):
    try:
        printed(kind, body, form)
    except ArchiveError as error:
        assert error.mysql_errno == 1610 or kind in (EventType.FORMAT_DESCRIPTION, EventType.START_ENCRYPTION,
                                                     EventType.TRANSACTION_PAYLOAD)


@st.composite
def frequent_events(draw) -> tuple[int, bytes]:
    """Events that kernels write the lines of, with any text: mostly whole ones."""
    text = st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode))
    fixed = st.binary(min_size=64, max_size=64)
    context = st.sampled_from((b"", b"\0" + bytes(4), b"\1" + bytes(8), b"\5\3UTC", b"\x0c\1d\0", b"\x7fx"))
    database, said = draw(st.one_of(st.just(b""), st.just(b"shop"), st.binary(max_size=9))), draw(context)
    query = pack("<IIBHH", 5, 2**32 - 1, len(database), 1062, len(said)) + said + database + b"\0" + draw(text)
    times = draw(fixed)
    gtid = times[:25] + b"\2" + times[26:48] + draw(st.sampled_from((b"\0", b"\x80"))) + times[:6] + b"\0"
    gtid += draw(st.sampled_from((b"\7", b"\xfc\1\2", b"\xfe" + b"\xff" * 8))) + draw(st.binary(max_size=8))
    kind, body = draw(st.sampled_from((
        (EventType.QUERY, query), (EventType.XID, times[:8]), (EventType.GTID, gtid), (EventType.ANONYMOUS_GTID, gtid),
        (EventType.MARIADB_GTID, times[:12] + draw(st.sampled_from((b"\0", b"\x0f", b"\xfd"))) + times[:6]),
        (EventType.MARIADB_GTID, times[:12] + b"\2" + times[:8]), (EventType.ROWS_QUERY, b"\1" + draw(text)),
        (EventType.ANNOTATE_ROWS, draw(text)))))
    return kind, body[:draw(st.sampled_from((len(body), len(body), len(body), len(body) // 2, 20)))]


@settings(max_examples=examples(1000))
@given(frequent_events())
def test_a_kernel_writes_the_line_that_python_writes(kind_and_body):
    kind, body = kind_and_body
    try:
        expected = event_line(event(kind, body, position=4 + len(head_without_checksums())), None, None) + "\n"
    except ArchiveError:
        with pytest.raises(ArchiveError):
            printed(kind, body, "json")
        return
    assert printed(kind, body, "json") == expected


def test_row_changes_in_both_forms():
    """Columns that an image lacks are left out; NULL is no 'NULL'; bytes that are not UTF-8 survive."""
    kinds = [BY_NAME["tinyint"], BY_NAME["varchar(255)"]]
    body = table_map_body(kinds, "d", "t`")
    rows = image(kinds, (1, ABSENT)) + image(kinds, (ABSENT, b'caf\xe9"')) + b"\0\1" + b"\1"
    log = as_file(head_without_checksums(), table_map_event(7, body),
                  rows_event(UPDATE, 7, 2, [1, 0], [0, 1], rows))
    text, lines = (lines_of(log, form) for form in ("text", "json"))
    assert text[-10:] == ["### UPDATE `d`.`t```", "### WHERE", "###   @1=1", "### SET", "###   @2='caf\udce9\"'",
                          "### UPDATE `d`.`t```", "### WHERE", "###   @1=1", "### SET", "###   @2=NULL"]
    assert lines[-2].isascii() and lines[-2].count('"op"') == 1
    first, second = map(json.loads, lines[-2:])
    assert (first["op"], first["table"], first["before"]) == ("update", "d.t`", {"@1": "1"})
    assert (first["after"], second["after"]) == ({"@2": "'caf\udce9\"'"}, {"@2": "NULL"})


def lines_of(log: MappedFile, form: str) -> list[str]:
    parts: list[bytes] = []
    EventPrinter(log, form, parts.append).print(4, log.size, 4)
    return b"".join(parts).decode("utf-8", "surrogateescape").split("\n")[:-1]


def test_rows_that_are_not_shown_are_mentioned():
    body = b"\7" + bytes(7) + b"\1\1r"
    assert printed(EventType.PRE_GA_WRITE_ROWS, body).splitlines()[-1].startswith("# the rows within PRE_GA_WRITE")
    assert json.loads(printed(EventType.PRE_GA_WRITE_ROWS, body, "json"))["note"].startswith("the rows within PRE_GA")


def test_damaged_rows_are_an_archive_error_at_most(tmp_path):
    """Bytes turned behind the first event: what can still be read is shown, the rest is an error with a place."""
    random_, damaged, path = random.Random(3), 0, tmp_path / "binlog.000001"
    cases = ["mysql-types-json", "mysql-types-number-time", "mariadb-types", "key-moves-minimal", "json-partial-odd"]
    sources = [pathlib.Path(binlogs(case)[0]).read_bytes() for case in cases]
    for mutant in range(60):
        data = bytearray(sources[mutant % len(sources)])
        for _ in range(8):
            data[random_.randrange(300, len(data))] = random_.choice((0, 1, 127, 128, 255))
        path.write_bytes(data)
        try:
            show([str(path)], "json", io.TextIOWrapper(io.BytesIO()))
        except ArchiveError as error:
            assert error.file == str(path) and error.position >= 4
            damaged += 1
    assert 10 < damaged < 60


def test_a_damaged_file_is_shown_up_to_the_damage(tmp_path):
    whole = pathlib.Path(binlogs("checksum-changes")[0])
    torn = tmp_path / "binlog.000001"
    shutil.copy(whole, torn)
    with open(torn, "r+b") as file:
        file.truncate(whole.stat().st_size - 5)
    out = io.TextIOWrapper(io.BytesIO())
    with pytest.raises(ArchiveError) as error:
        show([str(torn)], "json", out)
    assert error.value.file == str(torn) and error.value.position > 4
    positions = [json.loads(line)["pos"] for line in out.buffer.getvalue().decode().splitlines()]
    assert positions[0] == 4 and len(positions) > 10


@pytest.mark.parametrize("form", ["text", "json"])
def test_rows_of_another_number_of_columns_are_corrupt(tmp_path, form):
    """1610: than the table has by the event before them."""
    [created] = parse_statement("CREATE TABLE d.t (a INT)")
    path = tmp_path / "binlog.000001"
    with BinlogWriter(path, checksum=False) as log, log.transaction():
        log.rows(RowChanges(created.definition, after={"a": pa.array([7], pa.int32())}))
    one_column = b"\x02\0\x01\x01\0\x07\0\0\0"  # behind the flags: no extra bytes, a column, its bits, a row
    data = path.read_bytes()
    assert data.count(one_column) == 1
    path.write_bytes(data.replace(one_column, b"\x02\0\x02" + one_column[3:]))
    with pytest.raises(ArchiveError) as error:
        show([str(path)], form, io.TextIOWrapper(io.BytesIO()))
    assert error.value.mysql_errno == 1610


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_null_that_is_marked_as_a_json_diff_is_corrupt(tmp_path, form):
    """As in a replay (1610): no server writes one (JD-NULL)."""
    path = tmp_path / "binlog.000001"
    _write_null_as_diff(path)
    with pytest.raises(ArchiveError, match="NULL that is marked as a JSON diff") as error:
        show([str(path)], form, io.TextIOWrapper(io.BytesIO()))
    assert error.value.mysql_errno == 1610


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_such_a_null_stops_a_replay(tmp_path, route):
    """JD-NULL, 1610."""
    _write_null_as_diff(tmp_path / "binlog.000001")
    with pytest.raises(ArchiveError, match="NULL that is marked as a JSON diff") as error:
        replay_with(ThisProcess(1), ReplayOptions((str(tmp_path),), str(tmp_path / "out"), route=route))
    assert (error.value.mysql_errno, error.value.table) == (1610, "d.t")


def _write_null_as_diff(path: pathlib.Path) -> None:
    [created] = parse_statement(sql := "CREATE TABLE d.t (j JSON)")
    diff, null = wire.encode([Diff(Operation.REPLACE, parse("$.a"), 1)]), {"j": pa.array([None], pa.binary())}
    with BinlogWriter(path, checksum=False) as log:
        log.query(sql, "d")
        with log.transaction():
            log.rows(RowChanges(created.definition, after=null))
            log.rows(RowChanges(created.definition, before=null, after={"j": pa.array([diff])}, diffs=("j",)))
    path.write_bytes(_without_its_diff(path.read_bytes(), diff))


def _without_its_diff(log: bytes, diff: bytes) -> bytes:
    """A log in which the column that has this diff is NULL instead, and still marked."""
    value = struct.pack("<I", len(diff)) + diff
    nulls = log.index(bytes([1, 1, 0]) + value) + 2  # behind the options and their bits
    data, at = bytearray(log), 4
    while at < len(data):
        size, end = struct.unpack_from("<II", data, at + 9)
        if at + size > nulls:
            struct.pack_into("<II", data, at + 9, size - len(value) * (at < nulls), end - len(value))
        at += size
    data[nulls:nulls + 1 + len(value)] = b"\1"
    return bytes(data)
