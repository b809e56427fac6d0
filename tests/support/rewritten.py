"""The facts in which a rewritten archive and its original must agree."""

from collections.abc import Iterator
from pathlib import Path

import applier.binlog
from applier.binlog.archive.reader import FileEvent
from applier.binlog.events.format import event_name

GTIDS = ("GTID", "ANONYMOUS_GTID", "GTID_TAGGED")
CONTROL = ("ROTATE", "STOP", "FORMAT_DESCRIPTION", "PREVIOUS_GTIDS")


def plain_events(*binlogs: Path) -> Iterator[FileEvent]:
    """The events of logs, those within compressed ones instead of these."""
    for event in applier.binlog.open(*map(str, binlogs)):
        yield from event.events() if event.is_compressed else [event]


def outside_of_rows(*binlogs: Path) -> list[tuple]:
    """Of each event what does not change where images do: type, time, server, flags, and the body of all others. Of
    GTID events the transaction's length changes."""
    found = []
    for event in plain_events(*binlogs):
        content = event.content
        if event.name in GTIDS:
            what = content.text, content.flags, content.last_committed, content.sequence_number, \
                content.immediate_commit_timestamp, content.original_server_version
        elif event.name.endswith(("WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS", "_ROWS_V1")):
            what = content.table_id, content.flags, content.extra, content.n_columns
        else:
            what = bytes(event.body)
        found.append((event_name(event.type), event.timestamp, event.server_id, event.flags, event.group_id, what))
    return found


def wrong_places(*binlogs: Path) -> list[tuple]:
    """Events whose header does not say where they end, and GTID events whose length is not that of their group."""
    found, first, length = [], None, 0
    for path in binlogs:
        for event in [*applier.binlog.open(str(path)), None]:
            if event is None or event.name in (*GTIDS, *CONTROL):
                if first is not None and first.content.transaction_length not in (None, length):
                    found.append((path.name, first.position, first.content.transaction_length, length))
                first, length = event if event is not None and event.name in GTIDS else None, 0
            if event is not None:
                length += event.size
                if event.end_log_pos not in (0, event.position + event.size):
                    found.append((path.name, event.position, event.end_log_pos))
    return found
