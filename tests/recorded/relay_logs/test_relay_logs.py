"""Relay logs of real replicas end with the replica's rows, and positions in them are the source's (GRP-8).

The recorder is record_relay_logs.py: MariaDB's event groups continue from a file to the next one, and each connection
in the middle begins again.
"""

import pickle
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import applier
from applier.binlog.archive.archive import open_archive
from applier.binlog.outline.outline_pass import outline_file
from applier.cli import app
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.io.encryption.keys import Keys
from applier.io.mapping import map_file
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.snapshot import manifest
from tests.support.folders import RECORDED
from tests.support.packing import pack_archive
from tests.support.real_server import differences

FOLDER = RECORDED / "relay_logs"
NAMES = ["mysql", "mysql-positions", "mariadb", "mariadb-positions"]
RESTARTED = ["mysql-restarted", "mariadb-positions-restarted"]
"""The replica was shut down, and on MySQL killed, and the source began new logs while it was away."""
CONNECTED = {"mysql": (5, ("binlog.000001", 13061)), "mysql-positions": (7, ("binlog.000002", 12581)),
             "mariadb": (7, ("binlog.000001", 15425)), "mariadb-positions": (9, ("binlog.000002", 14821))}
"""The relay log that the second connection begins with, and what it begins with."""


def replay(logs, output, **options):
    return replay_with(ThisProcess(), ReplayOptions((str(logs),), str(output), **options))


def relay(name):
    return FOLDER / name / "relay"


def later(name, folder):
    """The relay logs from the second connection on."""
    made = folder / "later"
    made.mkdir()
    for log in sorted(relay(name).iterdir())[CONNECTED[name][0] - 1:]:
        shutil.copy(log, made)
    return made


def places(name):
    """Where groups end in the source's logs."""
    return [(outline.name, outline.end) for outline in
            (outline_file(str(log)) for log in sorted((FOLDER / name / "source").iterdir())) if outline.n_groups]


@pytest.mark.parametrize("name", NAMES + RESTARTED)
def test_the_rows_are_the_replicas_and_the_position_is_the_sources(name, tmp_path):
    result = replay(relay(name), tmp_path / "out")
    assert not differences(tmp_path / "out", FOLDER / name / "expected")
    by_source = replay(FOLDER / name / "source", tmp_path / "by-source")
    assert (result.position, result.gtid_set) == (by_source.position, by_source.gtid_set)
    assert any(note.startswith("relay logs (relay-bin.000001 to relay-bin.0000") for note in result.notes)


def test_a_connection_that_begins_behind_the_head_of_the_log(tmp_path):
    """MariaDB 11.8 with its defaults: the first connection, by an empty GTID position, skips the log's head, and only
    the first event and the last one of a group say where they end."""
    result = replay(FOLDER / "mariadb11" / "relay", tmp_path / "out")
    assert not differences(tmp_path / "out", FOLDER / "mariadb11" / "expected")
    assert str(result.position) == "binlog.000001:800"
    [file] = open_archive([str(FOLDER / "mariadb11" / "relay")]).files
    assert outline_file(file.uri).n_groups == 3


@pytest.mark.parametrize("name", NAMES)
def test_events_have_the_places_and_bytes_of_the_sources_logs(name):
    """All but heads and what MariaDB does not send (ANNOTATE_ROWS)."""
    for file in open_archive([str(relay(name))]).files:
        ours, outline = map_file(file.uri), outline_file(file.uri)
        source = outline_file(str(FOLDER / name / "source" / file.name))
        assert ours.size == source.size
        assert (outline.gtids, outline.n_groups) == (source.gtids, source.n_groups)
        assert not outline.n_groups or outline.end == source.end
        assert [(use.body, use.first_position, use.n_events) for use in outline.tables] == [
            (use.body, use.first_position, use.n_events) for use in source.tables]


@pytest.mark.parametrize("name", NAMES)
def test_a_base_of_the_sources_logs_goes_on_with_relay_logs_and_back(name, tmp_path):
    """A snapshot's position names the source's file, so either kind of log continues it."""
    source, stop = FOLDER / name / "source", places(name)[0]
    replay(source, tmp_path / "base", stop_position=stop)
    replay(relay(name), tmp_path / "out", base=str(tmp_path / "base"))
    assert not differences(tmp_path / "out", FOLDER / name / "expected")
    replay(relay(name), tmp_path / "base2", stop_position=stop)
    replay(source, tmp_path / "out2", base=str(tmp_path / "base2"))
    assert not differences(tmp_path / "out2", FOLDER / name / "expected")


@pytest.mark.parametrize("name", NAMES)
def test_relay_logs_from_a_connection_on_continue_a_base_that_stands_there(name, tmp_path):
    """The replica has removed older ones: what came before them must be in the base."""
    (_, begin), late = CONNECTED[name], later(name, tmp_path)
    replay(FOLDER / name / "source", tmp_path / "base", stop_position=begin)
    replay(late, tmp_path / "out", base=str(tmp_path / "base"))
    assert not differences(tmp_path / "out", FOLDER / name / "expected")
    splits = outline_file(str(FOLDER / name / "source" / begin[0]), split_bytes=1).splits
    before = max(split.start for split in splits if split.start < begin[1])
    replay(FOLDER / name / "source", tmp_path / "older", stop_position=(begin[0], before))
    with pytest.raises(ArchiveError) as caught:
        replay(late, tmp_path / "none", base=str(tmp_path / "older"))
    assert caught.value.mysql_errno == 1236


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_a_base_is_found_by_its_gtids(name, tmp_path):
    """A dump of the replica's has the replica's own file and offset, and transactions of servers that are not here."""
    (_, begin), late = CONNECTED[name], later(name, tmp_path)
    source = FOLDER / name / "source"
    replay(source, tmp_path / "base", stop_position=begin)
    base = manifest.load(str(tmp_path / "base"))
    more = ",3e11fa47-71ca-11e1-9e33-c80aa9429562:1-7" if name == "mysql" else ""
    for number, position in enumerate([replace(base.position, file="", offset=0, tail=None),
                                       replace(base.position, file="replica.000007", offset=4711, tail=None)]):
        position = replace(position, gtid_set=base.position.gtid_set + more)
        moved = tmp_path / f"moved{number}"
        shutil.copytree(tmp_path / "base", moved)
        (moved / "_snapshot.json").write_bytes(replace(base, position=position).to_json())
        result = replay(late, tmp_path / f"out{number}", base=str(moved))
        assert not differences(tmp_path / f"out{number}", FOLDER / name / "expected")
        assert more.strip(",") in result.gtid_set


@pytest.mark.parametrize("name", ["mysql-positions", "mariadb-positions"])
def test_without_gtids_it_is_an_error_that_events_are_missing(name, tmp_path):
    """With --start-position behind them the replay continues."""
    _, (file, offset) = CONNECTED[name]
    with pytest.raises(ArchiveError, match="the relay logs lack what the source logged up to here") as caught:
        replay(later(name, tmp_path), tmp_path / "out")
    assert f"--start-position {file}:{offset}" in caught.value.hint
    replay(tmp_path / "later", tmp_path / "out", start_position=(file, offset),
           filter=TableFilter((), parse_table_list(["shop.*"])))


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_what_does_not_say_where_it_comes_from_is_refused(name, tmp_path):
    """A file that begins in the middle of a connection, and has no ROTATE of the source's."""
    with pytest.raises(ArchiveError, match="do not name the source's binlog file") as caught:
        open_archive([str(relay(name) / "relay-bin.000003"), str(relay(name) / "relay-bin.000004")]
                     if name == "mariadb" else [str(relay(name) / "relay-bin.000008")])
    assert "also give the earlier relay logs" in caught.value.hint


def test_a_first_log_without_a_name_is_the_one_before_the_next():
    """MariaDB's files 4 to 12 begin within a group; the source's ROTATE names binlog.000002."""
    files = open_archive([str(log) for log in sorted(relay("mariadb").iterdir())[4:]]).files
    assert [file.name for file in files] == ["binlog.000001", "binlog.000002"]
    outline = outline_file(files[0].uri)
    assert outline.start == 325  # behind the log's head; what is left of the large transaction is not taken for one
    assert [event.hint.endswith("binlog.000001:15425") for event in outline.unreplayable] == [True]


def test_logs_of_several_sources_are_refused(tmp_path):
    """The replica was given another source: its log has the same name."""
    folder = tmp_path / "both"
    folder.mkdir()
    logs = [*sorted(relay("mysql").iterdir())[:4], *sorted(relay("mysql-positions").iterdir())[1:]]
    for number, log in enumerate(logs, 1):
        shutil.copy(log, folder / f"relay-bin.{number:06d}")
    with pytest.raises(ArchiveError, match="from several sources"):
        open_archive([str(folder)])


def test_packed_ones_and_a_location_that_travels(tmp_path):
    """A task on another machine puts them together again."""
    pack_archive(relay("mariadb").iterdir(), tmp_path / "packed", ["gzip", None, "zstd"])
    plain, packed = (open_archive([str(folder)]).files[0] for folder in (relay("mariadb"), tmp_path / "packed"))
    again = pickle.loads(pickle.dumps(packed.uri))
    assert map_file(again).array.tobytes() == map_file(plain.uri).array.tobytes()
    assert packed.log_bytes == 17472


@pytest.mark.parametrize("name", NAMES)
def test_a_relay_log_that_the_replica_still_writes(name, tmp_path):
    """Its last event, and the last group, may be incomplete: it goes up to the last whole group."""
    folder = tmp_path / "cut"
    shutil.copytree(relay(name), folder)
    last = sorted(folder.iterdir())[-1]
    last.write_bytes(last.read_bytes()[:-10])
    result = replay(folder, tmp_path / "out")
    assert any("ends within" in note for note in result.notes)
    ends = [int(position.rpartition(":")[2]) for position in (
        result.position, replay(relay(name), tmp_path / "all").position)]
    assert ends[0] < ends[1]


def changed(name, folder, number, change):
    """A copy of relay logs, of which one has what `change` makes of its bytes and of where its events begin."""
    shutil.copytree(relay(name), folder)
    log = sorted(folder.iterdir())[number - 1]
    data = bytearray(log.read_bytes())
    at, begins = 4, []
    while at < len(data):
        begins.append(at)
        at += int.from_bytes(data[at + 9:at + 13], "little")
    log.write_bytes(change(data, begins))
    return folder


CUTS = {"within its last event": lambda data, begins: data[:-10], "before it": lambda data, begins: data[:begins[-1]],
        "within the one before": lambda data, begins: data[:begins[-1] - 10],
        "before a group's last event": lambda data, begins: data[:begins[-2]],
        "with much missing": lambda data, begins: data[:begins[len(begins) // 2]]}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_relay_log_that_ends_early_is_an_error_if_the_next_one_goes_on(name, cut, tmp_path):
    """MariaDB's next one begins with a TABLE_MAP, before which ANNOTATE_ROWS may be missing, but nothing else."""
    number = {"mysql": 7, "mysql-positions": 9}.get(name, 4)
    folder = changed(name, tmp_path / "cut", number, CUTS[cut])
    with pytest.raises(ArchiveError, match=r"the relay log ends early: .* continues at ") as caught:
        replay(folder, tmp_path / "out")
    assert caught.value.file.endswith(f"{number:06d}")


@pytest.mark.parametrize("name", NAMES)
def test_the_relay_log_of_a_replica_that_was_killed_has_no_end(name, tmp_path):
    """The replica connects again, and receives again what is not whole."""
    folder = changed(name, tmp_path / "killed", CONNECTED[name][0] - 1, CUTS["within its last event"])
    replay(folder, tmp_path / "out")
    assert not differences(tmp_path / "out", FOLDER / name / "expected")


@pytest.mark.parametrize(("name", "killed"),
                         list(zip(NAMES, (2, 4, 5, 7), strict=True)))
def test_what_a_killed_replica_lost_and_did_not_receive_again_is_missed(name, killed, tmp_path):
    folder = changed(name, tmp_path / "killed", killed, CUTS["before a group's last event"])
    for number, log in enumerate(sorted(folder.iterdir()), 1):
        if killed < number < CONNECTED[name][0]:
            log.unlink()
        elif number > killed:
            log.rename(folder / f"relay-bin.{number - CONNECTED[name][0] + killed + 1:06d}")
    with pytest.raises(ArchiveError, match="the relay logs lack what the source logged"):
        replay(folder, tmp_path / "out")


def test_what_a_killed_replica_has_not_is_missed_where_it_goes_on_in_a_later_log(tmp_path):
    """relay-bin.000006 has the last group of binlog.000002, and the next connection begins with binlog.000004."""
    folder = changed("mysql-restarted", tmp_path / "cut", 6, lambda data, begins: data[:begins[6]])
    assert open_archive([str(relay("mysql-restarted"))]).files[1].name == "binlog.000002"
    with pytest.raises(ArchiveError, match="GTIDs do not tell that nothing came between"):
        open_archive([str(folder)])


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_a_damaged_event_is_an_error_whatever_it_says_of_itself(name, tmp_path):
    """Its type, position and flags, which tell whether it is the source's: the checksum vouches for them."""
    def damage(event, place, bit):
        def change(data, begins):
            data[begins[event % len(begins)] + place] ^= bit
            return data
        return change

    number = 0
    for log in (2, len(list(relay(name).iterdir()))):
        for event in (0, 2, 5, 6, 7, 8, 9, -2):
            for place, bit in ((4, 1), (13, 1), (14, 128), (17, 0x20), (17, 0x40), (17, 0x80), (30, 1)):
                number += 1
                folder = changed(name, tmp_path / str(number), log, damage(event, place, bit))
                with pytest.raises(ArchiveError):
                    open_archive([str(folder)])


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_length_in_the_newest_one_is_not_taken_for_its_end(name, tmp_path):
    def longer(data, begins):
        data[begins[event] + 11] ^= 1
        return data

    for event in (0, -1):
        folder = changed(name, tmp_path / str(event), len(list(relay(name).iterdir())), longer)
        with pytest.raises(ArchiveError, match=r"would extend past the end|impossible size of 65... bytes"):
            open_archive([str(folder)])


def test_encrypted_ones_of_mariadb(tmp_path):
    """Their first events, without checksums and with no position or the source's, tell whether a key fits, too."""
    folder = FOLDER / "mariadb-positions-encrypted"
    replay_with(ThisProcess(), ReplayOptions(Keys([], [str(folder / "keys")]).of([str(folder / "relay")]),
                                             str(tmp_path / "out")))
    assert not differences(tmp_path / "out", folder / "expected")


def test_encrypted_ones_of_mysql(tmp_path):
    """Encrypted as a log of a real server is: what comes behind its header and its bytes differ by the same."""
    file, keys = RECORDED / "encrypted" / "mysql" / "binlog.000001", RECORDED / "encrypted" / "mysql" / "keys.first"
    header, behind = file.read_bytes()[:512], np.frombuffer(file.read_bytes()[512:], np.uint8)
    stream = behind ^ map_file(Keys([str(keys)], []).of([str(file)])[0]).array
    folder = tmp_path / "encrypted"
    folder.mkdir()
    for log in relay("mysql").iterdir():
        plain = np.frombuffer(log.read_bytes(), np.uint8)
        (folder / log.name).write_bytes(header + (plain ^ stream[:len(plain)]).tobytes())
    replay_with(ThisProcess(), ReplayOptions(Keys([str(keys)], []).of([str(folder)]), str(tmp_path / "out")))
    assert not differences(tmp_path / "out", FOLDER / "mysql" / "expected")


def test_verbs_read_them_as_the_sources():
    """show prints a relay log as it is."""
    run = CliRunner().invoke
    found = run(app, ["locate", "--datetime", "2020-01-01", "--binlogs", str(relay("mysql"))])
    assert "binlog.000001:158" in found.output
    shown = run(app, ["show", str(relay("mysql") / "relay-bin.000002")])
    assert shown.exit_code == 0 and "relay-bin.000003" in shown.output
    rows = [pa.table(applier.changes([str(place)], "shop.item")).num_rows
            for place in (relay("mariadb"), FOLDER / "mariadb" / "source")]
    assert rows[0] == rows[1] > 60
