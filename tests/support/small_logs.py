"""Logs of one table, `shop.item (id INT PRIMARY KEY, n INT, s VARCHAR(20))`, a line of Python a transaction."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

CREATE = "CREATE TABLE item (id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20))"
[_created] = parse_statement(CREATE, default_database="shop", flavour="mysql")
ITEM = _created.definition
RAW = {"id": pa.int32(), "n": pa.int32(), "s": pa.string()}

Row = tuple[int, int | None, str | None]


def images(rows: list[Row], names: str = "id n s") -> dict[str, pa.Array]:
    """Rows as columns, those in `names` only."""
    columns = dict(zip(RAW, zip(*rows, strict=True), strict=True))
    return {name: pa.array(columns[name], RAW[name]) for name in names.split()}


def insert(rows: list[Row]) -> RowChanges:
    return RowChanges(ITEM, after=images(rows))


def update(before: list[Row], after: list[Row]) -> RowChanges:
    return RowChanges(ITEM, before=images(before), after=images(after))


def delete(rows: list[Row]) -> RowChanges:
    return RowChanges(ITEM, before=images(rows))


def commit(log: BinlogWriter, *changes: RowChanges) -> tuple[int, int]:
    """One transaction; where it begins and ends."""
    begin = log.position
    with log.transaction():
        for change in changes:
            log.rows(change)
    return begin, log.position


def new_log(folder: Path, **options) -> BinlogWriter:
    """The first file of an archive, with the table made."""
    log = BinlogWriter(folder / "binlog.000001", **options)
    log.query(CREATE, "shop")
    return log


def held(snapshot: Path) -> list[Row]:
    """The rows of a snapshot, in the order of its files."""
    table = manifest.load(str(snapshot)).table("shop", "item")
    return [tuple(row.values()) for file in table.files for row in pq.read_table(snapshot / file.path).to_pylist()]
