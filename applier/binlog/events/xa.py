"""XA transactions in the log: which one an event or a statement concerns.

MySQL and MariaDB write a prepared transaction as a group that ends with an XA_PREPARE event, and later, maybe in
another file, a separate group with `XA COMMIT` or `XA ROLLBACK`. Both name it by its xid, which is written here as the
servers do: X'gtrid',X'bqual',formatID. XA COMMIT … ONE PHASE is a group that ends with a flagged XA_PREPARE.
"""

import re
from dataclasses import dataclass
from struct import Struct

from applier.errors import CORRUPT_EVENT, ArchiveError

_PREPARE = Struct("<BIII")
_DECISION = re.compile(rb"XA\s+(COMMIT|ROLLBACK)\s+X'([0-9a-f]*)'\s*,\s*X'([0-9a-f]*)'\s*,\s*(\d+)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class XaPrepare:
    """An XA_PREPARE event. `one_phase`: it also commits the transaction."""

    xid: str
    one_phase: bool


def parse_xa_prepare(body: bytes | memoryview) -> XaPrepare:
    """Read an XA_PREPARE body: one phase u8, format id u32, lengths of gtrid and bqual u32, then both.

    Raises ArchiveError (1610) where it is malformed.
    """
    data = bytes(body)
    if len(data) >= _PREPARE.size:
        one_phase, format_id, gtrid, bqual = _PREPARE.unpack_from(data)
        at = _PREPARE.size
        if len(data) >= at + gtrid + bqual:
            xid = _xid(data[at : at + gtrid], data[at + gtrid : at + gtrid + bqual], format_id)
            return XaPrepare(xid, one_phase != 0)
    raise ArchiveError("the XA_PREPARE event is malformed", errno=CORRUPT_EVENT)


def parse_xa_decision(sql: bytes) -> tuple[str, bool]:
    """Return the xid of an XA COMMIT or XA ROLLBACK statement, as servers log it, and whether it commits.

    Raises ArchiveError (1610) for any other statement.
    """
    match = _DECISION.match(sql)
    if match is None:
        raise ArchiveError(f"an XA statement that no server writes: {sql[:80].decode('utf-8', 'replace')}",
                           errno=CORRUPT_EVENT)
    verb, gtrid, bqual, format_id = match.groups()
    try:
        return _xid(bytes.fromhex(gtrid.decode()), bytes.fromhex(bqual.decode()), int(format_id)), verb[:1] in b"Cc"
    except ValueError as reason:
        raise ArchiveError(f"an xid that no server writes: {reason}", errno=CORRUPT_EVENT) from None


def _xid(gtrid: bytes, bqual: bytes, format_id: int) -> str:
    return f"X'{gtrid.hex()}',X'{bqual.hex()}',{format_id}"
