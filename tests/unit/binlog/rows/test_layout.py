"""Row layouts: how columns are read, and the buffers that their values come into."""

import pyarrow as pa
import pytest

from applier.binlog.events.table_map import parse_table_map
from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.binlog.rows.layout import decimal_bytes, plan_column, plan_columns
from applier.errors import UnsupportedEvent
from applier.mysql.wire_types import WireType
from tests.support import row_model as m

INT, TEXT = m.BY_NAME["int"], m.BY_NAME["varchar(60000)"]


@pytest.mark.parametrize("kind", m.KINDS, ids=lambda kind: kind.name)
def test_every_kind_has_a_plan_with_its_width(kind):
    plan = plan_column(kind.wire_type, kind.metadata)
    assert plan.need >= 1
    assert plan.is_bytes == (plan.width == 0)
    if not plan.is_bytes:
        assert plan.need == plan.width


def test_widths_of_decimals():
    """MySQL manual, "DECIMAL Data Type Characteristics": four bytes for nine digits, fewer for less."""
    assert [decimal_bytes(*size) for size in (
        (1, 0), (2, 2), (9, 0), (10, 0), (18, 9), (20, 6), (65, 30), (65, 0))] == [1, 1, 4, 5, 8, 10, 30, 29]


@pytest.mark.parametrize("wire_type, metadata", [
    (WireType.NULL, 0), (WireType.DECIMAL, 0), (WireType.BLOB, 0), (WireType.BLOB, 5), (WireType.DATETIME2, 7),
    (WireType.TIME2, 255), (WireType.NEWDECIMAL, 0), (WireType.NEWDECIMAL, 66 << 8), (WireType.NEWDECIMAL, 5 << 8 | 6),
    (WireType.NEWDECIMAL, 65 << 8 | 39), (WireType.BIT, 0), (WireType.BIT, 8 << 8 | 1), (WireType.BIT, 7 << 8 | 255),
    (WireType.BIT, 8), (WireType.ENUM, 0),
    (WireType.ENUM, 3), (WireType.SET, 0), (WireType.SET, 9), (WireType.TYPED_ARRAY, 0)])
def test_metadata_that_no_server_writes(wire_type, metadata):
    with pytest.raises(UnsupportedEvent) as error:
        plan_column(wire_type, metadata)
    assert error.value.mysql_errno == 1610


def test_old_temporal_types_take_their_digits_from_the_definition():
    """MariaDB's binlog before 10.1 does not say them."""
    table = parse_table_map(m.table_map_body([m.BY_NAME["old datetime"], m.BY_NAME["old time"],
                                              m.BY_NAME["old timestamp"]]))
    assert [plan.width for plan in plan_columns(table)] == [8, 3, 4]
    assert [plan.width for plan in plan_columns(table, [6, 3, 2])] == [8, 5, 5]


def test_a_buffer_is_used_again_and_forgets():
    """NULL and absent of the batch before do not shine through."""
    found = []

    def take(batch):
        columns = list(batch.after.columns.values())
        gone = [column.absent_rows(1) for column in columns]
        found.append([(column.arrow(1).to_pylist()[0], absent is not None and absent.to_pylist()[0])
                      for column, absent in zip(columns, gone, strict=True)])

    kinds, plans = [INT, TEXT], [plan_column(kind.wire_type, kind.metadata) for kind in (INT, TEXT)]
    images = [(None, b"abc"), (5, m.ABSENT), (6, b""), (m.ABSENT, None)]
    events = [m.rows_event(0, 1, 2, None, [value is not m.ABSENT for value in values], m.image(kinds, values))
              for values in images]
    file = m.as_file(m.table_map_event(1, m.table_map_body(kinds)), *events)
    read(file, TableBinding(plans, plans, plans, take, rows=1))
    assert found == [[(None, False), (b"abc", False)], [(5, False), (None, True)], [(6, False), (b"", False)],
                     [(None, True), (None, False)]]


def test_room_is_made_without_losing_what_is_there():
    """A batch's values are far longer than there was room for when it began; the next batch begins without them."""
    blob, found = m.BY_NAME["blob2"], []
    plan = plan_column(blob.wire_type, blob.metadata)
    values = [b"\1\2\3", *(bytes([n]) * 60_000 for n in range(39))]
    binding = TableBinding([plan], [plan], [plan], lambda batch: found.append(batch.after.columns[0].arrow(
        batch.n).to_pylist()), rows=20)
    events = [m.rows_event(0, 1, 1, None, [1], m.image([blob], (value,))) for value in values]
    read(m.as_file(m.table_map_event(1, m.table_map_body([blob])), *events), binding)
    assert found == [values[:20], values[20:]]


def test_variants_of_a_plan():
    """A key as an int64, or a value as the log's own bytes."""
    plan, found = plan_column(WireType.LONG, 0), []
    assert (plan.as_key(True).arrow, plan.as_key(False).width, plan.as_log_bytes().arrow) == \
        (pa.int64(), 4, pa.binary(4))
    binding = TableBinding([plan], [plan.as_log_bytes()], [plan.as_key(True)], lambda batch: found.extend(
        images.columns[0].arrow(1).to_pylist()[0] for images in (batch.before, batch.after)))
    event = m.rows_event(1, 1, 1, [1], [1], m.image([INT], (1,)) + m.image([INT], (-1,)))
    read(m.as_file(m.table_map_event(1, m.table_map_body([INT])), event), binding)
    assert found == [b"\1\0\0\0", 2**32 - 1]


def read(file, binding):
    reader = ChangeReader(file, lambda _: binding, checksum=False)
    reader.walk(4, file.size)
    reader.flush()
