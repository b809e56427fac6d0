"""`archive`: what a server sends becomes its files, byte for byte, whatever happens on the way."""

import os
import shutil
import zlib
from itertools import pairwise

import pyarrow as pa
import pytest

import applier
import applier.binlog
from applier import cli
from applier.errors import ArchiveError, UsageError
from applier.jobs.archive import job
from tests.support.binlog_server import PASSWORD, UUID, BinlogServer, Fault
from tests.support.folders import CASES

NAMES = [f"binlog.00000{n}" for n in range(1, 5)]
FOLDERS = {flavour: CASES / f"many-files-{flavour}" for flavour in ("mysql", "mariadb")}
pytestmark = pytest.mark.by_turns("flavour")

ENDS = {"mysql": ("binlog.000004", 2675), "mariadb": ("binlog.000004", 1921)}


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)


@pytest.fixture(params=FOLDERS)
def flavour(request):
    return request.param


def server_of(flavour, *faults):
    return BinlogServer(FOLDERS[flavour], flavour, faults=faults)


def positions(file):
    """Where the events of a file begin."""
    return [event.position for event in applier.binlog.open(str(file))]


def same(output, folder, names=NAMES, besides=""):
    """Return whether the output has these files of the folder, and no others but one."""
    there = sorted(path.name for path in output.iterdir() if path.name not in ("_source.json", besides))
    return there == names and all((output / name).read_bytes() == (folder / name).read_bytes() for name in names)


def test_files_are_the_servers_files(flavour, tmp_path, capfd):
    """From the oldest one on, over all rotations; what is said has no password."""
    with server_of(flavour) as server:
        assert cli.main(["archive", "--source", server.url, "--output", str(tmp_path / "out"), "--until-now"]) == 0
    assert same(tmp_path / "out", FOLDERS[flavour])
    said = capfd.readouterr()
    assert "4 files written to, 3 complete" in said.out and "up to binlog.000004:" in said.out
    assert PASSWORD not in said.out + said.err


def test_events_that_do_not_say_where_they_end(tmp_path):
    """MariaDB 11.8 with its defaults (binlog_legacy_event_pos=OFF): all within a group but its first and last one."""
    folder = CASES / "mariadb11-vectors"
    with BinlogServer(folder, "mariadb") as server:
        done = applier.archive(server.url, tmp_path / "out", until_now=True)
    assert any(event.end_log_pos == 0 for event in applier.binlog.open(str(folder / "binlog.000001")))
    assert same(tmp_path / "out", folder, ["binlog.000001"])
    size = (folder / "binlog.000001").stat().st_size
    assert done.bytes == size - 4
    with BinlogServer(folder, "mariadb") as server:  # what is there stays, and is not asked for again
        assert applier.archive(server.url, tmp_path / "out", until_now=True).bytes == 0
    assert server.dumps[-1] == ("binlog.000001", size)


def test_what_is_copied_is_replayed(flavour, tmp_path):
    with server_of(flavour) as server:
        done = applier.archive(server.url, tmp_path / "out", until_now=True)
    assert (done.file, done.offset, done.files, done.complete) == (*ENDS[flavour], 4, 3)
    assert done.bytes == sum(os.path.getsize(FOLDERS[flavour] / name) - 4 for name in NAMES)
    position = applier.replay(tmp_path / "out", tmp_path / "snapshot").snapshot.position
    assert (position.file, position.offset) == (done.file, positions(FOLDERS[flavour] / done.file)[-1])


def test_a_run_goes_on_where_one_was_killed(flavour, tmp_path):
    """At any byte of a file: after its last whole event, of which nothing is asked for again."""
    whole = (FOLDERS[flavour] / NAMES[1]).read_bytes()
    starts = positions(FOLDERS[flavour] / NAMES[1])
    for size in (0, 50, starts[1], starts[2], starts[9] - 1, starts[9] + 1, len(whole) - 1, len(whole)):
        output = tmp_path / str(size)
        output.mkdir()
        shutil.copy(FOLDERS[flavour] / NAMES[0], output)
        (output / NAMES[1]).write_bytes(whole[:size])
        with server_of(flavour) as server:
            applier.archive(server.url, output, until_now=True)
        assert same(output, FOLDERS[flavour]), size
        ends = [end for end in (*starts[1:], len(whole)) if end <= size]
        asked = (NAMES[1], max(ends)) if ends else (NAMES[0], os.path.getsize(output / NAMES[0]))
        assert server.dumps[-1] == asked


@pytest.mark.parametrize("what", ["close", "cut", "end", (1053, "Server shutdown in progress")])
def test_a_lost_connection_is_made_again(what, flavour, tmp_path):
    """Before and within an event, and where the server says that it ends, with an error or without, as MariaDB does:
    the file continues at the event."""
    place = positions(FOLDERS[flavour] / NAMES[2])[5]
    notes = []
    with server_of(flavour, Fault(0, NAMES[2], place, what)) as server:
        applier.archive(server.url, tmp_path / "out", stopped=lambda: same(tmp_path / "out", FOLDERS[flavour]),
                        progress=lambda step: notes.append(step.note))
    assert server.dumps == [(NAMES[0], 4), (NAMES[2], 4), (NAMES[2], place)]
    assert any("is lost, and tried again" in (note or "") for note in notes)
    assert any("again" in (note or "") and "connected" in (note or "") for note in notes)


def test_a_file_that_grows_is_read_beside(flavour, tmp_path):
    """It is there with its first two events, all that came is on disk while the server is silent, and no byte changes;
    a file with a higher number is there only when it is complete."""
    output, seen = tmp_path / "out", {}

    def stopped():
        for path in sorted(output.glob("binlog.*")):
            data = path.read_bytes()
            assert data.startswith(seen.get(path.name, b"")) and len(data) >= positions(FOLDERS[flavour] / path.name)[2]
            seen[path.name] = data
        assert all(seen[name] == (FOLDERS[flavour] / name).read_bytes() for name in sorted(seen)[:-1])
        return same(output, FOLDERS[flavour])

    faults = [Fault(dump, name, positions(FOLDERS[flavour] / name)[at], "cut")
              for dump, name, at in ((0, NAMES[1], 1), (2, NAMES[1], 4), (4, NAMES[3], 2))]
    with server_of(flavour, *faults) as server:
        done = applier.archive(server.url, output, stopped=stopped)
    assert (done.file, done.offset) == ENDS[flavour]


def test_heartbeats_are_in_no_file(flavour, tmp_path):
    faults = [Fault(0, name, positions(FOLDERS[flavour] / name)[3], "heartbeat") for name in NAMES]
    with server_of(flavour, *faults) as server:
        applier.archive(server.url, tmp_path / "out", until_now=True)
    assert same(tmp_path / "out", FOLDERS[flavour])


def test_a_damaged_event_is_not_written(flavour, tmp_path, capfd):
    """1610, with its place; what is before it stays, and the next run continues there."""
    place = positions(FOLDERS[flavour] / NAMES[1])[6]
    output = tmp_path / "out"
    with server_of(flavour, Fault(0, NAMES[1], place, "damage")) as server:
        words = ["archive", "--source", server.url, "--output", str(output), "--until-now"]
        assert cli.main(words) == 2
        said = capfd.readouterr().err
        assert f"{NAMES[1]}:{place}" in said and "1610" in said
        assert (output / NAMES[1]).read_bytes() == (FOLDERS[flavour] / NAMES[1]).read_bytes()[:place]
        assert cli.main(words) == 0
    assert same(output, FOLDERS[flavour])


def test_what_the_server_has_purged_is_error_1236(flavour, tmp_path, capfd):
    """Nothing is written, and the archive is as it was."""
    served, output = tmp_path / "served", tmp_path / "out"
    served.mkdir()
    output.mkdir()
    for name in NAMES[2:]:
        shutil.copy(FOLDERS[flavour] / name, served)
    shutil.copy(FOLDERS[flavour] / NAMES[0], output)
    with BinlogServer(served, flavour) as server:
        assert cli.main(["archive", "--source", server.url, "--output", str(output), "--until-now"]) == 2
        assert same(output, FOLDERS[flavour], NAMES[:1])
        said = " ".join(capfd.readouterr().err.split())
        assert "1236" in said and "the server has purged the next events" in said
        assert cli.main(["archive", "--source", server.url, "--output", str(tmp_path / "new"), "--until-now"]) == 0
    assert same(tmp_path / "new", served, NAMES[2:])


@pytest.mark.parametrize("is_restarted", [True, False])
def test_a_file_that_ends_within_an_event(is_restarted, tmp_path):
    """A crash leaves MariaDB's so. It continues with the file that the next start of the server began; where no start
    came after it, it is damage [1236]. So it is, too, when the torn file is the last one of the output."""
    served, starts = tmp_path / "served", positions(FOLDERS["mariadb"] / NAMES[1])
    shutil.copytree(FOLDERS["mariadb"], served, ignore=shutil.ignore_patterns("expected*", "*.json", "*.sql"))
    whole = (served / NAMES[1]).read_bytes()
    (served / NAMES[1]).write_bytes(whole[:starts[7] + 25])
    if is_restarted:
        data = bytearray((served / NAMES[2]).read_bytes())
        end = positions(served / NAMES[2])[1]
        data[75:79] = b"\1\2\3\4"  # when the server was started
        data[end - 4:end] = zlib.crc32(data[4:end - 4]).to_bytes(4, "little")
        (served / NAMES[2]).write_bytes(data)
    output = tmp_path / "out"
    with BinlogServer(served, "mariadb") as server:
        if is_restarted:
            applier.archive(server.url, output, until_now=True)
            assert (output / NAMES[1]).read_bytes() == whole[:starts[7]]
            for name in NAMES[2:]:
                (output / name).unlink()
            applier.archive(server.url, output, until_now=True)
            assert same(output, served, NAMES[:1] + NAMES[2:], besides=NAMES[1])
        for _ in range(2 * (not is_restarted)):
            with pytest.raises(ArchiveError, match="truncated in the middle") as damaged:
                applier.archive(server.url, output, until_now=True)
            assert (damaged.value.mysql_errno, damaged.value.position) == (1236, starts[7])
            assert sorted(path.name for path in output.glob("binlog.*")) == NAMES[:2]
    assert (output / NAMES[1]).read_bytes() == whole[:starts[7]]


class ResetLater(list):
    """The dumps of a server that was reset: those after the first one are of other files."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder

    def append(self, dump):
        if self:
            self.server.folder = self.folder
        super().append(dump)


@pytest.mark.parametrize("is_reset", [True, False])
def test_a_file_that_does_not_say_that_it_ends(is_reset, flavour, tmp_path):
    """A server that was reset continues with a file of its new log, and says nothing of what it has before it: the
    archive does not get a gap. After a crash, the file is the server's."""
    served, again = tmp_path / "served", tmp_path / "again"
    served.mkdir()
    again.mkdir()
    for name in NAMES[:2]:
        shutil.copyfile(FOLDERS[flavour] / name, served / name)
    end = positions(served / NAMES[0])[-1]
    os.truncate(served / NAMES[0], end)
    for name, other in zip(NAMES[:2], NAMES[2:], strict=True):
        shutil.copyfile(FOLDERS[flavour] / other, again / name)
    with BinlogServer(served, flavour) as server:
        if not is_reset:
            applier.archive(server.url, tmp_path / "out", until_now=True)
            assert same(tmp_path / "out", served, NAMES[:2])
            return
        server.dumps = ResetLater(server, again)
        with pytest.raises(UsageError, match=r"differs from the file of that name.*was the server's log reset"):
            applier.archive(server.url, tmp_path / "out", until_now=True)
    assert same(tmp_path / "out", served, NAMES[:1])


def test_a_server_that_was_reset_and_sends_only_heartbeats(flavour, tmp_path, monkeypatch):
    """It sends nothing of its new log, which is shorter; after a while the archive looks."""
    monkeypatch.setattr(job, "IDLE_HEARTBEATS", 1)
    served, again = tmp_path / "served", tmp_path / "again"
    for folder, name in ((served, NAMES[0]), (again, NAMES[2])):
        folder.mkdir()
        shutil.copyfile(FOLDERS[flavour] / name, folder / NAMES[0])
    os.truncate(served / NAMES[0], positions(served / NAMES[0])[-1])
    with BinlogServer(served, flavour) as server:
        server.dumps = ResetLater(server, again)
        looks = iter([False] * 20)
        with pytest.raises(UsageError, match="was the server's log reset"):
            applier.archive(server.url, tmp_path / "out", stopped=lambda: next(looks, True))


@pytest.mark.parametrize(("executed", "first"), [("1-13", 1), ("1-21", 2), ("1-22", 2), ("1-13:15-40", 1), ("", 0)])
def test_it_begins_at_the_file_of_the_first_missing_transaction(executed, first, tmp_path):
    """MySQL: the set is sent, and the server chooses; its tagged form is sent where it has tags."""
    tagged = f"{UUID}:{executed},{UUID}:shop:5-6" if executed else ""
    for text in {f"{UUID}:{executed}" if executed else "", tagged}:
        with server_of("mysql") as server:
            applier.archive(server.url, tmp_path / f"out{len(text)}", start_gtid=text, until_now=True)
        assert server.dumps[0] == applier.GtidSet.parse(text)
        assert same(tmp_path / f"out{len(text)}", FOLDERS["mysql"], NAMES[first:])


def test_mariadb_chooses_by_the_replicas_state(tmp_path):
    with server_of("mariadb") as server:
        applier.archive(server.url, tmp_path / "out", start_gtid="0-1-5,1-2-7", until_now=True)
    assert any("@slave_connect_state = '0-1-5,1-2-7'" in said for said in server.statements)
    assert server.dumps[0] == ("", 4)
    assert same(tmp_path / "out", FOLDERS["mariadb"])


@pytest.mark.parametrize(("flavour", "gtid"), [("mysql", "0-1-5"), ("mariadb", f"{UUID}:1-5")])
def test_a_set_of_the_other_flavour_is_refused(flavour, gtid, tmp_path):
    with server_of(flavour) as server, pytest.raises(UsageError, match="but the GTID set is of"):
        applier.archive(server.url, tmp_path / "out", start_gtid=gtid, until_now=True)


def test_it_begins_at_the_file_that_is_named(flavour, tmp_path):
    with server_of(flavour) as server:
        applier.archive(server.url, tmp_path / "out", start_file=NAMES[2], until_now=True)
        assert same(tmp_path / "out", FOLDERS[flavour], NAMES[2:])
        with pytest.raises(ArchiveError) as refused:
            applier.archive(server.url, tmp_path / "other", start_file="binlog.000009", until_now=True)
        assert refused.value.mysql_errno == 1236
        with pytest.raises(UsageError):
            applier.archive(server.url, tmp_path / "other", start_file="../binlog.000001", until_now=True)


def test_events_that_are_cut_across_packets(tmp_path):
    """Those of 16 MB and more: also where the last packet is empty, as the event fills the ones before it."""
    served = tmp_path / "served"
    served.mkdir()

    def write(sizes):
        with applier.binlog.Writer(served / "binlog.000001") as log:
            log.query("CREATE DATABASE d")
            log.query("CREATE TABLE d.t (id INT PRIMARY KEY, b LONGBLOB)")
            for number, size in enumerate(sizes):
                with log.transaction():
                    log.insert("d.t", {"id": [number], "b": pa.array([b"x" * size], pa.binary())})
        starts = positions(served / "binlog.000001")
        return [after - before for before, after in pairwise(starts)]

    small = max(write([10_000])) - 10_000
    full = 0xFFFFFF - 1 - small  # an event that is a packet's largest payload, with the 0 before it
    assert {full + small - 1, full + small, full + small + 1} <= set(write([full - 1, full, full + 1]))
    with BinlogServer(served) as server:
        applier.archive(server.url, tmp_path / "out", until_now=True)
    assert same(tmp_path / "out", served, NAMES[:1])


def test_another_server_is_refused(tmp_path):
    """MySQL: by its server_uuid; a log that was reset, and MariaDB's servers, by the first events of the last file."""
    with server_of("mysql") as server:
        applier.archive(server.url, tmp_path / "out", until_now=True)
    with BinlogServer(FOLDERS["mysql"], uuid=UUID[::-1]) as server, pytest.raises(UsageError, match="belongs to"):
        applier.archive(server.url, tmp_path / "out", until_now=True)
    reset = tmp_path / "reset"
    reset.mkdir()
    for name in NAMES:
        shutil.copy(FOLDERS["mysql"] / NAMES[0], reset / name)
    with BinlogServer(reset) as server, pytest.raises(UsageError, match="differs from the file of that name"):
        applier.archive(server.url, tmp_path / "out", until_now=True)
    assert same(tmp_path / "out", FOLDERS["mysql"])


def test_one_run_at_a_time_writes_to_a_folder(tmp_path):
    held = []

    def stopped():
        with pytest.raises(UsageError, match="another `applier archive` is writing to this directory"):
            applier.archive(server.url, tmp_path / "out", until_now=True)
        held.append(True)
        return True

    with server_of("mysql") as server:
        applier.archive(server.url, tmp_path / "out", stopped=stopped)
    assert held


def test_a_password_is_in_an_option_file_or_the_environment(tmp_path, monkeypatch, capfd):
    """And never in the address, nor in what is said."""
    options = tmp_path / "my.cnf"
    with server_of("mysql") as server:
        words = ["archive", "--source", server.url, "--output", str(tmp_path / "out"), "--until-now"]
        monkeypatch.setenv("MYSQL_PWD", "wrong one")
        assert cli.main(words) == 2
        monkeypatch.delenv("MYSQL_PWD")
        assert cli.main(words) == 2
        options.write_text(f"[client]\npassword='{PASSWORD}'\n")
        assert cli.main([*words, "--defaults-file", str(options)]) == 0
        with_password = server.url.replace("repl@", f"repl:{PASSWORD.replace(' ', '%20').replace('#', '%23')}@")
        assert cli.main(["archive", "--source", with_password, "--output", str(tmp_path / "out"), "--until-now"]) == 2
    said = capfd.readouterr()
    assert "1045" in said.err and "--defaults-file" in said.err
    assert not any(secret in said.out + said.err for secret in (PASSWORD, "wrong one", "se%20cret"))


@pytest.mark.parametrize(("lines", "refusal"), [
    ("[client]\nssl-mode=REQUIRED\n", "SSL"),
    ("[client]\nssl_mode=verify_identity\n", "neither ssl-ca nor ssl-capath"),
    ("[client]\nssl-mode=always\n", "ssl-mode is 'always'"),
    ("password=hidden\n", "is in no group"),
    (None, "no such file"),
])
def test_an_option_file_that_cannot_be_followed(lines, refusal, tmp_path, capfd):
    """An encryption that is asked for is never left out in silence; this server has none."""
    options = tmp_path / "my.cnf"
    if lines is not None:
        options.write_text(lines)
    with server_of("mysql") as server:
        assert cli.main(["archive", "--source", server.url, "--output", str(tmp_path / "out"), "--until-now",
                         "--defaults-file", str(options)]) == 2
    said = capfd.readouterr().err
    assert refusal.lower() in said.lower() and "hidden" not in said
    assert server.dumps == []


@pytest.mark.parametrize("more", [("--start-gtid", f"{UUID}:1", "--start-file", NAMES[0]), ("--gtid", "nonsense")])
def test_what_does_not_say_where_to_begin(more, tmp_path):
    with server_of("mysql") as server:
        assert cli.main(["archive", "--source", server.url, "--output", str(tmp_path / "out"), *more]) == 2


def test_no_server(tmp_path, capfd):
    """The first time that is an error; an archive that has files waits for the server."""
    with server_of("mysql") as server:
        url = server.url
    assert cli.main(["archive", "--source", url, "--output", str(tmp_path / "out")]) == 2
    assert "is the server running" in capfd.readouterr().err
    (tmp_path / "out" / NAMES[0]).write_bytes((FOLDERS["mysql"] / NAMES[0]).read_bytes())
    calls = []
    done = applier.archive(url, tmp_path / "out", stopped=lambda: calls.append(0) or len(calls) > 3)
    assert done.files == 0


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(("option", "file", "directory"), [
    ((), 0o600, 0o700), (("--allow-group-access",), 0o640, 0o750)])
def test_who_may_read_the_archive(option, file, directory, flavour, tmp_path):
    """The user alone, or the group, too; whatever the umask is. The mode of a directory that was there stays."""
    there, new = tmp_path / "there", tmp_path / "new"
    there.mkdir(0o755)
    with server_of(flavour) as server:
        for output in (there, new):
            before = os.umask(0o027 if option else 0)
            try:
                assert cli.main(["archive", "--source", server.url, "--output", str(output), "--until-now",
                                 *option]) == 0
            finally:
                os.umask(before)
            assert same(output, FOLDERS[flavour])
            assert {mode(path) for path in output.iterdir()} == {file}
    assert (mode(there), mode(new)) == (0o755, directory)


def test_a_file_that_a_kill_left_is_no_way_to_another_mode(tmp_path):
    """What is left of a file that was begun is not written to: another one may have it open."""
    left = tmp_path / f".{NAMES[0]}.begun"
    left.write_bytes(b"half")
    left.chmod(0o666)
    with server_of("mysql") as server, open(left, "rb") as held:
        applier.archive(server.url, tmp_path, until_now=True)
        assert held.read() == b"half"
    assert same(tmp_path, FOLDERS["mysql"]) and mode(tmp_path / NAMES[0]) == 0o600
