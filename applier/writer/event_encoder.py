"""Bodies of the events around the rows: format description, GTIDs, queries, rotate. No headers, no checksums.

Layouts: MySQL source documentation, "Binlog Event", as MySQL 9.7 and MariaDB 10.11 write them.
"""

import uuid
from struct import pack

import numpy as np
import pyarrow as pa

from applier.binlog.events.format import MARIADB_STANDALONE
from applier.writer.column_encoder import Cells, little_endian, packed_integers
from applier.writer.row_encoder import join

SERVER_VERSIONS = {"mysql": "9.7.4", "mariadb": "10.11.19-MariaDB-log"}
"""The server version in a log of each flavour."""

_MYSQL_POST_HEADERS = bytes(
    (
        0,
        13,
        0,
        8,
        0,
        0,
        0,
        0,
        4,
        0,
        4,
        0,
        0,
        0,
        99,
        0,
        4,
        26,
        8,
        0,
        0,
        0,
        0,
        0,
        0,
        2,
        0,
        0,
        0,
        10,
        10,
        10,
        42,
        42,
        0,
        18,
        52,
        0,
        10,
        40,
        0,
        0,
    )
)
_MARIADB_POST_HEADERS = bytes(
    (
        56,
        13,
        0,
        8,
        0,
        18,
        0,
        4,
        4,
        4,
        4,
        18,
        0,
        0,
        228,
        0,
        4,
        26,
        8,
        0,
        0,
        0,
        8,
        8,
        8,
        2,
        0,
        0,
        0,
        10,
        10,
        10,
    )
).ljust(160, b"\0") + bytes((4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10))

_COMMIT_CLOCK = 2  # the type of the logical timestamps in a GTID event
_SERVER_VERSION_NUMBER = 90704
_MARIADB_TRANSACTIONAL, _MARIADB_ALLOW_PARALLEL, _MARIADB_DDL = 4, 8, 32
DEFAULT_SQL_MODE = 0x4520A000  # ONLY_FULL_GROUP_BY, STRICT_TRANS_TABLES, NO_ZERO_IN_DATE, NO_ZERO_DATE, …
_UTF8MB4 = {"mysql": 255, "mariadb": 45}


def format_description(flavour: str, checksum: bool, created: int) -> bytes:
    """Return the event that opens a file; `created` is epoch seconds, 0 if the server did not start with this file."""
    lengths = _MARIADB_POST_HEADERS if flavour == "mariadb" else _MYSQL_POST_HEADERS
    return pack("<H50sIB", 4, SERVER_VERSIONS[flavour].encode(), created, 19) + lengths + bytes((checksum,))


def previous_gtids(source: uuid.UUID, executed: int) -> bytes:
    """PREVIOUS_GTIDS: transactions 1 to `executed` of one source are in earlier files."""
    if not executed:
        return pack("<Q", 0)
    return pack("<Q16sQQQ", 1, source.bytes, 1, 1, executed + 1)


def gtid_list(server_id: int, executed: int) -> bytes:
    """MariaDB's GTID_LIST: the last group of domain 0 in earlier files."""
    return pack("<IIIQ", 1, 0, server_id, executed) if executed else bytes(6)  # padded, for old readers


def binlog_checkpoint(file_name: str) -> bytes:
    """MariaDB: no transaction in files before this one is open in the engine."""
    return pack("<I", len(file_name)) + file_name.encode()


def rotate(file_name: str) -> bytes:
    """The next file's name; its events start after the magic."""
    return pack("<Q", 4) + file_name.encode()


def query(sql: str, database: str, flavour: str, sql_mode: int = DEFAULT_SQL_MODE) -> bytes:
    """A statement with the context of a session with default settings, or with another `sql_mode` (EV-CTX)."""
    collation = _UTF8MB4[flavour]
    variables = pack("<BI", 0, 0) + pack("<BQ", 1, sql_mode) + b"\x06\x03std"
    variables += pack("<BHHH", 4, collation, collation, collation)
    if flavour == "mysql":
        variables += pack("<BH", 18, collation)  # the default collation of utf8mb4
    name = database.encode()
    return pack("<IIBHH", 1, 0, len(name), 0, len(variables)) + variables + name + b"\0" + sql.encode()


def gtid(
    source: uuid.UUID,
    numbers: np.ndarray,
    sequence: np.ndarray,
    timestamps: np.ndarray,
    rest: np.ndarray,
    framing: int,
    *,
    statement: bool = False,
) -> pa.BinaryArray:
    """Return MySQL's GTID events, one per transaction: its number, and its index among the transactions of this file.

    `timestamps` are epoch seconds. `rest` is the bytes of the transaction's other events, `framing` those of the header
    and checksum of one event; the event holds the length of the whole transaction, of which it is a part itself.
    """
    count = len(numbers)
    fixed = framing + 1 + 16 + 8 + 1 + 8 + 8 + 7 + 4
    wide = np.select([rest + fixed + 1 < 251, rest + fixed + 3 < 1 << 16, rest + fixed + 4 < 1 << 24], [1, 3, 4], 9)
    parts: list[Cells] = [
        _constant(bytes((statement,)) + source.bytes, count),
        little_endian(numbers, 8),
        _constant(bytes((_COMMIT_CLOCK,)), count),
        little_endian(sequence - 1, 8),
        little_endian(sequence, 8),
        little_endian(timestamps * 1_000_000, 7),
        packed_integers(rest + fixed + wide),
        _constant(_SERVER_VERSION_NUMBER.to_bytes(4, "little"), count),
    ]
    return join(parts, count)


def mariadb_gtid(numbers: np.ndarray, *, statement: bool = False) -> Cells:
    """MariaDB's GTID events in domain 0; a `statement` is a group by itself, others last until their XID."""
    flags = _MARIADB_ALLOW_PARALLEL | (MARIADB_STANDALONE | _MARIADB_DDL if statement else _MARIADB_TRANSACTIONAL)
    return np.hstack([little_endian(numbers, 8), _constant(pack("<IB6x", 0, flags), len(numbers))])


def table_map(table_id: int, body: bytes) -> bytes:
    """Return a TABLE_MAP event's body from the result of `wire_columns.encode_table_map`."""
    return table_id.to_bytes(6, "little") + body


def _constant(value: bytes, count: int) -> np.ndarray:
    return np.broadcast_to(np.frombuffer(value, np.uint8), (count, len(value)))
