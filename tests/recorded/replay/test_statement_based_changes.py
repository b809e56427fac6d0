"""Changes that came as statements, in logs of real servers: the replay stops at the first, or leaves them out and says
how many (`--on-statement`)."""

import json
from dataclasses import replace

import pytest

from applier.binlog.events.format import EventType
from applier.engine.executor import ThisProcess
from applier.errors import KEY_NOT_FOUND, ReplayStopped, UnsupportedStatement
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter
from applier.writer import event_encoder
from tests.support.real_server import Case, differences, replayed
from tests.support.small_logs import new_log

ALL = {"INSERT": 6, "LOAD": 1, "UPDATE": 1, "DELETE": 1, "REPLACE": 1}


def held(case, tmp_path, mark, *, without=(), and_those=()):
    """What a server held at a mark or the end (None), without the rows that have some words, and with those of the end
    that have others: as a folder for `differences`."""
    folder = tmp_path / "held"
    folder.mkdir()
    lines = (case.expected(mark and case.mark(mark)) / "st.t.jsonl").read_text().splitlines()
    kept = [line for line in lines if not any(words in line for words in without)]
    end = (case.expected() / "st.t.jsonl").read_text().splitlines()
    kept += [line for line in end[1:] if any(words in line for words in and_those)]
    (folder / "st.t.jsonl").write_text("\n".join(kept) + "\n")
    return folder


def test_statements_are_left_out_and_counted(tmp_path):
    """GRP-1: INTVAR, RAND, USER_VAR and the blocks of LOAD DATA go with their statement."""
    case, output = Case("statement-mysql"), tmp_path / "out"
    result = replayed(case, output, on_statement="skip")
    assert differences(output, held(case, tmp_path, "rows_only", and_those=["by row again"])) == []
    assert result.skipped_statements == {"st.t": ALL}
    report = json.loads((output / "_report.json").read_text())
    assert report["skipped_statements"] == {"st.t": ALL}
    [note] = report["notes"]
    assert "1 DELETE, 6 INSERT, 1 LOAD, 1 REPLACE, 1 UPDATE on st.t" in note
    assert json.loads((output / "_snapshot.json").read_text())["source"]["options"]["on_statement"] == "skip"


@pytest.mark.contradicted  # later before-images have what the statements changed
def test_statements_and_rows_in_one_transaction(tmp_path):
    """What the rows say is applied, on what is there."""
    case, output = Case("statement-mysql-mixed"), tmp_path / "out"
    result = replayed(case, output, on_statement="skip")
    assert differences(output, held(case, tmp_path, None, without=['"a"'])) == []
    assert result.skipped_statements == {"st.t": {"UPDATE": 1, "INSERT": 1}}


def test_rows_that_a_skipped_statement_made_are_not_there(tmp_path):
    """A later row event about them stops a strict replay, and is skipped in idempotent mode."""
    case, output = Case("statement-mariadb"), tmp_path / "out"
    with pytest.raises(ReplayStopped) as caught:
        replayed(case, output, on_statement="skip")
    assert caught.value.mysql_errno == KEY_NOT_FOUND and not output.exists()
    result = replayed(case, output, on_statement="skip", exec_mode="idempotent")
    assert differences(output, held(case, tmp_path, "rows_only", and_those=["by row again"])) == []
    assert result.skipped_statements == {"st.t": ALL | {"INSERT": 4}}


def test_load_data_is_named_with_its_table(tmp_path):
    """It stops a replay of its table as any statement does, and is no concern of others."""
    with new_log(tmp_path) as log:
        body = event_encoder.query("LOAD DATA INFILE 'f' INTO TABLE `item` (id)", "shop", "mysql")
        with log.transaction():
            log.event(EventType.BEGIN_LOAD_QUERY, bytes(4) + b"1\n")
            log.event(EventType.EXECUTE_LOAD_QUERY, body[:13] + bytes(13) + body[13:])
    options = ReplayOptions((log.path,), str(tmp_path / "out"))
    with pytest.raises(UnsupportedStatement, match="LOAD DATA INFILE 'f' INTO TABLE") as caught:
        replay_with(ThisProcess(), options)
    assert (caught.value.table, caught.value.exit_code) == ("shop.item", 1) and caught.value.position
    assert "--on-statement skip" in caught.value.hint
    replay_with(ThisProcess(), replace(options, filter=TableFilter(ignored=(("shop", "item"),))))


def test_what_was_not_skipped_is_not_told(tmp_path):
    case = Case("statement-only-ddl")
    result = replayed(case, tmp_path / "out", on_statement="skip")
    assert result.skipped_statements == {} and result.notes == ()


@pytest.mark.parametrize("on_statement", ["error", "skip"])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_table_in_memory_is_emptied_after_a_restart(route, on_statement, tmp_path):
    """MariaDB 10.5 logs that as a statement, whatever binlog_format is."""
    case = Case("mariadb105-memory-emptied")
    result = replayed(case, tmp_path / "out", route=route, on_statement=on_statement)
    assert differences(tmp_path / "out", case.expected()) == []
    assert result.skipped_statements == {}


@pytest.mark.parametrize("sql", ["DELETE FROM d.kept", "DELETE FROM d.a WHERE id = 2", "DELETE FROM d.a LIMIT 1"])
def test_other_deletes_stop_a_replay(sql, tmp_path):
    """A table that can have foreign keys or triggers may lose other rows, too."""
    with new_log(tmp_path) as log:
        for made in ("CREATE DATABASE d", "CREATE TABLE d.a (id INT) ENGINE=MEMORY", "CREATE TABLE d.kept (id INT)"):
            log.query(made, "d")
        log.query(sql, "d")
    with pytest.raises(UnsupportedStatement, match="a statement changes rows"):
        replay_with(ThisProcess(1), ReplayOptions((log.path,), str(tmp_path / "out")))
