"""Storage engines: which take rows back when a transaction rolls back (MySQL manual, "Alternative Storage Engines")."""

from applier.schema.definition import TableDefinition

_WITHOUT_TRANSACTIONS = frozenset({"MYISAM", "ARIA", "MEMORY", "HEAP", "CSV", "ARCHIVE", "MRG_MYISAM", "MERGE",
                                   "FEDERATED", "CONNECT", "S3", "BLACKHOLE"})


def is_transactional(definition: TableDefinition) -> bool:
    """Whether ROLLBACK takes rows back that were written to the table. Servers' default is InnoDB, which does."""
    return definition.engine is None or definition.engine.upper() not in _WITHOUT_TRANSACTIONS
