"""LOAD DATA statements, and the files of rows that they, or MySQL Shell's metadata, describe."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from applier.errors import UsageError
from applier.jobs.importing.sql import tuple_kernel as kind
from applier.jobs.importing.sql.field_kernel import NONE
from applier.jobs.importing.sql.inserts import FAIL, KEEP, TAKE
from applier.mysql.names import folded
from applier.schema.ddl.cursor import Cursor, StatementContext
from applier.sql.tokens import tokenize

DECODERS = {"UNHEX": kind.HEX, "FROM_BASE64": kind.BASE64}
"""Functions that decode a field, and the kind of literal that it then is."""


@dataclass(frozen=True)
class Lines:
    """How fields and lines end. Raises UsageError for forms that cannot be read."""

    fields_end: str = "\t"
    enclosed: str = ""
    escaped: str = "\\"
    lines_end: str = "\n"
    lines_start: str = ""
    passed_over: int = 0

    def __post_init__(self) -> None:
        fits = len(self.fields_end.encode()) == 1 and len(self.lines_end.encode()) in (1, 2)
        if not fits or len(self.enclosed.encode()) > 1 or self.escaped not in ("", "\\") or self.lines_start:
            raise UsageError(f"fields that end in {self.fields_end!r}, lines in {self.lines_end!r}, enclosed by "
                             f"{self.enclosed!r}, escaped by {self.escaped!r}, cannot be read",
                             hint="fields may end in one character, lines in one or two, and a backslash may escape")

    def for_kernel(self) -> tuple[int, int, int, int, int]:
        """field_end, line, second, enclosing, escape of FIELDS."""
        line = self.lines_end.encode()
        return (self.fields_end.encode()[0], line[0], line[1] if len(line) > 1 else NONE,
                self.enclosed.encode()[0] if self.enclosed else NONE, 92 if self.escaped else NONE)


@dataclass(frozen=True)
class RowsFile:
    """A file of rows of a table. `columns` are names, None for all visible ones; `coded` has the kinds of literals of
    the columns that a function is to decode; `charset` is the file's, "binary" where each column has its own, and
    `time_zone` that of its TIMESTAMPs, None where the dump does not say it. `is_whole`: it has invisible columns, too.
    """

    uri: str
    database: str
    table: str
    columns: tuple[str, ...] | None
    lines: Lines
    charset: str = "utf8mb4"
    coded: dict[str, int] = field(default_factory=dict)
    on_duplicate: int = FAIL
    time_zone: str | None = "+00:00"
    is_whole: bool = False

    def kinds(self, names: list[str]) -> np.ndarray:
        """For each column the kind of its decoded fields, 0 for plain ones."""
        coded = {folded(name): what for name, what in self.coded.items()}
        return np.array([coded.get(folded(name), 0) for name in names], np.uint8)


def parse_load_data(sql: str, database: str | None, sql_mode: str, flavour: str, charset: str) -> RowsFile:
    """LOAD DATA … INFILE; `uri` is as written. Raises SchemaError if it is not understood, UsageError."""
    cursor = Cursor(tokenize(sql, sql_mode=sql_mode, flavour=flavour), StatementContext(flavour, sql_mode, database))
    cursor.expect("LOAD", "DATA")
    cursor.accept_any("LOW_PRIORITY", "CONCURRENT")
    cursor.accept("LOCAL")
    cursor.expect("INFILE")
    uri = cursor.string()
    on_duplicate = {"REPLACE": TAKE, "IGNORE": KEEP, "": FAIL}[cursor.accept_any("REPLACE", "IGNORE")]
    cursor.expect("INTO", "TABLE")
    names = cursor.table_name()
    if cursor.accept("CHARACTER", "SET") or cursor.accept("CHARSET"):
        charset = cursor.word_or_string().lower()
    lines = _lines(cursor)
    fields = _fields(cursor)
    targets, coded = _assignments(cursor)
    if not cursor.at_end:
        raise cursor.error("LOAD DATA continues with unknown text")
    columns = None
    if fields is not None:
        for name, is_variable in fields:
            if is_variable and name not in targets:
                raise cursor.error(f"no column is set from @{name} alone")
        columns = tuple(targets[name] if is_variable else name for name, is_variable in fields)
    return RowsFile(uri, *names, columns, lines, charset, coded, on_duplicate)


def _lines(cursor: Cursor) -> Lines:
    words: dict[str, str] = {}
    if cursor.accept_any("FIELDS", "COLUMNS"):
        while True:
            optionally = cursor.accept("OPTIONALLY")
            word = cursor.accept_any("TERMINATED", "ENCLOSED", "ESCAPED")
            if not word:
                break
            cursor.expect("BY")
            name = {"TERMINATED": "fields_end", "ENCLOSED": "enclosed", "ESCAPED": "escaped"}[word]
            words[name] = cursor.string()
        if optionally:
            raise cursor.error("ENCLOSED was expected")
    if cursor.accept("LINES"):
        while word := cursor.accept_any("TERMINATED", "STARTING"):
            cursor.expect("BY")
            words[{"TERMINATED": "lines_end", "STARTING": "lines_start"}[word]] = cursor.string()
    passed_over = 0
    if cursor.accept("IGNORE"):
        passed_over = cursor.number()
        if not cursor.accept_any("LINES", "ROWS"):
            raise cursor.error("LINES was expected")
    return Lines(**words, passed_over=passed_over)


def _fields(cursor: Cursor) -> list[tuple[str, bool]] | None:
    """Return the targets of the fields: names, and whether they are variables; None for all visible columns."""
    if not cursor.accept("("):
        return None
    fields = [_field(cursor)]
    while cursor.accept(","):
        fields.append(_field(cursor))
    cursor.expect(")")
    return fields


def _field(cursor: Cursor) -> tuple[str, bool]:
    is_variable = cursor.accept("@")
    return cursor.name(), is_variable


def _assignments(cursor: Cursor) -> tuple[dict[str, str], dict[str, int]]:
    """SET: the column that each variable goes to, and the kinds of literals of those that a function decodes."""
    targets: dict[str, str] = {}
    coded: dict[str, int] = {}
    if not cursor.accept("SET"):
        return targets, coded
    while True:
        column = cursor.name()
        cursor.expect("=")
        function = cursor.accept_any("UNHEX", "FROM_BASE64", "CAST", "CONVERT")
        if function:
            cursor.expect("(")
        cursor.expect("@")
        targets[cursor.name()] = column
        if function == "CAST":
            cursor.expect("AS", "UNSIGNED")
            coded[column] = kind.INTEGER
        elif function == "CONVERT":
            cursor.expect("USING", "UTF8MB4")
        elif function:
            coded[column] = DECODERS[function]
        if function:
            cursor.expect(")")
        if not cursor.accept(","):
            return targets, coded
