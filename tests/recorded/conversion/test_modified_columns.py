"""Columns that MODIFY makes columns of another type, or NOT NULL: judged by what both servers made of every pair of
types, kind of default and sql_mode (record_modified.py)."""

import calendar
import datetime
import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import islice

import pyarrow as pa
import pytest

from applier.apply.output.altered_rows import altered_rows
from applier.columns.alter.rows import RowConverter
from applier.errors import SchemaError
from applier.mysql.types import arrow_type
from applier.mysql.values import zero_dates
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.alter import alter
from applier.schema.history.conversion import RowConversion
from applier.schema.history.effects import changes_rows
from applier.schema.history.session import session_of
from tests.recorded.conversion.record_defaults import NOW, ZONE
from tests.recorded.conversion.record_modified import DATES_ROWS, DATES_TABLE, KEPT, MODIFIED, NULLS, NUMBERED
from tests.support.passed_rows import PassedRows

LINES = [json.loads(line) for line in gzip.open(MODIFIED, "rt")]
BITS = {"ONLY_FULL_GROUP_BY": 5, "STRICT_TRANS_TABLES": 21, "STRICT_ALL_TABLES": 22, "NO_ZERO_IN_DATE": 23,
        "NO_ZERO_DATE": 24, "ALLOW_INVALID_DATES": 25, "ERROR_FOR_DIVISION_BY_ZERO": 26, "TRADITIONAL": 27,
        "NO_AUTO_CREATE_USER": 28, "NO_ENGINE_SUBSTITUTION": 30, "PAD_CHAR_TO_FULL_LENGTH": 31,
        "NO_AUTO_VALUE_ON_ZERO": 19, "TIME_TRUNCATE_FRACTIONAL": 32, "TIME_ROUND_FRACTIONAL": 34}
"""Of a QUERY event's sql_mode."""
SEEING = {"date", "datetime", "timestamp", "time", "year"}
"""Types whose values depend on the sql_mode, beside CHAR."""
TRADITIONAL = ("TRADITIONAL,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
               "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION")
NOT_COMPUTABLE = {
    "MySQL's documents as bits": r"documents as bits$",
    "what a document's text does not tell": r"may be a date, a time or bytes as DECIMAL$",
    "addresses as numbers": r"it is not known how the server converts its values$",
    "text that is not a date or time": r"'.*' as (DATE|DATETIME|TIMESTAMP|TIME)$",
    "text padded with spaces as a date or time": r"text with its spaces as",
    "numbers over 838:59:59": r"numbers of more than 8385959 as TIME$",
    "text that may be a year": r"text that begins with a zero as YEAR$|or of zero with an exponent, as YEAR$",
    "a time as a year": r"TIME as YEAR$",
    "numbers beyond 64 bits": r"(floats|numbers) beyond 9223372036854775807$",
    "a fraction of a day": r"numbers with a fraction as invalid dates$",
    "an invalid date, rounded": r"an invalid date, rounded up$",
    "what depends on MariaDB's version": r"which some versions of MariaDB (have|take)$",
    "bytes that are not text": r"bytes that are not text$",
}
"""Why a value is not converted, and what says so."""


def column(texts, kind):
    """Values of a column as a snapshot has them, out of what the server shows."""
    return pa.array([None if text is None else _value(text, kind) for text in texts], arrow_type(kind))


def _value(text, kind):
    target = arrow_type(kind)
    if pa.types.is_integer(target):
        return int(Decimal(text))
    if pa.types.is_decimal(target):
        return Decimal(text)
    if pa.types.is_floating(target):
        return float(text)
    if pa.types.is_binary(target):
        return bytes.fromhex(text)
    if pa.types.is_duration(target):
        hours, minutes, seconds = text.lstrip("-").split(":")
        micros = (int(hours) * 60 + int(minutes)) * 60_000_000 + int(Decimal(seconds) * 1_000_000)
        return datetime.timedelta(microseconds=-micros if text.startswith("-") else micros)
    if pa.types.is_date(target) or pa.types.is_timestamp(target):
        year, month, day = map(int, text[:10].split("-"))
        if not (year and month and day) or day > calendar.monthrange(year, month)[1]:
            none = zero_dates.number(year, month, day)
            clock = datetime.time.fromisoformat(text[11:] or "00:00")
            micros = ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1_000_000 + clock.microsecond
            return none if pa.types.is_date(target) else none * zero_dates.DAY + micros
        instant = datetime.datetime.fromisoformat(text)
        if pa.types.is_date(target):
            return instant.date()
        return instant.replace(tzinfo=datetime.UTC if target.tz else None)
    return text


def session_modes(modes, flavour):
    """What of sql_modes a statement's session has."""
    def bits(mode):
        return sum(1 << BITS[name] for name in mode.replace("TRADITIONAL", TRADITIONAL).split(",") if name)

    return sorted({session_of({"sql_mode": bits(mode)}, flavour)["sql_mode"] for mode in modes})


def conversion(flavour, create, statement, mode):
    """What a statement does to a table."""
    context = {"default_database": "d", "flavour": flavour, "time_zone": ZONE}
    [made] = parse_statement(create, **context)
    [change] = parse_statement(statement, **context)
    new = alter(made.definition, change.actions, change.context)
    return RowConversion(made.definition, new.definition, new.sources, mode, ZONE, statement, NOW,
                         first_number=new.first_number)


def modified(found, values):
    """The values of column v over a conversion of a table of nothing else."""
    rows = pa.table([pa.array(range(len(values)), pa.int32()), values], ["id", "v"])
    return RowConverter(found).convert(rows).column("v").combine_chunks()


def same(made, expected):
    """Return whether values are the same, a negative zero and another one apart."""
    if made.type != expected.type:
        return False
    if not pa.types.is_floating(made.type) and made.equals(expected):
        return True
    return repr(zero_dates.to_python(made)) == repr(zero_dates.to_python(expected))


def kind(type):
    """What types have in common that are converted alike."""
    [base] = re.findall("^[A-Z]+", type)
    for kind in ("INT", "CHAR", "TEXT", "BINARY", "TIME", "FLOAT", "DOUBLE"):
        if base.endswith(kind) and base != "DATETIME":
            return kind + " UNSIGNED" * ("UNSIGNED" in type and kind == "INT")
    return base


def one_of_each_kind(flavour):
    """(type before, type after): of all pairs of a flavour, the first for each two kinds of types."""
    pairs = {}
    for line in LINES:
        for new in line["after"] if line["flavour"] == flavour else ():
            pairs.setdefault((kind(line["type"]), kind(new)), (line["type"], new))
    return set(pairs.values())


def judged(line, chosen):
    """(type, sql_mode, the value before, the value expected, the value made or why there is none) for the chosen types:
    for a column at once, or, where that cannot be, for parts of it."""
    flavour = line["flavour"]
    for new in chosen:
        found = line["after"][new]
        over = conversion(flavour, f"CREATE TABLE t (id INT PRIMARY KEY, v {line['type']})",
                          f"ALTER TABLE t MODIFY v {new}, ALGORITHM=COPY", "")
        old, kind = (side.column("v").type for side in (over.old, over.new))
        any_mode = {old.base, kind.base} & SEEING or old.base == "char"
        for text, recorded in found.items():
            rows = [(before, after) for before, after in zip(line["rows"], json.loads(text), strict=True)
                    if not isinstance(after, int)]
            before, expected = column([row[0] for row in rows], old), column([row[1] for row in rows], kind)
            modes = session_modes(recorded, flavour)
            for mode in modes if any_mode else modes[:1]:
                for row, made in zip(rows, made_of(replace(over, sql_mode=mode), before, expected), strict=True):
                    yield new, mode, *row, made


def made_of(over, before, expected):
    """For each value None if it becomes what is expected, else what it becomes, or why that is unknown: half by half
    where not all of them become it."""
    try:
        made = modified(over, before)
        if same(made, expected):
            return [None] * len(before)
    except SchemaError as error:
        made = error
    if len(before) < 2:
        return [made] * len(before)
    half = len(before) // 2
    return [*made_of(over, before[:half], expected[:half]), *made_of(over, before[half:], expected[half:])]


@pytest.mark.parametrize(("are_first", "least"), [
    pytest.param(True, 20_000, id="one of each kind"),
    pytest.param(False, 80_000, id="the others", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_values_become_what_the_server_made_of_them(flavour, are_first, least):
    """Or why not is one of the few reasons that are listed: never another value."""
    wrong, unknown, n, first = [], Counter(), 0, one_of_each_kind(flavour)
    for line in LINES:
        if line["flavour"] != flavour:
            continue
        chosen = [new for new in line["after"] if ((line["type"], new) in first) == are_first]
        for new, mode, before, after, made in judged(line, chosen):
            n += 1
            if isinstance(made, SchemaError):
                unknown[kind_of(made.message.partition(": ALTER TABLE")[0])] += 1
            elif made is not None:
                wrong.append((line["type"], new, mode, before, after, zero_dates.to_python(made)))
    assert wrong == []
    assert set(unknown) <= set(NOT_COMPUTABLE)
    assert n > least
    assert unknown.total() < 0.08 * n


def kind_of(why):
    return next((kind for kind, pattern in NOT_COMPUTABLE.items() if re.search(pattern, why)), why)


def nulled(line, mode):
    """The value that a NULL becomes by a recorded statement."""
    over = conversion(line["flavour"], f"CREATE TABLE t (k INT PRIMARY KEY, x {line['before']}, z INT, w VARCHAR(60)) "
                      f"ENGINE={line['engine']} CHARACTER SET utf8mb4",
                      f"ALTER TABLE t MODIFY x {line['after']}{line['more']}", mode)
    texts = zip(["1", None, "7", "w"], [one.type for one in over.old.columns], strict=True)
    rows = pa.table([column([text], kind) for text, kind in texts], names=[one.name for one in over.old.columns])
    return RowConverter(over).convert(rows).column("x").combine_chunks(), over.new.column("x").type


@pytest.mark.by_turns("part")
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_null_in_a_column_that_may_not_be_null_becomes_what_the_server_made_of_it(flavour, part):
    """In place, in a copy, with InnoDB and without, over types and defaults."""
    wrong, unknown, n = [], Counter(), 0
    for line in map(json.loads, islice(gzip.open(NULLS, "rt"), part, None, 3)):
        for text, modes in line["found"].items() if line["flavour"] == flavour else ():
            for mode in session_modes(modes, flavour):
                n += 1
                try:
                    values, kind = nulled(line, mode)
                except SchemaError as error:
                    unknown[error.message.partition("column x ")[2]] += 1
                    continue
                expected = column([json.loads(text)], kind)
                if not same(values, expected):
                    wrong.append((line, mode, values.to_pylist()))
    assert wrong == []
    assert not unknown
    assert n > 330


def numbered(line, mode):
    """The rows that a recorded statement makes, by the column `k`."""
    over = conversion(line["flavour"], line["table"], f"ALTER TABLE t MODIFY {line['modify']}", mode)
    rows = [[text.strip().strip("'") for text in row.split(",")] for row in line["rows"]]
    columns = [column([None if text == "NULL" else text for text in texts], one.type)
               for one, texts in zip(over.old.columns, zip(*rows, strict=True), strict=True)]
    made = altered_rows(over, PassedRows(pa.table(columns, ["k", "x"])), None).rows
    return sorted([k, int(x)] for k, x in zip(*(made.column(name).to_pylist() for name in ("k", "x")), strict=True))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_column_that_becomes_auto_increment_numbers_the_rows_with_zero_or_null(flavour):
    """One after another as the server copies them, but in sql_mode NO_AUTO_VALUE_ON_ZERO."""
    wrong, unknown, n = [], Counter(), 0
    for line in map(json.loads, gzip.open(NUMBERED, "rt")):
        for text, modes in line["found"].items() if line["flavour"] == flavour else ():
            for mode in session_modes(modes, flavour):
                n += 1
                try:
                    if numbered(line, mode) != json.loads(text):
                        wrong.append((line, mode, numbered(line, mode)))
                except SchemaError as error:
                    unknown[error.message.partition(": ")[2].partition(": ")[0]] += 1
    assert wrong == []
    assert set(unknown) <= {"AUTO_INCREMENT numbers the rows in an order that a snapshot does not keep"}
    assert n > 80


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_copy_of_the_rows_lets_go_dates_that_the_sql_mode_does_not_allow(flavour):
    """Whatever made the server copy them; in place they stay."""
    wrong, n = [], 0
    for line in map(json.loads, gzip.open(KEPT, "rt")):
        for text, modes in line["found"].items() if line["flavour"] == flavour else ():
            for mode in session_modes(modes, flavour):
                n += 1
                over = conversion(flavour, f"{DATES_TABLE} ENGINE={line['engine']}", line["alter"], mode)
                rows = [[None if value == " NULL" else value.strip(" '") for value in row.split(",")]
                        for row in DATES_ROWS]
                expected = [column(texts, over.old.column(name).type)
                            for name, texts in zip("dm", zip(*json.loads(text), strict=True), strict=True)]
                columns = [column(texts, one.type)
                           for one, texts in zip(over.old.columns, zip(*rows, strict=True), strict=True)]
                rows = pa.table(columns, [one.name for one in over.old.columns])
                made = RowConverter(over).convert(rows) if changes_rows(over) else rows
                if not all(same(made.column(name).combine_chunks(), one)
                           for name, one in zip("dm", expected, strict=True)):
                    wrong.append((line["engine"], line["alter"], mode))
    assert wrong == []
    assert n > 150
