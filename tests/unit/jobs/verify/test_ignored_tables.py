"""A snapshot is led to where a server stands without the tables that are not compared."""

import pytest

import applier
import applier.binlog
from applier.errors import ApplierError
from tests.support.binlog_server import PASSWORD, BinlogServer, answer


@pytest.mark.parametrize("filters", [{"ignore_tables": "d.bad"}, {"tables": "d.t"}])
def test_a_table_that_is_not_compared_is_not_replayed(filters, tmp_path, monkeypatch):
    """Its changes are logged as statements, which stop a replay of it."""
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    log = tmp_path / "binlog.000001"
    with applier.binlog.Writer(log) as writer:
        writer.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        writer.query("CREATE TABLE d.bad (id INT PRIMARY KEY)")
        writer.flush()
        applier.replay(log, tmp_path / "snapshot")
        writer.query("INSERT INTO d.bad VALUES (RAND())")
    end = applier.summary(log)
    file, offset = end.position.split(":")
    answers = {"gtid_executed": answer(1, [end.gtids.encode()]),
               "LOG STATUS": answer(2, [file.encode(), offset.encode()]),
               "COUNT(*)": answer(7, [b"applier", b"d", b"t", b"0", b"0", b"0", b"0"])}
    with BinlogServer(tmp_path, answers=answers) as server:
        found = applier.verify(tmp_path / "snapshot", server=server.url, binlogs=log, **filters)
        assert found.same and any("COUNT(*)" in statement for statement in server.statements)
        with pytest.raises(ApplierError, match="statement"):
            applier.verify(tmp_path / "snapshot", server=server.url, binlogs=log)
