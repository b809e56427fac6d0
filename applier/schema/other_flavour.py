"""Converts definitions of a dump that did not name its server to the flavour of the log that follows.

Such a dump is read as MySQL's. Omitted attributes are then MySQL's defaults, which MariaDB does not share.
"""

from dataclasses import replace

from applier.errors import SchemaError
from applier.mysql.character_sets.collations import DEFAULT_COLLATIONS, Charset
from applier.mysql.types import ColumnType
from applier.schema.definition import TableDefinition

_DEFAULTS = {mysql: DEFAULT_COLLATIONS["mariadb"][charset] for charset, mysql in DEFAULT_COLLATIONS["mysql"].items()}
"""MySQL's default collations, which no dump of MariaDB names, and MariaDB's for the same character sets."""


def as_mariadb(definition: TableDefinition) -> TableDefinition:
    """Return the table of a dump that turns out to be MariaDB's. Raises SchemaError if its rows were read in another
    way."""
    if any(column.type.base == "json" for column in definition.columns):
        raise SchemaError(
            "the base is from a dump that does not name its kind of server; its JSON was read as MySQL's, but the "
            "log is of MariaDB", table=definition.full_name,
                          hint="import the dump again with --flavour mariadb")
    columns = tuple(replace(column, type=_type(column.type)) for column in definition.columns)
    return replace(definition, columns=columns, flavour="mariadb", collation=_collation_or_none(definition.collation))


def charset_as_mariadb(charset: Charset) -> Charset:
    """Return the default of a database, in the same way."""
    return Charset(charset.charset, _collation(charset.collation))


def _type(column_type: ColumnType) -> ColumnType:
    base = "geometrycollection" if column_type.base == "geomcollection" else column_type.base
    return replace(column_type, base=base, collation=_collation_or_none(column_type.collation))


def _collation(name: str) -> str:
    return _DEFAULTS.get(name, name)


def _collation_or_none(name: str | None) -> str | None:
    return None if name is None else _collation(name)
