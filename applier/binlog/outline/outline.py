"""An Outline: the contents of a binlog file without its rows, that is, event groups, statements, tables, and where to
split it.

`outline_pass.outline_file` makes an Outline in one pass over the file.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from applier.binlog.events.format import HEADER_LENGTH, FormatDescription
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.left_out import LeavingOut, LeftOut
from applier.binlog.outline.packed import Packed
from applier.binlog.outline.samples import Samples
from applier.binlog.outline.stop import StopCondition
from applier.errors import LOG_GAP, ArchiveError
from applier.mysql.sequences import SequenceState


@dataclass
class TableUse:
    """A distinct TABLE_MAP body in a file, and the rows events that refer to it.

    The counts are of whole groups up to the outline's end; rolled-back ranges are included.
    """

    body: bytes  # after the 6-byte table id, without the checksum
    first_position: int
    n_events: int
    n_bytes: int  # of its rows events, headers included
    has_partial_images: bool  # some bitmap does not have all columns
    after_columns: int  # bit i: column i is in the after-image of an update whose after-image is partial
    lacked_columns: int  # bit i: some before-image does not have column i (bits past the last column mean nothing)
    has_diffs: bool  # some after-image has all columns, and may have JSON diffs instead of values
    may_cascade: bool = False  # some update or delete may make foreign keys change rows that the log does not have

    def add(self, other: "TableUse") -> None:
        """Add the uses of the same body in a later file."""
        self.n_events += other.n_events
        self.n_bytes += other.n_bytes
        self.has_partial_images |= other.has_partial_images
        self.after_columns |= other.after_columns
        self.lacked_columns |= other.lacked_columns
        self.has_diffs |= other.has_diffs
        self.may_cascade |= other.may_cascade


@dataclass(frozen=True)
class OutlinedBytes:
    """The identity of a split: the whole events in [start, end), their digest, and how the file's events are divided.
    """

    start: int
    end: int
    digest: int
    checksum: bool
    header_length: int = HEADER_LENGTH


@dataclass(frozen=True)
class Split:
    """A run of whole event groups, [start, end). In `used`, bit i % 8 of byte i // 8 is set if it has rows events of
    table i of `Outline.tables`. `outlined` is the identity that later readers compare."""

    start: int
    end: int
    used: bytes
    digest: int
    checksum: bool
    header_length: int = HEADER_LENGTH

    @property
    def outlined(self) -> OutlinedBytes:
        return OutlinedBytes(self.start, self.end, self.digest, self.checksum, self.header_length)

    @property
    def tables(self) -> list[int]:
        """The indexes of the tables of its rows events."""
        bits = np.unpackbits(np.frombuffer(self.used, np.uint8), bitorder="little")
        return [*map(int, np.flatnonzero(bits))]


@dataclass
class Statement:
    """A QUERY that is not group control: DDL, or DML as text."""

    position: int
    end: int
    group_start: int
    sql: str | bytes  # bytes where they are not text in the client's character set
    database: str
    context: dict[str, int | str | list[str] | bytes]
    timestamp: int
    gtid: str | None
    kind: str = "query"
    sequences: tuple[SequenceState, ...] = ()  # of MariaDB, where it gives their numbers to rows


class Relevant(Protocol):
    """See applier.schema.history.relevance."""

    @property
    def is_needed(self) -> bool: ...
    @property
    def sql(self) -> str | None: ...
    @property
    def skipped(self) -> tuple[str, str] | None: ...
    @property
    def stops(self) -> bool: ...


class Relevance(Protocol):
    """Decides which statements a plan needs: see applier.schema.history.relevance."""

    def of(self, statement: Statement, flavour: str) -> Relevant: ...


@dataclass
class UnreplayableEvent:
    """An event that a replay cannot apply. `table` is an index in `Outline.tables` if the event concerns one table
    only."""

    position: int
    group_start: int
    what: str
    errno: int | None
    hint: str
    gtid: str | None = None
    table: int | None = None
    stops_always: bool = False  # also in a group that was rolled back


@dataclass(frozen=True)
class PreparedGroup:
    """A group that ends with XA PREPARE: its rows count if an XA COMMIT of its xid follows, possibly several files
    later."""

    start: int
    end: int
    xid: str
    gtid: str | None


@dataclass(frozen=True)
class XaDecision:
    """XA COMMIT or XA ROLLBACK of a transaction that was prepared before."""

    position: int
    xid: str
    commits: bool
    gtid: str | None


@dataclass
class Outline:
    """Everything that a plan needs to know of one file. Positions are byte offsets in it; plain data, picklable."""

    uri: str
    name: str
    size: int
    format: FormatDescription
    next_file: str | None  # from ROTATE
    shut_down: bool  # ends with STOP, or with a replica's copy of it
    previous_gtids: GtidSet
    gtids: GtidSet  # of the groups up to `end`
    start: int  # start of the first group that counts
    end: int  # end of the last whole group that counts
    torn: bool = False  # the file ends within an event or a group
    torn_at: int | None = None
    torn_what: str | None = None
    stopped: bool = False  # the stop condition fell into this file: nothing after `end`, nor later files, counts
    first_timestamp: int | None = None  # epoch seconds, of the groups that count
    last_timestamp: int | None = None
    last_gtid: str | None = None
    first_group_id: int | None = None  # of the groups that count, where headers have ids (GRP-3)
    last_group_id: int | None = None
    begun: int = 0  # epoch seconds: when the server began the file
    gtids_before: GtidSet = field(default_factory=GtidSet)  # of the file's groups before the start position
    tail: str | None = None  # of `end`: OutlinedFile.tail
    n_groups: int = 0
    n_events: int = 0
    n_row_events: int = 0
    row_bytes: int = 0
    inflated_bytes: int = 0  # the size of the contents of its compressed events
    has_row_statements: bool = False  # it has a statement behind rows events (EV-ANN)
    tables: Packed[TableUse] = field(default_factory=partial(Packed, TableUse))
    samples: Samples = field(default_factory=Samples)
    splits: Packed[Split] = field(default_factory=partial(Packed, Split))
    statements: Packed[Statement] = field(default_factory=partial(Packed, Statement))
    skipped: dict[str, Counter[str]] = field(default_factory=dict)  # by table and kind: counted instead of kept
    unreplayable: Packed[UnreplayableEvent] = field(default_factory=partial(Packed, UnreplayableEvent))
    rolled_back: list[tuple[int, int]] = field(default_factory=list)  # ranges; rows of tables with transactions
    prepared: Packed[PreparedGroup] = field(default_factory=partial(Packed, PreparedGroup))
    decisions: Packed[XaDecision] = field(default_factory=partial(Packed, XaDecision))
    left_out: LeftOut | None = None  # groups about which nothing else here is known, except that they are executed

    def pack(self) -> None:
        """Pack the appended columns."""
        for records in (self.tables, self.splits, self.statements, self.unreplayable, self.prepared, self.decisions):
            records.pack()


@dataclass(frozen=True)
class KnownStart:
    """The known facts about the position where a replay continues: the transactions executed before it, the file's tail
    there (OutlinedFile.tail), and the time of the last group, in epoch seconds; None for unknown ones."""

    executed: GtidSet
    tail: str | None
    timestamp: int | None = None


def check_that_they_are_old(known: int | None, begun: int, found: int, file: str, position: int) -> None:
    """Check that the transactions of a log up to a position are those that were executed before. `known` is the time of
    the last executed one (None: unknown), `found` its time in the log, in a file that was begun at `begun`.

    A server that was reset gives the same GTIDs to other transactions; then both times in the log are later. Replicas
    log transactions with the time at which the source executed them. Raises ArchiveError (1236)."""
    if known is not None and known < begun <= found:
        raise ArchiveError("the log has other transactions with the GTIDs that are executed already: its server was "
                           "reset, and their numbers began again", file=file, position=position, errno=LOG_GAP,
                           hint="begin anew, with a base of this log")


SPLIT_BYTES = 64 << 20
"""The approximate size of a split in bytes."""


@dataclass(frozen=True)
class OutlineTask:
    """A file to outline, with the arguments of `outline_pass.outline_file`, and the approximate number of bytes to
    read. Plain data, picklable."""

    uri: str
    start: int | None = None
    stop: StopCondition | None = None
    sample_bytes: int | None = None
    relevance: Relevance | None = None
    known: KnownStart | None = None
    leaving_out: LeavingOut | None = None
    split_bytes: int = SPLIT_BYTES
    size: int = 0
