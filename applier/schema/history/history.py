"""The definition of every table at every position of the archive: the log's statements, applied to definitions."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Protocol

from applier.errors import SchemaError, UnsupportedStatement
from applier.mysql.character_sets.client_charsets import ClientCharsets
from applier.mysql.character_sets.collations import Charset, compiles_defaults
from applier.mysql.names import folded
from applier.mysql.sequences import SequenceState
from applier.mysql.session import SYSTEM
from applier.schema.checks import keeps_checks
from applier.schema.ddl.cursor import StatementContext
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import (
    AlterDatabase,
    CreateDatabase,
    CreateTable,
    Dml,
    DropDatabase,
    RenameTables,
    SchemaChange,
    SessionChange,
    TableName,
)
from applier.schema.ddl.temporal_defaults import in_utc
from applier.schema.definition import SEQUENCE, TableDefinition
from applier.schema.dump_header import database_of_header
from applier.schema.foreign_keys import honours_inline_references
from applier.schema.history.session import LoggedStatement, parse_arguments, sets_replicas_zone, text_of, timestamp_us
from applier.schema.history.stored_objects import StoredObjects
from applier.schema.history.table_changes import TableChanges
from applier.schema.history.table_versions import (
    BEFORE_THE_LOG,
    FROM_METADATA,
    Position,
    Redefinition,
    StatementOrigin,
    TableVersion,
    TableVersions,
)
from applier.schema.key_infos import sorts_descending
from applier.schema.name_case import CaseEvidence, folded_table
from applier.schema.versioning import end_of_time
from applier.sql.literal_charsets import keeps_wide
from applier.sql.tokens import split_statements

SYSTEM_DATABASES = frozenset({"mysql", "sys", "information_schema", "performance_schema"})


class Statement(LoggedStatement, Protocol):
    """A QUERY event, as the outline keeps it, and its transaction."""

    gtid: str | None
    sequences: tuple[SequenceState, ...]


_AFTER_BASE: Position = (0, 1)
_HEADER = 4096
"""Characters at the beginning of a schema file in which a dump's header is."""


class SchemaHistory:
    """Applies statements in log order, and answers which definition applied where.

    `wanted(database, table)` says which tables are replayed: a statement that cannot be followed stops the replay only
    if it concerns one of them. By default that is all but the server's own. `files` are names for error messages.
    `rewrites` gives databases of the log other names here (AP-FILT); a schema file and a base already use these names.
    With `skip_statements`, statements that change rows are skipped, and counted in `skipped`, by table ("" if it is not
    known) and kind. `system_time_zone` is the meaning of SYSTEM in the log, `server_version` is the version of its
    server ("" if not known). `folds_names`: databases and tables are known by their names in lower case, as in a server
    with lower_case_table_names=1; None: names are used unchanged, and `case` has the evidence of that.
    `follows_places` as in TableVersions. `defined_by_log`
    are tables for which `define` was called, `lower_case_table_names` is the server's variable where it is known,
    `charset_assumed` are tables that inherit the character set of a database of which it is unknown. `objects` are
    those of the log other than tables.
    """

    def __init__(
        self, flavour: str, *, wanted: Callable[[str, str], bool] | None = None, files: Sequence[str] = (),
        rewrites: Mapping[str, str] | None = None, skip_statements: bool = False, server_version: str = "",
        system_time_zone: str | None = None, folds_names: bool | None = False, follows_places: bool = False
    ) -> None:
        self.flavour = flavour
        self._inline_references = honours_inline_references(flavour, server_version)
        self._keeps_checks = keeps_checks(flavour, server_version)
        self._compiled_defaults = compiles_defaults(server_version)
        self._sorts_descending = sorts_descending(flavour, server_version)
        self._keeps_wide = keeps_wide(flavour, server_version)
        self._system_time_zone, self.server_version = system_time_zone, server_version
        self._wanted = wanted or (lambda database, _: database not in SYSTEM_DATABASES)
        self._files, self._rewrites = files, rewrites or {}
        self._tables = TableVersions(self._wanted, system_time_zone or SYSTEM, follows_places=follows_places)
        self._databases: dict[str, Charset] = {}
        self.folds_names, self.case = bool(folds_names), CaseEvidence() if folds_names is None else None
        if folds_names:
            self._rewrites = {folded(old): folded(new) for old, new in self._rewrites.items()}
        self._changes = TableChanges(self._tables, self._databases, self._wanted, skip_statements, self.case)
        self.skip_statements = skip_statements
        self.lower_case_table_names: int | None = None
        self.defined_by_log: list[str] = []
        self.charset_assumed: set[str] = set()
        self.objects = StoredObjects()

    # ---- queries

    @property
    def skipped(self) -> dict[str, Counter[str]]:
        """How many statements that change rows were skipped, by table and kind."""
        return self._changes.skipped

    def at(self, database: str, table: str, position: Position) -> TableVersion | None:
        """The version that a rows event at the position changes; None if the table does not exist there."""
        return self._tables.at((database, table), position)

    def renamed(self, table: TableName) -> TableName:
        """A table of the log by its name here."""
        database, name = self._stored(table)
        return self._rewrites.get(database, database), name

    def in_other_case(self, database: str, table: str, position: Position) -> bool:
        """True if there is a table at the position whose name differs from this one in case only."""
        return self._tables.in_other_case((database, table), position) is not None

    @property
    def has_upper_case(self) -> bool:
        """True if a table has, or had, a name that is not in lower case."""
        return self._tables.has_upper_case

    def live(self) -> list[TableVersion]:
        """The tables that exist after the last statement, without sequences."""
        return [version for version in self._tables.all() if version.end is None and not version.definition.is_sequence]

    def versions(self) -> list[TableVersion]:
        """All versions; a version's id is its index."""
        return self._tables.all()

    def definitions(self) -> Iterable[TableDefinition]:
        """The definitions of `live`."""
        return (version.definition for version in self.live())

    def sequences(self) -> tuple[TableName, ...]:
        """MariaDB's sequences that exist after the last statement."""
        return tuple(sorted((version.definition.database, version.definition.name) for version in self._tables.all()
                            if version.end is None and version.definition.is_sequence))

    def databases(self) -> dict[str, Charset]:
        """The databases that exist after the last statement, as far as the log or a base names them."""
        return dict(self._databases)

    @property
    def last_databases(self) -> dict[str, Charset]:
        """The same with those that the log dropped, in their last state."""
        return self._changes.dropped_databases | self._databases

    def chains(self) -> list[list[TableVersion]]:
        """Each table's versions, linked where one continues with the rows of the other, in order; every version is in
        one list."""
        return self._tables.chains()

    def redefinitions(self, version: TableVersion) -> list[Redefinition]:
        """The statements that changed a version's definition without an effect on rows."""
        return self._tables.redefinitions(version)

    def exchanged(self) -> list[list[TableVersion]]:
        """Versions of tables that exchanged rows, in order: one list for each connected group; `chains` has them, too.
        """
        return self._tables.exchanged()

    def wants(self, database: str, table: str) -> bool:
        """True if the table of that name is replayed."""
        return self._wanted(database, table)

    def of(self, wanted: Callable[[str, str], bool]) -> "SchemaHistory":
        """The same history, with only these tables wanted, which all were."""
        narrowed = copy(self)
        narrowed._wanted = wanted
        return narrowed

    def is_wanted(self, version: TableVersion) -> bool:
        """True if the version's table is replayed, by its name here."""
        return self._wanted(version.definition.database, version.definition.name)

    @property
    def last_column_id(self) -> int:
        """The last number that a column was given."""
        return self._tables.last_column_id

    # ---- changes

    def load_column_ids(self, last: int) -> None:
        """Continue after the numbers that columns were given before the log begins."""
        self._tables.last_column_id = max(self.last_column_id, last)

    def load_database(self, name: str, charset: Charset) -> None:
        """Add a database that exists before the log begins: tables made in it later inherit its character set."""
        self._databases[folded(name) if self.folds_names else name] = charset

    def load_sequence(self, name: TableName) -> None:
        """Add a sequence that exists before the log begins."""
        definition = TableDefinition(*self._stored(name), (), engine=SEQUENCE, flavour=self.flavour)
        self._changes.create(definition, StatementOrigin(BEFORE_THE_LOG, "the base snapshot"))

    def load_definition(self, definition: TableDefinition, *, may_misplace: bool = False) -> None:
        """Add a table that exists before the log begins, from a base snapshot's manifest: defaults in the server's own
        time zone become UTC if the zone is known now. `may_misplace` as of its version."""
        if self._system_time_zone is not None:
            context = StatementContext(self.flavour, time_zone=self._system_time_zone)
            definition = replace(definition, columns=tuple(
                replace(column, default=in_utc(column.default, context)) for column in definition.columns))
        self._changes.create(definition, StatementOrigin(BEFORE_THE_LOG, "the base snapshot"))
        if may_misplace:
            self._tables.note_misplaced((definition.database, definition.name))
        self._fold_name((definition.database, definition.name))

    def begin_as(self, before: "SchemaHistory", misplaced: Collection[TableName]) -> None:
        """Begin with the end of another history, whose log this one's continues: besides the tables of a snapshot, this
        includes tables that are not wanted, and the state before the first log. `misplaced` are the tables with rows in
        partitions to which they do not belong."""
        self.objects.load(one for one in before.objects if one.end is None)
        self._tables.time_zone = before._tables.time_zone
        self.load_column_ids(before.last_column_id)
        for name, charset in before.databases().items():
            self.load_database(name, charset)
        self.charset_assumed |= before.charset_assumed
        self._changes.skipped.update({table: Counter(kinds) for table, kinds in before.skipped.items()})
        for version in before.versions():
            if version.end is None:
                self._tables.begin_as(version)
                own = version.definition.database, version.definition.name
                if own in misplaced:
                    self._tables.note_misplaced(own)
                self._fold_name(own)

    def _stored(self, table: TableName) -> TableName:
        """The name under which the server has a table."""
        return folded_table(table) if self.folds_names else table

    def _fold_name(self, table: TableName) -> None:
        """Rename a table of a base that was made before it was known that the server folds names."""
        if (stored := self._stored(table)) != table:
            self._changes.apply(RenameTables(((table, stored),)), StatementOrigin(_AFTER_BASE, "the base snapshot"))

    def define(self, definition: TableDefinition, at: Position) -> None:
        """Add a table that nothing else defines, from a position in the log on; it is empty there."""
        self.defined_by_log.append(definition.full_name)
        self._changes.create(definition, StatementOrigin(at, FROM_METADATA))

    def load_schema_file(self, text: str) -> None:
        """Add the tables that exist before the log begins, from CREATE statements; INSERTs and other statements are
        skipped. TIMESTAMP defaults are taken as UTC unless the file sets a time zone, as dumps do."""
        database, sql_mode, time_zone = database_of_header(text[:_HEADER]), "", "+00:00"
        for sql in split_statements(text):
            for change in self.load_statement(sql, database=database, sql_mode=sql_mode, time_zone=time_zone):
                if isinstance(change, SessionChange):
                    database = database if change.database is None else change.database
                    sql_mode = sql_mode if change.sql_mode is None else change.sql_mode
                    time_zone = time_zone if change.time_zone is None else change.time_zone

    def load_statement(self, sql: str, *, database: str | None, sql_mode: str, time_zone: str,
                       charsets: ClientCharsets | None = None) -> list[SchemaChange]:
        """Apply a statement of a schema file or a dump; the caller handles changes of sessions and rows. `time_zone` is
        the zone of TIMESTAMP defaults."""
        changes = self._parse(sql, default_database=database, sql_mode=sql_mode, time_zone=time_zone, charsets=charsets)
        for change in changes:
            self.objects.apply(change, StatementOrigin(BEFORE_THE_LOG, sql), database or "", sql_mode)
            if not isinstance(change, SessionChange | Dml):
                self._apply(change, StatementOrigin(BEFORE_THE_LOG, sql))
        return changes

    def apply(self, statement: Statement, at: Position, end: Position) -> None:
        """Apply the statement between two positions: rows after `end` see its effect.

        Raises SchemaError if DDL on a wanted table cannot be followed, UnsupportedStatement if the statement would
        change a wanted table's rows.
        """
        sql, context = text_of(statement), statement.context
        origin = StatementOrigin(end, sql, timestamp_us(statement), self._file(at), at[1], statement.gtid,
                               (context.get("auto_increment_increment", 1), context.get("auto_increment_offset", 1)),
                               end_of_time(self.server_version), self.server_version, statement.sequences)
        try:
            session = parse_arguments(statement, self.flavour, self._rewrites, self._system_time_zone)
            if has_zone := sets_replicas_zone(statement, self.flavour):
                self._tables.time_zone = session["time_zone"]
            for change in self._parse(sql, **session):
                self.objects.apply(change, origin, statement.database, session.get("sql_mode", ""))
                if self.case is not None and isinstance(change, CreateDatabase | DropDatabase | AlterDatabase):
                    self.case.folds |= change.name != statement.database == folded(change.name)  # typed, and stored
                self._apply(change, origin)
            if has_zone:
                self._changes.go_on_in_zone(origin)
        except (SchemaError, UnsupportedStatement) as error:
            error.file, error.position, error.gtid = origin.file, origin.position, origin.gtid
            raise

    def _apply(self, change: SchemaChange, origin: StatementOrigin) -> None:
        if isinstance(change, CreateTable) and change.inherits_charset \
                and change.definition.database not in self._databases:
            self.charset_assumed.add(change.definition.full_name)
        self._changes.apply(change, origin)

    def _file(self, at: Position) -> str | None:
        return self._files[at[0]] if at[0] < len(self._files) else None

    def _parse(self, sql: str, **session: Any) -> list[SchemaChange]:
        return parse_statement(sql, flavour=self.flavour, databases=self._databases,
                               inline_references=self._inline_references, keeps_checks=self._keeps_checks,
                               compiled_defaults=self._compiled_defaults, sorts_descending=self._sorts_descending,
                               keeps_wide=self._keeps_wide, folds_names=self.folds_names, **session)
