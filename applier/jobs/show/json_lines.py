"""Events as JSON, an object a line.

    {"pos": 1234, "end": 1310, "type": "UPDATE_ROWS", "op": "update", "table": "db.t", "before": {"@1": "1"},
     "after": {"@1": "2"}}
    {"pos": 1310, "end": 1341, "type": "XID", "timestamp": 1795203941, "server_id": 7, "fields": {"number": 16}}

`pos` is the event's offset in its file, `end` the next one's, and every file's first object has `"pos": 4`. Events
within a TRANSACTION_PAYLOAD follow it with its places, and their own number in it as `within`. A row change has a line
of its own, with its columns' values as `mysqlbinlog -v` prints them (all are strings, and text has its SQL quotes, so
NULL is not 'NULL'; a JSON diff is SQL with line feeds); columns that an image lacks are left out, and the image that an
operation lacks is null. Other events have what they hold as `fields` (binlog/events/contents.py has their meaning), and
a `group_id` where headers have one. Bytes that are not UTF-8 come as the escapes \\udc80 to \\udcff (Python's
surrogateescape). Rows that cannot be shown have a `note`.
"""

import json
from collections.abc import Iterator
from typing import Any

import orjson

from applier.jobs.show.fields import fields
from applier.jobs.show.rows import ShownEvent


def event_objects(shown: ShownEvent) -> Iterator[str]:
    """One line, without its line feed, for each row change, or one for an event without any. Raises ArchiveError (1610)
    where the event's body is malformed."""
    event = shown.event
    place = {"pos": event.position, "end": event.end_position, "type": event.name}
    if shown.number is not None:
        place["within"] = shown.number
    if not shown.changes:
        place |= {"timestamp": event.timestamp, "server_id": event.server_id}
        if event.group_id is not None:
            place["group_id"] = event.group_id
        if shown.note:
            place["note"] = shown.note
        yield _dump(place | {"fields": fields(event.content)})
    for change in shown.changes:
        images = {"before": change.before, "after": change.after}
        yield _dump(place | {"op": change.operation, "table": change.table_map.name} | images)


def _dump(thing: dict[str, Any]) -> str:
    try:
        return orjson.dumps(thing).decode()
    except (orjson.JSONEncodeError, TypeError):  # surrogates: bytes that no UTF-8 file can hold
        return json.dumps(thing, separators=(",", ":"))
