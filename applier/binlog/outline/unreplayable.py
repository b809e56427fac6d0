"""Explains why an event that cannot be applied stops a replay."""

from applier.binlog.events.events import Event
from applier.binlog.events.format import EventType
from applier.binlog.outline.outline_recording import BLOCKED_SAVEPOINT
from applier.errors import LOG_GAP, SAVEPOINT_DOES_NOT_EXIST

_LOAD_DATA = (EventType.LOAD, EventType.EXEC_LOAD, EventType.NEW_LOAD)


_NEWER = {172: "PARTIAL_ROW_DATA of a newer MariaDB"}


def stops_always(event: Event) -> bool:
    """True if a replica stops at the event wherever it reads it, not only if it would execute it: its consequences are
    not known (EV-IGN, EV-INC)."""
    return event.type == EventType.INCIDENT or event.name.startswith("UNKNOWN")


def unreplayable_events(kind: int, event: Event, name: str, *, of_table: bool) -> tuple[str, int | None, str]:
    """Why the replay stops at this event of the file with a name, MySQL's error number, and what to do; `of_table`: it
    concerns one table only."""
    later = "stop before this group with --stop-position" + (
        ", or leave the table out with --ignore-tables" if of_table else
        f"; to go on behind it, make a new base there, or give one: --start-position {name}:POSITION")
    if kind == BLOCKED_SAVEPOINT:
        return "ROLLBACK TO a savepoint that its transaction does not have", SAVEPOINT_DOES_NOT_EXIST, later
    if event.type == EventType.INCIDENT and not event.server_id:  # applier.io.relayed_kernel
        return ("the relay logs lack what the source logged up to here: the replica had it already, or was told to "
                "leave it out", LOG_GAP, "give the relay logs before them, too; or go on behind it, with a base that "
                f"has it: --start-position {name}:{event.position + event.size}")
    if event.type == EventType.INCIDENT:
        return "an INCIDENT: the server says that events may be missing here", 1590, "make a new base from the server"
    if event.type in _LOAD_DATA:
        return "LOAD DATA in statement format", None, "a row applier needs binlog_format=ROW on the source"
    if event.name.startswith("UNKNOWN"):
        known = f" ({_NEWER[event.type]})" if event.type in _NEWER else ""
        return f"an event of type {event.type}{known}, which is unknown and must not be skipped", None, later
    return f"a {event.name} event", None, later
