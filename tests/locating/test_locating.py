"""Finding event groups: in archives of real servers, each group by all that names it, as a plain reading of the events
says; by heads and by an index, which is made to lie."""

import json
import os
import shutil
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_logs import commit, insert, new_log

from applier import cli
from applier.binlog.events import parse_gtid, parse_xid, read_events
from applier.binlog.format import EventType
from applier.binlog.mapping import map_file
from applier.errors import ArchiveError, UsageError
from applier.locating import index as indexes
from applier.locating import search
from applier.locating.groups import Group
from applier.locating.targets import ByGroupId, ByGtid, ByTime, ByXid, target_of

CASES = Path(__file__).parent.parent / "cases"
WITH_GTIDS = ["many-files-mysql", "many-files-mariadb", "groups-mariadb", "transactions-mysql", "transactions-mariadb",
              "gtid-tags"]
GTIDS = {EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID}
BETWEEN = {EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.GTID_LIST, EventType.BINLOG_CHECKPOINT,
           EventType.ROTATE, EventType.STOP}


def read_plainly(folder: Path) -> list[Group]:
    """The groups of logs in which each has a GTID event, event by event."""
    groups: list[Group] = []
    for path in sorted(folder.glob("binlog.0*")):
        for event in read_events(map_file(str(path))):
            end = event.position + event.size
            if event.type in GTIDS:
                gtid = parse_gtid(event.type, event.body, event.server_id).text
                groups.append(Group(path.name, event.position, end, event.timestamp, gtid, None, None))
            elif event.type not in BETWEEN:
                xid = parse_xid(event.body) if event.type == EventType.XID else groups[-1].xid
                groups[-1] = Group(*[*vars(groups[-1]).values()][:2], end, groups[-1].timestamp, groups[-1].gtid, xid,
                                   None)
    return groups


@pytest.fixture(params=WITH_GTIDS)
def real(request, tmp_path) -> Path:
    """A copy of a real archive, as an index may be put beside it."""
    for file in (CASES / request.param).glob("binlog.0*"):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path


@pytest.fixture(params=["heads", "index"])
def way(request):
    """What makes an archive one to be searched by its heads, or by an index."""
    return (lambda folder: None) if request.param == "heads" else lambda folder: search.index(str(folder))


def find(folder, target) -> list[Group]:
    return search.locate([str(folder)], target)


def test_every_group_by_its_gtid(real, way):
    """GRP-4, GRP-7: tagged ones, MariaDB's domains, numbers that go down."""
    way(real)
    groups = read_plainly(real)
    assert len(groups) > 3 and len({group.gtid for group in groups}) == len(groups)
    for group in groups:
        assert find(real, ByGtid.parse(group.gtid)) == [group]


def test_every_time(real, way):
    """GRP-4: the first group in the log of a time or later, whatever comes behind it."""
    way(real)
    groups = read_plainly(real)
    for time in {time for group in groups for time in (group.timestamp, group.timestamp - 0.5)}:
        assert find(real, ByTime(time, "then")) == [next(group for group in groups if group.timestamp >= time)]
    with pytest.raises(ArchiveError, match="or later is not in the archive"):
        find(real, ByTime(max(group.timestamp for group in groups) + 1, "then"))


def test_every_xid(real, way):
    """GRP-4: all groups that have it, as a number may come again."""
    way(real)
    groups = read_plainly(real)
    for xid in {group.xid for group in groups} - {None}:
        assert find(real, ByXid(xid)) == [group for group in groups if group.xid == xid]
    with pytest.raises(ArchiveError, match="xid 4294967296"):
        find(real, ByXid(1 << 32))


def test_what_is_in_no_file(way, tmp_path):
    for name in ("binlog.000002", "binlog.000003"):
        shutil.copy(CASES / "gtid-tags" / name, tmp_path / name)
    way(tmp_path)
    uuid = "762ab119-e549-11f1-83f8-02fc00000001"
    for gtid in (f"{uuid}:44721", f"{uuid}:44725", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:blue:4", "0-1-5"):
        with pytest.raises(ArchiveError) as caught:
            find(tmp_path, ByGtid.parse(gtid))
        assert gtid in str(caught.value) and caught.value.mysql_errno == 1236


def test_what_came_before_the_archive_is_said_to_have():
    with pytest.raises(ArchiveError, match="before the first file"):
        find(CASES / "gtid-tags", ByGtid.parse("762ab119-e549-11f1-83f8-02fc00000001:44721"))


def test_logs_without_gtids():
    """GRP-1: groups of all kinds are found by what they have."""
    folder = CASES / "transactions-mysql-nogtid"
    [group] = find(folder, ByXid(91))
    assert (group.file, group.start, group.end, group.gtid) == ("binlog.000002", 852, 1140, None)


@pytest.mark.parametrize("text", ["", "0-1", "7f19961a-e517-11f1-8d67-02fc00000001:1-2", "0-1-5,1-1-5", "nonsense",
                                  "7f19961a-e517-11f1-8d67-02fc00000001:1:3"])
def test_one_transaction_is_asked_for(text):
    with pytest.raises(UsageError):
        ByGtid.parse(text)


def test_one_thing_is_asked_for():
    assert target_of(None, "2026-01-01T00:00:00+00:00", None, None).time == 1767225600
    assert target_of(None, None, 0, None) == ByXid(0)
    for asked in ((None, None, None, None), ("0-1-5", None, 7, None)):
        with pytest.raises(UsageError, match="one thing"):
            target_of(*asked)


# ---- many files


N_FILES = 1000


@pytest.fixture(scope="module")
def thousand(tmp_path_factory) -> Path:
    """A thousand files of one transaction each, a minute apart; the first file has the table's, too."""
    folder = tmp_path_factory.mktemp("thousand")
    log = new_log(folder)
    for number in range(1, N_FILES + 1):
        commit(log, insert([(number, number, "x")]))
        log.timestamp += 60
        if number < N_FILES:
            log = log.rotate(folder / f"binlog.{number + 1:06d}")
    log.close()
    return folder


@dataclass
class Reading:
    heads: int = 0
    files: int = 0


@pytest.fixture
def reading(monkeypatch) -> Reading:
    """How many heads and files are read."""
    counted = Reading()
    read_head, group_pass = search.read_head, search.GroupPass

    def count_head(file):
        counted.heads += 1
        return read_head(file)

    def count_pass(uri):
        counted.files += 1
        return group_pass(uri)

    for module in (search, indexes):
        monkeypatch.setattr(module, "read_head", count_head, raising=False)
        monkeypatch.setattr(module, "GroupPass", count_pass)
    return counted


@pytest.mark.parametrize("number", [1, 2, 357, N_FILES])
def test_of_a_thousand_files_a_dozen_heads_and_one_file_are_read(number, thousand, reading):
    [group] = find(thousand, ByGtid.parse(f"00000000-0000-4000-8000-000000000001:{number + 1}"))
    assert group.file == f"binlog.{number:06d}" and group.timestamp == 1_700_000_000 + 60 * (number - 1)
    assert reading.heads <= 12 and reading.files == 1
    reading.heads = reading.files = 0
    [later] = find(thousand, ByTime(group.timestamp, "then"))
    assert later == group or number == 1  # its first group is that of CREATE TABLE
    assert reading.heads <= 12 and reading.files <= 2


def test_an_index_reads_each_file_once_and_then_only_what_is_new(thousand, reading, tmp_path):
    for file in thousand.iterdir():
        os.link(file, tmp_path / file.name)
    assert search.index(str(tmp_path)).n_read == reading.files == N_FILES
    assert search.index(str(tmp_path)).n_read == 0 and reading.files == N_FILES
    reading.heads = 0
    [group] = find(tmp_path, ByGtid.parse("00000000-0000-4000-8000-000000000001:501"))
    assert group.file == "binlog.000500" and (reading.files, reading.heads) == (N_FILES + 1, 1)
    [group] = find(tmp_path, ByXid(group.xid))
    assert group.file == "binlog.000500" and reading.files == N_FILES + 2
    newest = tmp_path / f"binlog.{N_FILES:06d}"
    newest.unlink()
    assert search.index(str(tmp_path)).n_files == N_FILES - 1


# ---- an index that lies


@pytest.fixture
def archive(tmp_path) -> Path:
    """Five files of two transactions each, with an index."""
    log = new_log(tmp_path)
    for number in range(1, 6):
        for half in (0, 1):
            commit(log, insert([(2 * number + half, 0, "x")]))
        log.timestamp += 60
        if number < 5:
            log = log.rotate(tmp_path / f"binlog.{number + 1:06d}")
    log.close()
    search.index(str(tmp_path))
    return tmp_path


def gtid(number: int) -> ByGtid:
    return ByGtid.parse(f"00000000-0000-4000-8000-000000000001:{number}")


def truly(folder: Path, number: int) -> bool:
    [expected] = [group for group in read_plainly(folder) if group.gtid == gtid(number).text]
    return find(folder, gtid(number)) == [expected]


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"\xff" * 99,
                                    lambda data: data.replace(b":6,", b":7,", 1).replace(b"[1,2]", b"[1,3]", 1),
                                    lambda data: data[::-1]])
def test_an_index_that_is_damaged_is_made_anew(damage, archive, reading):
    place = archive / indexes.INDEX_NAME
    whole = place.read_bytes()
    place.write_bytes(damage(whole))
    assert place.read_bytes() != whole or damage(whole) == whole
    assert truly(archive, 7) and reading.files >= 1
    assert place.read_bytes() == whole


def tampered(archive: Path, change) -> None:
    """The index changed, its checksum made right."""
    place = archive / indexes.INDEX_NAME
    version, _, text = place.read_text().split("\n", 2)
    entries = json.loads(text)
    change(entries)
    text = json.dumps(entries)
    place.write_text(f"{version}\n{zlib.crc32(text.encode())}\n{text}")


def test_a_place_that_the_file_disproves(archive):
    def swap(entries):
        names = sorted(entries)
        entries[names[1]][3], entries[names[3]][3] = entries[names[3]][3], entries[names[1]][3]

    tampered(archive, swap)
    for number in range(1, 12):
        assert truly(archive, number)


def test_what_it_does_not_know_of(archive):
    """That something is nowhere is said only after all heads were compared."""
    def forget(entries):
        entry = entries["binlog.000003"]
        entry[2] += 1
        entry[3] = []

    tampered(archive, forget)
    assert truly(archive, 6)


def test_another_file_of_the_same_size_and_time(archive, tmp_path_factory):
    """As when files of another server are copied over these, with their times."""
    other = tmp_path_factory.mktemp("other")
    with new_log(other) as log:
        commit(log, insert([(1, 0, "x")]))
    one, two = archive / "binlog.000002", archive / "binlog.000004"
    assert one.stat().st_size == two.stat().st_size
    held, times = one.read_bytes(), one.stat()
    one.write_bytes(two.read_bytes())
    two.write_bytes(held)
    os.utime(one, ns=(times.st_atime_ns, times.st_mtime_ns))
    index = indexes.load(str(archive / indexes.INDEX_NAME))
    os.utime(two, ns=(times.st_atime_ns, index["binlog.000004"].changed))
    assert [name for name in index if not index[name].is_of(by_name(archive, name))] == []
    for number in (4, 5, 8, 9):
        assert truly(archive, number)


def by_name(archive: Path, name: str):
    [file] = [file for file in search.open_archive([str(archive)]).files if file.name == name]
    return file


def test_a_file_that_grew_and_one_that_is_new(archive, reading):
    newest = archive / "binlog.000005"
    whole = newest.read_bytes()
    (archive / indexes.INDEX_NAME).unlink()
    newest.write_bytes(whole[:-30])
    search.index(str(archive))
    with pytest.raises(ArchiveError):
        find(archive, gtid(11))
    newest.write_bytes(whole)
    reading.files = 0
    assert truly(archive, 11) and reading.files == 2  # described anew, then read


def test_an_archive_that_cannot_be_written_to(archive, monkeypatch):
    def refuse(index, uri):
        raise PermissionError(13, "Permission denied", uri)

    os.utime(archive / "binlog.000003")
    monkeypatch.setattr(indexes, "save", refuse)
    assert truly(archive, 6)


def test_an_index_of_a_part_of_the_archive_stays_whole(archive):
    """A search in some of the files leaves what the index says of others."""
    os.utime(archive / "binlog.000003")
    assert search.locate([str(archive / "binlog.00000[34]")], gtid(7))[0].file == "binlog.000003"
    assert len(indexes.load(str(archive / indexes.INDEX_NAME))) == 5


def test_damage_is_named(archive):
    """An index is of whole files: one that cannot be read to its end is an error, not an end."""
    file = archive / "binlog.000003"
    data = bytearray(file.read_bytes())
    at = read_plainly(archive)[5].start
    data[at + 9 : at + 13] = struct.pack("<I", 3)
    file.write_bytes(bytes(data))
    with pytest.raises(ArchiveError) as caught:
        search.index(str(archive))
    assert caught.value.file.endswith("binlog.000003") and caught.value.position == at


def test_a_head_that_is_cut_short(tmp_path):
    for size in (3, 20, 60):
        (tmp_path / "binlog.000001").write_bytes((CASES / "gtid-tags" / "binlog.000002").read_bytes()[:size])
        with pytest.raises(ArchiveError) as caught:
            find(tmp_path, gtid(1))
        assert caught.value.file.endswith("binlog.000001"), size


# ---- group ids


def with_group_ids(source: Path, target: Path, first: int) -> int:
    """A log as a server with headers of 27 bytes writes it (GRP-3): each group has an id, from `first` on, which all
    its events share. The id after the last."""
    out, number = bytearray(b"\xfebin"), first - 1
    for event in read_events(map_file(str(source))):
        body, extra = bytes(event.body), b""
        if event.type == EventType.FORMAT_DESCRIPTION:
            body = body[:56] + b"\x1b" + body[57:-4]
        else:
            number += event.type in GTIDS
            extra = struct.pack("<Q", max(number, 0) if event.type not in BETWEEN else 0)
        size = 19 + len(extra) + len(body) + 4
        data = struct.pack("<IBIIIH", event.timestamp, event.type, event.server_id, size, len(out) + size, event.flags)
        data += extra + body
        out += data + struct.pack("<I", zlib.crc32(data))
    target.write_bytes(bytes(out))
    return number + 1


def test_group_ids(way, tmp_path):
    """GRP-3, GRP-4."""
    following = 1000
    for file in sorted((CASES / "many-files-mysql").glob("binlog.0*")):
        following = with_group_ids(file, tmp_path / file.name, following)
    way(tmp_path)
    groups = read_plainly(CASES / "many-files-mysql")
    assert following == 1000 + len(groups)
    for number, group in enumerate(groups):
        [found] = find(tmp_path, ByGroupId(1000 + number))
        assert (found.file, found.gtid, found.group_id) == (group.file, group.gtid, 1000 + number)
    with pytest.raises(ArchiveError, match="id 999 is not"):
        find(tmp_path, ByGroupId(999))


def test_logs_without_group_ids():
    with pytest.raises(ArchiveError, match="have no group ids"):
        find(CASES / "many-files-mysql", ByGroupId(7))


# ---- the command line


def test_the_commands(archive, capsys):
    group = read_plainly(archive)[5]
    assert cli.main(["locate", "--gtid", group.gtid, "--binlogs", str(archive)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[:3] == [f"start    {group.file}:{group.start}", f"end      {group.file}:{group.end}",
                       f"GTID     {group.gtid}"]
    assert out[3:] == ["time     2023-11-14 22:15:20 UTC", f"xid      {group.xid}"]
    assert cli.main(["index", str(archive)]) == 0
    assert "describes 5 files" in (said := capsys.readouterr().out) and "; 0 were read" in said
    for argv, code in [(["--xid", "77777"], 2), ([], 2), (["--gtid", "x"], 2), (["--group-id", "1"], 2)]:
        assert cli.main(["locate", "--binlogs", str(archive), *argv]) == code
    assert cli.main(["locate", "--binlogs", str(archive), "--datetime", "2023-11-14T22:15:20+00:00"]) == 0
    assert f"start    {read_plainly(archive)[5].file}:" in capsys.readouterr().out
