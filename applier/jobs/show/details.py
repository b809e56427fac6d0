"""Text of the rarer types of events: the end of the header line, and the lines below it, as the servers' own programs
print them. Kernels print the others."""

import base64
import struct
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from applier.binlog.archive.reader import FileEvent
from applier.binlog.events.events import Gtid, Rotate
from applier.binlog.events.format import IN_USE_FLAG, MARIADB_ALTER_WITHOUT_EFFECT, EventType, FormatDescription
from applier.binlog.events.gtid import GtidSet
from applier.binlog.events.statement_events import FileBlock, Load, UserVar
from applier.binlog.events.xa import XaPrepare
from applier.binlog.rows.layout import decimal_bytes
from applier.errors import CORRUPT_EVENT, ArchiveError
from applier.jobs.show.context import TERMINATOR, Context, quoted
from applier.jobs.show.style import Style
from applier.mysql.character_sets.collations import by_id

Details = tuple[str, list[str]]
"""An event's text: the end of its header line, and the lines below it. Where the end is empty, a comment in a line of
its own comes first."""

_RBR_ONLY = 1 << 0
"""In MySQL's GTID flags it is cleared: the group may hold statements."""
_INCIDENTS = {0: "NOTHING", 1: "LOST_EVENTS"}
_TWO_PHASES = MARIADB_ALTER_WITHOUT_EFFECT | 4
_IN_USE = "# Warning: this binlog is either in use or was not closed properly."


def details(event: FileEvent, context: Context, style: Style) -> Details:
    """Return an event's text after events that left `context`. Raises ArchiveError (1610) if its body is malformed."""
    content, say = event.content, _DETAILS.get(event.type)
    if isinstance(content, Load):
        return _load(event, content, context)
    if isinstance(content, FormatDescription):
        return _start(event, content, style)
    return say(event, content) if say else (event.name.capitalize(), [])


def binlog_statement(data: bytes) -> list[str]:
    """Return the lines of the statement that runs an event."""
    return ["BINLOG '", *base64.encodebytes(data).decode().splitlines(), f"'{TERMINATOR}"]


def two_phase_alter(event: FileEvent, style: Style) -> str | None:
    """Return the text of an ALTER that MariaDB logs twice, when it begins and when it ends, in place of its statement:
    both parts run as events only. None for other statements."""
    flags = event.content.context.get("gtid_flags_extra")
    if not isinstance(flags, int) or not flags & _TWO_PHASES:
        return None
    lines = []
    if style.shows_binlog:
        lines = binlog_statement(event.mapped.array[event.position:event.position + event.size].tobytes())
        if flags & MARIADB_ALTER_WITHOUT_EFFECT:
            lines = [f"/*!100600 {lines[0]}", *lines[1:-1], f"' */{TERMINATOR}"]
    if style.shows_rows:
        lines.append(f"### {event.content.sql.decode('utf-8', 'surrogateescape')}")
    return "".join(f"{line}\n" for line in lines)


def event_time(timestamp: int) -> str:
    """Seconds since 1970 in local time, as mysqlbinlog writes it: the hour has no leading zero."""
    local = time.localtime(timestamp)
    return f"{time.strftime('%y%m%d', local)} {local.tm_hour:2}{time.strftime(':%M:%S', local)}"


def _start(event: FileEvent, description: FormatDescription, style: Style) -> Details:
    created = event_time(description.created or event.timestamp)
    started = " at startup" if description.created else ""
    lines = [_IN_USE] if event.flags & IN_USE_FLAG and not style.short else []
    lines += [f"ROLLBACK{TERMINATOR}"] if description.created else []
    if style.shows_binlog:
        lines += binlog_statement(event.mapped.array[event.position:event.position + event.size].tobytes())
    if style.skip_gtids and description.flavour == "mysql":
        lines.append(f"/*!50616 SET @@SESSION.GTID_NEXT='AUTOMATIC'*/{TERMINATOR}")
    return f"Start: binlog v 4, server v {description.server_version} created {created}{started}", lines


def _start_v3(event: FileEvent, content: Any) -> Details:
    return (f"Start: binlog v {content.binlog_version}, server v {content.server_version} created "
            f"{event_time(content.created or event.timestamp)}"), []


def _gtid(event: FileEvent, gtid: Gtid) -> Details:
    title = "GTID" if gtid.text else "Anonymous_GTID"
    for name in ("last_committed", "sequence_number"):
        title += "" if getattr(gtid, name) is None else f"\t{name}={getattr(gtid, name)}"
    lines = [] if gtid.flags & _RBR_ONLY else [
        f"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/{TERMINATOR}"]
    if gtid.last_committed is not None:
        title += f"\trbr_only={'no' if gtid.flags & _RBR_ONLY else 'yes'}"
    if gtid.immediate_commit_timestamp is not None and gtid.original_commit_timestamp is not None:
        title += f"\toriginal_committed_timestamp={gtid.original_commit_timestamp}"
        title += f"\timmediate_commit_timestamp={gtid.immediate_commit_timestamp}"
        title += "" if gtid.transaction_length is None else f"\ttransaction_length={gtid.transaction_length}"
        lines += [f"# original_commit_timestamp={_micros(gtid.original_commit_timestamp)}",
                  f"# immediate_commit_timestamp={_micros(gtid.immediate_commit_timestamp)}",
                  f"/*!80001 SET @@session.original_commit_timestamp={gtid.original_commit_timestamp}*/{TERMINATOR}"]
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
    return "Previous-GTIDs", ["# " + (str(gtids) or "[empty]").replace(",", ",\n# ")]


def _rotate(event: FileEvent, rotate: Rotate) -> Details:
    return f"Rotate to {rotate.next_file}  pos: {rotate.position}", []


def _user_var(event: FileEvent, variable: UserVar) -> Details:
    return "User_var", [f"SET @{quoted(variable.name)}:={_user_value(variable, event.format.flavour)}{TERMINATOR}"]


def _user_value(variable: UserVar, flavour: str) -> str:
    value = variable.value
    if value is None:
        return "NULL"
    if variable.type == "real" and len(value) == 8:
        return f"{struct.unpack('<d', value)[0]:.14g}"
    if variable.type == "int":
        return str(int.from_bytes(value, "little", signed=not variable.unsigned))
    if variable.type == "decimal" and len(value) > 2:
        return _decimal(value[0], value[1], value[2:])
    literal = f"0x{value.hex().upper()}" if flavour == "mysql" else f"X'{value.hex().upper()}'"
    try:
        charset, collation = by_id(variable.collation or 0)
    except KeyError:
        return literal
    return f"_{charset} {literal} COLLATE `{collation}`"


def _decimal(precision: int, scale: int, data: bytes) -> str:
    from applier.columns.values import decimal_texts  # few logs have one, and it needs all of `columns`

    try:
        if scale <= precision and len(data) == decimal_bytes(precision, scale):
            return str(decimal_texts(pa.array([data], pa.binary(len(data))), precision, scale)[0])
    except ValueError:
        pass
    raise ArchiveError("a user variable's DECIMAL is none", errno=CORRUPT_EVENT)


def _file_block(event: FileEvent, block: FileBlock) -> Details:
    return "", [f"#{event.name.capitalize()}: file_id: {block.file_id}  block_len: {len(block.data)}"]


def _load(event: FileEvent, load: Load, context: Context) -> Details:
    title = f"{event.name.capitalize()}\tthread_id={load.thread_id}\texec_time={load.execution_time}"
    if load.file_id is not None:
        title += f"\tfile_id: {load.file_id}  block_len: {len(load.data or b'')}"
    lines = [f"{statement}{TERMINATOR}" for statement in context.use(load.database, event.flags)]
    columns = f" ({', '.join(map(quoted, load.columns))})" if load.columns else ""
    lines.append(f"# LOAD DATA INFILE '{load.file_name}' INTO TABLE {quoted(load.table)}{columns}")
    return title, lines


def _listed(gtids: list[str]) -> Details:
    """MariaDB's GTIDs, one a line."""
    first, *others = [f"{gtid}," for gtid in gtids[:-1]] + [f"{gtids[-1]}]"]
    return f"Gtid list [{first}", [f"# {gtid}" for gtid in others]


def _xa_prepare(event: FileEvent, xa: XaPrepare) -> Details:
    title = f"XA PREPARE {xa.xid}" if event.format.flavour == "mysql" else f"XID = {xa.xid}"
    end = f"COMMIT {xa.xid} ONE PHASE" if xa.one_phase else f"PREPARE {xa.xid}"
    return title, [f"XA {end}", TERMINATOR]


def _said(layout: str) -> Callable[[FileEvent, Any], Details]:
    """Return the fields of the content in one line."""
    return lambda event, content: (layout.format(content), [])


_DETAILS: dict[int, Callable[[FileEvent, Any], Details]] = {
    EventType.START_V3: _start_v3,
    **dict.fromkeys((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED), _gtid),
    EventType.PREVIOUS_GTIDS: _previous_gtids,
    EventType.GTID_LIST: lambda event, gtids: _listed(str(gtids).split(",")),
    EventType.ROTATE: _rotate,
    EventType.BINLOG_CHECKPOINT: _said("Binlog checkpoint {0.file}"),
    EventType.INTVAR: lambda event, intvar: ("Intvar", [f"SET {intvar.name}={intvar.value}{TERMINATOR}"]),
    EventType.RAND: lambda event, rand: (
        "Rand", [f"SET @@RAND_SEED1={rand.seed1}, @@RAND_SEED2={rand.seed2}{TERMINATOR}"]),
    EventType.USER_VAR: _user_var,
    EventType.BEGIN_LOAD_QUERY: _file_block,
    EventType.APPEND_BLOCK: _file_block,
    EventType.EXEC_LOAD: _said("Exec_load: file_id: {0.file_id}"),
    EventType.DELETE_FILE: lambda event, block: ("", [f"#Delete_file: file_id={block.file_id}"]),
    EventType.XA_PREPARE: _xa_prepare,
    EventType.INCIDENT: lambda event, incident: (
        "", [f"# Incident: {_INCIDENTS.get(incident.number, incident.number)}",
             "RELOAD DATABASE; # Sh" "all generate syntax error"]),
    EventType.HEARTBEAT: _said("Heartbeat: {0.file}"),
    EventType.HEARTBEAT_V2: _said("Heartbeat: {0.file} {0.position}"),
    EventType.START_ENCRYPTION: _said("Start_encryption: scheme {0.scheme}, key version {0.key_version}"),
    EventType.TRANSACTION_CONTEXT: _said("Transaction_context: thread_id={0.thread_id}\tserver {0.server_uuid}"),
    EventType.VIEW_CHANGE: _said("View_change_event: view_id={0.view_id}\tsequence_number={0.sequence_number}"),
}  # fmt: skip
