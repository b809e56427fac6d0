"""The sequences of MariaDB that columns take their defaults from: without them their tables cannot be made.

A snapshot keeps no state of sequences. One that a table's integer key takes its values from begins behind the highest
key; others begin at 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.columns.table_key import IntKey, table_key
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition
from applier.snapshot.file_entries import FileEntry
from applier.sql.tokens import Token, tokenize

_FUNCTIONS = ("NEXTVAL", "LASTVAL", "SETVAL")


def sequences_sql(tables: Iterable[tuple[TableDefinition, Sequence[FileEntry]]]) -> list[str]:
    """CREATE SEQUENCE for each sequence that these tables name, given the files of their rows."""
    firsts: dict[tuple[str, str], int] = {}
    for definition, files in tables:
        for column, name in named_sequences(definition):
            firsts[name] = max(firsts.get(name, 1), _behind(definition, column, files))
    return [f"CREATE SEQUENCE IF NOT EXISTS {quote_name(database)}.{quote_name(name)} START WITH {first};\n"
            for (database, name), first in firsts.items()]


def named_sequences(definition: TableDefinition) -> Iterable[tuple[str, tuple[str, str]]]:
    """Each sequence that a table names, behind the column whose default does. A name without a database is of the
    table's."""
    if definition.flavour == "mariadb":
        for column in definition.columns:
            if column.default is not None and column.default.kind == "expression":
                for name in _named(tokenize(column.default.text, flavour="mariadb"), definition.database):
                    yield column.name, name


def _named(tokens: Sequence[Token], database: str) -> Iterable[tuple[str, str]]:
    """The sequences that an expression names: NEXTVAL([database.]name), NEXT VALUE FOR [database.]name."""
    for place, token in enumerate(tokens):
        if token.kind != "word":
            continue
        words = [other.text.upper() for other in tokens[place:place + 3]]
        if words[0] in _FUNCTIONS and words[1:2] == ["("]:
            first = place + 2
        elif words in (["NEXT", "VALUE", "FOR"], ["PREVIOUS", "VALUE", "FOR"]):
            first = place + 3
        else:
            continue
        if tokens[first + 1].text == ".":
            yield tokens[first].text, tokens[first + 2].text
        else:
            yield database, tokens[first].text


def _behind(definition: TableDefinition, column: str, files: Sequence[FileEntry]) -> int:
    """The first number behind a column's values, where the rows are sorted by it; else 1."""
    key = table_key(definition)
    if not isinstance(key, IntKey) or key.names != (column,):
        return 1
    return max((file.max_key + key.bias + 1 for file in files if isinstance(file.max_key, int)), default=1)
