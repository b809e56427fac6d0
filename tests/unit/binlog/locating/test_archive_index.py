"""An archive's index: made once, updated, and falsified."""

import json
import os
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.binlog.locating import search
from applier.binlog.locating import search as indexes
from applier.binlog.locating.targets import ByGtid, ByXid
from applier.errors import ArchiveError
from applier.io.progress import Silent
from tests.support.examples import examples
from tests.support.mutated_json import mutants
from tests.support.plain_reading import find, gtid, read_plainly, truly
from tests.support.small_logs import commit, insert, new_log

N_FILES = 1000


@pytest.mark.slow
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


def test_an_update_says_how_far_it_is(archive):
    """As it reads whole files, which takes minutes for an archive."""
    class Watcher(Silent):
        def __init__(self):
            self.told = []

        def phase(self, name, total, what):
            self.told.append((name, total, what))

        def update(self, done, rows=0):
            self.told.append(done)

    (archive / indexes.INDEX_NAME).write_bytes(b"")
    watcher = Watcher()
    assert search.locate([str(archive)], gtid(7), watcher)
    assert watcher.told[0] == ("index", 5, "files") and watcher.told[-1] == 5


def tampered(archive: Path, change) -> None:
    """The index changed, its checksum made right."""
    place = archive / indexes.INDEX_NAME
    version, _, text = place.read_text().split("\n", 2)
    entries = json.loads(text)
    change(entries)
    text = json.dumps(entries)
    place.write_text(f"{version}\n{zlib.crc32(text.encode())}\n{text}")


@pytest.mark.slow
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_it_says_what_is_found_is_so(archive, data):
    """A value deleted or replaced by any other, and the checksum made right: only what it leaves out may be missed."""
    place = archive / indexes.INDEX_NAME
    whole = place.read_bytes()
    text = data.draw(mutants(json.loads(whole.split(b"\n", 2)[2]), damaged=False))
    place.write_bytes(b"1\n%d\n%s" % (zlib.crc32(text), text))
    try:
        try:
            assert truly(archive, data.draw(st.integers(2, 11)))
        except ArchiveError as error:
            assert "is not in the archive" in str(error)
        assert search.index(str(archive)).n_files == 5 and indexes.load(str(place))
    finally:
        place.write_bytes(whole)


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
    assert truly(archive, 11) and reading.files == 2  # described again, then read


def test_an_archive_that_cannot_be_written_to(archive, monkeypatch):
    def refuse(index, uri):
        raise ArchiveError("the index cannot be written: permission denied", file=uri)

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
