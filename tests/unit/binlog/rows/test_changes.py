"""Row events as columns: against a slow model that writes row images a value at a time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.errors import ArchiveError
from tests.support import row_model as m
from tests.support.change_collector import INT, Change, full, read
from tests.support.examples import examples
from tests.support.row_model import ABSENT, DELETE, INSERT, UPDATE


@st.composite
def logs(draw):
    """A table, events of all kinds and images about it under several table ids, and what they say."""
    kinds = draw(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=12))
    bodies = [m.table_map_body(kinds), m.table_map_body(kinds, optional=b"\x05\x01x")]
    ids = draw(st.lists(st.integers(0, 2**48 - 1).filter(lambda n: n != 0xFFFFFF), min_size=1, max_size=3, unique=True))
    other = draw(st.integers(0, 2**48 - 1).filter(lambda n: n not in ids))
    parts, at, expected = [], 4, []

    def put(part):
        nonlocal at
        parts.append(part)
        at += len(part)

    for _ in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            put(m.table_map_event(other, m.table_map_body([INT], table="other")))
            put(full([INT], (1,), table_id=other))
        table_id = draw(st.sampled_from(ids))
        put(m.table_map_event(table_id, draw(st.sampled_from(bodies))))
        operation, version = draw(st.integers(0, 2)), draw(st.sampled_from((1, 2)))
        present = [draw(bits(len(kinds))) if operation != gone else None for gone in (INSERT, DELETE)]
        spare, data = draw(st.integers(0, 1)), b""
        for row in range(draw(st.integers(1, 6))):
            images = [None if bits is None else tuple(
                draw(st.none() | kind.values) if bit else ABSENT for kind, bit in zip(kinds, bits, strict=True))
                for bits in present]
            size = len(data)
            data += b"".join(m.image(kinds, values, spare) for values in images if values is not None)
            if len(data) == size and row:
                break
            expected.append(Change(operation, at, row, *images))
            if len(data) == size:  # an event without columns is one row
                break
        put(m.rows_event(operation, table_id, len(kinds), *present, data, version=version, spare=spare,
                         extra=draw(st.binary(max_size=5)) if version == 2 else b""))
    return m.as_file(*parts), expected, len(kinds)


def bits(n):
    """Which columns an image has: all, one, or any (full, minimal, noblob)."""
    return st.just([1] * n) | st.integers(0, n - 1).map(lambda i: [int(c == i) for c in range(n)]) \
        | st.lists(st.integers(0, 1), min_size=n, max_size=n)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(logs(), st.sampled_from((1, 2, 3, 5, 4096)))
def test_every_image_comes_out_as_it_was_written(log, rows):
    """IMG-W, IMG-U, IMG-D, IMG-MIX: each event's bitmaps say what its images hold; NULL and absent are two things.
    Batches of any size, full in the middle of an event too, and string buffers that start too small."""
    file, expected, _ = log
    assert read(file, rows=rows).changes == expected


@settings(max_examples=25)
@given(logs(), st.data())
def test_columns_that_nobody_wants_change_nothing(log, data):
    """What is skipped is skipped exactly, whichever columns are wanted."""
    file, expected, n = log
    before, after = (data.draw(st.sets(st.integers(0, n - 1))) for _ in range(2))
    found = read(file, rows=3, wanted_before=before, wanted_after=after).changes
    for change in expected:
        change.before, change.after = (
            None if values is None else tuple(value if c in wanted else "unwanted" for c, value in enumerate(values))
            for values, wanted in ((change.before, before), (change.after, after)))
    assert found == expected


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=8), st.sampled_from((INSERT, UPDATE, DELETE)), st.data())
def test_a_row_that_is_cut_off_is_an_error_and_never_a_row(kinds, operation, data):
    """Images are self-delimiting, so no proper prefix of one is one: 1610, naming file, table and position."""
    def row():
        return tuple(data.draw(st.none() | kind.values) for kind in kinds)

    before, after = ([1] * len(kinds) if operation != gone else None for gone in (INSERT, DELETE))
    whole = b"".join(m.image(kinds, row()) for present in (before, after) if present)
    last = b"".join(m.image(kinds, row()) for present in (before, after) if present)
    cut = data.draw(st.integers(1, len(last) - 1)) if len(last) > 1 else 0
    if not cut:
        return
    table = m.table_map_event(7, m.table_map_body(kinds))
    file = m.as_file(table, m.rows_event(operation, 7, len(kinds), before, after, whole + last[:cut]))
    with pytest.raises(ArchiveError) as error:
        read(file)
    assert (error.value.mysql_errno, error.value.file, error.value.position, error.value.table) == \
        (1610, file.uri, 4 + len(table), "d.t")
    assert error.value.message.startswith("row 2 ")


@settings(max_examples=examples(80))
@given(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=6), st.data())
def test_damage_in_a_rows_event_gives_rows_or_an_archive_error(kinds, data):
    """Whatever bytes: an answer whose arrays are valid, or ArchiveError 1610 with the event's position."""
    values = [tuple(data.draw(st.none() | kind.values) for kind in kinds) for _ in range(3)]
    table = m.table_map_event(7, m.table_map_body(kinds))
    damaged = bytearray(full(kinds, *values))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(25, len(damaged) - 1))
        damaged[place] = data.draw(st.sampled_from((0, 255, 254, 252, 128, 127)) |
                                  st.integers(0, 255))
    file = m.as_file(table, bytes(damaged))
    try:
        read(file, rows=2)
    except ArchiveError as error:
        assert (error.mysql_errno, error.position) == (1610, 4 + len(table))
