"""The binlog's file format: event types, the common header, flags, and the format description that opens each file.

    file     = magic b"\\xfebin", FORMAT_DESCRIPTION, events…
    event    = header, post-header of a fixed length by type, payload, and CRC32 (4 bytes) where checksums are on
    header   = timestamp u32, type u8, server_id u32, event_size u32, end_log_pos u32, flags u16: 19 bytes

All numbers are little-endian. Google's header of 27 bytes adds a group id u64. The source is the MySQL Source
Documentation, "Binlog Event", and for types from 160 on MariaDB's "Replication Protocol" pages.
"""

import zlib
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from applier.errors import CORRUPT_EVENT, ArchiveError, EncryptedBinlog
from applier.io.encryption.decrypting import ENCRYPTED_MAGIC
from applier.io.encryption.decrypting import MAGIC as MAGIC
from applier.io.packing import SUFFIXES, packing_of

_IN_INNODB = b"\xfe\xfe\x0d\x01"
IN_INNODB_HINT = ("it is of a binlog that MariaDB keeps in InnoDB (binlog_storage_engine=innodb), which is not read: "
                  "give those of a replica that writes files of the older kind (log_slave_updates)")
HEADER = Struct("<IBIIIH")
HEADER_LENGTH = HEADER.size
SERVER_ID_AT = 5
"""The offset of the originating server's id, in headers of all lengths."""
CHECKSUM_LENGTH = 4

_FLAGS_AT = 17
IN_USE_FLAG = 0x1
"""A flag of the format description: the file was not closed. The checksum is computed without it."""
IGNORABLE_FLAG = 0x80
"""A reader that does not know the event's type may pass it over (EV-IGN)."""

STATEMENT_END_FLAG = 0x1
NO_FOREIGN_KEY_CHECKS_FLAG, SQL_FOREIGN_KEY_FLAG = 0x2, 0x10
WITHOUT_CASCADES = NO_FOREIGN_KEY_CHECKS_FLAG | SQL_FOREIGN_KEY_FLAG
"""Flags of rows events whose changes cause no others through foreign keys: checks were off, or the log has the rows
(AP-FK). In the second case a replica of MySQL nevertheless follows the foreign keys, which makes a difference if it has
rows that the source did not have."""
"""A flag of a rows event: it is the last one of its statement, so the statement's table maps end here."""
DUMMY_TABLE_ID = 0xFFFFFF
"""A rows event with this table id has no rows: it only carries STATEMENT_END_FLAG."""

MOST_COLUMNS = 4096
"""The most columns of a table, on MySQL and MariaDB. A bitmap of more columns is damaged."""

MARIADB_STANDALONE = 1
"""A flag of a MariaDB GTID event: the group has no COMMIT and ends with its only statement."""
MARIADB_GROUP_COMMIT_ID = 2
"""A flag of a MariaDB GTID event: a commit id u64 follows."""
MARIADB_ALTER_WITHOUT_EFFECT = 2 | 8
"""Extra GTID flags of a MariaDB QUERY (binlog_alter_two_phase): START ALTER, which takes effect with COMMIT ALTER (4),
and ROLLBACK ALTER. All three are groups of their own with the text of the ALTER."""


class EventType(IntEnum):
    """Every event type with a number in MySQL or MariaDB (EV-ALL)."""

    UNKNOWN = 0
    START_V3 = 1
    QUERY = 2
    STOP = 3
    ROTATE = 4
    INTVAR = 5
    LOAD = 6
    SLAVE = 7
    CREATE_FILE = 8
    APPEND_BLOCK = 9
    EXEC_LOAD = 10
    DELETE_FILE = 11
    NEW_LOAD = 12
    RAND = 13
    USER_VAR = 14
    FORMAT_DESCRIPTION = 15
    XID = 16
    BEGIN_LOAD_QUERY = 17
    EXECUTE_LOAD_QUERY = 18
    TABLE_MAP = 19
    PRE_GA_WRITE_ROWS = 20
    PRE_GA_UPDATE_ROWS = 21
    PRE_GA_DELETE_ROWS = 22
    WRITE_ROWS_V1 = 23
    UPDATE_ROWS_V1 = 24
    DELETE_ROWS_V1 = 25
    INCIDENT = 26
    HEARTBEAT = 27
    IGNORABLE = 28
    ROWS_QUERY = 29
    WRITE_ROWS = 30
    UPDATE_ROWS = 31
    DELETE_ROWS = 32
    GTID = 33
    ANONYMOUS_GTID = 34
    PREVIOUS_GTIDS = 35
    TRANSACTION_CONTEXT = 36
    VIEW_CHANGE = 37
    XA_PREPARE = 38
    PARTIAL_UPDATE_ROWS = 39
    TRANSACTION_PAYLOAD = 40
    HEARTBEAT_V2 = 41
    GTID_TAGGED = 42
    ANNOTATE_ROWS = 160
    BINLOG_CHECKPOINT = 161
    MARIADB_GTID = 162
    GTID_LIST = 163
    START_ENCRYPTION = 164
    QUERY_COMPRESSED = 165
    WRITE_ROWS_COMPRESSED_V1 = 166
    UPDATE_ROWS_COMPRESSED_V1 = 167
    DELETE_ROWS_COMPRESSED_V1 = 168
    WRITE_ROWS_COMPRESSED = 169
    UPDATE_ROWS_COMPRESSED = 170
    DELETE_ROWS_COMPRESSED = 171


NAMES: dict[int, str] = {int(kind): kind.name for kind in EventType}
GTID_EVENTS = (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID)


def event_name(kind: int) -> str:
    """Return the name of the type, or `UNKNOWN(number)`."""
    return NAMES.get(kind, f"UNKNOWN({kind})")


@dataclass(frozen=True)
class FormatDescription:
    """The content of a file's first event, which describes all events of the file."""

    server_version: str
    flavour: str  # "mysql" | "mariadb"
    checksum: bool  # events end with a CRC32
    header_length: int
    post_header_lengths: bytes  # by event type, from type 1 on
    created: int  # epoch seconds; 0 unless the server started with this file

    @property
    def computes_omitted(self) -> bool:
        """True if a replica of this server's version computes generated columns that an after-image omits. MariaDB
        10.11 logs them in all images, and its replica takes NULL or keeps the row's value. MariaDB 11.8 does not log
        them in updates and REPLACE, whatever the row image, and its replica computes them. This came with ALTER TABLE
        without locks, which applies logged rows to the new table (MDEV-16329, MDEV-29021; MariaDB 11.2). MySQL's
        replicas always compute them."""
        return self.flavour == "mysql" or _version(self.server_version) >= (11, 2, 0)

    @property
    def checksum_length(self) -> int:
        """The number of bytes of the checksum at an event's end."""
        return CHECKSUM_LENGTH if self.checksum else 0


_BODY = Struct("<H50sIB")
_ALGORITHM_OFF, _ALGORITHM_CRC32 = 0, 1
# Post-header lengths that this package reads. Others are of development versions of long ago.
_EXPECTED_POST_HEADERS = {EventType.QUERY: (13,), EventType.ROTATE: (8,), EventType.TABLE_MAP: (8,)}


def parse_format_description(event: bytes) -> FormatDescription:
    """Read a FORMAT_DESCRIPTION event, given whole (header to checksum).

    Raises ArchiveError for any other event, binlog versions before 4, and unsupported layouts. The checksum is not
    verified.
    """
    if len(event) < HEADER_LENGTH + _BODY.size or event[4] != EventType.FORMAT_DESCRIPTION:
        found = event_name(event[4]) if len(event) > 4 else "nothing"
        raise ArchiveError(
            f"a binlog begins with a format description event; this file begins with {found}",
            hint="only binlog version 4 is supported (MySQL 5.0 and newer, every MariaDB)",
        )
    binlog_version, version, created, header_length = _BODY.unpack_from(event, HEADER_LENGTH)
    if binlog_version != 4:
        raise ArchiveError(f"binlog version {binlog_version} is not supported; only version 4 is")
    server_version = version.split(b"\0", 1)[0].decode("ascii", "replace")
    flavour = "mariadb" if "mariadb" in server_version.lower() else "mysql"
    lengths, checksum = event[HEADER_LENGTH + _BODY.size :], False
    if _has_checksum_algorithm(server_version, flavour):
        if len(lengths) < 1 + CHECKSUM_LENGTH:
            raise ArchiveError("the format description is cut short")
        algorithm, lengths = lengths[-1 - CHECKSUM_LENGTH], lengths[: -1 - CHECKSUM_LENGTH]
        if algorithm not in (_ALGORITHM_OFF, _ALGORITHM_CRC32):
            raise ArchiveError(f"unknown checksum algorithm {algorithm}")
        checksum = algorithm == _ALGORITHM_CRC32
    if header_length not in (HEADER_LENGTH, HEADER_LENGTH + 8):
        raise ArchiveError(f"event headers of {header_length} bytes are not supported")
    for kind, known in _EXPECTED_POST_HEADERS.items():
        if len(lengths) < kind or lengths[kind - 1] not in known:
            raise ArchiveError(f"the format description gives {kind.name} events an unknown layout")
    return FormatDescription(server_version, flavour, checksum, header_length, bytes(lengths), created)


def check_checksum(event: bytes) -> None:
    """Compare a whole event with the CRC32 at its end; a format description without the in-use flag. Raises
    ArchiveError (1610) if they differ."""
    data = bytearray(event)
    if data[4] == EventType.FORMAT_DESCRIPTION:
        data[_FLAGS_AT] &= ~IN_USE_FLAG
    if zlib.crc32(data[:-CHECKSUM_LENGTH]) != int.from_bytes(data[-CHECKSUM_LENGTH:], "little"):
        raise ArchiveError(f"the checksum of a {event_name(event[4])} event does not match", errno=CORRUPT_EVENT,
                           hint="copy the file again from the server")


def check_magic(start: bytes) -> None:
    """Check a file's first four bytes. Raises EncryptedBinlog or ArchiveError."""
    if start[:4] == ENCRYPTED_MAGIC:
        raise EncryptedBinlog(
            "the binlog is encrypted",
            position=0,
            hint="give its keys, --keyring FILE of component_keyring_file or keyring_file, or copy it from the server "
            "with `mysqlbinlog --read-from-remote-server --raw`",
        )
    if start[:4] != MAGIC:
        raise ArchiveError("this is not a binlog: it does not start with the bytes fe 62 69 6e",
                           hint=_other_file(start))


def _other_file(start: bytes) -> str:
    """Return a hint for a file with these first bytes."""
    if (packing := packing_of(start)) is not None:
        return f"it is packed with {packing}: give it a name that says so, such as binlog.000001{SUFFIXES[packing]}"
    if start.startswith(_IN_INNODB):
        return IN_INNODB_HINT
    if start.startswith(b"BZh"):
        return "it is compressed with bzip2: decompress it first"
    return "give files as the server wrote them; SHOW BINARY LOGS names them"


def _has_checksum_algorithm(server_version: str, flavour: str) -> bool:
    """Return whether the description ends with a checksum algorithm and a checksum of its own: since MySQL 5.6.1 and
    MariaDB 5.3."""
    return _version(server_version) >= ((5, 3, 0) if flavour == "mariadb" else (5, 6, 1))


def _version(server_version: str) -> tuple[int, ...]:
    """Return the numbers of a server's version, without the prefix that MariaDB adds for old replicas."""
    numbers: list[int] = []
    for part in server_version.removeprefix("5.5.5-").split("-")[0].split(".")[:3]:
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits) if digits else 0)
    return tuple(numbers)
