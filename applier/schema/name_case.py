"""The case of names of databases and tables: lower_case_table_names, and how a log shows it.

With 1 (Windows) and 2 (macOS) a server compares these names without regard to case: statements are logged as typed,
table maps have lower case. Source: MySQL manual, "Identifier Case Sensitivity".
"""

from dataclasses import dataclass, field

from applier.errors import SchemaError
from applier.mysql.names import folded

TableName = tuple[str, str]  # database, table


def folded_table(table: TableName) -> TableName:
    """Return the database and the name of a table in lower case."""
    return folded(table[0]), folded(table[1])


@dataclass
class CaseEvidence:
    """The evidence in a log's statements about its server's lower_case_table_names, while names are read as
    case-sensitive.

    `folds`: an event that only a server that ignores case could log; as long as nothing was missed, `keeps`: an event
    that only a server that distinguishes case could log. `doubtful` is the error for the first statement whose meaning
    depends on it. `complete` are the databases whose tables are all known.
    """

    folds: bool = False
    keeps: bool = False
    doubtful: SchemaError | None = None
    complete: set[str] = field(default_factory=set)

    def not_there(self, written: TableName, known: TableName, *, must_exist: bool, sql: str) -> None:
        """Record a statement that names a table that does not exist, where `known` differs from it in case only. With
        `must_exist`, servers refuse it for a table that they do not have."""
        if must_exist and written[0] in self.complete:
            self.folds = True
        else:
            self._doubt(written, known, sql)

    def created(self, written: TableName, known: TableName, *, if_not_exists: bool, sql: str) -> None:
        """Record a statement that creates a table beside one, `known`, that differs from it in case only."""
        if if_not_exists:
            self._doubt(written, known, sql)
        elif self.doubtful is None and not self.folds:
            self.keeps = True

    def _doubt(self, written: TableName, known: TableName, sql: str) -> None:
        if self.doubtful is None:
            self.doubtful = SchemaError(
                f"the statement names {'.'.join(written)}, and the log does not say whether that is the table "
                f"{'.'.join(known)}, whose name differs in case only: {sql}", table=".".join(known),
                hint="give the server's variable to replay, --lower-case-table-names 0, 1 or 2; a --base made with "
                     "it keeps it")
