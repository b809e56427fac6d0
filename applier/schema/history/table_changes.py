"""What schema changes do to existing tables: versions begin, end, and continue as others."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from applier.errors import SchemaError, UnsupportedStatement
from applier.mysql.collations import Charset
from applier.schema.allowed import check_name
from applier.schema.column_ids import continued, unnumbered
from applier.schema.ddl.cursor import StatementContext
from applier.schema.ddl.schema_changes import (
    AlterDatabase,
    AlterTable,
    CreateDatabase,
    CreateTable,
    CreateTableLike,
    Dml,
    DropDatabase,
    DropTable,
    Other,
    RenameTables,
    SchemaChange,
    TableName,
    TruncateTable,
)
from applier.schema.definition import TableDefinition
from applier.schema.engines import check_rows_are_its_own
from applier.schema.foreign_keys import pointed_anew
from applier.schema.history.alter import Altered, alter, moved
from applier.schema.history.conversion import RowConversion, same_to_rows
from applier.schema.history.moved_rows import BOTH_KNOWN, MOVING, MovingAction, move_rows
from applier.schema.history.table_versions import RowSource, StatementOrigin, TableVersion, TableVersions
from applier.schema.sibling_order import acts_alike


class TableChanges:
    """Applies schema changes to `tables` and `databases`, in the order of their statements.

    `wanted` says which tables are replayed: only for them is a change that cannot be followed an error. With
    `skip_statements`, statements that change rows are skipped, and counted in `skipped`, by table and kind.
    """

    def __init__(self, tables: TableVersions, databases: dict[str, Charset], wanted: Callable[[str, str], bool],
                 skip_statements: bool) -> None:
        self._tables, self._databases, self._wanted = tables, databases, wanted
        self._skip_statements = skip_statements
        self.skipped: dict[str, Counter[str]] = {}

    def apply(self, change: SchemaChange, place: StatementOrigin) -> None:
        """Apply one change. Raises SchemaError if it cannot be followed, UnsupportedStatement if it would change a
        wanted table's rows."""
        match change:
            case CreateTable(definition):
                self._create_unless_there(definition, change, place)
            case CreateTableLike(table, source):
                self._create_like(table, source, change, place)
            case AlterTable(table):
                self._alter(table, change, place)
            case RenameTables(pairs):
                for old, new in pairs:
                    self._rename(old, new, place)
            case DropTable(tables):
                for table in tables:
                    self._tables.end(table, place.end)
            case TruncateTable(table):
                if version := self._tables.live(table):
                    self._tables.end(table, place.end)
                    self.create(replace(version.definition, first_number=1), place, emptied=version.id)
            case CreateDatabase(name, charset):
                check_name(name, "the name of a database")
                if change.or_replace:
                    self._drop_database(name, place)
                if not (change.if_not_exists and name in self._databases):
                    self._databases[name] = charset
            case AlterDatabase(name, charset):
                self._databases[name] = charset
            case DropDatabase(name):
                self._drop_database(name, place)
            case Other():
                self._stop_at_ddl(change, place)
            case Dml():
                self._stop_at_dml(change)

    def _create_unless_there(
        self, definition: TableDefinition, change: CreateTable | CreateTableLike, place: StatementOrigin
    ) -> None:
        table = definition.database, definition.name
        if change.or_replace:
            self._tables.end(table, place.end)
        if self._tables.live(table) is None:
            self.create(definition, place)
        elif not change.if_not_exists and self._wanted(*table):
            raise SchemaError("the log creates a table that already exists", table=definition.full_name,
                              hint="the --schema file or --base may be newer than the first binlog")

    def _create_like(self, table: TableName, source: TableName, change: CreateTableLike,
                     place: StatementOrigin) -> None:
        version = self._tables.live(source)
        if not self._can_be_named(table):
            return
        if version is not None:
            definition = unnumbered(replace(version.definition, database=table[0], name=table[1], foreign_keys=(),
                                            first_number=1))
            self._create_unless_there(definition, change, place)
        elif self._wanted(*table) and not (change.if_not_exists and self._tables.live(table)):
            raise SchemaError(f"the log creates a table like {'.'.join(source)}, whose definition is not known",
                              table=".".join(table), hint="give its CREATE TABLE with --schema")

    def _alter(self, table: TableName, change: AlterTable, place: StatementOrigin) -> None:
        moving = next((action for action in change.actions if isinstance(action, MOVING)), None)
        if moving is not None:
            self._move_rows(table, moving, place)
            return
        version = self._tables.live(table)
        if version is None:
            return
        try:
            altered = alter(version.definition, change.actions, change.context)
        except SchemaError as error:
            if self._wanted(*table):
                error.message, error.hint = f"{error.message}: {shorten(place.sql)}", error.hint or place.way_out
                raise error.at(table=version.definition.full_name) from None
            self._tables.end(table, place.end)  # its definition is not known now, which matters only if it is used
            return
        self._go_on(version, altered, change.context, place)

    def _move_rows(self, table: TableName, action: MovingAction, place: StatementOrigin) -> None:
        """Move rows between a partition and a table."""
        both = (table, action.table)
        divided, plain = map(self._tables.live, both)
        wanted = [self._wanted(*name) for name in both]
        if not any(wanted) or (divided is None and plain is None):
            return
        if divided is None or not all(wanted):
            raise SchemaError(f"{BOTH_KNOWN}: {shorten(place.sql)}", table=".".join(table), hint=place.way_out)
        try:
            move_rows(self._tables, divided, plain, action, place)
        except SchemaError as error:
            raise SchemaError(f"{error.message}: {shorten(place.sql)}", table=divided.definition.full_name,
                              hint=place.way_out) from None

    def _rename(self, old: TableName, new: TableName, place: StatementOrigin) -> None:
        version = self._tables.live(old)
        if version is None:
            return  # a view, or a table that nothing defines
        if not self._can_be_named(new):
            self._tables.end(old, place.end)
            return
        definition = moved(version.definition, *new)
        self._go_on(version, Altered(definition, tuple(range(len(definition.columns)))), None, place)

    def _can_be_named(self, table: TableName) -> bool:
        """True if a server accepts these names. Raises SchemaError if one is not accepted and the table is replayed."""
        try:
            check_name(table[0], "the name of a database")
            check_name(table[1], "the name of a table")
        except SchemaError as error:
            if self._wanted(*table):
                raise error.at(table=".".join(table)) from None
            return False
        return True

    def _go_on(self, version: TableVersion, altered: Altered, context: StatementContext | None,
               place: StatementOrigin) -> None:
        """Continue the table as a statement has altered it, with its rows."""
        old = version.definition
        new = self._tables.numbered(continued(old, altered.definition, altered.sources))
        self._check_engine(new)
        self._point_anew(altered, old, place)
        others = (other.definition for other in self._tables.alive() if other.id != version.id)
        context = context or StatementContext(old.flavour, time_zone="SYSTEM")
        conversion = RowConversion(
            old, new, altered.sources, context.sql_mode, context.time_zone, place.sql, place.timestamp_us, place.file,
            place.position, place.gtid, altered.removed, first_number=altered.first_number, numbering=place.numbering,
            end_of_time=place.end_of_time, ignores=altered.ignores, server_version=place.server_version,
            foreign_key_checks=context.foreign_key_checks, lc_time_names=context.lc_time_names)
        if not altered.emptied and altered.removed is None and altered.ignores is None and same_to_rows(old, new) \
                and acts_alike(old, new, others) and not (conversion.moves_timestamps or conversion.computes_anew):
            self._tables.redefine(version, new, place.end, place.sql)
            return
        if self._wanted(new.database, new.name) and not self._wanted(old.database, old.name):
            raise SchemaError(f"a table that is left out becomes one that is replayed: {shorten(place.sql)}",
                              table=new.full_name, hint=f"replay {old.full_name}, too")
        self._tables.end((old.database, old.name), place.end)
        if altered.emptied:
            self.create(new, place, emptied=version.id)
            return
        self.create(new, place, RowSource(version.id, conversion))

    def _point_anew(self, altered: Altered, old: TableDefinition, place: StatementOrigin) -> None:
        """Update foreign keys of other tables after this table or its columns were renamed."""
        names = (old.database, old.name), (altered.definition.database, altered.definition.name)
        renames = {old.columns[source].name.casefold(): column.name
                   for source, column in zip(altered.sources, altered.definition.columns, strict=True)
                   if source is not None and old.columns[source].name != column.name}
        if names[0] == names[1] and not renames:
            return
        for child in self._tables.all():
            definition = child.definition
            if child.end is not None or (definition.database, definition.name) == names[0]:
                continue
            keys = pointed_anew(definition.foreign_keys, *names, renames)
            if keys != definition.foreign_keys:
                self._go_on(child, Altered(replace(definition, foreign_keys=keys),
                                           tuple(range(len(definition.columns)))), None, place)

    def create(self, definition: TableDefinition, place: StatementOrigin, *sources: RowSource,
               emptied: int | None = None) -> None:
        """Create a table as a statement does: empty, as the version `emptied` was, or with the rows of another version.
        """
        self._check_engine(definition)
        self._tables.begin(definition, place.end, place.sql, *sources, emptied=emptied)

    def _check_engine(self, definition: TableDefinition) -> None:
        if self._wanted(definition.database, definition.name):
            check_rows_are_its_own(definition)

    def _drop_database(self, name: str, place: StatementOrigin) -> None:
        self._databases.pop(name, None)
        self._tables.end_database(name, place.end)

    def _stop_at_ddl(self, change: Other, place: StatementOrigin) -> None:
        concerned = first_wanted(change.tables, lambda *table: self._wanted(*table) and (
            change.creates or self._tables.live(table) is not None))
        if concerned is not None:
            raise SchemaError(f"{change.reason}: {shorten(change.sql)}", table=concerned or None,
                              hint=place.way_out)

    def _stop_at_dml(self, change: Dml) -> None:
        concerned = first_wanted(change.tables, self._wanted)
        if concerned is not None and self._skip_statements:
            self.skipped.setdefault(concerned, Counter())[change.kind] += 1
        elif concerned is not None:
            raise UnsupportedStatement(
                f"a statement changes rows, and its rows are not in the log: {shorten(change.sql)}",
                table=concerned or None,
                hint="only binlog_format=ROW can be replayed; stop before this with --stop-position, or leave out all "
                     "statements with --on-statement skip")


def first_wanted(tables: tuple[TableName, ...] | None, wanted: Callable[[str, str], bool]) -> str | None:
    """The first wanted table that a statement concerns; "" if that is not known, None if it concerns none."""
    if tables is None:
        return ""
    return next((".".join(table) for table in tables if wanted(*table)), None)


def shorten(sql: str, limit: int = 200) -> str:
    """A statement for people."""
    text = " ".join(sql.split())
    return text if len(text) <= limit else text[:limit - 1] + "…"
