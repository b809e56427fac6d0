"""How an ALTER converts the rows of a table: for each column of the new definition, the source of its values.

This is only the plan, made once for each statement; `applier.columns.alter` applies it to whole columns of rows.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property

from applier.errors import SchemaError
from applier.mysql.sequences import SequenceState, sequence_of
from applier.mysql.session import Session
from applier.schema.ddl.alter_actions import IgnoreConflicts
from applier.schema.ddl.key_grammar import in_server_order
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition
from applier.schema.engines import counts_rows
from applier.schema.key_infos import clustered_key
from applier.schema.partitions import PartRows
from applier.schema.table_parts import Column
from applier.schema.versioning import ENDS_OF_TIME
from applier.sql.tokens import tokenize

_COPIES = r"\bALGORITHM\s*=?\s*COPY\b(?!.*\bALGORITHM\b)|\bORDER\s+BY\b|\bPARTITION\s+BY\b|\bREMOVE\s+PARTITIONING\b"
_COPIES_OF = {
    "mysql": re.compile(rf"{_COPIES}|\bCHECK\s*\((?!.*\bNOT\s+ENFORCED\b)", re.IGNORECASE),
    "mariadb": re.compile(rf"{_COPIES}|\bADD (CONSTRAINT (IF NOT EXISTS )?(\w+ )?)?CHECK \(", re.IGNORECASE)}
"""MariaDB does not copy rows for the CHECK of a column."""
_GIVES_ZERO = re.compile(r"AUTO_INCREMENT\s*=?\s*0+(?!\d)|\bUSE_FRM\b", re.IGNORECASE)


@dataclass(frozen=True)
class RowConversion:
    """A conversion of rows of `old` to rows of `new`: the i-th new column takes its values from the old one with the
    number `sources[i]`, None for an added one; rows of `removed` are removed, and the new rows come to lie in the
    partitions of `required`, to which they must belong unless the statement `may_misplace` some. `rewritten` are the
    names of partitions whose rows the server writes anew (None: not known), or, if it `repairs` them, moves to where
    they belong. The rest describes the statement: `timestamp_us` is its time in microseconds UTC, `file`, `position`
    and `gtid` are its position in the log, `first_number` is the next number of AUTO_INCREMENT (0: not given),
    `numbering` the session's auto_increment_increment and auto_increment_offset, `end_of_time` the last TIMESTAMP of
    MariaDB, `ignores` has the details of ALTER IGNORE, `server_version` is the source's, `foreign_key_checks` and
    `lc_time_names` are the session's, `connection` is its character_set_connection, `literal_collation` is that of
    literals in MySQL's expressions, `says_stored` is as in Altered, and `sequences` are the next numbers of a replica's
    sequences from which new columns take numbers, as far as these are known. A statement that `leaves_rows` alters
    another table, or gives this one another name."""

    old: TableDefinition
    new: TableDefinition
    sources: tuple[int | None, ...]
    sql_mode: str = ""
    time_zone: str = "SYSTEM"
    sql: str = ""
    timestamp_us: int = 0
    file: str | None = None
    position: int | None = None
    gtid: str | None = None
    removed: PartRows | None = None
    required: PartRows | None = None
    may_misplace: bool = False
    rewritten: tuple[str, ...] | None = ()
    repairs: bool = False
    first_number: int = 0
    numbering: tuple[int, int] = (1, 1)
    end_of_time: int = ENDS_OF_TIME[0]
    ignores: IgnoreConflicts | None = None
    server_version: str = ""
    foreign_key_checks: bool = True
    lc_time_names: int = 0
    connection: str = "utf8mb4"
    literal_collation: str | None = None
    sequences: tuple[SequenceState, ...] = ()
    says_stored: bool = False
    leaves_rows: bool = False

    @property
    def kept(self) -> list[tuple[Column, Column]]:
        """The columns that stay, before and after."""
        sources = zip(self.sources, self.new.columns, strict=True)
        return [(self.old.columns[source], column) for source, column in sources if source is not None]

    @property
    def is_innodb(self) -> bool:
        """True if the table's engine is InnoDB, before and after."""
        return all((table.engine or "InnoDB").lower() == "innodb" for table in (self.old, self.new))

    @cached_property
    def asks_for_copy(self) -> bool:
        """True if a part of the statement is only possible by copying the rows."""
        return _COPIES_OF[self.new.flavour].search(self.words) is not None

    @property
    def loses_key(self) -> bool:
        """True if the clustered key is dropped, and no other one takes its place without a copy of the table: an added
        one, or, on MariaDB, any."""
        was, key = clustered_key(self.old), clustered_key(self.new)
        if was is None or key == was:
            return False
        return key is None or (self.new.flavour == "mysql" and self.new.primary_key is None and key in self.old.keys)

    @cached_property
    def words(self) -> str:
        """The statement without comments, strings and quoted names; nothing of one that leaves the rows."""
        tokens = tokenize("" if self.leaves_rows else self.sql, sql_mode=self.sql_mode, flavour=self.new.flavour)
        return " ".join(token.text for token in tokens if token.kind in ("word", "sign"))

    @property
    def sorts_rows(self) -> bool:
        """True if rows come to lie in the order of columns, where no clustered key sorts them."""
        return re.search(r"\bORDER BY\b", self.words, re.IGNORECASE) is not None

    @property
    def numbers_rows(self) -> bool:
        """True if rows may get numbers: an AUTO_INCREMENT column is added, or a column becomes one, or is added with a
        sequence's numbers."""
        return bool(self.drawn) or any(
            column.auto_increment and (source is None or self.begins_to_number(column, source))
            for source, column in zip(self.sources, self.new.columns, strict=True))

    @property
    def continues_numbers(self) -> bool:
        """True if the table has a next number of AUTO_INCREMENT before the statement, and keeps it: the column that has
        AUTO_INCREMENT is not dropped."""
        counting = [number for number, column in enumerate(self.old.columns) if column.auto_increment]
        return counts_rows(self.old) and all(number in self.sources for number in counting)

    @property
    def keeps_counting(self) -> bool:
        """True if the column that has AUTO_INCREMENT, if there is one, has it before and after."""
        return all(column.auto_increment == (source is not None and self.old.columns[source].auto_increment)
                   for source, column in zip(self.sources, self.new.columns, strict=True)) and all(
            number in self.sources for number, column in enumerate(self.old.columns) if column.auto_increment)

    @property
    def needs_counter(self) -> bool:
        """True if rows may get numbers that depend on the table's next number of AUTO_INCREMENT, or another column gets
        it."""
        return self.numbers_rows or not self.keeps_counting

    @property
    def gives_zero(self) -> bool:
        """True if the statement may have the option AUTO_INCREMENT = 0: MyISAM forgets the next number then, MEMORY
        does only where it copies the rows. REPAIR … USE_FRM makes MyISAM forget it, too."""
        return _GIVES_ZERO.search(self.sql) is not None

    @cached_property
    def drawn(self) -> dict[str, TableName]:
        """The sequence of each added column whose default is a sequence's next number."""
        added = (column for source, column in zip(self.sources, self.new.columns, strict=True) if source is None)
        return {column.name: name for column in added if column.default is not None
                and column.default.kind == "expression" and self.new.flavour == "mariadb"
                and (name := sequence_of(column.default.text, self.new.database)) is not None}

    def begins_to_number(self, column: Column, source: int) -> bool:
        """Return whether a column becomes AUTO_INCREMENT, and rows that have zero or NULL in it get a number."""
        old = self.old.columns[source]
        return column.auto_increment and not old.auto_increment and (
            not self.keeps_zeros or (old.nullable and self.new.flavour == "mysql"))

    @property
    def keeps_zeros(self) -> bool:
        """True if zero asks for no number. In MySQL, NULL asks for one nevertheless."""
        return "NO_AUTO_VALUE_ON_ZERO" in self.sql_mode

    def refusal(self, what: str) -> SchemaError:
        """Return the error for rows if the server's result is unknown."""
        return SchemaError(f"rows cannot be converted over this statement: {what}: {' '.join(self.sql.split())}",
                           table=self.new.full_name, file=self.file, position=self.position, gtid=self.gtid,
                           hint="stop before it with --stop-position, or leave the table out with --ignore-tables")

    @property
    def session(self) -> Session:
        """The session that the statement ran in."""
        return Session(self.new.flavour, self.sql_mode, self.time_zone, self.timestamp_us or None,
                       collation=self.literal_collation, lc_time_names=self.lc_time_names,
                       last_timestamp=self.end_of_time if self.server_version else None,
                       server_version=self.server_version)


def same_to_rows(old: TableDefinition, new: TableDefinition) -> bool:
    """True if rows, and code that finds rows, see no difference between two definitions of a table: only plain keys
    differ, and foreign keys that change no rows. Expressions make text in the table's character set."""
    def seen(definition: TableDefinition) -> tuple[object, ...]:
        keys = in_server_order(definition.keys, definition.columns)
        unique = tuple(key for key in keys if key.kind in ("primary", "unique"))
        cascading = [replace(key, name="") for key in definition.foreign_keys if key.cascades]
        computes = any(column.generated or (column.default is not None and column.default.kind == "expression")
                       for column in definition.columns)
        charset = definition.charset if computes else None
        return definition.full_name, definition.columns, unique, cascading, definition.versioning is None, charset

    return seen(old) == seen(new)
