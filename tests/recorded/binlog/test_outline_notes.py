"""What an outline has in words: statements, unreplayable events, XA, as real servers log them."""

import struct

import pytest

from applier.binlog.locating.groups import GroupPass
from applier.binlog.outline.outline_pass import outline_file
from tests.support.outline_logs import CASES, seal, split_events, write


def test_statements_and_their_groups():
    """DDL is a group of its own, or within the group of CREATE … SELECT, whose rows follow it."""
    outline = outline_file(str(CASES / "ddl-mysql/binlog.000001"))
    texts = [statement.sql for statement in outline.statements]
    assert not any(text.upper() in ("BEGIN", "COMMIT", "ROLLBACK") for text in texts)
    select = next(s for s in outline.statements if s.sql.endswith("START TRANSACTION"))
    assert select.sql.startswith("CREATE TABLE `sel`") and select.group_start < select.position < select.end
    assert select.gtid and select.database and select.context["charset_client"] == 255 and select.kind == "query"
    mariadb = outline_file(str(CASES / "transactions-mariadb/binlog.000001"))
    assert all(s.gtid.startswith("0-") and s.group_start < s.position for s in mariadb.statements)
    compressed = outline_file(str(CASES / "compressed-mariadb/binlog.000001"))
    assert any(s.sql.startswith("CREATE TABLE") for s in compressed.statements)


@pytest.mark.parametrize("case", ["statement-mysql", "statement-mariadb"])
def test_load_data_is_a_statement(case):
    """EV-ALL: EXECUTE_LOAD_QUERY has the statement, the events before it the file. EV-THREAD: it has its thread, too,
    which nothing else of MariaDB's group does."""
    log = str(CASES / case / "binlog.000001")
    statements = outline_file(log).statements
    [load] = [statement for statement in statements if statement.sql.startswith("LOAD DATA")]
    assert "INTO TABLE `t`" in load.sql and load.sql.endswith("(`v`) SET `d`= 9")
    assert load.database == "st" and load.gtid and load.group_start < load.position < load.end
    groups = GroupPass(log).groups()
    assert groups.threads[groups.starts == load.group_start] == groups.threads[0] > 0


def test_unreplayable_events_name_what_cannot_be_applied():
    def what(case, number):
        return [b.what for b in outline_file(str(CASES / case / f"binlog.00000{number}")).unreplayable]

    assert what("transactions-mysql", 1) == []
    assert what("transactions-mysql", 3) == what("transactions-mariadb", 2) == []
    assert what("compressed-mysql", 1) == what("compressed-mariadb", 1) == []
    assert what("statement-mysql", 1) == what("statement-mariadb", 1) == []
    partial = outline_file(str(CASES / "json-partial-minimal/binlog.000001"))
    assert partial.unreplayable == []


def test_prepared_groups_and_what_became_of_them():
    """GRP-1: XA PREPARE, and XA COMMIT and XA ROLLBACK in later groups; ONE PHASE is neither."""
    for case, end in (("transactions-mysql", 2979), ("transactions-mariadb", 2636)):
        third, fourth = (outline_file(str(CASES / case / f"binlog.00000{n}")) for n in (3, 4))
        xids = ["X'7831',X'',1", "X'7832',X'6272616e6368',7", "X'6578',X'00ff',1"]
        assert [group.xid for group in third.prepared] == xids and third.prepared[-1].end == end
        assert all(group.gtid and group.start < group.end for group in third.prepared)
        assert [(d.xid, d.commits) for d in third.decisions] == [(xids[0], True), (xids[1], False)]
        assert [(d.xid, d.commits, bool(d.gtid)) for d in fourth.decisions] == [(xids[2], True, True)]
        assert third.rolled_back == third.unreplayable == third.statements == []


def test_an_alter_in_two_phases_has_effect_when_it_is_committed():
    """GRP-1: START ALTER and ROLLBACK ALTER are groups that change nothing."""
    outline = outline_file(str(CASES / "groups-mariadb/binlog.000002"))
    alters = [(s.sql, s.context["gtid_flags_extra"]) for s in outline.statements]
    assert alters == [("ALTER TABLE al ADD COLUMN n INT DEFAULT 3", 4),
                      ("ALTER TABLE al DROP COLUMN n, ALGORITHM=COPY", 4)]  # fmt: skip


def test_an_unknown_event_is_passed_over_only_if_it_says_so(tmp_path):
    """EV-IGN"""
    events = split_events(CASES / "many-files-mysql/binlog.000001")
    for flags, blocked in ((0x80, []), (0, ["an event of type 99, which is unknown and must not be skipped"])):
        unknown = seal(struct.pack("<IBIIIH", 7, 99, 1, 0, 0, flags) + b"?")
        path = write(tmp_path / f"binlog.{flags + 1:06d}", [*events[:2], unknown, unknown, *events[2:]])
        assert [b.what for b in outline_file(path).unreplayable] == blocked


def test_an_incident_blocks(tmp_path):
    """EV-INC"""
    events = split_events(CASES / "many-files-mysql/binlog.000001")
    incident = seal(struct.pack("<IBIIIH", 7, 26, 1, 0, 0, 0) + b"\1\0\0")
    unreplayable = outline_file(write(tmp_path / "binlog.000001", [*events[:2], incident, *events[2:]])).unreplayable
    assert [(b.errno, "INCIDENT" in b.what) for b in unreplayable] == [(1590, True)]


@pytest.mark.parametrize("file, begin, position", [("incident-mysql/binlog.000006", 729, 806),
                                                   ("incident-mariadb/binlog.000001", 882, 882)])
def test_an_incident_of_a_real_server_is_a_group_of_its_own(file, begin, position):
    """EV-INC: a statement that did not fit in max_binlog_stmt_cache_size. MySQL's has a GTID, and continues in the next
    file; MariaDB's has none."""
    outline = outline_file(str(CASES / file))
    [event] = outline.unreplayable
    assert (event.errno, event.group_start, event.position) == (1590, begin, position)
    assert event.stops_always and outline.torn is False and outline.end == outline.size - (44 if begin == 729 else 0)
