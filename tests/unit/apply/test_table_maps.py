"""From table maps to those who take a table's changes."""

from applier.apply.tables.table_maps import TableMaps
from applier.binlog.events.table_map import parse_table_map
from applier.binlog.rows.changes import TableBinding
from tests.support import row_model as m


class Taker:
    """Knows with which bindings it was asked."""

    def __init__(self):
        self.bound = []

    def bind(self, table_map, bound):
        self.bound.append(bound)
        return bound or TableBinding([], [], [], lambda batch: None)


def test_table_maps_of_one_version_share_a_binding():
    """AP-ORD: their changes come in one order. What nobody wants, and what no name means, is skipped."""
    one, other = (parse_table_map(m.table_map_body([m.BY_NAME[name]])) for name in ("int", "tinyint"))
    name, taker = (one.database, one.table), Taker()
    maps = TableMaps({name: 3}, {3: taker})
    binding = maps(one)
    assert maps(other) is binding and taker.bound == [None, binding]
    assert TableMaps({name: 4}, {3: taker})(one) is None and TableMaps({}, {3: taker})(one) is None
