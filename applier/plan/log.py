"""The part of the log that a replay applies, and the definition of every table in it.

Positions are (index of the file among the outlines, byte offset in it).
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping

from applier.binlog.archive.archive import Archive, ArchiveFile
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline import KnownStart, Outline, Statement, TableUse, UnreplayableEvent
from applier.binlog.outline.outline_notes import Ranges
from applier.columns.from_log import definition_from_log
from applier.errors import (
    LOG_GAP,
    ApplierError,
    ArchiveError,
    SchemaError,
    SnapshotError,
    UnsupportedEvent,
    UnsupportedStatement,
)
from applier.io.relayed import relayed_in
from applier.mysql.character_sets.collations import Charset
from applier.mysql.names import folded
from applier.plan.name_case import FOLDED, KEPT, told_by_log
from applier.plan.span import LogSpan, Wanted
from applier.plan.used_tables import table_map_of
from applier.schema.engines import is_transactional
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import Position
from applier.schema.other_flavour import as_mariadb, charset_as_mariadb
from applier.snapshot.manifest import UNKNOWN, BinlogPosition, Snapshot


def files_after(archive: Archive, position: BinlogPosition) -> tuple[tuple[ArchiveFile, ...], int | None]:
    """The files of the archive that continue a base snapshot, and the offset in the first of them (GRP-5): all files,
    from their beginning, if it has no position.

    Raises MissingFile (1236) if the archive begins after the base's file or ends before it.
    """
    if not position.file:
        return archive.files, None
    number = archive.index_of(position.file)
    file = archive.files[number]
    if position.offset > file.log_bytes:
        raise ArchiveError(f"the base snapshot is at {position}, but the file ends at {file.log_bytes}",
                           file=position.file, errno=LOG_GAP,
                           hint="the base is newer than these logs, or of another server")
    return archive.files[number:], position.offset


def known_start(base: Snapshot | None) -> KnownStart | None:
    """Return the facts that a base has about the log before its position."""
    if base is None:
        return None
    return KnownStart(GtidSet.parse(base.position.gtid_set), base.position.tail, base.position.timestamp)


def check_base(base: Snapshot, first: Outline) -> None:
    """Check that the base's file contains the base's transactions, and the base those before the file (GRP-5).

    Raises ArchiveError (1236) if not: files of another server may have the same names and positions.
    """
    executed, before = GtidSet.parse(base.position.gtid_set), first.previous_gtids.followed_by(first.gtids_before)
    if missing := before.subtract(executed):
        where = f"position {base.position.offset} of {first.name}" if first.gtids_before else first.name
        raise ArchiveError(f"transactions {missing} precede {where}, and the base snapshot does not contain them",
                           file=first.name, errno=LOG_GAP,
                           hint="check that these logs are of the base's own server; for a base from a dump without "
                                "GTIDs, give those of its position to `import`: --gtid-set SET")
    # A MariaDB server may forget domains; MySQL's sets only grow.
    known = GtidSet.from_intervals(executed.intervals, {domain: entry for domain, entry in executed.domains.items()
                                                        if domain in before.domains})
    if (relayed := relayed_in(first.uri)) is not None:  # of other servers the relay logs tell nothing
        known = known.of_sources(relayed.sources)
    if extra := known.subtract(before):
        raise ArchiveError(f"the base snapshot contains transactions {extra}, which {first.name} does not contain up "
                           "to the base's position",
                           file=first.name, errno=LOG_GAP,
                           hint="the base is newer than these logs, or of another server")


def read_history(span: LogSpan, wanted: Wanted, base: Snapshot | None, schema_sql: str | None,
                 rewrites: Mapping[str, str] | None = None, *, skip_statements: bool = False,
                 define_from_log: bool = False, system_time_zone: str | None = None,
                 before: SchemaHistory | None = None, lower_case_table_names: int | None = None,
                 follows_places: bool = False) -> SchemaHistory:
    """Every version of every table in the span, from the base, the schema file and the statements of the log, whose
    databases have the names of `rewrites` from here on, for `wanted`, too (AP-FILT).

    Raises the first thing in the log's order that cannot be followed: DDL or DML as text on a wanted table, or an event
    that rows cannot be applied beyond. With `skip_statements`, DML as text is skipped and counted in the history.
    With `define_from_log`, a table that nothing defines is what the log's first row event of it says, and empty there.
    `system_time_zone` is what SYSTEM is in the log. `before` is the history of the pass that made the base.
    `lower_case_table_names` is the server's variable; if it is None, the base may know it, or the log tell it. Raises
    SchemaError for a statement whose meaning depends on it if nothing does. `follows_places` as in TableVersions.
    """
    def begun(folds_names: bool | None) -> SchemaHistory:
        return _begun(span, wanted, base, schema_sql, rewrites, skip_statements=skip_statements,
                      system_time_zone=system_time_zone, before=before, folds_names=folds_names,
                      follows_places=follows_places)

    known = [source.lower_case_table_names for source in (before, base) if source is not None]
    mode = next((mode for mode in (lower_case_table_names, *known) if mode is not None), None)
    history = begun(None if mode is None else mode != KEPT)
    try:
        _read_log(history, span, wanted, define_from_log=define_from_log)
    except ApplierError:
        if mode is not None or (mode := told_by_log(history, span)) != FOLDED:
            raise
    else:
        mode = told_by_log(history, span) if mode is None else mode
    if mode == FOLDED and not history.folds_names:
        history = begun(True)
        _read_log(history, span, wanted, define_from_log=define_from_log)
    history.lower_case_table_names = mode
    return history


def _begun(span: LogSpan, wanted: Wanted, base: Snapshot | None, schema_sql: str | None,
           rewrites: Mapping[str, str] | None, *, skip_statements: bool, system_time_zone: str | None,
           before: SchemaHistory | None, folds_names: bool | None, follows_places: bool) -> SchemaHistory:
    """The history before the log begins."""
    files = [outline.uri for outline in span.outlines]
    history = SchemaHistory(span.flavour, wanted=wanted, files=files, rewrites=rewrites,
                            skip_statements=skip_statements, system_time_zone=system_time_zone,
                            server_version=before.server_version if before is not None else
                            span.outlines[0].format.server_version, folds_names=folds_names,
                            follows_places=follows_places)
    if before is not None:
        history.begin_as(before, {(table.database, table.name) for table in base.tables if table.misplaced}
                         if base is not None else ())
    elif base is not None:
        _load_base(history, base, span.outlines[0])
    if schema_sql is not None:
        try:
            history.load_schema_file(schema_sql)
        except SchemaError as error:
            error.message = f"in the file of --schema: {error.message}"
            raise
    return history


def _read_log(history: SchemaHistory, span: LogSpan, wanted: Wanted, *, define_from_log: bool) -> None:
    """Apply the statements of the log."""
    for number, outline in enumerate(span.outlines):
        for table, kinds in outline.skipped.items():
            history.skipped.setdefault(table, Counter()).update(kinds)
        rolled_back = Ranges(outline.rolled_back)
        uses = [_FirstUse(max(use.first_position, outline.start), use) for use in outline.tables
                if define_from_log and use.n_events]
        events: list[Statement | UnreplayableEvent | _FirstUse] = sorted(
            [*outline.statements, *outline.unreplayable, *uses], key=lambda event: event.position)
        for event in events:
            if isinstance(event, _FirstUse):
                _define(history, (number, event.position), outline, event.use, wanted)
            elif event.position in rolled_back and not _stays_in_effect(event):
                _check_void(outline, event, history, wanted)
            elif isinstance(event, Statement):
                history.apply(event, (number, event.position), (number, event.end))
            elif event.table is None or wanted(*history.renamed(_names(outline, outline.tables[event.table]))):
                raise _blocked(outline, event)


def _load_base(history: SchemaHistory, base: Snapshot, first: Outline) -> None:
    """The tables that exist before the log. If the base does not name its server, the log decides. Raises SnapshotError
    if it is of another kind of server."""
    flavour = base.position.flavour
    if flavour not in (history.flavour, UNKNOWN):
        names = {"mysql": "MySQL", "mariadb": "MariaDB"}
        raise SnapshotError(f"the base snapshot is of {names.get(flavour, flavour)}, and {first.name} is a log of "
                            f"{names[history.flavour]}", file=base.uri,
                            hint="are these the logs of the base's own server? If it was imported, and its dump does "
                                 f"not say whose it is: import it again with --flavour {history.flavour}")
    decided = flavour == UNKNOWN and history.flavour == "mariadb"
    for sequence in base.sequences:
        history.load_sequence(sequence)
    for database in base.databases:
        charset = Charset(database.charset, database.collation)
        history.load_database(database.name, charset_as_mariadb(charset) if decided else charset)
    history.objects.load(base.objects)
    history.load_column_ids(base.last_column_id)
    for table in base.tables:
        definition = table.definition
        if decided and history.wants(definition.database, definition.name):
            definition = as_mariadb(definition)
        history.load_definition(definition, may_misplace=table.misplaced)


_DROP_TABLE = re.compile(r"\s*DROP\s+TABLE\b", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class _FirstUse:
    """The position of a file's first rows of a table map."""

    position: int
    use: TableUse


def _define(history: SchemaHistory, at: Position, outline: Outline, use: TableUse, wanted: Wanted) -> None:
    """Define the table from this position on."""
    table_map = table_map_of(outline, use)
    name = history.renamed((table_map.database, table_map.table))
    if wanted(*name) and history.at(*name, at) is None:
        try:
            history.define(definition_from_log(table_map, name, history.flavour), at)
        except ApplierError as error:
            raise error.at(file=outline.uri, position=at[1]) from None


def _stays_in_effect(event: Statement | UnreplayableEvent) -> bool:
    """True if an event of a transaction that was rolled back counts. DROP TABLE commits by itself: MariaDB logs one so
    after a CREATE OR REPLACE TABLE … SELECT that failed and has dropped the table."""
    if isinstance(event, UnreplayableEvent):
        return event.stops_always
    sql = event.sql if isinstance(event.sql, str) else event.sql.decode("utf-8", "replace")
    return _DROP_TABLE.match(sql) is not None


def _check_void(outline: Outline, event: Statement | UnreplayableEvent, history: SchemaHistory, wanted: Wanted) -> None:
    """Check a rolled-back statement: it changed nothing, except in tables whose engine keeps rolled-back changes.
    Raises UnsupportedStatement if it names one."""
    if not isinstance(event, Statement):
        return
    sql = event.sql if isinstance(event.sql, str) else event.sql.decode("utf-8", "replace")
    for version in history.live():
        definition = version.definition
        names = folded(sql) if history.folds_names else sql
        if (definition.name in names and wanted(definition.database, definition.name)
                and not is_transactional(definition)):
            if history.skip_statements:
                history.skipped.setdefault(definition.full_name, Counter())["rolled back"] += 1
                return
            raise UnsupportedStatement("a statement of a transaction that was rolled back names a table whose engine "
                                       f"cannot roll back: {sql[:200]}",
                                       file=outline.uri, position=event.position,
                                       gtid=event.gtid, table=definition.full_name,
                                       hint="stop before it with --stop-position, or leave the table out with "
                                            "--ignore-tables")


def _names(outline: Outline, use: TableUse) -> tuple[str, str]:
    table_map = table_map_of(outline, use)
    return table_map.database, table_map.table


def _blocked(outline: Outline, event: UnreplayableEvent) -> ApplierError:
    table = None if event.table is None else ".".join(_names(outline, outline.tables[event.table]))
    return UnsupportedEvent(event.what, file=outline.uri, position=event.position, gtid=event.gtid, table=table,
                            errno=event.errno, hint=event.hint)
