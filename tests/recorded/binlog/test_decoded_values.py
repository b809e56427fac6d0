"""Row images of recorded cases, decoded and finished, against what the real servers held.

The replay here is the simplest there is: with full images a table is a bag of rows, and an update is one row less and
one row more. It needs no key, and shares nothing with the applier's own but the decoding.
"""

import collections
import datetime
import decimal
import json
import math
import re

import pyarrow as pa
import pytest

from applier.binlog.rows.changes import DELETE, INSERT, ChangeReader, TableBinding
from applier.binlog.rows.layout import plan_columns
from applier.columns.values import finish_column
from applier.io.mapping import map_file
from applier.mysql.reader_values import as_shown
from applier.mysql.types import arrow_type
from applier.schema.history.history import SchemaHistory
from tests.support.folders import CASES

TEXT = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "inet4", "inet6", "uuid"}
EPOCH = datetime.datetime(1970, 1, 1)


def _definitions(folder, flavour):
    history = SchemaHistory(flavour)
    history.load_schema_file((folder / "source.sql").read_text())
    return {version.definition.full_name: version.definition for version in history.live()}


def _cells(column, kind):
    """A finished column as the cells of an expected/*.jsonl file."""
    if kind == "json":
        return [None if v is None else json.dumps(json.loads(v), sort_keys=True) for v in column.to_pylist()]
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
        return [None if v is None else (EPOCH + datetime.timedelta(microseconds=v)).strftime("%Y-%m-%d %H:%M:%S.%f")
                .rjust(26, "0") for v in micros]
    if pa.types.is_duration(column.type):
        return column.cast(pa.int64()).to_pylist()
    return [_cell(value, kind) for value in column.to_pylist()]


def _cell(value, kind):
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, decimal.Decimal):
        return int(value) if kind in ("bigint", "bit") else format(value, "f")
    if isinstance(value, float):
        assert not math.isnan(value)
        return repr(value)
    if isinstance(value, list):
        return tuple(repr(number) for number in value)
    return value.isoformat()


def _final_rows(path, definitions):
    """Each table's rows after all changes of the file: {full name: Counter of tuples of cells}."""
    tables = collections.defaultdict(collections.Counter)
    file = map_file(str(path))

    def bind(table_map):
        definition = definitions.get(f"{table_map.database}.{table_map.table}")
        if definition is None:
            return None
        columns, rows = definition.columns, tables[definition.full_name]
        plans = plan_columns(table_map, [column.type.fsp for column in columns])
        assert len(plans) == len(columns)

        def image(buffers, count):
            cells = []
            for number, column in enumerate(columns):
                if column.generated == "virtual":
                    continue
                assert buffers.columns[number].absent_rows(count) is None or count == 0 or \
                    not any(buffers.columns[number].absent_rows(count).to_pylist()), "a case for full images"
                values = finish_column(buffers.columns[number].arrow(count), column, table_map.types[number],
                                       table_map.metadata[number], "mysql")
                values.validate(full=True)
                assert values.type == arrow_type(column.type) and len(values) == count
                cells.append(_cells(as_shown(values, column.type), column.type.base))
            return list(zip(*cells, strict=True))

        def take(batch):
            before, after = image(batch.before, batch.n_before), image(batch.after, batch.n_after)
            for kind, old, new in zip(batch.kinds, batch.before_rows, batch.after_rows, strict=True):
                if kind != INSERT:
                    assert rows[before[old]] > 0, before[old]
                    rows[before[old]] -= 1
                if kind != DELETE:
                    rows[after[new]] += 1

        return TableBinding(plans, plans, plans, take, rows=64)

    reader = ChangeReader(file, bind, checksum=True)
    reader.walk(4, file.size)
    reader.flush()
    return {name: +rows for name, rows in tables.items()}


@pytest.mark.parametrize("case", [
    "mysql-charsets", "mysql-types-text", "mysql-types-number-time", "mysql-types-json", "mariadb-types",
    "mariadb-types-text", "mariadb-old-temporal"])
def test_values_of_every_type(case):
    folder = CASES / case
    flavour = json.loads((folder / "case.json").read_text())["server"]
    definitions = _definitions(folder, flavour)
    found = _final_rows(folder / "binlog.000001", definitions)
    expected = sorted((folder / "expected").glob("*.jsonl"))
    assert expected
    for path in expected:
        lines = path.read_text().splitlines()
        name, kinds = path.name.removesuffix(".jsonl"), [kind for _, kind in json.loads(lines[0])]
        bases = [re.match("[a-z0-9]+", kind)[0] for kind in kinds]
        want = collections.Counter()
        for line in lines[1:]:
            row = [tuple(cell) if isinstance(cell, list) else
                   json.dumps(json.loads(cell), sort_keys=True) if base == "json" and cell is not None else cell
                   for cell, base in zip(json.loads(line), bases, strict=True)]
            want[tuple(row)] += 1
        have = found.get(name, collections.Counter())
        assert have == want, f"{name}: missing {list(want - have)[:2]}, unexpected {list(have - want)[:2]}"
