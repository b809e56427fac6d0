"""Events that accompany a statement in statement format: its variables, and the files of LOAD DATA, also in old
layouts.

(MySQL Source Documentation, "Intvar_event", "Rand_event", "User_var_event", "Begin_load_query_event", …; for LOAD,
NEW_LOAD, CREATE_FILE and EXEC_LOAD, which MySQL 4 and 5.0 wrote, the manual's "Event Data for Specific Event Types".)
Parsers take an event's body and raise ArchiveError (1610) where it is malformed.
"""

from dataclasses import dataclass
from struct import Struct

from applier.binlog.events.fields import Fields, malformed
from applier.binlog.events.format import EventType
from applier.binlog.events.query import Query, parse_execute_load_query

_INTVARS = {1: "LAST_INSERT_ID", 2: "INSERT_ID"}
_USER_VAR_TYPES = {0: "string", 1: "real", 2: "int", 3: "row", 4: "decimal"}


@dataclass(frozen=True)
class Intvar:
    """The value of AUTO_INCREMENT or LAST_INSERT_ID() in the statement that follows."""

    name: str
    value: int


@dataclass(frozen=True)
class Rand:
    """The seeds of RAND() in the statement that follows."""

    seed1: int
    seed2: int


@dataclass(frozen=True)
class UserVar:
    """A user variable of the statement that follows: its `value` as the bytes of its `type` (string, real, int, row,
    decimal); None is NULL."""

    name: str
    type: str
    value: bytes | None
    collation: int | None = None
    unsigned: bool = False


@dataclass(frozen=True)
class FileBlock:
    """A part of the file that LOAD DATA reads (BEGIN_LOAD_QUERY: the first, APPEND_BLOCK: a later one)."""

    file_id: int
    data: bytes


@dataclass(frozen=True)
class FileEnd:
    """The end of the file: its LOAD DATA is executed (EXEC_LOAD), or will not be (DELETE_FILE)."""

    file_id: int


@dataclass(frozen=True)
class LoadQuery(Query):
    """A LOAD DATA statement about the file in the preceding events; its name is in `sql` from byte `name_start` to
    `name_end`. `duplicates`: 0 error, 1 ignore, 2 replace."""

    file_id: int
    name_start: int
    name_end: int
    duplicates: int


@dataclass(frozen=True)
class Load:
    """LOAD DATA of a server before 5.0.3. `file_id` and `data` (the file's first block) are CREATE_FILE's."""

    thread_id: int
    execution_time: int
    skip_lines: int
    database: str
    table: str
    columns: tuple[str, ...]
    fields_terminated: str
    fields_enclosed: str
    fields_escaped: str
    lines_starting: str
    lines_terminated: str
    options: int
    file_name: str
    file_id: int | None = None
    data: bytes | None = None


_LOAD = Struct("<IIIBBI")
_LOAD_QUERY_FILE = Struct("<IIIB")
_QUERY_BYTES = 13


def parse_intvar(body: bytes | memoryview) -> Intvar:
    """Read an INTVAR body: which of the two u8, value u64."""
    fields = Fields("INTVAR", body)
    kind = fields.number(1)
    return Intvar(_INTVARS.get(kind, f"VARIABLE_{kind}"), fields.number(8))


def parse_rand(body: bytes | memoryview) -> Rand:
    """Read a RAND body: two seeds u64."""
    fields = Fields("RAND", body)
    return Rand(fields.number(8), fields.number(8))


def parse_user_var(body: bytes | memoryview) -> UserVar:
    """Read a USER_VAR body: name (u32 length), is it NULL u8, type u8, collation u32, value (u32 length), flags u8."""
    fields = Fields("USER_VAR", body)
    name = fields.text(fields.number(4))
    if fields.number(1):
        return UserVar(name, "string", None)
    kind, collation = fields.number(1), fields.number(4)
    value = fields.take(fields.number(4))
    return UserVar(name, _USER_VAR_TYPES.get(kind, str(kind)), value, collation,
                   bool(fields.left and fields.number(1) & 1))


def parse_file_block(body: bytes | memoryview) -> FileBlock:
    """Read a BEGIN_LOAD_QUERY or APPEND_BLOCK body: file id u32, then bytes of the file."""
    fields = Fields("APPEND_BLOCK", body)
    return FileBlock(fields.number(4), fields.rest())


def parse_file_end(body: bytes | memoryview) -> FileEnd:
    """Read an EXEC_LOAD or DELETE_FILE body: file id u32."""
    return FileEnd(Fields("DELETE_FILE", body).number(4))


def parse_load_query(body: bytes | memoryview) -> LoadQuery:
    """Read an EXECUTE_LOAD_QUERY body: a QUERY's fixed fields, file id u32, where the name stands u32 u32, u8."""
    query = parse_execute_load_query(body)
    file = Fields("EXECUTE_LOAD_QUERY", body, _QUERY_BYTES).unpack(_LOAD_QUERY_FILE)
    return LoadQuery(**vars(query), file_id=file[0], name_start=file[1], name_end=file[2], duplicates=file[3])


def parse_load(kind: int, body: bytes | memoryview) -> Load:
    """Read a LOAD, NEW_LOAD or CREATE_FILE body.

    Thread u32, seconds u32, lines to skip u32, lengths of the table's and the database's name u8 u8, number of columns
    u32; CREATE_FILE: file id u32; how fields and lines are cut: one character each (LOAD) or a length and bytes; then
    lengths of the columns' names, these, table, database and file with a zero byte after each.
    """
    fields = Fields("LOAD", body)
    thread, seconds, skip, table_length, database_length, count = fields.unpack(_LOAD)
    file_id = fields.number(4) if kind == EventType.CREATE_FILE else None
    if kind == EventType.LOAD:
        cuts = [fields.text(1) for _ in range(5)]
        options, empty = fields.number(1), fields.number(1)
        cuts = ["" if empty >> bit & 1 else cut for bit, cut in enumerate(cuts)]
    else:
        cuts = [fields.text(fields.number(1)) for _ in range(5)]
        options = fields.number(1)
    if count > fields.left:
        raise malformed("LOAD", "it has more columns than bytes")
    lengths = fields.take(count)
    columns = []
    for length in lengths:
        columns.append(fields.text(length))
        fields.take(1)
    table, database = (_with_zero(fields, length) for length in (table_length, database_length))
    terminated, enclosed, ended, starting, escaped = cuts
    name = fields.until_zero() if kind == EventType.CREATE_FILE else fields.rest_text().rstrip("\0")
    return Load(thread, seconds, skip, database, table, tuple(columns), terminated, enclosed, escaped, starting, ended,
                options, name, file_id, fields.rest() if kind == EventType.CREATE_FILE else None)


def _with_zero(fields: Fields, length: int) -> str:
    text = fields.text(length)
    fields.take(1)
    return text
