"""Packed files are mapped as their plain bytes: one copy a machine, in bounded memory, gone with its last user."""

import errno
import fcntl
import lzma
import multiprocessing
import os
import shutil
import tempfile
import threading
import tracemalloc
import zlib
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import fs

from applier.errors import ArchiveError
from applier.io import copies, mapping, relayed
from applier.io.packing import is_packed, log_name
from applier.io.plain_stream import PlainStream
from applier.io.resolver import resolve
from tests.support.packing import SUFFIXES, pack

DATA = b"\xfebin" + np.random.default_rng(1).integers(0, 4, 300_000, np.uint8).tobytes()


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    """Where this test's copies are, which are gone when it ends."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    yield folder
    mapping.forget_copies()
    assert os.listdir(folder) == []


def packed_file(folder, packing, data=None):
    path = folder / ("binlog.000001" + SUFFIXES[packing])
    path.write_bytes(pack(DATA, packing) if data is None else data)
    return str(path)


@pytest.mark.parametrize("packing", SUFFIXES)
def test_what_is_mapped_are_the_plain_bytes(tmp_path, packing):
    path = packed_file(tmp_path, packing)
    mapped = mapping.map_file(path)
    assert mapped.array.tobytes() == DATA and mapped.uri == path and mapping.map_file(path) is mapped


@pytest.mark.parametrize("packing", SUFFIXES)
def test_parts_that_were_packed_one_by_one_are_one_log(tmp_path, packing):
    """As `cat a.gz b.gz` and parallel packers make them."""
    parts = b"".join(pack(DATA[at:at + 100_000], packing) for at in range(0, len(DATA), 100_000))
    assert mapping.map_file(packed_file(tmp_path, packing, parts)).array.tobytes() == DATA


def test_zeros_between_streams_of_xz(tmp_path):
    data = pack(DATA[:1000], "xz") + bytes(8) + pack(DATA[1000:], "xz") + bytes(4)
    assert mapping.map_file(packed_file(tmp_path, "xz", data)).array.tobytes() == DATA


@pytest.mark.parametrize("packing", SUFFIXES)
@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data[:len(data) // 2],
                                    lambda data: data[:40], lambda data: data + b"something else" * 3])
def test_what_is_cut_off_or_goes_on_is_told(tmp_path, packing, damage):
    path = packed_file(tmp_path, packing, damage(pack(DATA, packing)))
    with pytest.raises(ArchiveError, match=f"cannot decompress the file with {packing}: .*copy it again") as caught:
        mapping.map_file(path)
    assert caught.value.file == path


@pytest.mark.parametrize("packing", ["gzip", "xz"])
def test_a_wrong_byte_is_told_by_the_checksum(tmp_path, packing):
    """zstd and lz4 files may have none: then the checksums of events tell."""
    data = bytearray(pack(DATA, packing))
    data[len(data) // 2] ^= 1
    with pytest.raises(ArchiveError, match=f"cannot decompress the file with {packing}"):
        mapping.map_file(packed_file(tmp_path, packing, bytes(data)))


def test_what_was_unpacked_on_the_way_is_read_as_it_is(tmp_path):
    assert mapping.map_file(packed_file(tmp_path, "gzip", DATA)).array.tobytes() == DATA


def test_an_empty_one(tmp_path):
    for data in (b"", pack(b"", "gzip")):
        with pytest.raises(ArchiveError, match="the file is empty"):
            mapping.map_file(packed_file(tmp_path, "gzip", data))


@pytest.mark.parametrize("packing", SUFFIXES)
def test_unpacking_holds_a_part_at_a_time(tmp_path, packing, monkeypatch):
    """Bytes of Python and of Arrow together; a part is 256 KB here, and the log 12 MB."""
    part = 1 << 18
    monkeypatch.setattr(copies, "READ_BYTES", part)
    data = DATA * 40
    path = packed_file(tmp_path, packing, pack(data, packing))
    before, most = pa.total_allocated_bytes(), 0
    tracemalloc.start()
    try:
        with PlainStream(fs.LocalFileSystem(), path, path, part) as stream:
            size = 0
            while found := stream.read(part):
                size += len(found)
                most = max(most, pa.total_allocated_bytes() - before)
        most += tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == len(data) > 11 << 20 and most < 5 << 20


def test_xz_that_needs_much_memory_is_refused(tmp_path):
    """The size of the dictionary is a byte of the first block's header, which has a checksum of its own."""
    data = lzma.compress(DATA[:100], filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 4096}])
    block = bytearray(data[12:20])
    block[4] = 36  # 1 GB
    packed = data[:12] + block + zlib.crc32(block).to_bytes(4, "little") + data[24:]
    with pytest.raises(ArchiveError, match="decompress the file with xz: Memory usage limit"):
        mapping.map_file(packed_file(tmp_path, "xz", packed))


def test_what_unpacks_to_more_than_a_log_has_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "MOST_BYTES", 100_000)
    with pytest.raises(ArchiveError, match="which no binlog has"):
        mapping.map_file(packed_file(tmp_path, "gzip"))


def test_no_room_is_told(tmp_path, place, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1 << 30, 1 << 30, len(DATA)))
    with pytest.raises(ArchiveError, match=f"{place} has no room .* TMPDIR"):
        mapping.map_file(packed_file(tmp_path, "gzip"))


def test_what_no_task_uses_makes_room(tmp_path, monkeypatch):
    """Copies that were kept for the next task go where there is no room for another one."""
    first = packed_file(tmp_path, "gzip")
    mapping.map_file(first)
    written = copies.copy_of
    failed = []

    def without_room(name, open_stream):
        if not failed:
            failed.append(name)
            raise OSError(errno.ENOSPC, "No space left on device")
        assert os.listdir(tempfile.gettempdir()) == []
        return written(name, open_stream)

    monkeypatch.setattr(mapping, "copy_of", without_room)
    assert mapping.map_file(packed_file(tmp_path, "zstd")).array.tobytes() == DATA


def test_copies_that_are_kept_are_few_bytes(tmp_path, place, monkeypatch):
    """The last one is kept in any case, and what somebody uses stays."""
    monkeypatch.setattr(mapping, "kept_bytes", 2 * len(DATA))
    paths = [packed_file(tmp_path, packing) for packing in SUFFIXES]
    used = mapping.map_file(paths[0])
    for path in paths:
        mapping.map_file(path)
    assert len(list(place.rglob("?" * 32))) == 3 and used.array.tobytes() == DATA
    monkeypatch.setattr(mapping, "kept_bytes", 1)
    last = mapping.map_file(packed_file(tmp_path, "gzip", pack(DATA * 2, "gzip")))
    assert len(list(place.rglob("?" * 32))) == 2 and mapping.map_file(paths[0]) is last


def test_threads_share_a_copy(tmp_path, place, monkeypatch):
    opened, plain = [], relayed.PlainStream
    monkeypatch.setattr(relayed, "PlainStream", lambda *given: opened.append(given) or plain(*given))
    path = packed_file(tmp_path, "gzip")
    with ThreadPoolExecutor(8) as pool:
        mapped = list(pool.map(lambda _: mapping.map_file(path), range(8)))
    assert len(opened) == 1 and all(found.array.tobytes() == DATA for found in mapped)
    [folder] = os.listdir(place)
    [name] = os.listdir(place / folder)
    assert (place / folder).stat().st_mode & 0o777 == 0o700 and (place / folder / name).stat().st_mode & 0o777 == 0o400


def test_who_comes_when_nobody_has_made_it_does_not_wait_for_its_users(tmp_path, place, monkeypatch):
    """Two that both find it unmade: one makes it and continues using it, and the other one gets it at once."""
    path, both, flock, had = packed_file(tmp_path, "gzip"), threading.Barrier(2), fcntl.flock, threading.local()

    def locked(descriptor, how):
        flock(descriptor, how)
        if how == fcntl.LOCK_SH and not hasattr(had, "it"):
            had.it = both.wait(20)

    monkeypatch.setattr(copies.fcntl, "flock", locked)
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(copies.copy_of, "f" * 32, lambda: PlainStream(*resolve(path), path)) for _ in range(2)]
        done, waiting = wait(made, 5)
        for copy in done:
            copy.result().drop()
    assert not waiting


def test_processes_share_a_copy(tmp_path, place):
    """The second one does not unpack, and the first one's end leaves it its bytes."""
    path = packed_file(tmp_path, "gzip")
    mapped = mapping.map_file(path)
    [copy] = place.rglob("?" * 32)
    said, context = multiprocessing.Pipe(), multiprocessing.get_context("fork")
    other = context.Process(target=read_in_process, args=(path, str(place), said[1]))
    other.start()
    assert said[0].recv() == "mapped"
    inode = copy.stat().st_ino
    mapping.forget_copies()
    del mapped
    assert copy.stat().st_ino == inode  # the other one has it
    said[0].send("continue")
    assert said[0].recv() == (True, 0)
    other.join()


def read_in_process(path, place, said):
    mapping.forget_copies()  # those of the process that was forked
    tempfile.tempdir, opened, plain = place, [], relayed.PlainStream
    relayed.PlainStream = lambda *given: opened.append(given) or plain(*given)
    mapped = mapping.map_file(path)
    said.send("mapped")
    said.recv()
    said.send((mapped.array.tobytes() == DATA, len(opened)))
    mapping.forget_copies()
    del mapped


def test_what_a_killed_process_left_is_removed_or_made_again(tmp_path, place):
    path = packed_file(tmp_path, "gzip")
    mapped = mapping.map_file(path)
    [copy] = place.rglob("?" * 32)
    mapping.forget_copies()
    del mapped
    copy.parent.mkdir(0o700)
    copy.write_bytes(b"half of it")
    (copy.parent / "another").write_bytes(b"of another run")
    assert mapping.map_file(path).array.tobytes() == DATA
    assert os.listdir(copy.parent) == [copy.name]


@pytest.mark.parametrize("make", [lambda path: path.mkdir(0o755), lambda path: path.symlink_to("/tmp"),
                                  lambda path: path.touch()])
def test_a_directory_that_others_can_write_is_not_used(tmp_path, place, make):
    folder = place / f"applier-logs-{os.getuid()}"
    make(folder)
    assert mapping.map_file(packed_file(tmp_path, "gzip")).array.tobytes() == DATA
    assert not folder.is_dir() or folder.is_symlink() or os.listdir(folder) == []
    folder.rmdir() if folder.is_dir() and not folder.is_symlink() else folder.unlink()


def test_without_locks_it_is_copied_all_the_same(tmp_path, monkeypatch):
    def flock(descriptor, how):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert mapping.map_file(packed_file(tmp_path, "gzip")).array.tobytes() == DATA
    assert os.listdir(tempfile.gettempdir()) == []


def test_names_of_logs():
    places = ["/a/b.000001", "/a/b.000001.gz", "s3://x/b.000001.zst?region=a/b", "b.000001.xz/"]
    assert {log_name(place) for place in places} == {"b.000001"}
    assert not is_packed("s3://x/b.000001?name=a.gz") and is_packed("b.000001.lz4") and not is_packed("b.000001.bz2")
