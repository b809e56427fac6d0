"""Table ids lead to what the newest table map said, however many there are."""

from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.binlog.rows.layout import plan_columns
from tests.support import row_model as m

INT = [m.BY_NAME["int"]]
IDS = [7 * i * i + (i << 33) for i in range(3000)]


def test_the_newest_table_map_counts_among_thousands():
    """Every other id is given to another table before the rows come."""
    first, second = (m.table_map_body(INT, table=name) for name in ("first", "second"))
    events = [m.table_map_event(table_id, body) for body, ids in ((first, IDS), (second, IDS[::2])) for table_id in ids]
    events += [m.rows_event(m.INSERT, table_id, 1, None, [1], m.image(INT, [number]))
               for number, table_id in enumerate(IDS)]
    file, found = m.as_file(*events), {"first": [], "second": []}

    def bind(table_map):
        plans = plan_columns(table_map)
        return TableBinding(plans, plans, plans, lambda batch: found[table_map.table].extend(
            batch.after.columns[0].arrow(batch.n).to_pylist()))

    reader = ChangeReader(file, bind, checksum=False)
    reader.walk(4, file.size)
    reader.flush()
    assert found == {"first": [*range(1, 3000, 2)], "second": [*range(0, 3000, 2)]}
