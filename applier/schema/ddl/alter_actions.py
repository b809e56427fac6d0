"""The actions of an ALTER TABLE as data: one class for each kind, in the order of the statement.

CREATE INDEX and DROP INDEX are actions, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from applier.mysql.character_sets.collations import Charset
from applier.schema.checks import CheckWords
from applier.schema.ddl.column_grammar import ColumnWords
from applier.schema.ddl.key_grammar import KeyWords
from applier.schema.foreign_keys import ForeignKeyWords
from applier.schema.partitions import Partition, Partitioning
from applier.schema.table_parts import Default


@dataclass(frozen=True, slots=True)
class AddColumn:
    """`position`: None at the end, "" first, else the column that precedes it."""

    words: ColumnWords
    position: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """CHANGE, or MODIFY if the old and the new name are equal; `position` None keeps the column's position."""

    old: str
    words: ColumnWords
    position: str | None = None
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn:
    """DROP COLUMN."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """RENAME COLUMN."""

    old: str
    new: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetDefault:
    """`default` None: DROP DEFAULT."""

    column: str
    default: Default | None
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetColumnVisible:
    """ALTER COLUMN … SET VISIBLE or INVISIBLE."""

    column: str
    visible: bool


@dataclass(frozen=True, slots=True)
class AddKey:
    """ADD KEY, of any kind."""

    words: KeyWords


@dataclass(frozen=True, slots=True)
class DropKey:
    """The name may belong to another kind of constraint, or to none."""

    name: str


@dataclass(frozen=True, slots=True)
class AddForeignKey:
    """ADD FOREIGN KEY."""

    words: ForeignKeyWords


@dataclass(frozen=True, slots=True)
class DropForeignKey:
    """A name that no foreign key has belongs to another constraint, or does not matter."""

    name: str


@dataclass(frozen=True, slots=True)
class AddCheck:
    """ADD CHECK; in MySQL also a column's."""

    words: CheckWords


@dataclass(frozen=True, slots=True)
class DropCheck:
    """The name may belong to another kind of constraint."""

    name: str


@dataclass(frozen=True, slots=True)
class EnforceCheck:
    """ALTER CHECK … [NOT] ENFORCED."""

    name: str
    enforced: bool


@dataclass(frozen=True, slots=True)
class RenameKey:
    """RENAME KEY."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SetKeyVisible:
    """ALTER INDEX … VISIBLE or INVISIBLE (MariaDB: NOT IGNORED or IGNORED)."""

    name: str
    visible: bool


@dataclass(frozen=True, slots=True)
class RenameTo:
    """RENAME TO: the table's new database and name."""

    database: str
    table: str


@dataclass(frozen=True, slots=True)
class ConvertCharset:
    """CONVERT TO CHARACTER SET: all columns with characters; `charset` None means the database's."""

    charset: Charset | None


@dataclass(frozen=True, slots=True)
class SetOptions:
    """The table's options; `auto_increment` is where an added column begins to number the rows, `others` are as in a
    definition, with "" for the default."""

    charset: str | None = None
    collation: str | None = None
    engine: str | None = None
    auto_increment: int | None = None
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EmptyTable:
    """All rows go: TRUNCATE PARTITION ALL."""


@dataclass(frozen=True, slots=True)
class PartitionBy:
    """`partitioning` None: REMOVE PARTITIONING."""

    partitioning: Partitioning | None


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """Partitions as written; for HASH and KEY also the number of further ones."""

    partitions: tuple[Partition, ...] = ()
    count: int = 0
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPartitions:
    """DROP PARTITION."""

    names: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class TruncatePartitions:
    """TRUNCATE PARTITION of some partitions."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CoalescePartitions:
    """COALESCE PARTITION: how many partitions are removed."""

    count: int


@dataclass(frozen=True, slots=True)
class ReorganizePartitions:
    """REORGANIZE PARTITION … INTO."""

    names: tuple[str, ...]
    into: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class RewritePartitions:
    """REBUILD PARTITION, which writes the rows of partitions anew, or REPAIR, which moves those that belong to others;
    no names: ALL."""

    names: tuple[str, ...]
    repairs: bool


@dataclass(frozen=True, slots=True)
class ExchangePartition:
    """EXCHANGE PARTITION swaps the rows of a partition and those of a table. The server checks that the table's rows
    belong to the partition, unless it is not to (WITHOUT VALIDATION)."""

    name: str
    table: tuple[str, str]
    is_checked: bool = True


@dataclass(frozen=True, slots=True)
class PartitionToTable:
    """A partition becomes a table of its own (MariaDB)."""

    name: str
    table: tuple[str, str]


@dataclass(frozen=True, slots=True)
class PartitionFromTable:
    """A table becomes a new partition of another, and no longer exists (MariaDB). `is_checked` as of EXCHANGE."""

    table: tuple[str, str]
    partition: Partition
    is_checked: bool = True


@dataclass(frozen=True, slots=True)
class SetVersioning:
    """ADD or DROP SYSTEM VERSIONING."""

    on: bool


@dataclass(frozen=True, slots=True)
class IgnoreConflicts:
    """ALTER IGNORE: a row is removed if it breaks a unique key, belongs to no partition or fails a CHECK. `checks`:
    its session looks at these; `sorts`: it has ORDER BY."""

    checks: bool = True
    sorts: bool = False


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """An action that moves or removes rows, or changes the kind of a table, in an unknown way."""

    what: str


AlterAction = (AddColumn | ChangeColumn | DropColumn | RenameColumn | SetDefault | SetColumnVisible | AddKey
               | DropKey | AddForeignKey | DropForeignKey | AddCheck | DropCheck | EnforceCheck | RenameKey
               | SetKeyVisible | RenameTo | ConvertCharset | SetOptions | EmptyTable | PartitionBy | AddPartitions
               | DropPartitions | TruncatePartitions | CoalescePartitions | ReorganizePartitions | RewritePartitions
               | ExchangePartition | PartitionToTable | PartitionFromTable | SetVersioning | IgnoreConflicts
               | Unfollowed)

Action = TypeVar("Action")


def of_kind(actions: Iterable[AlterAction], kind: type[Action]) -> Iterator[Action]:
    """The actions of one class, in their order."""
    return (action for action in actions if isinstance(action, kind))
