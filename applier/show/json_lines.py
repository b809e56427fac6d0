"""Events as JSON, an object a line.

    {"pos": 1234, "type": "UPDATE_ROWS", "op": "update", "table": "db.t", "before": {"@1": "1"}, "after": {"@1": "2"}}
    {"pos": 1310, "type": "XID"}

`pos` is the event's offset in its file, and every file's first object has `"pos": 4`. A row change has a line of its
own, with its columns' values as `mysqlbinlog -v` prints them (all are strings, and text has its SQL quotes, so NULL is
not 'NULL'; a JSON diff is SQL with line feeds); columns that an image lacks are left out, and the image that an
operation lacks is null. Bytes that are not UTF-8 come as the escapes \\udc80 to \\udcff (Python's surrogateescape).
Rows that cannot be shown have a `note`.
"""

import json
from collections.abc import Iterator

import orjson

from applier.show.rows import ShownEvent


def event_objects(shown: ShownEvent) -> Iterator[str]:
    """One line, without its line feed, for each row change, or one for an event without any."""
    event = shown.event
    place = {"pos": event.position, "type": event.name}
    if not shown.changes:
        yield _dump(place | {"note": shown.note} if shown.note else place)
    for change in shown.changes:
        images = {"before": change.before, "after": change.after}
        yield _dump(place | {"op": change.operation, "table": change.table_map.name} | images)


def _dump(thing: dict) -> str:
    try:
        return orjson.dumps(thing).decode()
    except orjson.JSONEncodeError:  # surrogates: bytes that no UTF-8 file can hold
        return json.dumps(thing, separators=(",", ":"))
