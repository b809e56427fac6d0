"""Finding event groups in archives of real servers, each by all that names it; and how little of a large archive is
read for one."""

import shutil

import pytest

from applier.binlog.locating.place import Place
from applier.binlog.locating.targets import ByGtid, ByTime, ByXid, target_of
from applier.errors import ArchiveError, UsageError
from tests.support.folders import CASES
from tests.support.plain_reading import find, gtid, read_plainly


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
    for text in (f"{uuid}:44721", f"{uuid}:44725", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:blue:4", "0-1-5"):
        with pytest.raises(ArchiveError) as caught:
            find(tmp_path, ByGtid.parse(text))
        assert text in str(caught.value) and caught.value.mysql_errno == 1236


def test_what_came_before_the_archive_is_said_to_have():
    with pytest.raises(ArchiveError, match="precedes the first file"):
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
    assert target_of(None, Place("2026", time=1767225600.0), None, None).time == 1767225600
    assert target_of(None, None, 0, None) == ByXid(0)
    for asked in ((None, None, None, None), ("0-1-5", None, 7, None)):
        with pytest.raises(UsageError, match="one thing"):
            target_of(*asked)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 357, 1000])
def test_of_a_thousand_files_a_dozen_heads_and_one_file_are_read(number, thousand, reading):
    [group] = find(thousand, ByGtid.parse(f"00000000-0000-4000-8000-000000000001:{number + 1}"))
    assert group.file == f"binlog.{number:06d}" and group.timestamp == 1_700_000_000 + 60 * (number - 1)
    assert reading.heads <= 12 and reading.files == 1
    reading.heads = reading.files = 0
    [later] = find(thousand, ByTime(group.timestamp, "then"))
    assert later == group or number == 1  # its first group is that of CREATE TABLE
    assert reading.heads <= 12 and reading.files <= 2


def test_a_head_that_is_cut_short(tmp_path):
    for size in (3, 20, 60):
        (tmp_path / "binlog.000001").write_bytes((CASES / "gtid-tags" / "binlog.000002").read_bytes()[:size])
        with pytest.raises(ArchiveError) as caught:
            find(tmp_path, gtid(1))
        assert caught.value.file.endswith("binlog.000001"), size
