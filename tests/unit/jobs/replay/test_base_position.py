"""Where a base stands in an archive: after a failover, by its transactions in another server's logs (GRP-7)."""

import dataclasses

import pytest

import applier
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.writer import SOURCE
from tests.support.small_logs import CREATE, commit, held, insert, new_log, update

N = 12


def write(folder, flavour, files_of, first=0, **options):
    """N transactions, after each of which all that came before matters; `files_of` ends a file behind each of these.
    Where each transaction ends."""
    folder.mkdir()
    ends, log = [], new_log(folder, flavour=flavour, **options)
    [created] = parse_statement(CREATE, default_database="shop", flavour=flavour)
    for n in range(first, N):
        changes = [insert([(n, 0, "x" * n)])]
        changes += [update([(m, n - 1 - m, "x" * m)], [(m, n - m, "x" * m)]) for m in range(first, n)]
        ends.append((log.path.rpartition("/")[2], commit(log, *(dataclasses.replace(change, table=created.definition)
                                                                      for change in changes))[1]))
        if n in files_of:
            log = log.rotate(folder / f"binlog.{len(files_of) - files_of[::-1].index(n) + 1:06d}")
    log.close()
    return ends


def run(logs, output, **options):
    result = replay_with(ThisProcess(2), ReplayOptions((str(logs),), str(output), **options))
    return result, manifest.load(str(output))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_failover_at_every_transaction(flavour, tmp_path):
    """GRP-5, GRP-7: the new source has the same transactions in files of the same names, at other places."""
    ends = write(tmp_path / "old", flavour, [3, 7])
    write(tmp_path / "new", flavour, [2, 4, 9], checksum=False)
    _, whole = run(tmp_path / "new", tmp_path / "whole")
    for number, end in enumerate(ends):
        base, output = str(tmp_path / f"base{number}"), tmp_path / f"out{number}"
        run(tmp_path / "old", base, stop_position=end)
        result, snapshot = run(tmp_path / "new", output, base=base)
        assert held(output) == held(tmp_path / "whole") and snapshot.position == whole.position
        assert any("by its GTIDs they continue from" in note for note in result.notes)


@pytest.mark.parametrize("flavour, missing", [("mysql", f"{SOURCE}:6-"), ("mariadb", "0-1-")])
def test_a_gap_is_named(flavour, missing, tmp_path):
    """1236: the new source's logs begin too late."""
    ends = write(tmp_path / "old", flavour, [3, 7])
    write(tmp_path / "new", flavour, [2, 4, 9], checksum=False)
    run(tmp_path / "old", tmp_path / "base", stop_position=ends[3])
    for number in (1, 2, 3):
        (tmp_path / "new" / f"binlog.{number:06d}").unlink()
    with pytest.raises(ArchiveError, match=f"transactions {missing}\\d+ precede binlog.000004") as caught:
        run(tmp_path / "new", tmp_path / "out", base=str(tmp_path / "base"))
    assert caught.value.mysql_errno == 1236 and not (tmp_path / "out").exists()


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_base_ahead_of_the_logs(flavour, tmp_path):
    """1236: the new source never got the last transactions."""
    ends = write(tmp_path / "old", flavour, [3, 7])
    new = write(tmp_path / "new", flavour, [2, 4], checksum=False)
    run(tmp_path / "old", tmp_path / "base", stop_position=ends[9])
    file, offset = new[8]
    data = (tmp_path / "new" / file).read_bytes()
    (tmp_path / "new" / file).write_bytes(data[:offset])
    with pytest.raises(ArchiveError, match="but these logs do not contain") as caught:
        run(tmp_path / "new", tmp_path / "out", base=str(tmp_path / "base"))
    assert caught.value.mysql_errno == 1236 and not (tmp_path / "out").exists()


@pytest.mark.contradicted
def test_transactions_that_the_base_lacks_before_its_place(tmp_path):
    """A file of the same name that has another server's transaction before the offset where the base stands: nothing
    of it is skipped in silence."""
    ends = write(tmp_path / "old", "mysql", [3])
    write(tmp_path / "new", "mysql", [3])
    run(tmp_path / "old", tmp_path / "base", stop_position=ends[6])
    base = manifest.load(str(tmp_path / "base"))
    moved = dataclasses.replace(base, position=dataclasses.replace(base.position, gtid_set=f"{SOURCE}:1-7", tail=None))
    (tmp_path / "base" / "_snapshot.json").write_bytes(moved.to_json())
    result, _ = run(tmp_path / "new", tmp_path / "out", base=str(tmp_path / "base"), exec_mode="idempotent")
    assert any(f"continue from {ends[5][0]}:{ends[5][1]}" in note for note in result.notes)


def test_a_dump_whose_position_was_said_without_its_transactions(tmp_path):
    """1236, with what to do: the log says what came before that place, and the base that it has none."""
    ends = write(tmp_path / "logs", "mysql", [3])
    (tmp_path / "dump.sql").write_text(f"CREATE DATABASE shop; USE shop; {CREATE};")
    place = f"{ends[6][0]}:{ends[6][1]}"
    applier.import_dump(tmp_path / "dump.sql", tmp_path / "base", position=place, flavour="mysql")
    with pytest.raises(ArchiveError, match="the base snapshot does not contain them") as caught:
        run(tmp_path / "logs", tmp_path / "out", base=str(tmp_path / "base"))
    assert "--gtid-set" in caught.value.hint
