"""Files that are damaged or torn: what is not whole does not count, and never silently."""

import struct

import pytest

from applier.binlog.events.events import read_events
from applier.binlog.outline.outline_pass import outline_file
from applier.errors import ArchiveError
from applier.io.mapping import map_file
from tests.support.outline_logs import CASES, check_splits, split_events, write


def test_a_flipped_bit_anywhere_is_found(tmp_path):
    data = (CASES / "many-files-mysql/binlog.000001").read_bytes()
    starts = [event.position for event in read_events(map_file(str(CASES / "many-files-mysql/binlog.000001")))]
    path = tmp_path / "binlog.000001"
    for at in range(4, len(data), 17):
        if at == 4 + 17:  # the in-use flag is no part of the checksum
            continue
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with pytest.raises(ArchiveError) as caught:
            outline_file(str(path))
        assert caught.value.file == str(path)
        assert caught.value.position == max(start for start in starts if start <= at) or at < starts[1]


def test_truncation_anywhere_is_torn_or_an_error(tmp_path):
    """A crash: whole groups count, and the outline says what is not whole. The in-use flag is set in such a file."""
    source = CASES / "many-files-mysql/binlog.000001"
    data = bytearray(source.read_bytes())
    data[4 + 17] |= 1
    whole = outline_file(str(source))
    ends = {split.end for split in outline_file(str(source), split_bytes=1).splits}
    for size in range(whole.start, len(data), 13):
        path = tmp_path / f"binlog.{size:06d}"
        path.write_bytes(data[:size])
        outline = outline_file(str(path))
        expected = max((end for end in ends if end <= size), default=whole.start)
        assert outline.end == (expected if outline.n_groups else outline.start)
        assert outline.torn == (size not in ends and size != whole.start and outline.torn_at is not None)
        if size not in ends and size > whole.start:
            assert outline.torn and outline.torn_at >= outline.end and outline.torn_what
        check_splits(outline)


def test_a_length_past_the_end_is_not_taken_for_a_crash(tmp_path):
    data = bytearray((CASES / "large-statements-checksum-none/binlog.000001").read_bytes())
    data[300:300] = b""
    event = list(read_events(map_file(str(CASES / "large-statements-checksum-none/binlog.000001"))))[10]
    data[event.position + 12] = 0x40
    (tmp_path / "binlog.000001").write_bytes(data)
    with pytest.raises(ArchiveError, match="past the end") as caught:
        outline_file(str(tmp_path / "binlog.000001"))
    assert (caught.value.position, caught.value.mysql_errno) == (event.position, 1610)


def test_impossible_lengths(tmp_path):
    events = split_events(CASES / "many-files-mysql/binlog.000001")
    for size in (0, 18, 22):
        broken = events[2][:9] + struct.pack("<I", size) + events[2][13:]
        with pytest.raises(ArchiveError, match=r"impossible|does not fit"):
            outline_file(write(tmp_path / f"binlog.{size:06d}", [*events[:2], broken, *events[3:]]))


def test_rows_without_a_table_map(tmp_path):
    events = [event for event in split_events(CASES / "many-files-mysql/binlog.000001") if event[4] != 19]
    with pytest.raises(ArchiveError, match="no table map"):
        outline_file(write(tmp_path / "binlog.000001", events))
