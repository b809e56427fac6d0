"""A server that is hostile or broken: `archive` and `verify` end with one clean error, whatever it sends."""

from itertools import chain, repeat
from struct import pack

import pytest

import applier
from applier import cli
from applier.errors import ServerAnswerError, UsageError
from applier.jobs.archive.job import delay_after
from tests.support.binlog_server import (
    FILE_REQUEST,
    PASSWORD,
    BinlogServer,
    answer,
    event,
    failure,
    first_events,
    rotation,
)
from tests.support.folders import CASES
from tests.support.real_server import Case, replayed

FOLDERS = {flavour: CASES / f"many-files-{flavour}" for flavour in ("mysql", "mariadb")}
NAME, QUERY, GTIDS, HEARTBEAT = "binlog.000001", 2, 35, 27
TERMINAL = b"\x1b[2J\x1b]0;owned\x07\r\napplier: done \xff\xfe" + b"Z" * 5000
GREETING = (b"\x0a9.7.4\0" + pack("<I", 7) + b"saltsalt\0" + pack("<H", 0xA20D) + b"\x2d\2\0" + pack("<H", 8) + b"\x15"
            + bytes(10) + b"saltsaltsalt\0mysql_native_password\0")

SHAPES = {
    "no rows": answer(1),
    "NULL": answer(1, [None]),
    "two columns": answer(2, [b"1", b"2"]),
    "six columns": answer(6, [b"1"] * 6),
    "two rows": answer(1, [b"1"], [b"1"]),
    "OK": [b"\0\0\0\2\0\0\0"],
    "no UTF-8": answer(1, [b"\xff\xfe9.7\x1b[31m"]),
    "half a row": [*answer(1)[:-1], b"\x20abc", answer(1)[-1]],
    "no end of the columns": [*answer(1)[:-2], b"\x01x"],
    "2^60 columns": [b"\xfe" + pack("<Q", 1 << 60)],
    "an empty packet": [b""],
    "a broken error": [b"\xff\1"],
    "an error of bytes": [b"\xff\x28\x04#\xff\xff\xff\xff\xff" + TERMINAL],
    "larger than any": [b"A" * (17 << 20)],
    "a file is asked for": [FILE_REQUEST, b"\0\0\0\2\0\0\0"],
}
ASKED = {
    "archive": {"mysql": ("VERSION", "server_uuid", "SHOW BINARY LOGS", "SET @master_binlog_checksum"),
                "mariadb": ("VERSION", "SHOW BINARY LOGS", "@mariadb_slave_capability")},
    "verify": {"mysql": ("VERSION", "gtid_executed", "LOG STATUS", "FLUSH TABLES", "COUNT(*)"),
               "mariadb": ("VERSION", "binlog_snapshot", "GTID_POS", "COUNT(*)")},
}


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snapshots")
    for flavour in FOLDERS:
        replayed(Case(f"many-files-{flavour}"), folder / flavour)
    return folder


def standing(folder):
    """What a sound server answers that stands where a snapshot does."""
    position = applier.Snapshot(str(folder)).position
    return {"gtid_executed": answer(1, [position.gtid_set.encode()]),
            "LOG STATUS": answer(2, [position.file.encode(), str(position.offset).encode()]),
            "binlog_snapshot": answer(2, [b"Binlog_snapshot_file", position.file.encode()],
                                      [b"Binlog_snapshot_position", str(position.offset).encode()]),
            "GTID_POS": answer(1, [position.gtid_set.encode()])}


def told(capfd, code, server=None):
    """The one error, with nothing in it that a terminal obeys, and no secret."""
    said = capfd.readouterr()
    assert code == 2
    assert said.err.count("applier: error: ") == 1 and "Traceback" not in said.err
    assert said.err.replace("\n", "").isprintable() and len(said.err) < 2500
    assert PASSWORD not in said.err + said.out
    return said.err


def archived(server, output):
    return cli.main(["-q", "archive", "--source", server.url, "--output", str(output), "--until-now"])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("flavour", FOLDERS)
def test_an_answer_that_is_none(shape, flavour, snapshots, tmp_path, capfd):
    """To any question of `archive` and `verify`."""
    for verb, questions in ASKED.items():
        for word in questions[flavour]:
            if shape == "OK" and word.startswith(("SET", "FLUSH", "@")):
                continue
            with BinlogServer(FOLDERS[flavour], flavour, answers={word: SHAPES[shape]} | {
                    other: said for other, said in standing(snapshots / flavour).items() if other != word}) as server:
                code = archived(server, tmp_path / "out") if verb == "archive" else cli.main(
                    ["-q", "verify", str(snapshots / flavour), "--server", server.url])
            said = told(capfd, code)
            assert "127.0.0.1:" in said or "a name that" in said, (verb, word)
            assert all(b"root" not in sent for sent in server.got)
            assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize("size", [0, 1, 3, 7, 10, 20, 30, 60])
def test_a_greeting_that_is_cut(size, tmp_path, capfd):
    with BinlogServer(FOLDERS["mysql"], greeting=GREETING[:size]) as server:
        told(capfd, archived(server, tmp_path / "out"))


@pytest.mark.parametrize("greeting", [b"A" * (2 << 20), bytes(range(256)) * 4, failure(1040, TERMINAL),
                                      b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_a_greeting_that_is_none(greeting, tmp_path, capfd):
    with BinlogServer(FOLDERS["mysql"], greeting=greeting) as server:
        told(capfd, archived(server, tmp_path / "out"))


@pytest.mark.parametrize("login", [FILE_REQUEST, b"", b"\xfemysql_old_password\x0012345678\0", b"\xfe", b"\1\4",
                                   b"\xfe\xff\xfe\0salt", failure(1045, TERMINAL)])
def test_a_login_that_goes_on_oddly(login, tmp_path, capfd):
    with BinlogServer(FOLDERS["mysql"], login=login) as server:
        told(capfd, archived(server, tmp_path / "out"))


@pytest.mark.parametrize("statement", ["SELECT VERSION()", "SHOW BINARY LOGS"])
def test_a_servers_error_is_printed_as_text(statement, tmp_path, capfd):
    """Escaped, and not longer than servers' errors are."""
    with BinlogServer(FOLDERS["mysql"], answers={statement: [failure(1064, TERMINAL)]}) as server:
        said = told(capfd, archived(server, tmp_path / "out"))
    assert "\\x1b[2J" in said and "1064" in said


def events_of(flavour="mysql", name=NAME):
    return [rotation(name.encode()), *first_events(FOLDERS[flavour] / NAME)]


def end_of(packets):
    """Where the file ends that these are of."""
    return 4 + sum(len(packet) - 1 for packet in packets[1:])


HEAD = events_of()
AT = end_of(HEAD)
DUMPS = {
    "a file is asked for": [*HEAD, FILE_REQUEST],
    "an error": [*HEAD, failure(1236, TERMINAL)],
    "three bytes": [*HEAD, b"\0abc"],
    "an empty packet": [*HEAD, b""],
    "a status that is none": [*HEAD, b"\7" + bytes(60)],
    "a wrong length": [*HEAD, b"\0" + pack("<IBIIIH", 0, QUERY, 1, 5000, AT + 73, 0) + bytes(54)],
    "an event without end": [*HEAD, b"\0" + pack("<IBIIIH", 0, QUERY, 1, 0xFFFFFFFF, 5, 0) + bytes(0xFFFFFF)],
    "more than the event's length": [*HEAD, b"\0" + pack("<IBIIIH", 0, QUERY, 1, 50, AT + 50, 0) + bytes(0xFFFFFF)],
    "an error without end": [*HEAD, b"\xff" + bytes(0xFFFFFF)],
    "a wrong position": [*HEAD, event(QUERY, b"x" * 50, AT + 700)],
    "a short format description": [*HEAD, event(15, b"\4\0", AT)],
    "a short rotation": [*HEAD, event(4, b"abc", AT, 0x20)],
    "the same file again": [*HEAD, *HEAD],
    "a later place of the same file": [*HEAD, rotation(NAME.encode(), AT + 100)],
    "another file than was asked for": events_of(name="binlog.000002"),
    "the middle of a file": [rotation(NAME.encode(), 100), *HEAD[1:]],
    "files without events": [rotation(b"binlog.%06d" % number) for number in range(1, 100)],
    "the file before": [*HEAD, *events_of(name="binlog.000000")],
    "a file of another base name": [*HEAD, *events_of(name="other.000002")],
}


@pytest.mark.parametrize("what", DUMPS)
def test_a_log_that_does_not_follow(what, tmp_path, capfd):
    """Nothing is written but what came before, once."""
    with BinlogServer(FOLDERS["mysql"], events=DUMPS[what]) as server:
        told(capfd, archived(server, tmp_path / "out"))
    files = [path for path in (tmp_path / "out").iterdir() if path.name != "_source.json"]
    assert [path.name for path in files] in ([], [NAME])
    assert all((FOLDERS["mysql"] / NAME).read_bytes().startswith(path.read_bytes()) for path in files)


@pytest.mark.parametrize("name", [
    "-rf.000001", "../x.000001", "/etc/x.000001", "a\\b.000001", "a\x1b[31m.000001", "a b.000001", "binlog", "binlog.",
    ".binlog.000001", "_source.json", "a;b.000001", "a\n.000001", "\u202ea.000001", "binlog.1", "a" * 250 + ".000001",
    "binlog.00000000001", "binlog.00000²", ""])
def test_a_name_that_is_none(name, tmp_path, capfd):
    """Listed, sent as the first file, and as the next one."""
    outputs = [tmp_path / str(number) for number in range(3)]
    listed = {"SHOW BINARY LOGS": answer(2, [name.encode()[:250], b"1000"])}
    for output, hostile in zip(outputs, (
            {"answers": listed}, {"events": [rotation(name.encode()), *HEAD[1:]]},
            {"events": [*HEAD, rotation(name.encode())]}), strict=True):
        with BinlogServer(FOLDERS["mysql"], **hostile) as server:
            told(capfd, archived(server, output))
    written = {path.name for output in outputs for path in output.iterdir()}
    assert written <= {NAME, "_source.json"} and {path.name for path in tmp_path.iterdir()} == {"0", "1", "2"}


@pytest.mark.parametrize("name", ["mysql-bin.000001", "db1.example.com-bin.999999", "журнал.1000000", "_b.2147483647"])
def test_names_of_servers(name, tmp_path):
    with BinlogServer(FOLDERS["mysql"], answers={"SHOW BINARY LOGS": answer(2, [name.encode(), b"9"])},
                      events=events_of(name=name)) as server:
        assert applier.archive(server.url, tmp_path, until_now=True).file == name


def test_a_file_of_one_event_is_a_file(tmp_path):
    """A crash can leave one. Its event is not written to the file that follows."""
    second = events_of(name="binlog.000002")
    with BinlogServer(FOLDERS["mysql"], events=[*HEAD[:2], *second]) as server:
        applier.archive(server.url, tmp_path, until_now=True)
    assert (tmp_path / NAME).read_bytes() == b"\xfebin" + HEAD[1][1:]
    assert (tmp_path / "binlog.000002").read_bytes() == b"\xfebin" + HEAD[1][1:] + HEAD[2][1:]


def test_heartbeats_without_end(tmp_path, monkeypatch):
    """A run to the end of the log gives up after some connections that brought nothing, and keeps what came."""
    waits = []
    monkeypatch.setattr("applier.jobs.archive.job.delay_after", lambda losses: waits.append(losses) or 0.0)
    beat = event(HEARTBEAT, NAME.encode(), AT - 42)
    with BinlogServer(FOLDERS["mysql"], events=chain(HEAD, repeat(beat))) as server, \
            pytest.raises(applier.ArchiveError, match="the server sends heartbeats, and no events"):
        applier.archive(server.url, tmp_path, until_now=True)
    assert (tmp_path / NAME).stat().st_size == AT


def test_a_server_that_accepts_and_closes(tmp_path, monkeypatch):
    """Waits grow, to half a minute; a run that does not wait for more ends."""
    waits = []
    monkeypatch.setattr("applier.jobs.archive.job.delay_after", lambda losses: waits.append(losses) or 0.0)
    ends = failure(1053, b"Server shutdown in progress")
    with BinlogServer(FOLDERS["mysql"], events=chain(HEAD, repeat(ends))) as server, \
            pytest.raises(applier.ArchiveError, match="8 times without anything new"):
        applier.archive(server.url, tmp_path, until_now=True)
    assert waits == list(range(1, 8))


def test_waits_between_connections():
    """At once after a connection that brought something; then longer, up to 30 seconds, and not the same for all."""
    assert delay_after(0) == delay_after(1) == 0
    for losses, most in ((2, 0.5), (3, 1), (4, 2), (7, 16), (8, 30), (9, 30), (10_000, 30)):
        delays = {delay_after(losses) for _ in range(50)}
        assert len(delays) > 10 and all(most / 2 <= delay <= most for delay in delays)


@pytest.mark.parametrize("uuid", ["\x1b[31mx", "../../x", "", "x" * 36])
def test_a_server_uuid_that_is_none(uuid, tmp_path, capfd):
    with BinlogServer(FOLDERS["mysql"], uuid=uuid) as server:
        told(capfd, archived(server, tmp_path / "out"))


@pytest.mark.parametrize("status", [
    [[b"binlog_snapshot_position", b"x"]], [[b"binlog_snapshot_position", b"-4"]], [[None, b"4"]],
    [[b"binlog_snapshot_file", b"\x1b[2J"], [b"binlog_snapshot_position", b"4"]],
    [[b"binlog_snapshot_file", b"a/b"], [b"binlog_snapshot_position", b"4"]]])
def test_a_state_that_is_none(status, snapshots, capfd):
    with BinlogServer(FOLDERS["mariadb"], "mariadb", answers={"binlog_snapshot": answer(2, *status)}) as server:
        told(capfd, cli.main(["verify", "-q", str(snapshots / "mariadb"), "--server", server.url]))


def test_a_servers_text_is_no_statement(snapshots, capfd):
    """What a server names goes back to it in quotes."""
    hostile = standing(snapshots / "mariadb") | {"binlog_snapshot": answer(
        2, [b"binlog_snapshot_file", b"x') UNION SELECT ('1"], [b"binlog_snapshot_position", b"4"])}
    with BinlogServer(FOLDERS["mariadb"], "mariadb", answers=hostile) as server:
        told(capfd, cli.main(["verify", "-q", str(snapshots / "mariadb"), "--server", server.url]))
    assert any("BINLOG_GTID_POS('x'') UNION SELECT (''1', 4)" in said for said in server.statements)


@pytest.mark.parametrize("sums", [[b"x", b"1"], [b"-1", b"1"], [b"1", b"1_0"], [b"1", b"1" * 200], [b"9", None]])
def test_sums_that_are_none(sums, snapshots, capfd):
    """Neither a defect nor "the same"."""
    snapshot = applier.Snapshot(str(snapshots / "mysql"))
    table = snapshot.tables[min(snapshot.tables)]
    columns = len(table.schema.names)
    hostile = standing(snapshots / "mysql") | {"COUNT(*)": answer(
        6 + columns, [b"t", b"sums", b"n", b"0" if sums[0] != b"9" else b"9", *sums, *[b"0"] * columns])}
    with BinlogServer(FOLDERS["mysql"], answers=hostile) as server:
        told(capfd, cli.main(["verify", "-q", str(snapshots / "mysql"), "--server", server.url, "--tables",
                              min(snapshot.tables)]))


def test_one_error_in_python(tmp_path):
    with BinlogServer(FOLDERS["mysql"], answers={"VERSION": SHAPES["NULL"]}) as server, \
            pytest.raises(ServerAnswerError, match="is malformed") as broken:
        applier.archive(server.url, tmp_path, until_now=True)
    assert not isinstance(broken.value, UsageError)
