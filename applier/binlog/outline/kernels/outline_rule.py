"""Which groups are excluded, as the records that the outline's kernels read (outline_leaving_out).

A source of GTIDs is bytes of one length: a UUID, the tag's length and the tag, or a MariaDB domain, then zeros."""

from __future__ import annotations

import numpy as np

from applier.binlog.outline.left_out import LeavingOut
from keysearch.records import struct

SOURCE_BYTES = 56
TAG_AT, MOST_TAG_BYTES = 16, 32
NO_SERVER = -1
"""The server of MySQL's GTIDs, which do not name a server."""


def source_bytes(source: str | int) -> bytes:
    """Return the bytes of "uuid", "uuid:tag" or a domain."""
    if isinstance(source, int):
        return source.to_bytes(4, "little").ljust(SOURCE_BYTES, b"\0")
    uuid, _, tag = source.partition(":")
    return (bytes.fromhex(uuid.replace("-", "")) + bytes([len(tag)]) + tag.encode()).ljust(SOURCE_BYTES, b"\0")


def source_text(source: bytes) -> str:
    """Return a MySQL source as servers write it, UUID or UUID:tag, given its bytes."""
    digits = source[:TAG_AT].hex()
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    tag = source[TAG_AT + 1 : TAG_AT + 1 + source[TAG_AT]].decode("ascii", "replace")
    return f"{uuid}:{tag}" if tag else uuid


def domain_of(source: bytes) -> int:
    """Return the MariaDB domain, given a source's bytes."""
    return int.from_bytes(source[:4], "little")


BY_GTID, BY_SERVER = 1, 2
"""The rules by which groups are excluded."""
COUNTS, OTHER, CHOSEN, EXECUTED = range(4)
"""The fate of a group: it counts; it is excluded by its server; it is excluded by its GTID; the base has executed it.
"""
RULE_SOURCE, rule_source_view, rule_source_at = struct(
    "source of a rule", bytes=(np.uint8, (SOURCE_BYTES,)), server=np.int64, first=np.int64, end=np.int64)
"""A source with excluded transactions (its bytes; MariaDB: and the server), and the range of its intervals. Sources
ascend by bytes, then by server."""
INTERVAL, _, interval_at = struct("interval", first=np.int64, last=np.int64, kind=np.int64)
"""Numbers of transactions, and the fate of their groups: CHOSEN or EXECUTED."""
SERVER, _, server_at = struct("server", id=np.int64)
LEFT_OUT_GTIDS, _, left_out_gtids_at = struct("transactions left out", **dict.fromkeys((
    "source", "server", "first", "last"), np.int64))
"""Transactions that were excluded by GTID: numbers of a source (MariaDB: and a server)."""
_MOST = (1 << 63) - 1


def rule_records(rule: LeavingOut) -> dict[str, np.ndarray]:
    """Return the records, by the name of their array."""
    by_source: dict[str, list[tuple[int, int, int]]] = {}
    for kind, transactions in ((EXECUTED, rule.executed), (CHOSEN, rule.transactions.subtract(rule.executed))):
        for source, numbers in transactions.intervals.items():
            by_source.setdefault(source, []).extend((first, min(last, _MOST), kind) for first, last in numbers)
    order = sorted((*_source(source), source) for source in by_source)
    intervals = [interval for *_, source in order for interval in sorted(by_source[source])]
    ends = np.cumsum([len(by_source[source]) for *_, source in order], dtype=np.int64)
    sources = np.zeros(len(order), RULE_SOURCE)
    for entry, (data, server, source), end in zip(sources, order, ends, strict=True):
        entry["bytes"] = np.frombuffer(data, np.uint8)
        entry["server"], entry["first"], entry["end"] = server, end - len(by_source[source]), end
    return {"rule_sources": sources, "rule_intervals": np.array(intervals, INTERVAL),
            "rule_servers": np.array(sorted(rule.servers), np.int64).view(SERVER)}


def _source(source: str) -> tuple[bytes, int]:
    """Return a source's bytes, and the server that its GTIDs name."""
    domain, _, server = source.partition("-")
    if "-" in server:
        return source_bytes(source), NO_SERVER
    return source_bytes(int(domain)), int(server)
