"""Storage engines: which take rows back when a transaction rolls back (MySQL manual, "Alternative Storage Engines")."""

from applier.schema.allowed import is_word
from applier.schema.definition import TableDefinition

_WITHOUT_TRANSACTIONS = frozenset({"MYISAM", "ARIA", "MEMORY", "HEAP", "CSV", "ARCHIVE", "MRG_MYISAM", "MERGE",
                                   "FEDERATED", "CONNECT", "S3", "BLACKHOLE"})


def engine_name(text: str) -> str | None:
    """The engine that ENGINE = `text` asks for. No engine is called by more than a word: without
    NO_ENGINE_SUBSTITUTION a server takes its default one then, which is None here."""
    return text if is_word(text) else None


def is_transactional(definition: TableDefinition) -> bool:
    """Whether ROLLBACK takes rows back that were written to the table. Servers' default is InnoDB, which does."""
    return definition.engine is None or definition.engine.upper() not in _WITHOUT_TRANSACTIONS
