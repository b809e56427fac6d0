"""Geometry columns that become ones of another type or SRID, as MySQL 9.7 and MariaDB 10.11 did it: bytes stay."""

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.schema.ddl.ddl import parse_statement
from applier.sql.casting.values import convert_values

POINT, LINE = (bytes.fromhex(text) for text in (
    "E61000000101000000000000000000F03F0000000000000040",
    "00000000010200000002000000000000000000F03F000000000000004000000000000008400000000000001040"))


def types(flavour, *columns):
    found = [parse_statement(f"CREATE TABLE d.t (g {column})", flavour=flavour)[0] for column in columns]
    return [change.definition.columns[0].type for change in found]


@pytest.mark.parametrize(("flavour", "before", "after"), [
    ("mysql", "POINT SRID 4326", "POINT"), ("mysql", "POINT", "POINT SRID 4326"), ("mysql", "POINT", "GEOMETRY"),
    ("mysql", "GEOMETRY SRID 4326", "POINT"), ("mysql", "GEOMETRY", "GEOMETRY SRID 4326"),
    ("mariadb", "POINT REF_SYSTEM_ID=4326", "POINT"), ("mariadb", "GEOMETRY", "POINT REF_SYSTEM_ID=4326"),
    ("mariadb", "POINT", "GEOMETRY")])
def test_bytes_stay(flavour, before, after):
    values = pa.array([POINT, None])
    assert convert_values(values, *types(flavour, before, after), Session(flavour)).equals(values)


@pytest.mark.parametrize("after", ["POINT", "POLYGON", "GEOMETRYCOLLECTION"])
def test_a_value_of_another_type_is_not_guessed(after):
    with pytest.raises(NotComputable, match="some of its values"):
        convert_values(pa.array([POINT, LINE]), *types("mysql", "GEOMETRY", after), Session("mysql"))
