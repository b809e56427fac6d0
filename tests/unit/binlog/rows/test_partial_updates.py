"""Rows of PARTIAL_UPDATE_ROWS: between the images stands which JSON columns of the after-image are diffs (JD-TYPE)."""

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.rows.changes import UPDATE, ChangeReader, TableBinding
from applier.binlog.rows.image_pointers import addresses_of, layouts_of
from applier.binlog.rows.layout import plan_columns
from applier.errors import ArchiveError
from tests.support import row_model as m
from tests.support.examples import examples
from tests.support.row_model import ABSENT, BY_NAME

INT, TEXT, JSON = BY_NAME["int"], BY_NAME["varchar(255)"], BY_NAME["json"]
PARTIAL_UPDATE = 39


def event(kinds, before, after, rows):
    """An event of rows (before-image, value options and what belongs to them, after-image)."""
    data = b"".join(m.image(kinds, old) + options + m.image(kinds, new) for old, options, new in rows)
    return m.event(PARTIAL_UPDATE, m.rows_body(UPDATE, 7, len(kinds), before, after, data))


def read(file, rows=3):
    """(before, after, image, its columns, its diffs) of each change; columns of diffs are absent in `after`."""
    found = []

    def bind(table_map):
        plans = plan_columns(table_map)
        binding = TableBinding(plans, plans, plans, lambda batch: take(batch, binding), rows)
        return binding

    def take(batch, binding):
        images = [values(images, n) for images, n in ((batch.before, batch.n_before), (batch.after, batch.n_after))]
        for i in range(batch.n):
            pointer = int(batch.images[i])
            layout = binding.layouts.known[layouts_of(pointer)]
            image = ctypes.string_at(addresses_of(pointer), int(batch.image_lengths[i]))
            found.append((images[0][batch.before_rows[i]], images[1][batch.after_rows[i]], image, layout.present,
                          layout.diffs))
            assert batch.kinds[i] == UPDATE

    reader = ChangeReader(file, bind, checksum=False)
    reader.walk(4, file.size)
    reader.flush()
    return found


def values(images, rows):
    columns = []
    for column in images.columns.values():
        gone = column.absent_rows(rows)
        gone = [False] * rows if gone is None else gone.to_pylist()
        columns.append([ABSENT if absent else value
                        for value, absent in zip(column.arrow(rows).to_pylist(), gone, strict=True)])
    return list(zip(*columns, strict=True))


@st.composite
def logs(draw):
    kinds = draw(st.lists(st.sampled_from([INT, TEXT, JSON, JSON]), min_size=1, max_size=11))
    json_columns = [c for c, kind in enumerate(kinds) if kind is JSON]
    parts, expected = [m.table_map_event(7, m.table_map_body(kinds))], []
    for _ in range(draw(st.integers(1, 3))):
        before, after = (draw(st.just([1] * len(kinds)) | st.lists(st.booleans(), min_size=len(kinds),
                                                                   max_size=len(kinds))) for _ in range(2))
        rows = []
        for _ in range(draw(st.integers(1, 8))):
            old, new = (tuple(draw(st.none() | kind.values) if here else ABSENT
                              for kind, here in zip(kinds, present, strict=True)) for present in (before, after))
            options, diffs = b"\0", []
            if draw(st.booleans()):
                bits = [draw(st.booleans()) for _ in json_columns]
                options = b"\1" + m.bitmap(bits, draw(st.integers(0, 1)))
                diffs = [c for c, bit in zip(json_columns, bits, strict=True) if bit and after[c]]
            rows.append((old, options, new))
            shown = tuple(ABSENT if c in diffs else value for c, value in enumerate(new))
            expected.append((old, shown, m.image(kinds, new), tuple(c for c, here in enumerate(after) if here),
                             tuple(diffs)))
        parts.append(event(kinds, before, after, rows))
    return m.as_file(*parts), expected


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(logs(), st.sampled_from((1, 2, 4096)))
def test_every_row_has_its_own_partial_columns(log, rows):
    """JD-TYPE, IMG-MIX: a bit for each JSON column of the table, in the image or not; images begin after the bits."""
    file, expected = log
    assert read(file, rows) == expected


def test_many_sets_of_partial_columns():
    """Each distinct one is a layout; there is one for all rows without diffs."""
    kinds = [INT] + [JSON] * 10
    rows = [((n, *[b"{}"] * 10), b"\1" + (n & 1023).to_bytes(2, "little"), (n, *[b"d"] * 10)) for n in range(3000)]
    found = read(m.as_file(m.table_map_event(7, m.table_map_body(kinds)), event(kinds, [1] * 11, [1] * 11, rows)), 999)
    assert [len(diffs) for *_, diffs in found] == [(n & 1023).bit_count() for n in range(3000)]
    assert [before[0] for before, *_ in found] == list(range(3000))


@pytest.mark.parametrize("between", [b"", b"\2", b"\3\1", b"\xfc\1\0\1", b"\xff", b"\1"])
def test_options_that_no_server_writes(between):
    """JD-SAFE1: 1610, naming place and row. What the options mean is unknown, so nothing after them can be read."""
    kinds = [INT, JSON]
    table, last = m.table_map_event(7, m.table_map_body(kinds)), m.image(kinds, (1, b"{}"))
    whole = last + b"\0" + last
    body = m.rows_body(UPDATE, 7, 2, [1, 1], [1, 1], whole + last + between)
    with pytest.raises(ArchiveError, match="row 2 of a rows event") as error:
        read(m.as_file(table, m.event(PARTIAL_UPDATE, body)))
    assert (error.value.mysql_errno, error.value.position) == (1610, 4 + len(table))


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(logs(), st.data())
def test_damage_gives_rows_or_an_archive_error(log, data):
    """Whatever bytes: rows, or 1610; never a read past the event."""
    file, _ = log
    damaged = bytearray(file.array[4:].tobytes())
    first = int.from_bytes(damaged[9:13], "little")
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(first + 29, len(damaged) - 1))
        damaged[place] = data.draw(st.sampled_from((0, 1, 255, 252, 128)) | st.integers(0, 255))
    try:
        read(m.as_file(bytes(damaged)), 2)
    except ArchiveError as error:
        assert error.mysql_errno == 1610
