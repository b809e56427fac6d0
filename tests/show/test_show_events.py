"""Single events as text and JSON: every type has a place (EV-ALL), and what is damaged gives an error."""

import io
import json
import pathlib
import random
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_output import binlogs

from applier.binlog.events import Event
from applier.binlog.format import NAMES, EventType, FormatDescription
from applier.binlog.mapping import MappedFile
from applier.binlog.table_map import parse_table_map
from applier.errors import ArchiveError
from applier.show import show
from applier.show.json_lines import event_objects
from applier.show.rows import RowChange, ShownEvent
from applier.show.text import event_lines

DESCRIPTION = FormatDescription("9.7.4", "mysql", False, 19, bytes(42), 0)
NO_FILE = MappedFile("binlog.000001", 0, np.empty(0, np.uint8), 0)


def event(kind: int, body: bytes = b"", group_id: int | None = None) -> Event:
    return Event(120, kind, 1_700_000_000, 7, 19 + len(body), 200, 0, group_id, memoryview(body))


def lines(shown: ShownEvent) -> list[str]:
    return list(event_lines(shown, NO_FILE, DESCRIPTION))


@pytest.mark.parametrize(
    "kind, body, title, more",
    [
        (EventType.STOP, b"", "Stop", []),
        (EventType.XA_PREPARE, b"\0" * 20, "Xa_prepare", []),
        (200, b"", "Unknown(200)", []),
        (EventType.XID, b"\x05" + bytes(7), "Xid = 5", ["COMMIT/*!*/;"]),
        (EventType.ROTATE, b"\x04" + bytes(7) + b"binlog.000002", "Rotate to binlog.000002  pos: 4", []),
        (EventType.INTVAR, b"\x02\x09" + bytes(7), "Intvar", ["SET INSERT_ID=9/*!*/;"]),
        (EventType.RAND, b"\x01" + bytes(7) + b"\x02" + bytes(7), "Rand", ["SET @@RAND_SEED1=1, @@RAND_SEED2=2/*!*/;"]),
        (EventType.ROWS_QUERY, b"\x08INSERT\nx", "Rows_query", ["#Q> INSERT", "#Q> x"]),
        (EventType.ANNOTATE_ROWS, b"DELETE \xe9", "Annotate_rows:", ["#Q> DELETE \udce9"]),
        (EventType.BINLOG_CHECKPOINT, b"\x03\0\0\0abc", "Binlog checkpoint abc", []),
        (EventType.PREVIOUS_GTIDS, bytes(8), "Previous-GTIDs", ["# [empty]"]),
        (EventType.MARIADB_GTID, b"\x09" + bytes(7) + b"\x01\0\0\0\x20" + bytes(6), "GTID 1-7-9 ddl",
         ["START TRANSACTION", "/*!*/;"]),
        (EventType.ANONYMOUS_GTID, bytes(25) + b"\x02" + b"\x01" + bytes(7) + b"\x02" + bytes(7),
         "Anonymous_GTID\tlast_committed=1\tsequence_number=2", ["SET @@SESSION.GTID_NEXT= 'ANONYMOUS'/*!*/;"]),
        (EventType.QUERY, b"\x05\0\0\0\x01\0\0\0\x02\x03\0\0\0a`\0SELECT\n1",
         "Query\tthread_id=5\texec_time=1\terror_code=3",
         ["use `a```/*!*/;", "SET TIMESTAMP=1700000000/*!*/;", "SELECT\n1", "/*!*/;"]),
        (EventType.PARTIAL_UPDATE_ROWS, b"\x07\0\0\0\0\0\x01\0\x02\0\x01\xff\xff",
         "Partial_update_rows: table id 7 flags: STMT_END_F", []),
    ],
)  # fmt: skip
def test_what_an_event_says(kind, body, title, more):
    at, header, *rest = lines(ShownEvent(event(kind, body), []))
    assert at == "# at 120"
    assert header.split(" \t", 1)[1] == title
    assert rest == more


def test_every_event_type_has_a_place():
    """EV-ALL, in JSON: a name and a position whatever the body holds."""
    for kind, name in NAMES.items():
        assert json.loads(*event_objects(ShownEvent(event(kind), []))) == {"pos": 120, "type": name}


def test_the_group_id_of_27_byte_headers_is_shown():
    """GRP-3."""
    assert " group id 77 \t" in lines(ShownEvent(event(EventType.STOP, group_id=77), []))[1]


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(sorted(NAMES)), st.binary(max_size=80))
def test_a_broken_body_is_an_archive_error_at_most(kind, body):
    try:
        lines(ShownEvent(event(kind, body), []))
    except ArchiveError as error:
        assert error.mysql_errno == 1610


def test_row_changes_in_both_forms():
    """Columns that an image lacks are left out; NULL is no 'NULL'; bytes that are not UTF-8 survive."""
    table = parse_table_map(b"\0\0\x01d\0\x02t`\0\x02\x03\x0f\x02\x0a\0\x03")
    change = RowChange("update", table, {"@1": "1"}, {"@2": "'caf\udce9'"})
    shown = ShownEvent(event(EventType.UPDATE_ROWS, b"\x07\0\0\0\0\0\0\0\x02\0\x02\xff\xff"), [change])
    assert lines(shown)[2:] == ["### UPDATE `d`.`t```", "### WHERE", "###   @1=1", "### SET", "###   @2='caf\udce9'"]
    (text,) = event_objects(shown)
    assert text.isascii()
    assert json.loads(text) == {
        "pos": 120, "type": "UPDATE_ROWS", "op": "update", "table": "d.t`", "before": {"@1": "1"},
        "after": {"@2": "'caf\udce9'"},
    }  # fmt: skip


def test_rows_that_are_not_shown_are_mentioned():
    shown = ShownEvent(event(EventType.TRANSACTION_PAYLOAD), [], "not shown")
    assert lines(shown)[-1] == "# not shown"
    assert json.loads(*event_objects(shown))["note"] == "not shown"


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
