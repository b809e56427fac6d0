"""GTID events of all kinds: the transaction of a group, and the time and order of its commit."""

from dataclasses import dataclass
from struct import unpack_from
from uuid import UUID

from applier.binlog.events.fields import Fields, malformed
from applier.binlog.events.format import MARIADB_GROUP_COMMIT_ID, EventType

_PACKED_AT = 42
"""The offset in a MySQL GTID event of the fields that newer versions (8.0.1 on) added after the fixed ones."""
_HAS_ANOTHER = 1 << 55
"""A flag in a commit time of 7 bytes: the original server's time follows, since it differs."""
_HAS_ANOTHER_VERSION = 1 << 31


@dataclass(frozen=True)
class Gtid:
    """A GTID event of either flavour. `text` is None for ANONYMOUS_GTID; missing fields are None.

    Times are microseconds since 1970; the transaction's length is in bytes, this event's own included.
    """

    text: str | None
    flags: int
    number: int
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_id: int | None = None  # MariaDB's group commit id
    immediate_commit_timestamp: int | None = None
    original_commit_timestamp: int | None = None
    transaction_length: int | None = None
    immediate_server_version: int | None = None
    original_server_version: int | None = None


def parse_gtid(kind: int, body: bytes | memoryview, server_id: int) -> Gtid:
    """Read a GTID, ANONYMOUS_GTID, GTID_TAGGED or MariaDB GTID body; MariaDB's server id is in the event's header.

    Raises ArchiveError (1610) if it is malformed.
    """
    if kind == EventType.MARIADB_GTID:
        fields = Fields("GTID", body)
        number, domain, flags = fields.number(8), fields.number(4), fields.number(1)
        commit_id = fields.number(8) if flags & MARIADB_GROUP_COMMIT_ID else None
        return Gtid(f"{domain}-{server_id}-{number}", flags, number, commit_id=commit_id)
    if kind == EventType.GTID_TAGGED:
        return _tagged_gtid(bytes(body))
    fields = Fields("GTID", body)
    flags, source = fields.number(1), fields.take(16)
    number = int.from_bytes(fields.take(8), "little", signed=True)
    has_clock = len(body) >= _PACKED_AT and body[25] == 2
    committed, sequence = unpack_from("<qq", body, 26) if has_clock else (None, None)
    text = f"{UUID(bytes=source)}:{number}" if kind == EventType.GTID else None
    return Gtid(text, flags, number, committed, sequence, None, *_commit_fields(body))


def _commit_fields(body: bytes | memoryview) -> tuple[int | None, int | None, int | None, int | None, int | None]:
    """Return commit times, length and server versions at the event's end, as far as the event's version has them."""
    fields = Fields("GTID", body, min(_PACKED_AT, len(body)))
    if fields.left < 7:
        return None, None, None, None, None
    immediate = fields.number(7)
    original = fields.number(7) if immediate & _HAS_ANOTHER else immediate
    immediate &= _HAS_ANOTHER - 1
    length = fields.packed() if fields.left else None
    if fields.left < 4:
        return immediate, original, length, None, None
    version = fields.number(4)
    original_version = fields.number(4) if version & _HAS_ANOTHER_VERSION else version
    return immediate, original, length, version & (_HAS_ANOTHER_VERSION - 1), original_version


_TAGGED_SIGNED = frozenset((2, 4, 5))
_LAST_TAGGED = 10


def _tagged_gtid(body: bytes) -> Gtid:
    """Read a GTID_TAGGED body in MySQL's serialization: version, size, last required field, then (field number, value).

    All integers are of variable length: as many bytes follow the first as it has low one bits. Signed ones carry
    their sign in the lowest bit. Fields: 0 flags, 1 UUID, 2 number, 3 tag, 4 last_committed, 5 sequence_number, 6 and
    7 immediate and original commit time, 8 length, 9 and 10 immediate and original server version; an original value
    that is the same is left out.
    """
    fields = Fields("GTID_TAGGED", body)

    def unsigned() -> int:
        first, extra = fields.number(1), 0
        while first >> extra & 1:
            extra += 1
        return int.from_bytes(bytes((first,)) + fields.take(extra), "little") >> min(extra + 1, 8)

    def signed() -> int:
        value = unsigned()
        return -(value >> 1) - 1 if value & 1 else value >> 1

    try:
        unsigned(), unsigned(), unsigned()
        values: dict[int, int] = {}
        source, tag = b"", ""
        while fields.left and (number := unsigned()) <= _LAST_TAGGED:
            if number == 1:
                source = bytes(unsigned() for _ in range(16))
            elif number == 3:
                tag = fields.take(unsigned()).decode("ascii")
            else:
                values[number] = signed() if number in _TAGGED_SIGNED else unsigned()
        text = f"{UUID(bytes=source)}:{tag + ':' if tag else ''}{values[2]}"
    except (KeyError, ValueError) as reason:
        raise malformed("GTID_TAGGED", reason) from None
    return Gtid(text, values.get(0, 0), values[2], values.get(4), values.get(5), None, values.get(6),
                values.get(7, values.get(6)), values.get(8), values.get(9), values.get(10, values.get(9)))
