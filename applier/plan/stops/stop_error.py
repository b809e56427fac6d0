"""Finds the first refused change, and its transaction: looked up only when the replay stops."""

from __future__ import annotations

from collections.abc import Sequence

from applier.binlog.events.events import parse_gtid, read_event, read_format
from applier.binlog.events.format import GTID_EVENTS, EventType
from applier.binlog.events.query import parse_query
from applier.binlog.outline.outline import Outline
from applier.errors import DUPLICATE_KEY, KEY_NOT_FOUND, ApplierError
from applier.io.mapping import map_file

_IN_ONE_ROW = {KEY_NOT_FOUND: 0, DUPLICATE_KEY: 2}


def first_of(errors: Sequence[ApplierError], order: dict[str, int]) -> ApplierError:
    """The error at which a replica would have stopped, of those of several units; `order` numbers the files by uri.

    For a row that moves between units, a missing row comes before a taken new key; a JSON diff that does not fit comes
    between the two.
    """
    return min(errors, key=lambda error: (order[error.file or ""], error.position or 0, error.row or 0,
                                          _IN_ONE_ROW.get(error.mysql_errno or 0, 1)))


def with_transaction(error: ApplierError, outline: Outline,
                     then: str = "then compare the row on the source") -> ApplierError:
    """Add to an error its GTID and, if it has no hint, one with the position before its event group, and with what to
    do `then`. An error without a position has no known transaction."""
    end = error.position
    if end is None:
        return error
    file = map_file(outline.uri, whole=False)
    position = max((split.start for split in outline.splits if split.start <= end), default=4)
    description = read_format(file)
    file.fetch(position, end)
    group, gtid, has_gtids = position, None, False
    while position < end:
        event = read_event(file, position, description)
        if event.type in GTID_EVENTS:
            group, has_gtids = position, True
            gtid = parse_gtid(event.type, event.body, event.server_id).text
        elif not has_gtids and event.type == EventType.QUERY and parse_query(event.body).sql == b"BEGIN":
            group = position
        position += event.size
    error.hint = error.hint or (f"to keep what came before this transaction, replay with --stop-position "
                                f"{outline.name}:{group}; {then}")
    return error.at(gtid=gtid)
