"""What each type of event says in text: the end of its header line, and the lines below it."""

import struct
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from applier.binlog.archive.reader import FileEvent
from applier.binlog.events.contents import MappedTable, Statement
from applier.binlog.events.events import Gtid, Query, Rotate, RowsHeader
from applier.binlog.events.format import EventType, FormatDescription
from applier.binlog.events.gtid import GtidSet
from applier.binlog.events.statement_events import FileBlock, Load, LoadQuery, UserVar
from applier.jobs.show.context import Context, quoted, remarks
from applier.jobs.show.event_time import event_time
from applier.jobs.show.values import decimal_text
from applier.mysql.collations import by_id

TERMINATOR = "/*!*/;"
Details = tuple[str, list[str]]
"""What an event says: the end of its header line, and the lines below it."""

_ROWS_FLAGS = {
    1: "STMT_END_F", 2: "NO_FOREIGN_KEY_CHECKS_F", 4: "RELAXED_UNIQUE_CHECKS_F", 8: "COMPLETE_ROWS_F",
    16: "USE_SQL_FOREIGN_KEY_F",
}  # fmt: skip
_MARIADB_GTID_FLAGS = {1: "standalone", 4: "trans", 16: "waited", 32: "ddl", 64: "xa prepare", 128: "xa complete"}
_RBR_ONLY = 1 << 0
"""In MySQL's GTID flags it is cleared: the group may hold statements."""


def details(event: FileEvent, context: Context) -> Details:
    """What an event says. Raises ArchiveError (1610) where its body is malformed."""
    say = _DETAILS.get(event.type)
    return say(event, event.content, context) if say else (event.name.capitalize(), [])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _start(event: FileEvent, description: FormatDescription, _: Context) -> Details:
    created = event_time(description.created or event.timestamp)
    started = " at startup" if description.created else ""
    return f"Start: binlog v 4, server v {description.server_version} created {created}{started}", []


def _start_v3(event: FileEvent, content: Any, _: Context) -> Details:
    return (f"Start: binlog v {content.binlog_version}, server v {content.server_version} created "
            f"{event_time(content.created or event.timestamp)}"), []


def _query(event: FileEvent, query: Query, context: Context) -> Details:
    title = f"{event.name.capitalize()}\tthread_id={query.thread_id}\texec_time={query.execution_time}"
    title += f"\terror_code={query.error_code}"
    if isinstance(xid := query.context.get("xid"), int):
        title += f"\tXid = {xid}"
    micros = query.context.get("microseconds")
    fraction = f".{micros:06d}" if isinstance(micros, int) and micros else ""
    lines = list(context.use(query.database, event.flags))
    lines.append(f"SET TIMESTAMP={event.timestamp}{fraction}{TERMINATOR}")
    lines += [*context.changes(query.thread_id, query.context), *remarks(query.context)]
    lines += [_text(query.sql), TERMINATOR]
    if isinstance(query, LoadQuery):
        lines.append(f"# file_id: {query.file_id}")
    return title, lines


def _gtid(event: FileEvent, gtid: Gtid, _: Context) -> Details:
    title = "GTID" if gtid.text else "Anonymous_GTID"
    for name in ("last_committed", "sequence_number"):
        title += "" if getattr(gtid, name) is None else f"\t{name}={getattr(gtid, name)}"
    lines = []
    if gtid.immediate_commit_timestamp is not None and gtid.original_commit_timestamp is not None:
        title += f"\trbr_only={'no' if gtid.flags & _RBR_ONLY else 'yes'}"
        title += f"\toriginal_committed_timestamp={gtid.original_commit_timestamp}"
        title += f"\timmediate_commit_timestamp={gtid.immediate_commit_timestamp}"
        title += "" if gtid.transaction_length is None else f"\ttransaction_length={gtid.transaction_length}"
        lines += [f"# original_commit_timestamp={_micros(gtid.original_commit_timestamp)}",
                  f"# immediate_commit_timestamp={_micros(gtid.immediate_commit_timestamp)}"]
    if gtid.immediate_server_version is not None:
        lines += [f"/*!80014 SET @@session.original_server_version={gtid.original_server_version}*/{TERMINATOR}",
                  f"/*!80014 SET @@session.immediate_server_version={gtid.immediate_server_version}*/{TERMINATOR}"]
    return title, [*lines, f"SET @@SESSION.GTID_NEXT= '{gtid.text or 'ANONYMOUS'}'{TERMINATOR}"]


def _micros(micros: int) -> str:
    """Microseconds since 1970, and the same in local time."""
    try:
        local = datetime.fromtimestamp(micros // 1_000_000, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return str(micros)
    return f"{micros} ({local:%Y-%m-%d %H:%M:%S}.{micros % 1_000_000:06d} {local.tzname()})"


def _mariadb_gtid(event: FileEvent, gtid: Gtid, _: Context) -> Details:
    words = [word for bit, word in _MARIADB_GTID_FLAGS.items() if gtid.flags & bit and bit != 1]
    words += [] if gtid.commit_id is None else [f"cid={gtid.commit_id}"]
    lines = [] if gtid.flags & 1 else ["START TRANSACTION", TERMINATOR]
    return " ".join([f"GTID {gtid.text}", *words]), lines


def _previous_gtids(event: FileEvent, gtids: GtidSet, _: Context) -> Details:
    return "Previous-GTIDs", [f"# {part}" for part in (str(gtids) or "[empty]").split(",")]


def _rotate(event: FileEvent, rotate: Rotate, _: Context) -> Details:
    return f"Rotate to {rotate.next_file}  pos: {rotate.position}", []


def _table_map(event: FileEvent, mapped: MappedTable, _: Context) -> Details:
    table = mapped.table
    return f"Table_map: {quoted(table.database)}.{quoted(table.table)} mapped to number {mapped.table_id}", []


def _rows(event: FileEvent, header: RowsHeader, _: Context) -> Details:
    flags = "".join(f" {word}" for bit, word in _ROWS_FLAGS.items() if header.flags & bit)
    return f"{_rows_name(event.name)}: table id {header.table_id}" + (f" flags:{flags}" if flags else ""), []


def _rows_name(name: str) -> str:
    """As the tools call it: Write_rows, Write_compressed_rows, Update_rows_partial, Write_rows_old, …"""
    verb, *rest = name.removesuffix("_V1").split("_")
    if verb == "PRE":
        return f"{rest[1].capitalize()}_rows_old"
    if verb == "PARTIAL":
        return "Update_rows_partial"
    return f"{verb.capitalize()}_compressed_rows" if "COMPRESSED" in rest else f"{verb.capitalize()}_rows"


def _statement(event: FileEvent, statement: Statement, _: Context) -> Details:
    """ROWS_QUERY and ANNOTATE_ROWS: the statement behind the row events that follow (EV-ANN)."""
    title = "Annotate_rows:" if event.type == EventType.ANNOTATE_ROWS else "Rows_query"
    return title, [f"#Q> {line}" for line in statement.text.split("\n")]


def _user_var(event: FileEvent, variable: UserVar, _: Context) -> Details:
    return "User_var", [f"SET @{quoted(variable.name)}:={_user_value(variable)}{TERMINATOR}"]


def _user_value(variable: UserVar) -> str:
    value = variable.value
    if value is None:
        return "NULL"
    if variable.type == "real" and len(value) == 8:
        return f"{struct.unpack('<d', value)[0]:.14g}"
    if variable.type == "int":
        return str(int.from_bytes(value, "little", signed=not variable.unsigned))
    if variable.type == "decimal" and len(value) > 2:
        return decimal_text(value[2:], value[0] - value[1], value[1])
    try:
        charset, collation = by_id(variable.collation or 0)
    except KeyError:
        return f"X'{value.hex().upper()}'"
    return f"_{charset} X'{value.hex().upper()}' COLLATE `{collation}`"


def _file_block(event: FileEvent, block: FileBlock, _: Context) -> Details:
    return f"{event.name.capitalize()}: file_id: {block.file_id}  block_len: {len(block.data)}", []


def _load(event: FileEvent, load: Load, context: Context) -> Details:
    title = f"{event.name.capitalize()}\tthread_id={load.thread_id}\texec_time={load.execution_time}"
    if load.file_id is not None:
        title += f"\tfile_id: {load.file_id}  block_len: {len(load.data or b'')}"
    lines = list(context.use(load.database, event.flags))
    columns = f" ({', '.join(map(quoted, load.columns))})" if load.columns else ""
    lines.append(f"# LOAD DATA INFILE '{load.file_name}' INTO TABLE {quoted(load.table)}{columns}")
    return title, lines


def _payload(event: FileEvent, payload: Any, _: Context) -> Details:
    return (f"Transaction_payload\tpayload_size={payload.compressed_size}\tcompression_type={payload.compression}"
            f"\tuncompressed_size={payload.uncompressed_size}"), ["# Start of compressed events."]


def _said(layout: str) -> Callable[[FileEvent, Any, Context], Details]:
    """Fields of the content in one line."""
    return lambda event, content, _: (layout.format(content), [])


_DETAILS: dict[int, Callable[[FileEvent, Any, Context], Details]] = {
    EventType.FORMAT_DESCRIPTION: _start,
    EventType.START_V3: _start_v3,
    **dict.fromkeys((EventType.QUERY, EventType.QUERY_COMPRESSED, EventType.EXECUTE_LOAD_QUERY), _query),
    EventType.XID: lambda event, xid, _: (f"Xid = {xid.number}", [f"COMMIT{TERMINATOR}"]),
    **dict.fromkeys((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED), _gtid),
    EventType.MARIADB_GTID: _mariadb_gtid,
    EventType.PREVIOUS_GTIDS: _previous_gtids,
    EventType.GTID_LIST: _said("Gtid list [{0}]"),
    EventType.ROTATE: _rotate,
    EventType.BINLOG_CHECKPOINT: _said("Binlog checkpoint {0.file}"),
    EventType.TABLE_MAP: _table_map,
    **dict.fromkeys(
        (EventType.PRE_GA_WRITE_ROWS, EventType.PRE_GA_UPDATE_ROWS, EventType.PRE_GA_DELETE_ROWS,
         EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1, EventType.WRITE_ROWS,
         EventType.UPDATE_ROWS, EventType.DELETE_ROWS, EventType.PARTIAL_UPDATE_ROWS,
         *range(EventType.WRITE_ROWS_COMPRESSED_V1, EventType.DELETE_ROWS_COMPRESSED + 1)),
        _rows,
    ),
    EventType.ROWS_QUERY: _statement,
    EventType.ANNOTATE_ROWS: _statement,
    EventType.INTVAR: lambda event, intvar, _: ("Intvar", [f"SET {intvar.name}={intvar.value}{TERMINATOR}"]),
    EventType.RAND: lambda event, rand, _: (
        "Rand", [f"SET @@RAND_SEED1={rand.seed1}, @@RAND_SEED2={rand.seed2}{TERMINATOR}"]),
    EventType.USER_VAR: _user_var,
    EventType.BEGIN_LOAD_QUERY: _file_block,
    EventType.APPEND_BLOCK: _file_block,
    EventType.EXEC_LOAD: _said("Exec_load: file_id: {0.file_id}"),
    EventType.DELETE_FILE: _said("Delete_file: file_id: {0.file_id}"),
    **dict.fromkeys((EventType.LOAD, EventType.NEW_LOAD, EventType.CREATE_FILE), _load),
    EventType.XA_PREPARE: lambda event, xa, _: (
        f"XA PREPARE {xa.xid}", [f"XA {'COMMIT' if xa.one_phase else 'PREPARE'} {xa.xid}"
                                 f"{' ONE PHASE' if xa.one_phase else ''}", TERMINATOR]),
    EventType.TRANSACTION_PAYLOAD: _payload,
    EventType.INCIDENT: _said("Incident: number {0.number} {0.message}"),
    EventType.HEARTBEAT: _said("Heartbeat: {0.file}"),
    EventType.HEARTBEAT_V2: _said("Heartbeat: {0.file} {0.position}"),
    EventType.START_ENCRYPTION: _said("Start_encryption: scheme {0.scheme}, key version {0.key_version}"),
    EventType.TRANSACTION_CONTEXT: _said("Transaction_context: thread_id={0.thread_id}\tserver {0.server_uuid}"),
    EventType.VIEW_CHANGE: _said("View_change_event: view_id={0.view_id}\tsequence_number={0.sequence_number}"),
}  # fmt: skip
