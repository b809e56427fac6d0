"""Column types and the Arrow types of the design's "Values" table."""

import pyarrow as pa
import pytest

from applier.mysql.types import ColumnType, arrow_type, quote_name, quote_text


@pytest.mark.parametrize(("column_type", "expected"), [
    (ColumnType("tinyint"), pa.int8()),
    (ColumnType("tinyint", unsigned=True), pa.int16()),
    (ColumnType("smallint", unsigned=True), pa.int32()),
    (ColumnType("mediumint"), pa.int32()),
    (ColumnType("mediumint", unsigned=True), pa.int32()),
    (ColumnType("int", unsigned=True), pa.int64()),
    (ColumnType("bigint"), pa.int64()),
    (ColumnType("bigint", unsigned=True), pa.decimal128(20, 0)),
    (ColumnType("decimal", precision=38, scale=30), pa.decimal128(38, 30)),
    (ColumnType("decimal", precision=39, scale=1), pa.string()),
    (ColumnType("float"), pa.float32()),
    (ColumnType("double", unsigned=True), pa.float64()),
    (ColumnType("bit", length=63), pa.int64()),
    (ColumnType("bit", length=64), pa.decimal128(20, 0)),
    (ColumnType("date"), pa.date32()),
    (ColumnType("datetime", fsp=3), pa.timestamp("us")),
    (ColumnType("timestamp"), pa.timestamp("us", tz="UTC")),
    (ColumnType("time", fsp=6), pa.duration("us")),
    (ColumnType("year"), pa.int16()),
    (ColumnType("char", length=3, charset="gbk"), pa.string()),
    (ColumnType("enum", members=("a",)), pa.string()),
    (ColumnType("binary", length=3), pa.binary()),
    (ColumnType("longblob"), pa.binary()),
    (ColumnType("json"), pa.string()),
    (ColumnType("geomcollection"), pa.binary()),
    (ColumnType("vector", length=3), pa.list_(pa.float32())),
    (ColumnType("inet6"), pa.string()),
])
def test_arrow_type(column_type, expected):
    assert arrow_type(column_type) == expected


@pytest.mark.parametrize(("column_type", "shown", "ddl"), [
    (ColumnType("int", unsigned=True, zerofill=True, length=10), "int(10) unsigned zerofill", None),
    (ColumnType("decimal", precision=10, scale=0), "decimal(10,0)", None),
    (ColumnType("time", fsp=3), "time(3)", None),
    (ColumnType("enum", members=("it's", "b\\"), charset="latin1"), "enum('it''s','b\\')",
     "enum('it''s','b\\\\') CHARACTER SET latin1"),
    (ColumnType("varchar", length=9, charset="utf8mb4", collation="utf8mb4_bin", compressed=True), "varchar(9)",
     "varchar(9) COMPRESSED CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
    (ColumnType("point", srid=4326), "point", "point SRID 4326"),
])
def test_text_of_a_type(column_type, shown, ddl):
    assert column_type.column_type == shown
    assert column_type.sql() == (ddl or shown)


def test_srid_in_mariadb():
    assert ColumnType("point", srid=1).sql("mariadb") == "point REF_SYSTEM_ID=1"


def test_quoting():
    assert quote_name("a`b") == "`a``b`"
    assert quote_text("it's \\ \0") == "'it''s \\\\ \\0'"
