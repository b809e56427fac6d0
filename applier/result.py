"""What a replay hands back to its caller: where the snapshot stands, what was done to each table, how long it took."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TableResult:
    """Row changes applied to one table, and what it holds now. `key` says how rows were found ("PRIMARY (id)")."""

    database: str
    name: str
    rows: int
    inserts: int = 0
    updates: int = 0
    deletes: int = 0
    key: str = ""
    files_written: int = 0
    files_carried: int = 0

    @property
    def changes(self) -> int:
        """Row changes in all."""
        return self.inserts + self.updates + self.deletes


@dataclass(frozen=True)
class ReplayResult:
    """One finished replay. `position` is "binlog.000003:1234"; `timestamp` is the last group's, in seconds since 1970;
    `seconds` maps a phase's name to its wall time, in the order in which they ran; `notes` are lines for people."""

    snapshot: str
    position: str
    gtid_set: str
    timestamp: int | None
    tables: tuple[TableResult, ...]
    seconds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> int:
        """Row changes of all tables."""
        return sum(table.changes for table in self.tables)
