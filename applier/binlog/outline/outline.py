"""What a binlog file holds, without its rows: event groups, statements, tables, and where to split it.

`outline_pass.outline_file` makes an Outline in one pass over the file.
"""

from dataclasses import dataclass, field

from applier.binlog.events.format import HEADER_LENGTH, FormatDescription
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.stop import StopCondition

_SAMPLED_BYTES, _LEAST_SAMPLED_BYTES = 64 << 20, 48 << 10


@dataclass
class TableUse:
    """A distinct TABLE_MAP body in a file, and the rows events that refer to it.

    The counts are of whole groups up to the outline's end; rolled-back ranges are included.
    """

    body: bytes  # after the 6-byte table id, without the checksum
    first_position: int
    n_events: int
    n_bytes: int  # of its rows events, headers included
    has_partial_images: bool  # some bitmap lacks a column
    after_columns: int  # bit i: column i is in the after-image of an update whose after-image is partial
    lacked_columns: int  # bit i: some before-image lacks column i (bits past the last column mean nothing)
    has_diffs: bool  # some after-image has all columns, and may have JSON diffs in place of values
    may_cascade: bool = False  # some update or delete may make foreign keys change rows that the log does not have
    samples: list[bytes] = field(default_factory=list)  # rows events from the header on, cut at 4096 bytes


@dataclass(frozen=True)
class OutlinedBytes:
    """The identity of a split: the whole events in [start, end), their digest, and how the file's events are divided.
    """

    start: int
    end: int
    digest: int
    checksum: bool
    header_length: int = HEADER_LENGTH


@dataclass
class Split:
    """A run of whole event groups, [start, end), with the bytes of rows events by index in `Outline.tables`, and the
    identity by which later readers compare it."""

    start: int
    end: int
    tables: dict[int, int]
    outlined: OutlinedBytes


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


@dataclass
class UnreplayableEvent:
    """An event that cannot be applied. `table` is an index in `Outline.tables` if it concerns one table only."""

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
    """A group that ends with XA PREPARE: its rows count if an XA COMMIT of its xid follows, maybe files later."""

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
    shut_down: bool  # ends with STOP
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
    gtids_before: GtidSet = field(default_factory=GtidSet)  # of the file's groups before the start position
    n_groups: int = 0
    n_events: int = 0
    n_row_events: int = 0
    row_bytes: int = 0
    inflated_bytes: int = 0  # what its compressed events hold
    tables: list[TableUse] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    unreplayable: list[UnreplayableEvent] = field(default_factory=list)
    rolled_back: list[tuple[int, int]] = field(default_factory=list)  # ranges; rows of tables with transactions
    prepared: list[PreparedGroup] = field(default_factory=list)
    decisions: list[XaDecision] = field(default_factory=list)

    def thin_samples(self, n_bytes: int) -> None:
        """Keep so many bytes of samples at most, evenly chosen over all tables."""
        total, room = sum(len(sample) for use in self.tables for sample in use.samples), 0.0
        if total <= n_bytes:
            return
        for use in self.tables:
            kept = []
            for sample in use.samples:
                room += len(sample) * n_bytes / total
                if room >= len(sample):
                    room -= len(sample)
                    kept.append(sample)
            use.samples = kept


@dataclass(frozen=True)
class OutlineTask:
    """A file to outline, with the arguments of `outline_pass.outline_file`; samples of more than `sample_bytes` are
    thinned. Plain data, picklable."""

    uri: str
    start: int | None = None
    stop: StopCondition | None = None
    sample_bytes: int | None = None


def sample_bytes(n_files: int) -> int:
    """How many bytes of samples the outline of each of so many files may have: they are all in memory together, and
    many files have enough samples with a few each."""
    return max(_LEAST_SAMPLED_BYTES, _SAMPLED_BYTES // n_files)
