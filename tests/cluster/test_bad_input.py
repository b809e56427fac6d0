"""What bad input gets, from the command line on: an exit code, file and position, what to do next, and no output."""

import shutil
import struct
import subprocess
import sys
import zlib

import pytest

from applier import cli
from applier.binlog.events.format import EventType
from applier.snapshot import manifest
from applier.writer import event_encoder
from applier.writer.writer import SOURCE
from tests.support.folders import CASES
from tests.support.small_logs import commit, held, insert, new_log

pytestmark = pytest.mark.usefixtures("spark")
HEADER = 19
ENCRYPTED = CASES.parent / "binlog" / "encrypted"


def replay(folder, *options):
    words = ["replay", "--binlogs", str(folder), "--output", str(folder / "out"), "--master", "local[2]"]
    return cli.main([*words, *options])


@pytest.fixture
def archive(tmp_path):
    """Three files with ten transactions of one row each; where each transaction begins and ends, by file."""
    places, log = {}, new_log(tmp_path)
    for number in range(1, 4):
        name = f"binlog.{number:06d}"
        places[name] = [commit(log, insert([(number * 100 + n, n, name)])) for n in range(10)]
        if number < 3:
            log = log.rotate(tmp_path / f"binlog.{number + 1:06d}")
    log.close()
    return tmp_path, places


def refused(folder, capsys, *says, code=2, options=()):
    """The replay ends with this exit code and says all this; nothing is published or left lying about."""
    names = sorted(path.name for path in folder.iterdir())
    assert replay(folder, *options) == code
    error = capsys.readouterr().err
    assert [part for part in says if part not in error] == [], error
    assert error.count("applier: error:") == 1 and "Traceback" not in error
    assert sorted(path.name for path in folder.iterdir()) == names


def first_event(data, begin, end, kind=EventType.WRITE_ROWS):
    """The position of the first event of a kind from `begin` to `end`."""
    while data[begin + 4] != kind:
        begin += int.from_bytes(data[begin + 9:begin + 13], "little")
        assert begin < end
    return begin


def rewritten(file, position, change):
    """Change an event in place, and make its checksum good again."""
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[position + 9:position + 13], "little")
    event = data[position:position + size]
    change(event)
    event[-4:] = struct.pack("<I", zlib.crc32(event[:-4]))
    file.write_bytes(data[:position] + event + data[position + size:])


def test_a_table_map_whose_character_set_is_no_number(archive, capsys):
    """What a table map says besides its columns is read later than those, and the error has its place all the same."""
    folder, places = archive
    path = folder / "binlog.000002"
    data, (begin, end) = bytearray(path.read_bytes()), places["binlog.000002"][0]
    at = first_event(data, begin, end, EventType.TABLE_MAP)
    size = int.from_bytes(data[at + 9:at + 13], "little")
    charset = data.index(b"\2\3\xfc\xff\0", at, at + size)  # DEFAULT_CHARSET, three bytes: 255 in two of them
    data[charset + 2] = 0xFF
    data[at + size - 4:at + size] = zlib.crc32(data[at:at + size - 4]).to_bytes(4, "little")
    path.write_bytes(data)
    refused(folder, capsys, "a length that starts with byte 255", f"binlog.000002:{at}", "1610")


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_flipped_bit(archive, capsys, route):
    folder, places = archive
    file, (begin, end) = folder / "binlog.000002", places["binlog.000002"][4]
    data = bytearray(file.read_bytes())
    position = first_event(data, begin, end)
    data[position + HEADER + 12] ^= 0x10
    file.write_bytes(data)
    refused(folder, capsys, f"binlog.000002:{position}", "checksum", "1610", options=["--route", route])


@pytest.mark.parametrize("size", [0, 18, 23, 0xFFFFFFFF])
def test_an_impossible_length(archive, capsys, size):
    """Also one that goes past the end of a file that others follow."""
    folder, places = archive
    file, position = folder / "binlog.000002", places["binlog.000002"][4][0]
    data = bytearray(file.read_bytes())
    data[position + 9:position + 13] = struct.pack("<I", size)
    file.write_bytes(data)
    refused(folder, capsys, f"binlog.000002:{position}", "[MySQL error 1")


def test_an_unknown_event(archive, capsys):
    """EV-IGN: one that must not be skipped stops the replay, and is named; with the flag it is skipped."""
    folder, places = archive
    file, position = folder / "binlog.000003", places["binlog.000003"][7][0]
    data = file.read_bytes()
    event = bytearray(struct.pack("<IBIIIH", 0, 99, 1, HEADER + 4, position + HEADER + 4, 0) + bytes(4))
    file.write_bytes(data[:position] + event + data[position:])
    rewritten(file, position, lambda event: None)
    refused(folder, capsys, f"binlog.000003:{position}", "type 99")
    rewritten(file, position, lambda event: event.__setitem__(slice(17, 19), b"\x80\0"))
    assert replay(folder) == 0
    assert len(held(folder / "out")) == 30


@pytest.mark.parametrize("back", [1, 10, 60])
def test_a_torn_tail_of_the_newest_file(archive, capsys, back):
    """GRP-1: replayed up to the last whole event group, and that is said."""
    folder, places = archive
    file, (begin, end) = folder / "binlog.000003", places["binlog.000003"][-1]
    file.write_bytes(file.read_bytes()[:end - back])
    assert replay(folder) == 0
    assert "ends within an event group" in capsys.readouterr().err
    assert len(held(folder / "out")) == 29
    assert str(manifest.load(str(folder / "out")).position) == f"binlog.000003:{begin}"


def test_a_file_that_is_cut_short_before_others(archive, capsys):
    folder, places = archive
    file, (begin, end) = folder / "binlog.000002", places["binlog.000002"][-1]
    file.write_bytes(file.read_bytes()[:end - 5])
    refused(folder, capsys, "binlog.000002:", f"--stop-position binlog.000002:{begin}")
    assert replay(folder, "--stop-position", f"binlog.000002:{begin}") == 0, "the hint is right"
    assert len(held(folder / "out")) == 19


def test_a_missing_file(archive, capsys):
    folder, _ = archive
    (folder / "binlog.000002").unlink()
    refused(folder, capsys, "binlog.000002 is missing", "1236")


def test_a_gtid_gap(archive, capsys):
    """Files of the right numbers with a transaction missing between them."""
    folder, _ = archive
    log = new_log(folder)  # begins the first file again, with one transaction less
    for n in range(9):
        commit(log, insert([(n, n, "again")]))
    log.event(EventType.ROTATE, event_encoder.rotate("binlog.000002"))
    log.close()
    refused(folder, capsys, "binlog.000002", "1236", f"{SOURCE}:11")


def test_an_encrypted_log(archive, capsys):
    folder, _ = archive
    file = folder / "binlog.000002"
    for server in ("mysql", "mariadb"):
        file.write_bytes((ENCRYPTED / f"{server}.000001").read_bytes())
        refused(folder, capsys, "binlog.000002:", "the binlog is encrypted", "--read-from-remote-server")


@pytest.mark.parametrize("server, place", [("mysql", "binlog.000006:806"), ("mariadb", "binlog.000001:882")])
def test_an_incident(server, place, tmp_path, capsys):
    """EV-INC: also in the newest file, where MySQL's is the last event; up to it the log is well."""
    files = sorted((CASES / f"incident-{server}").glob("binlog.0*"))
    (tmp_path / "s.sql").write_text("CREATE DATABASE s; USE s; CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20));")
    for file in files:
        shutil.copy(file, tmp_path)
        refused(tmp_path, capsys, place, "INCIDENT", "1590", options=["--schema", str(tmp_path / "s.sql")])


def test_not_a_binlog(archive, capsys):
    folder, _ = archive
    (folder / "binlog.000002").write_bytes(b"-- MySQL dump 10.13\n" * 30)
    refused(folder, capsys, "binlog.000002")
    (folder / "binlog.000002").write_bytes(b"")
    refused(folder, capsys, "binlog.000002")


def test_rows_of_a_table_that_nothing_defines(archive, capsys):
    """Exit 1: the log is well, and what is missing can be given; then it goes through."""
    folder, _ = archive
    (folder / "binlog.000001").unlink()
    refused(folder, capsys, "shop.item", "binlog.000002:", "--schema", "--base", "--ignore-tables", code=1)
    (folder / "schema.sql").write_text("CREATE DATABASE shop; USE shop; CREATE TABLE item "
                                       "(id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20));")
    assert replay(folder, "--schema", str(folder / "schema.sql")) == 0
    assert len(held(folder / "out")) == 20


def test_a_definition_that_does_not_fit_the_log(archive, capsys):
    """AP-POS: 1677 names the table, and exit 1."""
    folder, _ = archive
    (folder / "binlog.000001").unlink()
    (folder / "schema.sql").write_text("CREATE DATABASE shop; USE shop; CREATE TABLE item "
                                       "(id INT NOT NULL PRIMARY KEY, n VARCHAR(9), s VARCHAR(20));")
    refused(folder, capsys, "shop.item", "1677", "n", code=1, options=["--schema", str(folder / "schema.sql")])


def test_a_row_image_that_its_event_has_no_room_for(archive, capsys):
    """A string's length past the end of its event, with a good checksum."""
    folder, places = archive
    file, (begin, end) = folder / "binlog.000003", places["binlog.000003"][3]
    position = first_event(file.read_bytes(), begin, end)

    def lengthen(event):
        at = event.index(b"binlog.000003") - 1
        event[at] = 20

    rewritten(file, position, lengthen)
    refused(folder, capsys, f"binlog.000003:{position}", "1610")


def test_the_output_exists(archive, capsys):
    folder, _ = archive
    (folder / "out").mkdir()
    (folder / "out" / "mine").write_text("precious")
    refused(folder, capsys, "--output")
    assert (folder / "out" / "mine").read_text() == "precious"


def test_nothing_to_read(tmp_path, capsys):
    assert replay(tmp_path) == 2
    assert "no binlog files" in capsys.readouterr().err
    assert cli.main(["replay", "--binlogs", str(tmp_path / "nowhere"), "--output", str(tmp_path / "out")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_a_disk_that_is_full_leaves_no_output(archive, capsys):
    """What is written fails by a limit on file size, as on a full disk; nothing stays."""
    folder, _ = archive
    program = ("import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
               "from applier.engine.executor import ThisProcess\nfrom applier.options import ReplayOptions\n"
               "from applier.jobs.replay.job import replay_with\n"
               "resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))\n"
               "replay_with(ThisProcess(), ReplayOptions((sys.argv[1],), sys.argv[1] + '/out'))")
    run = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True)
    assert run.returncode == 1 and "File too large" in run.stderr
    assert sorted(path.name for path in folder.iterdir()) == [f"binlog.{n:06d}" for n in (1, 2, 3)]
