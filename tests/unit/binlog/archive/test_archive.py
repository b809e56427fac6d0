"""Archives: which files, in which order, and whether anything is missing."""

import shutil
from pathlib import Path

import pytest

from applier.binlog.archive.archive import Archive, open_archive
from applier.binlog.archive.continuity import check_continuity, notes_on_ends
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.stop import StopCondition
from applier.errors import ArchiveError, MissingFile, UsageError
from tests.support.folders import CASES
from tests.support.packing import SUFFIXES, pack

NAMES = [f"binlog.00000{i}" for i in (1, 2, 3, 4)]


@pytest.fixture(params=["many-files-mysql", "many-files-mariadb"])
def folder(request, tmp_path) -> Path:
    """A copy of a real archive of four files, among other things that a server has beside them."""
    for name in NAMES:
        shutil.copy(CASES / request.param / name, tmp_path / name)
    for other in ("ibdata1", "aria_log.00000001", "aria_log_control"):
        (tmp_path / other).write_bytes(b"?")
    (tmp_path / "binlog.index").write_text("".join(f"./{name}\n" for name in NAMES))
    return tmp_path


def names(archive: Archive) -> list[str]:
    return [file.name for file in archive.files]


def check(folder: Path, stop: StopCondition | None = None) -> None:
    check_continuity([outline_file(file.uri, stop=stop) for file in open_archive([str(folder)]).files])


def test_every_way_to_name_it(folder, monkeypatch):
    ways = [[str(folder)], [str(folder / "binlog.index")], [str(folder / "binlog.0*")], [f"file://{folder}"],
            [str(folder / name) for name in reversed(NAMES)], [str(folder), str(folder / NAMES[0])]]  # fmt: skip
    for way in ways:
        archive = open_archive(way)
        assert names(archive) == NAMES
        assert archive.size == sum((folder / name).stat().st_size for name in NAMES)
    assert archive.index_of(NAMES[2]) == 2
    monkeypatch.chdir(folder)
    assert names(open_archive(["binlog.00000[23]"])) == NAMES[1:3]
    with pytest.raises(MissingFile):
        archive.index_of("binlog.000009")


def test_an_index_with_places_of_another_machine(folder):
    (folder / "binlog.index").write_text("".join(f"/var/lib/mysql/{name}\n" for name in NAMES))
    archive = open_archive([str(folder / "binlog.index")])
    assert names(archive) == NAMES and archive.files[0].uri == str(folder / NAMES[0])


def test_the_order_is_by_number_past_six_digits(tmp_path):
    for number in ("999999", "1000000", "1000001"):
        (tmp_path / f"binlog.{number}").write_bytes(b"\xfebin")
    assert names(open_archive([str(tmp_path)])) == ["binlog.999999", "binlog.1000000", "binlog.1000001"]


def test_a_missing_file_is_named(folder):
    (folder / NAMES[2]).unlink()
    for way in (folder, folder / "binlog.index"):
        with pytest.raises(MissingFile) as caught:
            open_archive([str(way)])
        assert caught.value.file == NAMES[2] and NAMES[2] in str(caught.value) and caught.value.mysql_errno == 1236


def test_what_has_no_order_is_refused(folder, tmp_path_factory):
    (folder / "other.000001").write_bytes(b"\xfebin")
    with pytest.raises(UsageError, match="more than one binlog sequence"):
        open_archive([str(folder)])
    second = tmp_path_factory.mktemp("second")
    shutil.copy(folder / NAMES[0], second / NAMES[0])
    with pytest.raises(UsageError, match="two files"):
        open_archive([str(folder / "binlog.0*"), str(second)])
    shutil.copy(folder / NAMES[0], second / "mylog")
    assert names(open_archive([str(second / "mylog")])) == ["mylog"]
    with pytest.raises(UsageError, match="mylog"):
        open_archive([str(second / "mylog"), str(second / NAMES[0])])


def test_nothing_there(tmp_path):
    for way in (tmp_path, tmp_path / "*.000001"):
        with pytest.raises(ArchiveError, match="no binlog files"):
            open_archive([str(way)])
    with pytest.raises(MissingFile):
        open_archive([str(tmp_path / "binlog.000001")])


def test_a_real_archive_continues(folder):
    check(folder)


@pytest.mark.parametrize("case", ["checksum-changes", "transactions-mysql", "transactions-mysql-nogtid",
                                  "transactions-mariadb", "gtid-tags", "compressed-mysql"])  # fmt: skip
def test_real_archives_continue(case):
    check(CASES / case)


def test_rotate_names_a_file_that_is_not_next(folder):
    """Files that were renumbered so that no number is missing."""
    (folder / NAMES[3]).rename(folder / NAMES[2])
    (folder / "binlog.index").unlink()
    with pytest.raises((MissingFile, ArchiveError)) as caught:
        check(folder)
    assert caught.value.mysql_errno == 1236


def test_a_gtid_gap_names_the_transactions(folder):
    outlines = [outline_file(file.uri) for file in open_archive([str(folder)]).files]
    outlines[0].next_file = outlines[2].name
    with pytest.raises(ArchiveError, match="are missing") as caught:
        check_continuity([outlines[0], outlines[2]])
    missing = outlines[2].previous_gtids.subtract(outlines[0].previous_gtids.union(outlines[0].gtids))
    assert str(missing) in str(caught.value) and caught.value.mysql_errno == 1236


def test_only_the_newest_file_may_be_torn(folder):
    newest = folder / NAMES[3]
    newest.write_bytes(newest.read_bytes()[:-50])
    check(folder)
    second = folder / NAMES[1]
    whole = second.read_bytes()
    second.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArchiveError, match="not the newest") as caught:
        check(folder)
    assert caught.value.file == NAMES[1] and "--stop-position" in str(caught.value)
    # What comes after a stop does not matter.
    end = outline_file(str(folder / NAMES[0])).end
    check(folder, StopCondition(position=(NAMES[0], end)))


def test_files_of_two_flavours(folder):
    outlines = [
        outline_file(str(CASES / case / NAMES[i])) for i, case in enumerate(("many-files-mysql", "many-files-mariadb"))
    ]
    with pytest.raises(ArchiveError, match="mariadb"):
        check_continuity(outlines)


def group_ends(path: Path) -> list[int]:
    return [split.end for split in outline_file(str(path), split_bytes=1).splits]


def test_a_file_that_lacks_whole_groups_at_its_end(tmp_path):
    """Without GTIDs: a file that was rotated to comes after a ROTATE, so the file before it was cut."""
    case = CASES / "transactions-mysql-nogtid"
    for number in (1, 2, 3):
        shutil.copytree(case, tmp_path / str(number))
        file = tmp_path / str(number) / f"binlog.{number:06d}"
        for end in group_ends(file):
            file.write_bytes((case / file.name).read_bytes()[:end])
            with pytest.raises(ArchiveError, match="the end of the file is missing") as caught:
                check(tmp_path / str(number))
            assert (caught.value.file, caught.value.position, caught.value.mysql_errno) == (file.name, end, 1236)


def test_a_server_that_crashed(tmp_path):
    """MySQL 9.7, killed while it wrote the second file: the third says that a server started with it. What was cut off
    such a file no one can tell but by GTIDs, so that is said."""
    def notes(folder):
        return notes_on_ends([outline_file(file.uri) for file in open_archive([str(folder)]).files])

    crashed = CASES / "crash-mysql-nogtid"
    check(crashed)
    assert [line.partition(" neither")[0] for line in notes(crashed)] == ["binlog.000002 ends at 715"]
    assert outline_file(str(crashed / "binlog.000004")).shut_down
    assert notes(CASES / "transactions-mysql-nogtid") == notes(CASES / "many-files-mysql") == []
    shutil.copytree(CASES / "many-files-mysql", tmp_path / "cut")
    file = tmp_path / "cut" / "binlog.000002"
    file.write_bytes(file.read_bytes()[:group_ends(file)[-1]])  # all its groups, and no ROTATE
    with pytest.raises(ArchiveError, match="the end of the file is missing"):
        check(tmp_path / "cut")


def test_the_newest_file_is_of_another_server(tmp_path):
    """Without GTIDs, too: what a server rotates to is no file that a server started with."""
    shutil.copytree(CASES / "transactions-mysql-nogtid", tmp_path / "logs")
    shutil.copyfile(CASES / "key-moves-full" / "binlog.000001", tmp_path / "logs" / "binlog.000004")
    with pytest.raises(ArchiveError, match="000004 does not continue binlog") as caught:
        check(tmp_path / "logs")
    assert (caught.value.file, caught.value.mysql_errno) == ("binlog.000004", 1236)


def test_packed_files_among_plain_ones(folder, tmp_path):
    """Every way to name them; the names are those of the logs."""
    shutil.copytree(folder, tmp_path / "before")
    plain = open_archive([str(tmp_path / "before")])
    for name, packing in zip(NAMES[:3], SUFFIXES, strict=False):
        (folder / f"{name}{SUFFIXES[packing]}").write_bytes(pack((folder / name).read_bytes(), packing))
        (folder / name).unlink()
    for way in ([str(folder)], [str(folder / "binlog.index")], [str(folder / "binlog.0*")], [f"file://{folder}"],
                [str(path) for path in folder.glob("binlog.0*")]):
        archive = open_archive(way)
        assert names(archive) == NAMES and archive.files[0].uri.endswith(".gz")
        assert [file.log_bytes for file in archive.files] == [file.size for file in plain.files]
        check_continuity([outline_file(file.uri) for file in archive.files])
    (folder / "binlog.000003.lz4").unlink()
    with pytest.raises(MissingFile, match=r"binlog\.000003 is missing"):
        open_archive([str(folder)])


def test_the_same_log_twice_plain_and_packed(folder):
    (folder / "binlog.000002.xz").write_bytes(pack((folder / NAMES[1]).read_bytes(), "xz"))
    with pytest.raises(UsageError, match=r"two files binlog\.000002: \S+ and \S+.*leave out one"):
        open_archive([str(folder)])
    assert names(open_archive([str(folder / "binlog.00000?")])) == NAMES
    assert open_archive([str(folder / "binlog.index")]).files[1].uri.endswith(NAMES[1])


def test_binlogs_within_innodb_are_refused_by_name(tmp_path):
    """MariaDB's documentation, "InnoDB-Based Binary Log": names, and the first bytes of a file."""
    path = tmp_path / "binlog-000000.ibb"
    path.write_bytes(b"\xfe\xfe\x0d\x01" + bytes(1 << 14))
    with pytest.raises(ArchiveError, match=r"there is binlog-000000\.ibb: .* MariaDB keeps in InnoDB .* of a replica"):
        open_archive([str(tmp_path)])
    with pytest.raises(ArchiveError, match=r"this is not a binlog.* MariaDB keeps in InnoDB .* of a replica"):
        outline_file(open_archive([str(path)]).files[0].uri)


@pytest.mark.parametrize("name", ["mysql-bin-changelog", "mysql-bin", "mariadb-bin", "binlog.with.dots"])
def test_names_that_servers_and_clouds_give(tmp_path, name):
    """RDS and Aurora: mysql-bin-changelog; Cloud SQL: mysql-bin."""
    for number in (98765, 98766):
        (tmp_path / f"{name}.{number:06d}").write_bytes(b"\xfebin")
    (tmp_path / f"{name}.index").write_text(f"/rdsdbdata/log/binlog/{name}.098765\n")
    assert names(open_archive([str(tmp_path)])) == [f"{name}.098765", f"{name}.098766"]
    assert names(open_archive([str(tmp_path / f"{name}.index")])) == [f"{name}.098765"]
