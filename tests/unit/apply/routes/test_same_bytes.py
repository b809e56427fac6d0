"""Bytes that change between the outline of a file and the end of a task are found, on both routes, whatever changes."""

import io
import os
import shutil
from dataclasses import replace

import pytest

from applier.binlog.locating.groups import GroupPass
from applier.binlog.outline import outline_pass, outlined_file
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.stop import StopCondition
from applier.binlog.rows.changes import ChangeReader
from applier.binlog.rows.same_bytes import SameBytes
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.io import mapping
from applier.io.disk import lost_pages
from applier.io.mapping import map_file
from applier.jobs.replay.job import replay_with
from applier.jobs.show import show
from applier.options import ReplayOptions
from tests.support.small_logs import commit, held, insert, new_log, update

pytestmark = pytest.mark.slow

ROUTES = pytest.mark.parametrize("route", ["walk", "shuffle"])
CHECKSUMS = pytest.mark.parametrize("checksum", [True, False], ids=["crc32", "no checksums"])


@pytest.fixture
def checksum():
    """The default of a test."""
    return True


@pytest.fixture
def log(tmp_path, checksum):
    """A file with 200 transactions of one row each, and a statement in their midst; with checksums or without."""
    log = new_log(tmp_path, checksum=checksum)
    for n in range(200):
        commit(log, insert([(n, n, "a" * 20)]))
        if n == 100:
            log.query("ALTER TABLE item ALTER n SET DEFAULT 5", "shop")
    commit(log, update([(7, 7, "a" * 20)], [(7, 8, "b" * 20)]))
    log.close()
    return tmp_path / "binlog.000001"


class Meddling(ThisProcess):
    """Something happens to the file after the outline."""

    def __init__(self, meddle):
        super().__init__(2)
        self._meddle = meddle

    def outline(self, tasks, on_progress):
        found = super().outline(tasks, on_progress)
        self._meddle()
        return found


def replay(log, route, executor):
    replay_with(executor, ReplayOptions((str(log),), str(log.parent / "out"), route=route))


def turned(log, at=None):
    """The file with a byte turned in the row of its last transaction."""
    data = bytearray(log.read_bytes())
    at = data.rindex(b"b" * 20) if at is None else at
    data[at] ^= 1
    return bytes(data)


def refused(log, route, meddle, *says):
    """It is an error with the file's name, and nothing is published."""
    with pytest.raises(ArchiveError) as caught:
        replay(log, route, Meddling(meddle))
    assert caught.value.file == str(log) and caught.value.exit_code == 2
    assert [part for part in says if part not in str(caught.value)] == []
    assert not (log.parent / "out").exists()


@ROUTES
@CHECKSUMS
def test_a_byte_that_is_written_after_the_outline(log, route, checksum):
    """In place, by its old inode; also with the times put back, as some copying tools do."""
    before = os.stat(log)

    def meddle():
        data = turned(log)
        with open(log, "r+b") as file:
            file.write(data)
        os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))

    refused(log, route, meddle, "changed during the replay")


@ROUTES
@CHECKSUMS
def test_another_file_in_its_place(log, route, checksum, tmp_path):
    """Of the same size, with events that are whole: their checksums fit, and they are others."""
    (tmp_path / "other").mkdir()
    other = new_log(tmp_path / "other", checksum=checksum)
    for n in range(200):
        commit(other, insert([(n, n, "c" * 20)]))
        if n == 100:
            other.query("ALTER TABLE item ALTER n SET DEFAULT 5", "shop")
    commit(other, update([(7, 7, "c" * 20)], [(7, 8, "d" * 20)]))
    other.close()
    assert os.path.getsize(tmp_path / "other/binlog.000001") == os.path.getsize(log)
    refused(log, route, lambda: os.replace(tmp_path / "other/binlog.000001", log), "changed during the replay")


@ROUTES
@CHECKSUMS
@pytest.mark.parametrize("part", [0, 150, -600, -1])
def test_a_file_that_shrinks_after_the_outline(log, route, checksum, part):
    size = os.path.getsize(log)
    refused(log, route, lambda: os.truncate(log, size + part if part < 0 else part))


def on_walking(monkeypatch, meddle):
    """Have something happen when a task has walked its first segment: it was compared, and no row is gathered yet."""
    steps, done = SameBytes.steps, []

    def stepped(*arguments):
        yield from steps(*arguments)
        if not done:
            done.append(True)
            meddle()

    monkeypatch.setattr(SameBytes, "steps", stepped)


@ROUTES
@CHECKSUMS
def test_a_byte_that_is_written_while_rows_are_applied(log, route, checksum, monkeypatch):
    def meddle():
        data = turned(log)
        with open(log, "r+b") as file:
            file.write(data)

    on_walking(monkeypatch, meddle)
    with pytest.raises(ArchiveError, match="changed during the replay") as caught:
        replay(log, route, ThisProcess(1))
    assert caught.value.file == str(log)


@ROUTES
@CHECKSUMS
def test_a_file_that_shrinks_while_rows_are_applied(log, route, checksum, monkeypatch):
    """Its pages are gone from the mapping when rows are gathered out of it."""
    on_walking(monkeypatch, lambda: os.truncate(log, 4096))
    with pytest.raises(ArchiveError, match="shrank") as caught:
        replay(log, route, ThisProcess(1))
    assert caught.value.file == str(log)


@ROUTES
def test_a_file_that_grows_meanwhile_is_as_good_as_before(log, route, monkeypatch):
    """As a server's newest one does: what was outlined is applied."""
    def meddle():
        with open(log, "ab") as file:
            file.write(b"\0" * 5000)

    on_walking(monkeypatch, meddle)
    replay(log, route, Meddling(meddle))
    assert len(held(log.parent / "out")) == 200


def test_a_file_that_is_removed_meanwhile_is_as_good_as_before(log, monkeypatch):
    """Where it is mapped already: what was outlined is still there."""
    on_walking(monkeypatch, log.unlink)
    replay(log, "walk", ThisProcess(1))
    assert len(held(log.parent / "out")) == 200


@CHECKSUMS
def test_a_file_that_shrinks_within_its_outline(log, checksum, monkeypatch):
    """What is lost reads as zeros, and the error says why."""
    def cut(address):
        monkeypatch.undo()
        os.truncate(log, 4096)
        return outline_pass.walk(address)

    monkeypatch.setattr(outline_pass, "walk", cut)
    with pytest.raises(ArchiveError, match="shrank") as caught:
        outline_file(str(log))
    assert caught.value.file == str(log)


def test_lost_pages_are_zeros_and_others_stay(tmp_path):
    """Of several mappings only the one that shrank has lost anything, and it forgets that with its memory."""
    for name in "ab":
        (tmp_path / name).write_bytes(b"x" * 20_000)
    cut, whole = map_file(str(tmp_path / "a")), map_file(str(tmp_path / "b"))
    os.truncate(tmp_path / "a", 5000)
    assert cut.array[:4096].tobytes() == b"x" * 4096
    assert cut.array[8192:].tobytes() == bytes(20_000 - 8192)
    with pytest.raises(ArchiveError, match="it had 20000 bytes"):
        cut.check_whole()
    whole.check_whole()
    assert whole.array.tobytes() == b"x" * 20_000
    address = cut.address
    cut.close()
    del cut
    assert not lost_pages.has_lost(address)


def test_a_split_is_compared_once(log, monkeypatch):
    """Tasks of one process share the comparison, also where the file is mapped again, until it is touched."""
    [split] = outline_file(str(log)).splits
    file = map_file(str(log))
    with SameBytes() as outlined:
        outlined.check(file, split.outlined)
    monkeypatch.setattr("applier.binlog.rows.same_bytes.digest_events", None)
    with SameBytes() as outlined:
        outlined.check(file, split.outlined)
    file.close()
    with SameBytes() as outlined:
        outlined.check(map_file(str(log)), split.outlined)
    shutil.copy(log, log.with_suffix(".000002"))
    other = map_file(str(log.with_suffix(".000002")))
    with pytest.raises(TypeError), SameBytes() as outlined:
        outlined.check(other, split.outlined)
    os.utime(log, ns=(1, 1))
    with pytest.raises(TypeError), SameBytes() as outlined:
        outlined.check(map_file(str(log)), split.outlined)


def check(outlined, file, part, checksum):
    outlined.check(file, part)


def walk(outlined, file, part, checksum):
    walk_with(outlined, file, part, lambda table_map: None)


def walk_nothing_of_it(outlined, file, part, checksum):
    """As where a version of a table ends within a split."""
    outlined.walk(ChangeReader(file, lambda table_map: None, checksum=checksum), part, part.end, part.end)


@pytest.mark.by_turns("split_bytes")
@CHECKSUMS
@pytest.mark.parametrize("split_bytes", [1, 300, 5000, 1 << 26])
@pytest.mark.parametrize("compare", [check, walk, walk_nothing_of_it])
def test_every_outlined_split_is_what_it_was(log, checksum, split_bytes, compare, tmp_path):
    """And no byte of it may be another one; those between splits are no row's."""
    outline = outline_file(str(log), split_bytes=split_bytes)
    data, parts = log.read_bytes(), [split.outlined for split in outline.splits]
    assert len({part.digest for part in parts}) == len(parts)
    file = map_file(str(log))
    with SameBytes() as outlined:
        for part in parts:
            compare(outlined, file, part, checksum)
    assert file.checked == set(parts)
    changed = tmp_path / "changed.000001"
    for part in parts[:: max(1, len(parts) // 7)]:
        for at in range(part.start, part.end, max(1, (part.end - part.start) // 23)):
            other = bytearray(data)
            other[at] ^= 0x10
            changed.write_bytes(other)
            mapped = map_file(str(changed))
            with pytest.raises(ArchiveError), SameBytes() as outlined:
                compare(outlined, mapped, part, checksum)
            mapped.close()


def test_an_error_within_a_split_that_is_another_one_now(log):
    """The rest of the split is compared before anybody hears of the error, as it may come of the change."""
    [split] = outline_file(str(log)).splits
    file = map_file(str(log))

    def stop(table_map):
        raise ArchiveError("the first table map")

    with pytest.raises(ArchiveError, match="the first table map"), SameBytes() as outlined:
        walk_with(outlined, file, split.outlined, stop)
    other = replace(split.outlined, digest=split.outlined.digest ^ 1)
    with pytest.raises(ArchiveError, match="differ from those that were outlined"), SameBytes() as outlined:
        walk_with(outlined, file, other, stop)


def walk_with(outlined, file, part, bind):
    outlined.walk(ChangeReader(file, bind, checksum=part.checksum), part, part.start, part.end)


def test_a_stop_before_the_end_of_a_file(log):
    """The last split ends where the stop is, and what follows in the file is not of it."""
    ends = [split.end for split in outline_file(str(log), split_bytes=1).splits]
    outline = outline_file(str(log), stop=StopCondition(position=(log.name, ends[120])))
    [part] = [split.outlined for split in outline.splits]
    assert part.end == ends[120]
    with SameBytes() as outlined:
        outlined.check(map_file(str(log)), part)


@pytest.mark.parametrize("read", [
    lambda log: show([str(log)], "text", io.TextIOWrapper(io.BytesIO())),
    lambda log: show([str(log)], "json", io.TextIOWrapper(io.BytesIO())),
    lambda log: GroupPass(str(log)).groups()], ids=["show", "show as JSON", "locate"])
def test_a_file_that_shrinks_while_it_is_shown_or_searched(log, read, monkeypatch):
    """Zeros are not shown for what is gone."""
    map_whole = mapping.map_file

    def map_and_cut(uri, **options):
        mapped = map_whole(uri, **options)
        os.truncate(log, 4096)
        return mapped

    for module in (mapping, outlined_file):
        monkeypatch.setattr(module, "map_file", map_and_cut)
    with pytest.raises(ArchiveError, match="shrank") as caught:
        read(log)
    assert caught.value.file == str(log)
