"""The summary of each recorded case says what its events say, read by the slow way: one decoded row after another."""

import io
import json
from collections import Counter

import pytest

import applier
import applier.binlog
from applier.jobs import show
from applier.jobs.summary import counting, job
from applier.schema.table_filter import SYSTEM_DATABASES
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import CASES
from tests.support.real_server import Case
from tests.support.small_parts import SmallParts

KINDS = "insert", "update", "delete"


def rows_of(case):
    """(file, position, table, kind) of each row change that `show` decodes."""
    for file in case.binlogs:
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        show.show([str(file)], "json", out)
        for line in out.buffer.getvalue().splitlines():
            event = json.loads(line)
            if "op" in event and event["table"].partition(".")[0] not in SYSTEM_DATABASES:
                yield file.name, event["pos"], event["table"], event["op"]


def counted(tables):
    return Counter({(table.table, kind): rows for table in tables
                    for kind, rows in zip(KINDS, table.kinds, strict=True) if rows})


NAMES = sorted(folder.name for folder in CASES.iterdir() if list(folder.glob("binlog.0*")))


@pytest.mark.by_turns(one_in=4)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "mariadb-old-temporal"])
def test_counts_are_those_of_the_decoded_rows(name):
    case = Case(name)
    summary = applier.summary(case.binlogs, top=1000)
    found = list(rows_of(case))
    assert counted(summary.tables) == Counter((table, kind) for _, _, table, kind in found)
    assert summary.rows.rows == len(found) == sum(step.rows for step in summary.by_time)
    assert sum(server.transactions for server in summary.servers) == summary.transactions
    assert summary.transactions <= 1000 or len(summary.largest) == 1000
    for one in summary.largest:
        own = [(table, kind) for file, place, table, kind in found if file == one.file and one.start <= place < one.end]
        assert counted(one.tables) == Counter(own), one
    if len(summary.largest) < 1000:
        assert sum(one.rows for one in summary.largest) == len(found)
    by_thread = {(one.server_id, one.thread_id): one for one in summary.threads}
    own_threads = Counter((one.server_id, one.thread_id) for one in summary.largest if one.thread_id is not None)
    plain = all(event.name != "TRANSACTION_PAYLOAD" for event in applier.binlog.open(*map(str, case.binlogs)))
    if plain and len(summary.largest) < 1000:
        assert {who: one.transactions for who, one in by_thread.items()} == own_threads
        assert {who: one.rows for who, one in by_thread.items()} == {
            who: sum(one.rows for one in summary.largest if (one.server_id, one.thread_id) == who)
            for who in own_threads}
    assert [one.rows for one in summary.largest] == sorted((one.rows for one in summary.largest), reverse=True)


def test_old_times_with_digits_are_refused_and_can_be_left_out():
    """How long they are, only the definition says."""
    case = Case("mariadb-old-temporal")
    with pytest.raises(applier.ArchiveError) as refused:
        applier.summary(case.binlogs)
    assert refused.value.table == "old.old_format" and refused.value.position == 2702
    assert "only its definition says: --ignore-tables" in str(refused.value)
    summary = applier.summary(case.binlogs, ignore_tables="old.old_format,old.new_format")
    assert not any("definition" in note for note in summary.notes)


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("archive", [ARCHIVE, CASES / "transactions-mysql", CASES / "compressed-mariadb",
                                     CASES / "compressed-mysql", CASES / "groups-mariadb"], ids=lambda path: path.name)
def test_small_splits_and_batches_count_the_same(archive, monkeypatch):
    """Splits are counted by themselves, and a batch may end within a transaction."""
    files = sorted(archive.glob("binlog.0*"))
    whole = applier.summary(files, top=50)
    monkeypatch.setattr(counting, "BATCHED_ROWS", 7)
    monkeypatch.setattr(counting, "LEAST_ROWS", 7)
    monkeypatch.setattr(job, "ThisProcess", lambda cores: SmallParts(cores, 1 << 20, 7, 1))
    assert applier.summary(files, top=50) == whole
