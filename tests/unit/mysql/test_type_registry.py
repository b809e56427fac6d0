"""A column type is one entry: every type of both servers has one, and every table by family has every family."""

import json
import re
from pathlib import Path

import pytest

from applier.binlog.rows.layout import PLANNERS
from applier.columns.agreement import is_compatible
from applier.columns.values import DECODERS
from applier.jobs.exporting.cells import WRITERS
from applier.jobs.importing.sql.column_types import CONVERSIONS
from applier.jobs.verify.canonical import AS_SQL
from applier.mysql.type_registry import ALTER_CLASSES, TYPES, AlterClass, Family
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.wire_types import FORMS, Shape, WireType
from applier.schema.ddl.ddl import parse_statement
from applier.schema.defaults import IMPLICIT, implicit_scalar
from applier.sql.casting.values import CONVERTERS
from applier.sql.literals import READERS
from applier.writer.column_encoder import ENCODERS, PREFIXES
from applier.writer.wire_columns import wire_columns
from tests.support.folders import CASES

BY_FAMILY = {
    "DECODERS": DECODERS, "READERS": READERS, "IMPLICIT": IMPLICIT, "CONVERSIONS": CONVERSIONS, "WRITERS": WRITERS,
    "AS_SQL": AS_SQL, "ALTER_CLASSES": ALTER_CLASSES,
}
OLD = {Shape.OLD_DATETIME, Shape.OLD_TIMESTAMP, Shape.OLD_TIME}
"""Shapes that servers have not written since MySQL 5.6, so the writer does not."""
NOT_IN_ROWS = {WireType.DECIMAL, WireType.NULL, WireType.TYPED_ARRAY}
"""Codes of types that no column of a rows event has."""


@pytest.mark.parametrize("name", BY_FAMILY)
def test_every_family_is_in_every_table(name):
    assert BY_FAMILY[name].keys() == set(Family)


def test_every_shape_is_read_and_written():
    assert PLANNERS.keys() == set(Shape)
    assert ENCODERS.keys() | PREFIXES.keys() == set(Shape) - OLD and not ENCODERS.keys() & PREFIXES.keys()


def test_every_wire_type_has_a_form_and_belongs_to_a_type():
    assert FORMS.keys() == set(WireType) - NOT_IN_ROWS
    assert {code for entry in TYPES.values() for code in entry.wire} == FORMS.keys()


def test_every_alter_class_is_converted():
    assert {old for old, _ in CONVERTERS} | {new for _, new in CONVERTERS} == set(AlterClass)


@pytest.fixture(scope="module")
def recorded() -> set[tuple[str, str]]:
    """The flavours and data types of all recorded tables, as information_schema has them."""
    found = set()
    for case in CASES.glob("*/case.json"):
        flavour = json.loads(case.read_text())["server"].rstrip("0123456789")  # without a version
        for path in (case.parent / "expected").rglob("*.jsonl"):
            found |= {(flavour, re.match(r"\w+", kind)[0]) for kind in _types(path)}
    return found


def _types(path: Path) -> list[str]:
    with path.open() as lines:
        return [kind for _, kind in json.loads(lines.readline())]


def test_every_recorded_type_is_a_type_of_its_server(recorded):
    assert recorded == {(flavour, name) for name, entry in TYPES.items() for flavour in entry.flavours}


@pytest.mark.parametrize(("flavour", "name"), [(flavour, name) for name, entry in TYPES.items()
                                               for flavour in sorted(entry.flavours)])
def test_a_column_of_every_type_is_read_kept_and_logged(flavour, name):
    """Its DDL is read, its implicit default is a value of what a snapshot keeps, and a log has it as what it is."""
    arguments = "('a')" if name in ("enum", "set") else "(3)" if name.startswith("var") else ""
    [change] = parse_statement(f"CREATE TABLE t (c {name}{arguments} NOT NULL)", flavour=flavour, default_database="d")
    [column] = change.definition.columns
    assert column.type.base == name
    assert implicit_scalar(column.type, flavour).type == arrow_type(column.type)
    [logged] = wire_columns(change.definition)
    assert is_compatible(column.type, logged.type, logged.metadata)


@pytest.mark.parametrize(("base", "text", "shown"), [
    ("inet4", "192.0.2.1", "192.0.2.1"), ("inet6", "2001:DB8:0:0::1", "2001:db8::1"),
    ("inet6", "::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ("uuid", "6CCD780CBABA10269564005B8C656024", "6ccd780c-baba-1026-9564-005b8c656024"),
])
def test_addresses_are_shown_as_mariadb_shows_them(base, text, shown):
    assert READERS[Family.NETWORK](text, ColumnType(base), "mariadb") == shown
    with pytest.raises(ValueError, match=r"'1\.2'"):
        READERS[Family.NETWORK]("1.2", ColumnType(base), "mariadb")
