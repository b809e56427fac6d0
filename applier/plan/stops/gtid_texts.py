"""Formats the GTIDs of many transactions at once: GTID events as columns of bytes, for kinds with fixed offsets."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.events.events import parse_gtid, read_event, read_format
from applier.binlog.events.format import EventType, FormatDescription
from applier.io.mapping import MappedFile

_FIELDS = {EventType.GTID: 25, EventType.MARIADB_GTID: 12}
"""Bytes of the body up to the end of the GTID; other kinds' are of variable length."""


def gtid_texts(file: MappedFile, events: np.ndarray) -> pa.Array:
    """The GTIDs of the events at these positions of a file (int64[n], -1: no event), as text; null for anonymous ones
    and for none. Raises ArchiveError for a malformed event."""
    description = read_format(file)
    body = description.header_length
    texts: list[pa.Array] = []
    order: list[np.ndarray] = []
    left = np.ones(len(events), np.bool_)
    longest = body + max(_FIELDS.values())
    fits = np.flatnonzero((events >= 0) & (events + longest <= file.size))
    data = file.array[events[fits, None] + np.arange(longest)]
    sizes = _numbers(data, 9, np.uint32).astype(np.int64) - body - description.checksum_length
    for kind, name in ((EventType.GTID, _mysql_names), (EventType.MARIADB_GTID, _mariadb_names)):
        picks = (data[:, 4] == kind) & (sizes >= _FIELDS[kind])
        texts.append(name(data[picks], body))
        order.append(fits[picks])
        left[fits[picks]] = False
    rest = np.flatnonzero(left)
    texts.append(pa.array([_name(file, position, description) for position in events[rest].tolist()], pa.string()))
    return pa.concat_arrays(texts).take(pa.array(np.argsort(np.concatenate([*order, rest]))))


def _name(file: MappedFile, position: int, description: FormatDescription) -> str | None:
    """The GTID of one event."""
    if position < 0:
        return None
    event = read_event(file, position, description)
    return parse_gtid(event.type, event.body, event.server_id).text


def _mysql_names(data: np.ndarray, body: int) -> pa.Array:
    """UUID:number, given the events' bytes (uint8[n, some])."""
    uuids, which = np.unique(data[:, body + 1:body + 17], axis=0, return_inverse=True)
    sources = pa.array([str(UUID(bytes=uuid.tobytes())) for uuid in uuids], pa.string())
    return _joined([sources.take(pa.array(which.reshape(-1))), _numbers(data, body + 17, np.int64)], ":")


def _mariadb_names(data: np.ndarray, body: int) -> pa.Array:
    """domain-server-number; the server's is in the event's header."""
    return _joined([_numbers(data, body + 8, np.uint32), _numbers(data, 5, np.uint32),
                    _numbers(data, body, np.uint64)], "-")


def _numbers(data: np.ndarray, at: int, kind: type) -> np.ndarray:
    """The little-endian numbers at an offset in each row of bytes."""
    width = np.dtype(kind).itemsize
    return np.ascontiguousarray(data[:, at:at + width]).view(np.dtype(kind).newbyteorder("<")).reshape(-1)


def _joined(parts: list[pa.Array | np.ndarray], between: str) -> pa.Array:
    return pc.binary_join_element_wise(*[pc.cast(pa.array(part), pa.string()) for part in parts], between)
