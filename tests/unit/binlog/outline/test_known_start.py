"""Continuing in a file whose beginning was replayed before: it is known by the bytes before the place (GRP-5)."""

import dataclasses

import pytest

from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline import KnownStart
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.stop import StopCondition
from applier.errors import ArchiveError
from tests.support.outline_logs import CASES

WITH_GTIDS = ["many-files-mysql", "transactions-mysql", "transactions-mariadb"]
LOGS = [*WITH_GTIDS, "transactions-mysql-nogtid"]


def places(file):
    return sorted({split.end for split in outline_file(str(file), split_bytes=1).splits})


def known_at(file, place):
    upto = outline_file(str(file), stop=StopCondition(position=(file.name, place)))
    assert upto.end == place
    return KnownStart(upto.previous_gtids.followed_by(upto.gtids), upto.tail)


@pytest.mark.parametrize("name", LOGS)
def test_outlined_from_a_known_place_as_after_reading_what_is_before(name):
    file = CASES / name / "binlog.000001"
    for place in places(file):
        read, known = outline_file(str(file), start=place), outline_file(str(file), start=place,
                                                                       known=known_at(file, place))
        assert known.previous_gtids.followed_by(known.gtids_before) == \
            read.previous_gtids.followed_by(read.gtids_before)
        assert dataclasses.replace(known, gtids_before=read.gtids_before) == read


def test_more_than_64_kilobytes_before_a_known_place_are_not_read(tmp_path):
    source = CASES / "large-statements-checksum-none" / "binlog.000001"
    outline = outline_file(str(source))
    assert outline.end - outline.start > 2 * 64 << 10
    damaged = bytearray(source.read_bytes())
    copy = tmp_path / source.name
    known = KnownStart(outline.previous_gtids.followed_by(outline.gtids), outline.tail)
    for at, same in ((outline.end - (64 << 10) - 1, True), (outline.end - (64 << 10), False)):
        damaged[at] ^= 1
        copy.write_bytes(damaged)
        assert (outline_file(str(copy), start=outline.end, known=known).tail == outline.tail) == same
        damaged[at] ^= 1


@pytest.mark.parametrize("name", WITH_GTIDS)
def test_another_file_with_gtids_is_read(name):
    """GRP-7: its transactions say whether a base can continue there."""
    file = CASES / name / "binlog.000001"
    place = places(file)[1]
    known = dataclasses.replace(known_at(file, place), tail="blake2b-128:" + "0" * 32)
    assert outline_file(str(file), start=place, known=known) == outline_file(str(file), start=place)


def test_another_file_without_gtids_is_refused():
    """GRP-5: nothing else could tell that it is another server's."""
    file = CASES / "transactions-mysql-nogtid" / "binlog.000001"
    place = places(file)[1]
    with pytest.raises(ArchiveError, match="not the one that the base was replayed from") as caught:
        outline_file(str(file), start=place, known=KnownStart(GtidSet(), "blake2b-128:" + "0" * 32))
    assert (caught.value.mysql_errno, caught.value.position) == (1236, place)
    assert caught.value.hint.endswith(f"--start-position binlog.000001:{place}")
