"""Converts the kernel's notes to an outline: tables, splits, statements, unreplayable events, XA.

These few events are read in Python, once for each kind or statement.
"""

import numpy as np

from applier.binlog.events.events import Event, encrypted, parse_execute_load_query, parse_query, parse_rotate
from applier.binlog.events.format import HEADER_LENGTH, MARIADB_ALTER_WITHOUT_EFFECT, EventType
from applier.binlog.events.xa import parse_xa_decision, parse_xa_prepare
from applier.binlog.outline.outline import (
    Outline,
    PreparedGroup,
    Relevance,
    Split,
    Statement,
    TableUse,
    UnreplayableEvent,
    XaDecision,
)
from applier.binlog.outline.outline_recording import (
    BLOCKED,
    BLOCKED_SAVEPOINT,
    FILE_EVENT,
    SAMPLE_BYTES,
    XA_DECIDED,
    XA_PREPARED,
    Recording,
)
from applier.binlog.outline.outline_tables import MAY_CASCADE, PARTIAL_IMAGES, PARTIAL_VALUES
from applier.binlog.outline.outlined_file import OutlinedFile
from applier.binlog.outline.samples import Samples, chosen
from applier.binlog.outline.sequences import states_before
from applier.binlog.outline.statements import RelevantStatements
from applier.binlog.outline.unreplayable import stops_always, unreplayable_events
from applier.errors import ArchiveError


def add_recorded(outline: Outline, file: OutlinedFile, recording: Recording, sample_bytes: int | None,
                 relevance: Relevance | None) -> None:
    """Fill in tables, so many bytes of their samples at most, splits, rolled-back ranges, and what the notes describe:
    of statements, those that are relevant. Raises ArchiveError for events that no archive may hold."""
    tables = recording.used("tables")
    for row in tables:
        partial = int(row["partial"])
        outline.tables.append(TableUse(
            file.bytes_at(int(row["body"]), int(row["body_length"])), int(row["first_position"]),
            int(row["rows_events"]), int(row["rows_bytes"]), bool(partial & PARTIAL_IMAGES),
            _number(row["after_columns"]), _number(row["lacked_columns"]), bool(partial & PARTIAL_VALUES),
            bool(partial & MAY_CASCADE),
        ))  # fmt: skip
    outline.samples = _samples(file, tables, sample_bytes)
    splits = recording.used("splits").tolist()
    used = np.zeros((len(splits), len(tables)), np.bool_)
    places = recording.used("split_tables")
    used[places["split"], places["use"]] = True
    for (start, end, digest), bits in zip(splits, np.packbits(used, axis=1, bitorder="little"), strict=True):
        outline.splits.append(Split(start, end, bits.tobytes(), digest, file.format.checksum,
                                    file.format.header_length))
    outline.rolled_back = recording.used("rolled_back").tolist()
    _add_notes(outline, file, recording.used("notes"), relevance)
    outline.pack()


def _samples(file: OutlinedFile, tables: np.ndarray, n_bytes: int | None) -> Samples:
    places = [row["samples"][: int(row["n_samples"])].tolist() for row in tables]
    if n_bytes is not None:
        sizes = [[min(file.size_at(place), SAMPLE_BYTES) for place in of_table] for of_table in places]
        places = [[of_table[number] for number in kept]
                  for of_table, kept in zip(places, chosen(sizes, n_bytes, file.name), strict=True)]
    return Samples.of_tables([_sample(file, place) for place in of_table] for of_table in places)


def _sample(file: OutlinedFile, place: int) -> bytes:
    """The beginning of a rows event, with a header of 19 bytes."""
    event = file.bytes_at(place, min(file.size_at(place), SAMPLE_BYTES))
    return event[:HEADER_LENGTH] + event[file.format.header_length :]


def _add_notes(outline: Outline, file: OutlinedFile, notes: np.ndarray, relevance: Relevance | None) -> None:
    prepared = frozenset(notes["group"][notes["kind"] == XA_PREPARED].tolist())
    statements = RelevantStatements(outline, relevance, prepared)
    for kind, position, place, group_start, gtid_position, table in map(np.void.tolist, notes):
        end = position + file.size_at(position)
        event = file.read(position) if place == position else file.kept_event(place, position)
        if kind == FILE_EVENT:
            _add_file_event(outline, file, event)
            continue
        gtid = file.gtid_at(gtid_position)
        if kind == XA_PREPARED:
            xid = file.placed(event, parse_xa_prepare, event.body).xid
            outline.prepared.append(PreparedGroup(group_start, end, xid, gtid))
            continue
        if kind in (BLOCKED, BLOCKED_SAVEPOINT):
            what, errno, hint = unreplayable_events(kind, event, file.name, of_table=table >= 0)
            outline.unreplayable.append(UnreplayableEvent(position, group_start, what, errno, hint, gtid,
                                            table if table >= 0 else None, stops_always(event)))
            continue
        parse = parse_execute_load_query if event.type == EventType.EXECUTE_LOAD_QUERY else parse_query
        query = file.placed(event, parse, event.body)
        if kind == XA_DECIDED:
            xid, commits = file.placed(event, parse_xa_decision, query.sql)
            outline.decisions.append(XaDecision(position, xid, commits, gtid))
            continue
        if query.context.get("gtid_flags_extra", 0) & MARIADB_ALTER_WITHOUT_EFFECT:
            continue
        statement = Statement(position, end, group_start, query.text, query.database, query.context, event.timestamp,
                              gtid)
        statement.sequences = states_before(statement, outline, file)
        statements.add(statement)


def _add_file_event(outline: Outline, file: OutlinedFile, event: Event) -> None:
    if event.type == EventType.ROTATE:
        outline.next_file = parse_rotate(event.body).next_file
    elif event.type == EventType.START_ENCRYPTION:
        raise encrypted(file.uri, event.position)
    else:
        raise ArchiveError(
            "a second format description within a file",
            file=file.uri,
            position=event.position,
            hint="this may be a relay log; give the source's own binlogs",
        )


def _number(bitmap: np.ndarray) -> int:
    """A bitmap of columns, the lowest first, as one number."""
    return int.from_bytes(bitmap.tobytes(), "little")
