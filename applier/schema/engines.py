"""Storage engines: what they do with rows.

Sources: MySQL manual, "Alternative Storage Engines"; MariaDB's "Storage Engines"; what a replica of MySQL 9.7 has.
"""

from applier.errors import SchemaError
from applier.schema.allowed import is_word
from applier.schema.definition import TableDefinition

_WITHOUT_TRANSACTIONS = frozenset({"MYISAM", "ARIA", "MEMORY", "HEAP", "CSV", "ARCHIVE", "MRG_MYISAM", "MERGE",
                                   "FEDERATED", "CONNECT", "S3", "BLACKHOLE"})

_ELSEWHERE = frozenset({"MRG_MYISAM", "MERGE", "FEDERATED", "FEDERATEDX", "CONNECT", "SPIDER", "OQGRAPH", "SPHINX",
                        "CASSANDRA", "VP"})
"""Rows of such a table are those of other tables, files or servers, where a replica changes them, too."""
_NOWHERE = frozenset({"BLACKHOLE"})
"""A replica takes every change of a row, and keeps none."""


def engine_name(text: str) -> str | None:
    """The engine that ENGINE = `text` asks for. No engine is called by more than a word: without
    NO_ENGINE_SUBSTITUTION a server takes its default one then, which is None here."""
    return text if is_word(text) else None


def is_transactional(definition: TableDefinition) -> bool:
    """Whether ROLLBACK takes rows back that were written to the table. Servers' default is InnoDB, which does."""
    return definition.engine is None or definition.engine.upper() not in _WITHOUT_TRANSACTIONS


def holds_rows(definition: TableDefinition) -> bool:
    """Whether the table keeps what is written to it."""
    return definition.engine is None or definition.engine.upper() not in _NOWHERE


def check_rows_are_its_own(definition: TableDefinition) -> None:
    """Raises SchemaError for a table whose rows are somewhere else than in it."""
    if definition.engine is not None and definition.engine.upper() in _ELSEWHERE:
        raise SchemaError(f"a table of the engine {definition.engine} has no rows of its own: they are in other "
                          "tables, files or servers, where its changes go, and of which no log tells",
                          table=definition.full_name, hint="leave the table out with --ignore-tables")
