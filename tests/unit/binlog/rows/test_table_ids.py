"""Table ids lead the kernels to what the newest table map said, however many there are."""

import numpy as np

from applier.binlog.rows.table_ids import TableIds
from applier.binlog.rows.table_ids_kernel import NUMBER, id_entry
from keysearch.memory import kernel, load_i64


@kernel
def number_of(address, mask, table_id):
    entry = id_entry(address, mask, table_id)
    return load_i64(entry + NUMBER) if load_i64(entry) == table_id else -1


def test_the_newest_number_is_found_among_thousands():
    ids, body = TableIds(), np.zeros(1, np.uint8)
    many = [7 * i * i + (i << 33) for i in range(3000)]
    for times in (1, 2):
        for number, table_id in enumerate(many):
            ids.set(table_id, times * number, body)
    assert [number_of(ids.address, ids.mask, table_id) for table_id in many] == list(range(0, 6000, 2))
    assert number_of(ids.address, ids.mask, 5) == -1
