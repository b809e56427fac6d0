"""INSERT and REPLACE statements: the head with table and columns, and rows completed with the omitted columns."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.columns.defaults import completed, generated_values, is_variable
from applier.errors import NotComputable, SchemaError, UnsupportedStatement
from applier.jobs.importing.sql import tuple_kernel as kernels
from applier.jobs.importing.sql.literals import column_values
from applier.jobs.importing.sql.spans import LiteralContext, LiteralError, Literals, Values
from applier.mysql.session import Session
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.table_parts import Column
from keysearch.addresses import address_of

HEAD_BYTES = 1 << 16
"""A head is shorter: 4096 columns with names of 64 characters would be an exception."""
# The text between two words, and a name, is matched once and as a whole ("(?>…)"): a head that does not continue as it
# should is not tried again with its comments and blanks divided otherwise, of which there are exponentially many ways.
_BLANKS = rb"(?>(?:\s|/\*(?!!|M!)(?>.*?\*/))*)"
_BLANK = rb"(?=\s|/\*)" + _BLANKS
_NAME = rb'(?>`(?:[^`]|``)+`|"(?:[^"]|"")+"|[\w$\x80-\xff]+)'
_HEAD = re.compile(
    rb"(?P<verb>INSERT|REPLACE)\b(?P<how>(?>(?:%(b)s(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE)\b)*))%(b)s"
    rb"(?:INTO\b%(c)s)?(?P<first>%(n)s)%(c)s(?:\.%(c)s(?P<second>%(n)s)%(c)s)?"
    rb"(?:\((?P<columns>%(c)s(?>(?:%(n)s(?:%(c)s,%(c)s%(n)s)*)?)%(c)s)\)%(c)s)?VALUES?%(c)s(?=\()"
    % {b"b": _BLANK, b"c": _BLANKS, b"n": _NAME}, re.IGNORECASE | re.DOTALL)
_ANY_NAME = re.compile(_NAME)

FAIL, KEEP, TAKE = range(3)
"""How to treat a row whose key exists: the statement fails, or the older row stays (IGNORE), or the new one replaces it
(REPLACE)."""


@dataclass(frozen=True)
class InsertHead:
    """An INSERT before its rows; `columns` is None if it lists none, `database` None if it names none."""

    text: bytes
    database: str | None
    table: str
    columns: tuple[str, ...] | None
    on_duplicate: int


def parse_head(text: bytes, codec: str = "utf-8") -> InsertHead | None:
    """Return the head at the start of `text`, whose names are in `codec`; None if no INSERT … VALUES ( begins there."""
    match = _HEAD.match(text)
    if match is None:
        return None
    first, second = _name(match["first"], codec), match["second"] and _name(match["second"], codec)
    columns = None if match["columns"] is None else tuple(
        _name(name, codec) for name in _ANY_NAME.findall(match["columns"]))
    replaces, ignores = match["verb"].upper() == b"REPLACE", b"IGNORE" in match["how"].upper()
    return InsertHead(match[0], first if second else None, second or first, columns,
                      TAKE if replaces else KEEP if ignores else FAIL)


def _name(text: bytes, codec: str) -> str:
    quote = text[:1]
    if quote in b"`\"":
        text = text[1:-1].replace(2 * quote, quote)
    return text.decode(codec, "surrogateescape")


@dataclass(frozen=True)
class InsertSpans:
    """Rows of an INSERT as `parse_rows` fills them: [columns, capacity], and a set of kinds for each column."""

    starts: np.ndarray
    lengths: np.ndarray
    kinds: np.ndarray
    seen: np.ndarray

    def record(self) -> np.ndarray:
        """Return where the arrays are, for the kernels (SPANS)."""
        arrays = (self.starts, self.lengths, self.kinds, self.seen)
        return np.array((*self.kinds.shape, *map(address_of, arrays)), kernels.SPANS)

    def literals(self, data: np.ndarray, column: int, rows: int) -> Literals:
        """Return one column of the first `rows`."""
        return Literals(data, self.starts[column, :rows], self.lengths[column, :rows], self.kinds[column, :rows],
                        int(self.seen[column]))


def new_spans(columns: int, values: int) -> InsertSpans:
    """Room for about this many values."""
    shape = columns, max(1, values // max(1, columns))
    return InsertSpans(np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape, np.uint8),
                 np.zeros(columns, np.int64))


class InsertColumns:
    """The columns of a table that the values of an INSERT are for. Raises SchemaError for an unknown column."""

    def __init__(self, definition: TableDefinition, names: tuple[str, ...] | None) -> None:
        self.definition = definition
        self.schema = table_schema(definition)
        visible = [number for number, column in enumerate(definition.columns) if not column.invisible]
        try:
            self.numbers = visible if names is None else [definition.column_index(name) for name in names]
        except KeyError as error:
            raise SchemaError(f"the INSERT names a column that the table does not have: {error}",
                              table=definition.full_name) from None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def have_times(self) -> bool:
        """True if the rows are of a system-versioned table and have both of their times."""
        versioning = self.definition.versioning
        given = (self.definition.columns[number].name for number in self.numbers)
        return versioning is not None and sum(map(versioning.has, given)) == 2

    def rows(self, spans: InsertSpans, n_rows: int, data: np.ndarray, reading: LiteralContext) -> tuple[pa.Table, int]:
        """Return the converted rows, and how many zero dates became null. Raises LiteralError, and SchemaError for a
        column that is left out and has no default."""
        arrays, zero_dates = {}, 0
        for index, number in enumerate(self.numbers):
            column = self.definition.columns[number]
            if column.generated == "virtual":
                continue
            literals = spans.literals(data, index, n_rows)
            if column.generated and literals.seen == 1 << kernels.DEFAULT:
                continue
            try:
                values = column_values(literals, column, self.definition, reading)
            except LiteralError as error:
                raise error.in_column(index, column.name, literals) from None
            self._check_time_zone(column, values, reading)
            arrays[column.name] = values.array
            zero_dates += values.zero_dates
        session = Session(self.definition.flavour, time_zone=reading.time_zone)
        return self.completed(arrays, n_rows, session), zero_dates

    def _check_time_zone(self, column: Column, values: Values, reading: LiteralContext) -> None:
        """Check the time zone of TIMESTAMPs: a dump with --skip-tz-utc has them in its server's zone, and does not name
        it."""
        if column.type.base != "timestamp" or reading.time_zone.upper() != "SYSTEM":
            return
        if len(values.array) - values.array.null_count > values.zero_dates:
            raise SchemaError(f"the dump does not name the time zone of the TIMESTAMPs in column {column.name}",
                              table=self.definition.full_name,
                              hint="dump it without `--skip-tz-utc`, or give the server's zone with --system-time-zone")

    def completed(self, arrays: dict[str, pa.Array], n_rows: int, session: Session | None = None) -> pa.Table:
        """Complete rows of these columns: the others take their default or are computed, which raises SchemaError if it
        cannot be done."""
        left_out = [column for column in self.definition.stored_columns if column.name not in arrays]
        for column in sorted(left_out, key=_last):
            arrays[column.name] = self._left_out(column, arrays, n_rows, session or Session(self.definition.flavour))
        return pa.Table.from_arrays([arrays[name] for name in self.schema.names], schema=self.schema)

    def _left_out(self, column: Column, arrays: dict[str, pa.Array], n_rows: int, session: Session) -> pa.Array:
        """Return a column that the statement omits: its default, or a STORED generated one, which dumps omit."""
        definition = self.definition
        try:
            if column.generated:
                return generated_values(column, definition, arrays.__getitem__, n_rows, session)
            return completed(column, definition, arrays.__getitem__, n_rows, session)
        except NotComputable as error:
            what = f"the generated column {column.name}, and ({column.expression})" if column.generated else \
                f"column {column.name}, and its default"
            raise SchemaError(f"the dump leaves out {what} cannot be computed: {error.message}",
                              table=definition.full_name, hint="leave the table out with --ignore-tables") from None


def _last(column: Column) -> int:
    """Return a sort key: generated columns come last, after the ones that they depend on."""
    return 2 if column.generated else int(is_variable(column))


def refused(code: int, table: str, columns: int) -> UnsupportedStatement | SchemaError:
    """Return the error for text that `parse_rows` cannot read."""
    if code == kernels.Status.WRONG_COUNT:
        return SchemaError(f"a row of an INSERT does not have {columns} values, as many as it has columns",
                           table=table, errno=1136)
    if code == kernels.Status.ON_DUPLICATE:
        return UnsupportedStatement("INSERT … ON DUPLICATE KEY UPDATE cannot be imported", table=table)
    return SchemaError("the text after VALUES is not a list of rows in brackets", table=table, errno=1064)
