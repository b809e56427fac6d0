"""Text of the rarer types of events: the end of the header line, and the lines below it. Kernels print the others."""

import struct
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from applier.binlog.archive.reader import FileEvent
from applier.binlog.events.events import Gtid, Rotate
from applier.binlog.events.format import EventType, FormatDescription
from applier.binlog.events.gtid import GtidSet
from applier.binlog.events.statement_events import FileBlock, Load, UserVar
from applier.binlog.rows.layout import decimal_bytes
from applier.errors import CORRUPT_EVENT, ArchiveError
from applier.jobs.show.context import Context, quoted
from applier.mysql.character_sets.collations import by_id

TERMINATOR = "/*!*/;"
Details = tuple[str, list[str]]
"""An event's text: the end of its header line, and the lines below it."""

_RBR_ONLY = 1 << 0
"""In MySQL's GTID flags it is cleared: the group may hold statements."""


def details(event: FileEvent, context: Context) -> Details:
    """An event's text after events that left `context`. Raises ArchiveError (1610) if its body is malformed."""
    content, say = event.content, _DETAILS.get(event.type)
    if isinstance(content, Load):
        return _load(event, content, context)
    return say(event, content) if say else (event.name.capitalize(), [])


def event_time(timestamp: int) -> str:
    """Seconds since 1970 in local time, as mysqlbinlog writes it: the hour has no leading zero."""
    local = time.localtime(timestamp)
    return f"{time.strftime('%y%m%d', local)} {local.tm_hour:2}{time.strftime(':%M:%S', local)}"


def _start(event: FileEvent, description: FormatDescription) -> Details:
    created = event_time(description.created or event.timestamp)
    started = " at startup" if description.created else ""
    return f"Start: binlog v 4, server v {description.server_version} created {created}{started}", []


def _start_v3(event: FileEvent, content: Any) -> Details:
    return (f"Start: binlog v {content.binlog_version}, server v {content.server_version} created "
            f"{event_time(content.created or event.timestamp)}"), []


def _gtid(event: FileEvent, gtid: Gtid) -> Details:
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


def _previous_gtids(event: FileEvent, gtids: GtidSet) -> Details:
    return "Previous-GTIDs", [f"# {part}" for part in (str(gtids) or "[empty]").split(",")]


def _rotate(event: FileEvent, rotate: Rotate) -> Details:
    return f"Rotate to {rotate.next_file}  pos: {rotate.position}", []


def _user_var(event: FileEvent, variable: UserVar) -> Details:
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
        return _decimal(value[0], value[1], value[2:])
    try:
        charset, collation = by_id(variable.collation or 0)
    except KeyError:
        return f"X'{value.hex().upper()}'"
    return f"_{charset} X'{value.hex().upper()}' COLLATE `{collation}`"


def _decimal(precision: int, scale: int, data: bytes) -> str:
    from applier.columns.values import decimal_texts  # few logs have one, and it needs all of `columns`

    try:
        if scale <= precision and len(data) == decimal_bytes(precision, scale):
            return str(decimal_texts(pa.array([data], pa.binary(len(data))), precision, scale)[0])
    except ValueError:
        pass
    raise ArchiveError("a user variable's DECIMAL is none", errno=CORRUPT_EVENT)


def _file_block(event: FileEvent, block: FileBlock) -> Details:
    return f"{event.name.capitalize()}: file_id: {block.file_id}  block_len: {len(block.data)}", []


def _load(event: FileEvent, load: Load, context: Context) -> Details:
    title = f"{event.name.capitalize()}\tthread_id={load.thread_id}\texec_time={load.execution_time}"
    if load.file_id is not None:
        title += f"\tfile_id: {load.file_id}  block_len: {len(load.data or b'')}"
    lines = list(context.use(load.database, event.flags))
    columns = f" ({', '.join(map(quoted, load.columns))})" if load.columns else ""
    lines.append(f"# LOAD DATA INFILE '{load.file_name}' INTO TABLE {quoted(load.table)}{columns}")
    return title, lines


def _said(layout: str) -> Callable[[FileEvent, Any], Details]:
    """Fields of the content in one line."""
    return lambda event, content: (layout.format(content), [])


_DETAILS: dict[int, Callable[[FileEvent, Any], Details]] = {
    EventType.FORMAT_DESCRIPTION: _start,
    EventType.START_V3: _start_v3,
    **dict.fromkeys((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED), _gtid),
    EventType.PREVIOUS_GTIDS: _previous_gtids,
    EventType.GTID_LIST: _said("Gtid list [{0}]"),
    EventType.ROTATE: _rotate,
    EventType.BINLOG_CHECKPOINT: _said("Binlog checkpoint {0.file}"),
    EventType.INTVAR: lambda event, intvar: ("Intvar", [f"SET {intvar.name}={intvar.value}{TERMINATOR}"]),
    EventType.RAND: lambda event, rand: (
        "Rand", [f"SET @@RAND_SEED1={rand.seed1}, @@RAND_SEED2={rand.seed2}{TERMINATOR}"]),
    EventType.USER_VAR: _user_var,
    EventType.BEGIN_LOAD_QUERY: _file_block,
    EventType.APPEND_BLOCK: _file_block,
    EventType.EXEC_LOAD: _said("Exec_load: file_id: {0.file_id}"),
    EventType.DELETE_FILE: _said("Delete_file: file_id: {0.file_id}"),
    EventType.XA_PREPARE: lambda event, xa: (
        f"XA PREPARE {xa.xid}", [f"XA {'COMMIT' if xa.one_phase else 'PREPARE'} {xa.xid}"
                                 f"{' ONE PHASE' if xa.one_phase else ''}", TERMINATOR]),
    EventType.INCIDENT: _said("Incident: number {0.number} {0.message}"),
    EventType.HEARTBEAT: _said("Heartbeat: {0.file}"),
    EventType.HEARTBEAT_V2: _said("Heartbeat: {0.file} {0.position}"),
    EventType.START_ENCRYPTION: _said("Start_encryption: scheme {0.scheme}, key version {0.key_version}"),
    EventType.TRANSACTION_CONTEXT: _said("Transaction_context: thread_id={0.thread_id}\tserver {0.server_uuid}"),
    EventType.VIEW_CHANGE: _said("View_change_event: view_id={0.view_id}\tsequence_number={0.sequence_number}"),
}  # fmt: skip
