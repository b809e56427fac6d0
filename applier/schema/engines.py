"""Storage engines: what they do with rows.

Sources: MySQL manual, "Alternative Storage Engines"; MariaDB's "Storage Engines"; seen on a replica of MySQL 9.7.
"""

from applier.errors import SchemaError
from applier.schema.allowed import is_word
from applier.schema.definition import TableDefinition

_WITHOUT_TRANSACTIONS = frozenset({"MYISAM", "ARIA", "MEMORY", "HEAP", "CSV", "ARCHIVE", "MRG_MYISAM", "MERGE",
                                   "FEDERATED", "CONNECT", "S3", "BLACKHOLE"})

_ELSEWHERE = frozenset({"MRG_MYISAM", "MERGE", "FEDERATED", "FEDERATEDX", "CONNECT", "SPIDER", "OQGRAPH", "SPHINX",
                        "CASSANDRA", "VP"})
"""Engines whose tables show rows of other tables, files or servers, which a replica changes, too."""
_NOWHERE = frozenset({"BLACKHOLE"})
"""Engines that accept every change of a row and keep none."""


def engine_name(text: str) -> str | None:
    """Return the engine that ENGINE = `text` names. If the text is not a plain word, a server without
    NO_ENGINE_SUBSTITUTION takes its default, which is None here."""
    return text if is_word(text) else None


def is_transactional(definition: TableDefinition) -> bool:
    """Return whether ROLLBACK takes back rows written to the table. The servers' default is InnoDB, which does."""
    return has_foreign_keys(definition.engine)


def has_foreign_keys(engine: str | None) -> bool:
    """Return whether tables of the engine have foreign keys; of one without, a server makes the index alone. Engines
    with transactions have them."""
    return engine is None or engine.upper() not in _WITHOUT_TRANSACTIONS


def counts_rows(definition: TableDefinition) -> bool:
    """Return whether the table keeps the next number of AUTO_INCREMENT: if no column has it, only engines without
    transactions do, without partitions (seen on MySQL 9.7 and MariaDB 10.5 and 11.8)."""
    return any(column.auto_increment for column in definition.columns) or (
        not is_transactional(definition) and definition.partitioning is None)


def holds_rows(definition: TableDefinition) -> bool:
    """Return whether the table keeps its rows, and a snapshot can: it has no rows of VIRTUAL columns alone."""
    return bool(definition.stored_columns) and (
        definition.engine is None or definition.engine.upper() not in _NOWHERE)


def check_rows_are_its_own(definition: TableDefinition) -> None:
    """Raise SchemaError for a table whose rows are elsewhere."""
    if definition.engine is not None and definition.engine.upper() in _ELSEWHERE:
        raise SchemaError(f"a table of the engine {definition.engine} has no rows of its own: its rows are in other "
                          "tables, files or servers, which the log does not contain",
                          table=definition.full_name, hint="leave the table out with --ignore-tables")
