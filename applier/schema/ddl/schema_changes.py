"""The effects of statements on databases and tables, as data: one class for each kind of statement.

Nothing is skipped silently: a statement is `Ignored` because it is known to change no table, or it is `Other`, which
stops a replay that it concerns.
"""

from dataclasses import dataclass, field

from applier.mysql.character_sets.collations import Charset
from applier.schema.ddl.alter_actions import AlterAction
from applier.schema.ddl.cursor import StatementContext
from applier.schema.definition import TableDefinition
from applier.schema.stored_object import NamedObject

TableName = tuple[str, str]  # database, table


@dataclass(frozen=True, slots=True)
class CreateDatabase:
    """CREATE DATABASE, with its default character set."""

    name: str
    charset: Charset
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True)
class AlterDatabase:
    """ALTER DATABASE: new tables inherit another character set; existing ones keep theirs."""

    name: str
    charset: Charset


@dataclass(frozen=True, slots=True)
class DropDatabase:
    """DROP DATABASE, which drops all its tables."""

    name: str


@dataclass(frozen=True, slots=True)
class CreateTable:
    """inherits_charset: the statement does not name the table's character set, so it is the database's."""

    definition: TableDefinition
    if_not_exists: bool = False
    or_replace: bool = False
    inherits_charset: bool = False


@dataclass(frozen=True, slots=True)
class CreateTableLike:
    """CREATE TABLE … LIKE another one; its effect also depends on `context`."""

    table: TableName
    source: TableName
    if_not_exists: bool
    or_replace: bool
    context: StatementContext


@dataclass(frozen=True, slots=True)
class AlterTable:
    """ALTER TABLE, CREATE INDEX or DROP INDEX; its effect also depends on `context`."""

    table: TableName
    actions: tuple[AlterAction, ...]
    context: StatementContext


@dataclass(frozen=True, slots=True)
class RenameTables:
    """RENAME TABLE: each pair (old name, new name) in turn, so that tables can swap names."""

    pairs: tuple[tuple[TableName, TableName], ...]


@dataclass(frozen=True, slots=True)
class DropTable:
    """DROP TABLE. Tables that do not exist are ignored: the server has logged the outcome."""

    tables: tuple[TableName, ...]


@dataclass(frozen=True, slots=True)
class TruncateTable:
    """TRUNCATE TABLE, which removes all rows."""

    table: TableName


@dataclass(frozen=True, slots=True)
class Ignored:
    """A statement that changes no table's rows or definition; `what` names it. `names` are the tables, views and
    sequences that it is about; of routines, events and whole databases the database (None as the name). `objects` are
    the objects of CREATE, ALTER or DROP other than tables; `if_not_exists` is of CREATE. `options` are the
    words after the tables of OPTIMIZE, REPAIR and the like."""

    what: str
    names: tuple[tuple[str, str | None], ...] = field(default=(), compare=False)
    objects: tuple[NamedObject, ...] = field(default=(), compare=False)
    if_not_exists: bool = field(default=False, compare=False)
    options: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class SessionChange:
    """USE, or a SET that later statements of a schema file depend on; a log has these in its events' contexts."""

    database: str | None = None
    sql_mode: str | None = None
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class Other:
    """DDL of which only the kind is known. `tables` is None if the affected tables are unknown. `creates`: it may
    create some of them."""

    kind: str
    tables: tuple[TableName, ...] | None
    sql: str
    reason: str = ""
    creates: bool = False


@dataclass(frozen=True, slots=True)
class Dml:
    """A statement that changes rows, as text. `tables` is None if the tables are unknown. `empties`: it deletes all
    rows of its only table."""

    kind: str
    tables: tuple[TableName, ...] | None
    sql: str
    empties: bool = False


SchemaChange = (CreateDatabase | AlterDatabase | DropDatabase | CreateTable | CreateTableLike | AlterTable
                | RenameTables | DropTable | TruncateTable | Ignored | SessionChange | Other | Dml)
