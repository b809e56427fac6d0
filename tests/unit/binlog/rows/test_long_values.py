"""Values so long that string columns of a batch are full before the batch is."""

import pytest

from applier.binlog.rows import changes, layout
from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.binlog.rows.layout import plan_columns
from applier.errors import UnsupportedEvent
from tests.support import row_model as m
from tests.support.row_model import BY_NAME, INSERT

KINDS = [BY_NAME["int"], BY_NAME["blob4"]]


def batches_of(values):
    """The batches, as lists of rows, that come of a log of one insert a value."""
    start = m.table_map_event(7, m.table_map_body(KINDS))
    events = [m.rows_event(INSERT, 7, 2, None, [1, 1], m.image(KINDS, (n, value))) for n, value in enumerate(values)]
    file, found = m.as_file(start, *events), []

    def bind(table_map):
        plans = plan_columns(table_map)
        return TableBinding(plans, plans, plans, take, rows=8)

    def take(batch):
        numbers, texts = (column.arrow(batch.n_after).to_pylist() for column in batch.after.columns.values())
        found.append(list(zip(numbers, texts, strict=True)))

    reader = ChangeReader(file, bind, checksum=False)
    try:
        reader.walk(4, file.size)
    except UnsupportedEvent as error:
        assert (error.position, error.file, error.table) == (file.size - len(events[-1]), file.uri, "d.t")
        raise
    reader.flush()
    return found


def test_a_batch_of_long_values_is_handed_over_early(monkeypatch):
    """What a batch holds is bounded by bytes, too; a value that is longer by itself comes alone."""
    monkeypatch.setattr(changes, "BATCH_BYTES", 1000)
    sizes = [300, 300, 0, 300, 5000, 10, 4900, 300, 4000, 4000, *[1] * 9]
    values = [bytes((97 + n,)) * size for n, size in enumerate(sizes)]
    found = batches_of(values)
    assert [row for batch in found for row in batch] == list(enumerate(values))
    assert len(found) > 3


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_a_value_that_offsets_cannot_say(monkeypatch, rows):
    """Arrow's offsets end at 2 GiB: an error that names the place, not a wrapped offset."""
    monkeypatch.setattr(changes, "BATCH_BYTES", 1000)
    monkeypatch.setattr(layout, "MOST_BYTES", 2000)
    assert sum(map(len, batches_of([b"x" * 1500] * rows))) == rows
    with pytest.raises(UnsupportedEvent, match="2 GiB"):
        batches_of([b"x" * 1500] * rows + [b"x" * 2001])
