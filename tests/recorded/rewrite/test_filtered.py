"""A filtered archive has the transactions that a real replica with these filters has written to its own log (RW-FILT).
"""

from pathlib import Path

import pytest

import applier
import applier.binlog
from tests.support.real_server import Case
from tests.support.rewritten import plain_events, wrong_places

HERE = Path(__file__).parent
NAMES = sorted(path.name for path in HERE.glob("filtered-*"))
FILTERS = {"ignore_tables": "gone", "rewrite_db": {"old": "new"}}
CONTROL = (b"BEGIN", b"COMMIT", b"ROLLBACK")
GTIDS = ("GTID", "GTID_TAGGED", "ANONYMOUS_GTID", "MARIADB_GTID")


def logs(folder):
    return sorted(path for path in folder.iterdir() if path.suffix != ".index")


def groups(*paths):
    """The content of each transaction, with its GTID: the statements, and each row event with its table."""
    found, tables = [], {}
    for event in plain_events(*paths):
        content = event.content
        if event.name in GTIDS:
            found.append((content.text if event.name != "ANONYMOUS_GTID" else None, []))
        elif event.name == "QUERY" and content.sql not in CONTROL and not content.sql.startswith(b"SAVEPOINT"):
            found[-1][1].append(content.sql)
        elif event.name == "TABLE_MAP":
            tables[content.table_id] = content.table.database, content.table.table
        elif event.name.endswith(("WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS", "_ROWS_V1")):
            begin = 8 if event.name.endswith("_V1") else 10
            found[-1][1].append((event.name, tables[content.table_id], content.flags & 1, bytes(event.body)[begin:]))
    return found


def as_ours(group):
    """What a replica has written, except for what differs on purpose: names in statements are renamed, too."""
    gtid, content = group
    return gtid, [b"CREATE DATABASE `new`" if one == b"CREATE DATABASE old" else one for one in content]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_transactions_as_a_replica_with_filters(name, tmp_path):
    """RW-FILT: what becomes empty keeps its GTID on MySQL, and goes from other logs; a statement's end moves to the
    last row event that stays; XA transactions that prepare nothing go with their commits."""
    case = HERE / name
    done = applier.rewrite(case / "source", tmp_path / "out", **FILTERS)
    ours = groups(*logs(tmp_path / "out"))
    theirs = [as_ours(group) for group in groups(*logs(case / "replica")) if "plain" not in name or group[1]]
    assert sorted(ours, key=str) == sorted(theirs, key=str)  # a replica commits in parallel
    assert wrong_places(*logs(tmp_path / "out")) == []
    assert done.emptied and done.dropped and done.notes == ()


@pytest.mark.by_turns("options")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"image": "minimal", "compress": True}, {"image": "full"}])
def test_it_replays_as_the_archive_with_filters(name, options, tmp_path):
    """RW-FILT, RW-PROOF: also with other images and compressed; once more nothing changes."""
    source = HERE / name / "source"
    applier.rewrite(source, tmp_path / "out", **FILTERS, **options)
    assert wrong_places(*logs(tmp_path / "out")) == []
    wanted = applier.replay(source, tmp_path / "wanted", **FILTERS).snapshot
    found = applier.replay(tmp_path / "out", tmp_path / "found").snapshot
    assert [*found.tables] == [*wanted.tables]
    for name in found.tables:
        assert found.tables[name].to_arrow().equals(wanted.tables[name].to_arrow())
    applier.rewrite(tmp_path / "out", tmp_path / "again", ignore_tables="gone", **options)
    assert [path.read_bytes() for path in logs(tmp_path / "again")] == [
        path.read_bytes() for path in logs(tmp_path / "out")]


@pytest.mark.contradicted
@pytest.mark.parametrize("name", ["mysql-servers", "mariadb-servers"])
def test_other_servers_transactions(name, tmp_path):
    """RW-FILT, AP-SKIP: those of a server go as a whole; of MySQL without GTIDs and of MariaDB nothing stays."""
    source = HERE.parent / "left_out" / name
    servers = sorted({event.server_id for event in applier.binlog.open(*map(str, sorted(source.glob("binlog.*"))))
                      if event.name in GTIDS})
    assert len(servers) == 2
    for options in ({"server_ids": servers[:1]}, {"ignore_server_ids": servers[1:]}):
        out = tmp_path / next(iter(options))
        applier.rewrite(source, out, **options)
        left = {event.server_id for event in plain_events(*logs(out)) if event.name in (*GTIDS, "WRITE_ROWS", "XID")}
        assert left == set(servers[:1])
        assert wrong_places(*logs(out)) == []


@pytest.mark.contradicted
def test_other_servers_transactions_with_gtids(tmp_path):
    """RW-FILT: of MySQL with GTIDs they become empty, and all GTIDs are there."""
    source = HERE.parent / "left_out" / "mysql"
    before = groups(*sorted(source.glob("binlog.*")))
    servers = {event.content.text: event.server_id for event in applier.binlog.open(str(source))
               if event.name in GTIDS}
    own = next(iter(servers.values()))
    done = applier.rewrite(source, tmp_path / "out", server_ids=[own])
    after = groups(*logs(tmp_path / "out"))
    assert [gtid for gtid, _ in after] == [gtid for gtid, _ in before]
    assert [content for _, content in after] == [content if servers[gtid] == own else [] for gtid, content in before]
    assert wrong_places(*logs(tmp_path / "out")) == [] and done.emptied == sum(
        server != own for server in servers.values())


@pytest.mark.parametrize("name", ["statement-mysql", "statement-mariadb"])
def test_changes_that_are_logged_as_statements(name, tmp_path):
    """RW-FILT: of filtered tables they go, with LOAD DATA and what comes before a statement; a replay then has no
    reason to stop."""
    case = Case(name)
    applier.rewrite([str(path) for path in case.binlogs], tmp_path / "out", ignore_tables="st")
    kinds = {event.name for event in plain_events(*logs(tmp_path / "out"))}
    assert kinds <= {*GTIDS, "FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "GTID_LIST", "BINLOG_CHECKPOINT", "QUERY",
                     "ROTATE", "STOP"}
    assert [content for _, content in groups(*logs(tmp_path / "out")) if content] == []
    assert wrong_places(*logs(tmp_path / "out")) == []
