"""TABLE_MAP bodies made of a definition are those that real servers logged for the table."""


import pytest

from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import CreateDatabase, CreateTable
from applier.schema.definition import TableDefinition
from applier.writer.wire_columns import encode_table_map
from tests.support.folders import CASES
from tests.support.raw_events import QUERY, TABLE_MAP, query_text, read_events


@pytest.mark.parametrize(
    ("case", "tables"),
    [("mysql-types-number-time", 6), ("mysql-types-text", 8), ("mariadb-types", 10), ("mariadb-types-text", 7)],
)
def test_table_maps_are_those_of_a_real_server(case: str, tables: int) -> None:
    """From the CREATE TABLE in the log to the bytes of the table's TABLE_MAP events, optional metadata included."""
    flavour = case.split("-")[0]
    definitions: dict[tuple[str, str], TableDefinition] = {}
    charsets, compared = {}, set()
    for _, kind, body in read_events(CASES / case / "binlog.000001"):
        if kind == QUERY and (text := query_text(body))[1].lstrip().startswith(("CREATE", "--")):
            for change in parse_statement(text[1], default_database=text[0], flavour=flavour, databases=charsets):
                if isinstance(change, CreateTable):
                    definitions[change.definition.database, change.definition.name] = change.definition
                elif isinstance(change, CreateDatabase):
                    charsets[change.name] = change.charset
        elif kind == TABLE_MAP:
            database_length = body[8]
            name_at = 8 + 1 + database_length + 1
            name = (body[9 : 9 + database_length].decode(), body[name_at + 1 : name_at + 1 + body[name_at]].decode())
            assert encode_table_map(definitions[name]) == body[6:], name
            compared.add(name)
    assert len(compared) == tables
