"""Functions that return one of their arguments: CASE, IF, COALESCE, NULLIF, GREATEST, LEAST.

Arguments are converted to a common type. Source: MySQL manual, "Flow Control Functions", "Comparison Functions and
Operators"; judged by both servers.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, DATES, INTEGERS, MEMBERS, NETWORK, NUMBERS, TEMPORAL, ColumnType
from applier.mysql.values import zero_dates
from applier.sql.casting.values import convert_values
from applier.sql.functions.arithmetic import EXTREMES, doubles
from applier.sql.functions.compared_forms import without_century
from applier.sql.functions.conditions import FUNCTIONS as CONDITIONS
from applier.sql.functions.conditions import compared
from applier.sql.functions.date_comparisons import check_written_clocks
from applier.sql.functions.shown_doubles import shown_with
from applier.sql.nodes import Call, Literal
from applier.sql.read_times import times
from applier.sql.values import (
    BOOL,
    BYTES,
    DOUBLE,
    NULL,
    PERHAPS_BOOL,
    TEXT,
    WHOLE_NUMBER,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_number,
    as_text,
    as_truth,
    collation_of,
    common_charset,
    exact_type,
    has_seconds,
    numbers,
    text_type,
    together,
)

_WHOLE_OF_BITS = frozenset({"COALESCE", "IFNULL", "GREATEST", "LEAST"})
"""Choices of MySQL's that make a number of a BIT; functions have the bytes of others."""


def _common_type(arguments: Arguments, session: Session, name: str) -> ColumnType:
    """The type of a choice between these values, which the function of this name makes. Raises NotComputable."""
    typed = [value for value in arguments if not value.is_null]
    if not typed:
        return NULL
    kinds = {value.type.base for value in typed}
    if session.flavour == "mariadb" and len(addresses := kinds & NETWORK) == 1 and all(
            value.is_text or value.type.base in NETWORK | BINARY for value in typed):
        return ColumnType(addresses.pop())
    if all(value.is_text or value.type.base in MEMBERS for value in typed):
        return replace(TEXT, charset=common_charset(typed), collation=collation_of(typed))
    if len(kinds) == 1 and kinds & {*TEMPORAL, "json", "geometry"}:
        return replace(typed[0].type, fsp=max(value.type.fsp for value in typed))
    have_text = any(value.is_text or value.type.base in MEMBERS for value in typed)
    if kinds & {"json", "geometry"} or (session.flavour == "mysql" and (
            ("bit" in kinds and name not in _WHOLE_OF_BITS) or (kinds & {*TEMPORAL} and not have_text))):
        raise NotComputable("a value of one type or another")
    if kinds & BINARY or ("bit" in kinds and (have_text or kinds & {*TEMPORAL})):
        return BYTES
    if not have_text and kinds <= {*TEMPORAL}:
        if not kinds <= DATES:  # a time is one of the current day
            raise NotComputable("a date or a time")
        return ColumnType("datetime", fsp=max(value.type.fsp for value in typed))
    if have_text or kinds & {*TEMPORAL}:
        return replace(TEXT, charset=common_charset(typed), collation=collation_of(typed))
    if session.flavour == "mariadb" and all(value.type is BOOL for value in typed):
        return BOOL if len(typed) == len(arguments) or name == "IF" else \
            PERHAPS_BOOL if name.endswith("CASE") else WHOLE_NUMBER  # CASE by whether ELSE NULL is written
    arrays = [as_number(value, session) for value in typed]
    if any(pa.types.is_floating(array.type) for array in arrays):
        return DOUBLE
    return exact_type(max(array.type.scale for array in arrays))


def _one_of(arguments: Arguments, session: Session, name: str) -> tuple[list[Value], ColumnType]:
    """The values converted to their common type; each is shown with its own digits."""
    type_ = _common_type(arguments, session, name)
    if session.flavour == "mysql" and type_.base in ("decimal", "bigint") and any(
            value.type.base == "year" and pc.any(pc.equal(value.values, 0)).as_py() for value in arguments):
        raise NotComputable("the YEAR 0 as one of several numbers")  # a column has '0', and a function '0000'
    numeric = (set() if type_ is BYTES else {"bit"}) | ({"year"} if type_.base == "decimal" else set())
    arguments = [numbers(as_number(value, session), constant=value.constant) if value.type.base in numeric else value
                 for value in arguments]
    among = _digits_among(arguments, session, name)
    scales = {value.type.scale or 0 for value in arguments if not value.is_null}
    shows = not any(value.type.base == "float" for value in arguments) if type_.base == "double" else \
        type_.base != "decimal" or (len(scales) == 1 and not any(map(has_seconds, arguments)))
    made = []
    for value in arguments:
        if value.is_null:
            values = pa.nulls(len(value.values), _arrow_of(type_, arguments))
        elif type_.base == "double":
            values = doubles(value, session)
        elif type_.base in ("decimal", "bigint"):
            values = as_number(value, session).cast(pa.decimal128(38, type_.scale or 0))
        elif type_ is BYTES:
            values = convert_values(value.values, value.type, type_, session) if value.type.base == "bit" else \
                as_bytes(value, session)
        elif type_.base == "longtext":
            values = as_text(value, session, type_.charset)
        elif type_.base in NETWORK | DATES:
            values = convert_values(value.values, value.type, type_, session)
        else:
            values = value.values
        shown = None
        if value.is_null:
            shown = pa.nulls(len(value.values), pa.string())
        elif not shows and type_.base != "double" and value.shows:
            shown = as_text(_without_zeros(value, session), session)
        elif not shows and type_.base != "double" and has_seconds(value):
            shown = value.shown
        digits = among if type_ is BYTES and value.digits is not False else False
        made.append(Value(values, type_, value.constant, digits=digits, shows=shows, shown=shown,
                          is_instant=value.is_instant and type_.base == "longtext"))
    return made, type_


def _digits_among(arguments: Arguments, session: Session, name: str) -> bool | None:
    """False where hexadecimal digits are bytes if one of these is chosen, also where a number is needed; None if that
    is unknown. In MySQL they are a number where another function needs one of CASE or IF; in MariaDB since 10.11, if
    there is nothing but such digits (seen on 9.7, 10.5, 10.11 and 11.8)."""
    if session.flavour == "mysql":
        return False if name in _WHOLE_OF_BITS else None
    return False if any(value.digits is False and not value.is_null for value in arguments) else None


def _without_zeros(value: Value, session: Session) -> Value:
    if value.type.zerofill and session.flavour == "mysql":
        raise NotComputable("a choice of ZEROFILL numbers, which functions show with their zeros")
    return numbers(as_number(value, session), constant=value.constant) if value.type.zerofill else value


def _arrow_of(type_: ColumnType, arguments: Arguments) -> pa.DataType:
    if type_ is NULL:
        return pa.null()
    if type_.base in ("decimal", "bigint"):
        return pa.decimal128(38, type_.scale or 0)
    if type_ is BYTES:
        return pa.binary()
    return pa.string() if type_.base == "longtext" else pa.float64() if type_.base == "double" else \
        next(value.values.type for value in arguments if not value.is_null)


def _coalesce(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    made, type_ = _one_of(arguments, session, call.name)
    texts = _shown_texts(made)
    return Value(pc.coalesce(*together(made, n)), type_, all(value.constant for value in made), _digits(made),
                 made[0].shows, is_choice=True, shown=pc.coalesce(*together(texts, n)) if texts else None,
                 is_document=_are_documents(arguments))


def _digits(values: list[Value]) -> bool | None:
    """None if one of the values is hexadecimal digits, which are a number or text by the place of the choice."""
    return None if any(value.digits is None for value in values) else False


def _are_documents(values: list[Value]) -> bool:
    """Return whether a choice of these is a document to MariaDB: of columns that are, none of them converted, or
    of documents that are bytes."""
    typed = [value for value in values if not value.is_null]
    return all(value.is_document and (value.is_column or value.is_choice or value.type is BYTES)
               for value in typed) and len({value.type.charset for value in typed} - {None}) < 2


def _shown_texts(values: list[Value]) -> list[Value]:
    """The values as the texts that they are shown as; none if one of them is not known."""
    texts = [replace(value, values=value.shown) for value in values if value.shown is not None]
    return texts if len(texts) == len(values) else []


_DATES_AND_YEARS = frozenset(TEMPORAL) | {"year"}


def _case(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Pair alternating conditions and values; the rest is the ELSE."""
    whens, (*thens, otherwise) = arguments[:-1:2], [*arguments[1:-1:2], arguments[-1]]
    made, type_ = _one_of([*thens, otherwise], session, call.name)
    constant = all(value.constant for value in arguments)
    truths = [replace(when, values=as_truth(when, session)) for when in whens]

    def chosen(choices: list[Value]) -> pa.Array:
        arrays = together([*truths, *choices], n)
        result = arrays[-1]
        for condition, choice in reversed(list(zip(arrays[:len(whens)], arrays[len(whens):-1], strict=True))):
            result = pc.if_else(condition.fill_null(False), choice, result)
        return result

    texts = _shown_texts(made) if not constant else []
    return Value(chosen(made), type_, constant, _digits(made), made[0].shows, is_choice=True,
                 shown=chosen(texts) if texts else None, in_text=bool(texts) and session.flavour == "mysql",
                 is_instant=session.flavour == "mysql" and any(value.is_instant for value in made),
                 is_of_dates=session.flavour == "mysql" and type_.base == "longtext" and any(
                     value.type.base in _DATES_AND_YEARS or value.is_of_dates for value in (*thens, otherwise)),
                 is_of_numbers=session.flavour == "mysql" and type_.base == "longtext" and any(
                     value.type.base in NUMBERS | {"time", "year"} or value.is_of_numbers
                     for value in (*thens, otherwise)),
                 is_document=_are_documents([*thens, otherwise]))


def _if(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    return _case(arguments, call, session, n)


def _simple_case(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Simple CASE: a value, then alternating values to compare with and results; the rest is the ELSE."""
    subject, *branches = arguments
    if any(value.type.base == "year" for value in (subject, *branches[:-1:2])) and any(
            value.type.base in TEMPORAL for value in (subject, *branches[:-1:2])):
        raise NotComputable("CASE of a YEAR and a date")
    check_written_clocks([subject, *branches[:-1:2]], session)
    subject, *whens = (without_century(value, session) for value in (subject, *branches[:-1:2]))
    branches[:-1:2] = [CONDITIONS["="]([subject, when], Call("="), session, n) for when in whens]
    return _case(branches, call, session, n)


def _null_if(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    left, right = arguments
    if session.flavour == "mysql" and left.constant and left.type.base in NUMBERS and right.type.base in TEMPORAL:
        raise NotComputable("NULLIF of a literal's number and a date")  # which MySQL turns into that of a date
    if session.flavour == "mysql" and left.constant and right.type.base == "year":
        raise NotComputable("NULLIF of a constant and a YEAR")  # which MySQL turns into that year
    is_year = session.flavour == "mysql" and left.type.base == "year"
    same = compared(pc.equal, by_operator=True)([left, right], Call("="), session, n)
    is_float = left.type.base == "float"  # which functions show with six digits, and columns of text with all
    if left.type.base in {*INTEGERS, "year", "float"}:  # a number, which no longer shows as a column's
        left = numbers(as_number(left, session), constant=left.constant)
    [values, equal] = together([left, replace(same, values=as_truth(same, session))], n)
    nulls = pa.scalar(None, values.type)
    made = replace(left, values=pc.if_else(equal.fill_null(False), nulls, values),
                   digits=None if left.digits else False, constant=left.constant and right.constant,
                   is_column=False, is_choice=True, shows=left.shows and not is_float,
                   is_instant=left.is_instant and session.flavour == "mysql")
    if left.is_text and left.constant and right.type.charset not in (None, left.type.charset):
        made = replace(made, type=text_type(None, None))  # a literal, which may be converted to be compared
    if isinstance(node := call.arguments[0], Literal) and node.kind == "bytes" and node.charset is None:
        made = replace(made, digits=None, has_other_number=True)  # also beside text, which makes text of it
    if made.type.base == "double" and made.type.scale is not None and session.flavour == "mariadb":
        return shown_with(made.type.scale, made, session)
    if made.type.base in MEMBERS and session.flavour == "mariadb":
        return Value(as_text(made, session), TEXT, made.constant)
    if is_year and pc.min(pc.abs(made.values)).as_py() == 0:  # it is 0000 to functions
        return replace(made, shows=False, shown=as_text(made, session))
    return replace(made, shown=as_text(made, session)) if made.is_sum else made


def _plain(document: Value) -> Value:
    """One of MariaDB's documents beside numbers, as text. Raises NotComputable for others than numbers, arrays and
    objects: of a string JSON_EXTRACT has the number in it."""
    if pc.any(pc.match_substring_regex(document.values, r"^[^-\d\[{]")).as_py():
        raise NotComputable("a document that is text or a word as a number")
    return replace(document, type=TEXT)


def _days_among(arguments: Arguments, session: Session) -> Arguments:
    """Dates beside dates with a time, or beside texts, as values of one type: the texts as dates, without their time
    if no date has a time. A time has as many digits as any of them; a text that is no literal has six."""
    dates = [value for value in arguments if value.type.base in DATES]
    kinds = {value.type.base for value in arguments if not value.is_text}
    if not dates or not kinds <= DATES or len({value.type for value in arguments}) == 1:
        return arguments
    has_time = kinds != {"date"}
    digits = max(_digits_of_second(value) for value in arguments) if has_time else 0
    type_ = ColumnType("datetime", fsp=digits) if has_time else ColumnType("date")
    if not has_time and any(value.is_text and pc.any(pc.match_substring_regex(value.values, r"59\D?59\.[5-9]")).as_py()
                            for value in arguments):
        raise NotComputable("text with a fraction of a second compared with dates")  # MySQL cuts it, not to a next day
    made = [replace(value, values=convert_values(value.values, value.type, type_, session), type=type_)
            for value in arguments]
    for value, before in zip(made, arguments, strict=True):
        if value.values.null_count > before.values.null_count or zero_dates.has_any(value.values):
            raise NotComputable("an invalid date compared")
    return made


def _times_among(arguments: Arguments, session: Session) -> Arguments:
    """MariaDB's times beside literals and numbers as times; others are NULL."""
    texts = [value for value in arguments if value.is_text]
    kinds = {value.type.base for value in arguments if not value.is_text}
    if session.flavour == "mysql" or not all(value.constant for value in texts) or "time" not in kinds or \
            not kinds <= {"time", "year", *NUMBERS} - {"bit"} or (kinds == {"time"} and not texts):
        return arguments
    made = [value if value.type.base == "time" else times(value, session) for value in arguments]
    if any(time.values.null_count or time.type.fsp for time, value in zip(made, arguments, strict=True)
           if value.is_text):
        raise NotComputable("text that is not a time, or has a fraction, compared with times")
    type_ = ColumnType("time", fsp=max(one.type.fsp for one in made))
    return [replace(value, type=type_, is_column=value.is_column and value.type == type_) for value in made]


def _digits_of_second(value: Value) -> int:
    if not value.is_text:
        return value.type.fsp or 0
    if not value.constant:
        return 6
    return len((value.values[0].as_py() or "").partition(".")[2])


def _kind(base: str) -> str:
    return "day" if base in TEMPORAL else "number" if base in NUMBERS else base if base == "year" else "text"


_KINDS = 2
"""MariaDB reads all as dates among values of more kinds than these."""


def _extreme(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """GREATEST and LEAST: of texts and of dates as they compare, else of numbers; NULL where one is. Among strings, a
    number is a string in MySQL and makes all of them numbers in MariaDB; a date beside text is text in MySQL. Of equal
    texts MySQL's GREATEST takes the last one."""
    if any(value.is_null for value in arguments):
        return Value(pa.nulls(1), NULL, constant=True)
    texts = [value for value in arguments if value.is_text]
    arguments = _times_among(_days_among(arguments, session), session)
    kinds = {value.type.base for value in arguments}
    if session.flavour == "mariadb" and kinds & {*TEMPORAL} and len(kinds) > 1 and kinds & {"time", *MEMBERS, *BINARY}:
        raise NotComputable(f"{call.name} of times and other values")
    if session.flavour == "mariadb" and kinds & {*TEMPORAL} and len({*map(_kind, kinds)}) > _KINDS:
        raise NotComputable(f"{call.name} of dates, text and numbers")
    if session.flavour == "mysql" and "time" in kinds and texts:
        raise NotComputable(f"{call.name} of times and texts")  # which is text, of its first digits as a number
    if session.flavour == "mysql" and kinds & DATES and (kinds & {*MEMBERS} or (
            texts and not all(value.is_text or value.type.base in TEMPORAL for value in arguments))):
        raise NotComputable(f"{call.name} of dates, and of members or of text and numbers")  # '16383-15-31' is one
    if session.flavour == "mariadb" and not all(value.is_text or value.type.base == "json" for value in arguments):
        arguments = [_plain(value) if value.type.base == "json" else value for value in arguments]
    are_strings = [value.is_text or value.type.base in (*MEMBERS, *BINARY) for value in arguments]
    if any(are_strings) and not all(are_strings) and session.flavour == "mariadb" and not kinds & {*TEMPORAL}:
        arguments = [Value(doubles(value, session), DOUBLE, value.constant) for value in arguments]
        are_strings = [False]
    if not any(are_strings) and not (len(kinds) == 1 and kinds <= {*TEMPORAL}):
        extreme = EXTREMES[call.name](arguments, call, session, n)
        are_truths = session.flavour == "mariadb" and all(value.type is BOOL for value in arguments)
        if kinds == {"year"}:
            return replace(extreme, is_choice=True)
        if kinds == {"float"} and session.flavour == "mariadb":  # a FLOAT, which shows fewer digits
            return replace(extreme, shows=False)
        return replace(extreme, type=BOOL) if are_truths else extreme
    (made, *others), type_ = _one_of(arguments, session, call.name)
    if type_ is BYTES:
        chosen = pc.max_element_wise if call.name == "GREATEST" else pc.min_element_wise
        return Value(chosen(*together([made, *others], n), skip_nulls=False), BYTES,
                     all(value.constant for value in arguments), has_other_number=session.flavour == "mariadb",
                     digits=_digits([made, *others]))
    sign = "<" if call.name == "LEAST" else ">=" if session.flavour == "mysql" else ">"
    if type_.collation is None and all(value.constant and value.type.charset == session.literals
                                       for value in arguments if value.is_text):  # numbers beside literals
        in_theirs = replace(type_, collation=session.collation)
        made, *others = (replace(value, type=in_theirs) for value in (made, *others))
    for other in others:
        is_next = CONDITIONS[sign]([other, made], Call(sign), session, n)
        first, second, chosen = together([other, made, replace(is_next, values=as_truth(is_next, session))], n)
        made = replace(made, values=pc.if_else(chosen, first, second), constant=made.constant and other.constant)
    made = replace(made, type=type_, text_scale=None, is_instant=False,
                   has_other_number=session.flavour == "mariadb" and type_.base not in TEMPORAL)
    if texts and type_.base in DATES and session.flavour == "mysql":
        text = replace(TEXT, charset=common_charset(texts), collation=collation_of(texts))
        shown = as_text(made, session)
        return Value(shown, text, made.constant, shown=shown, is_instant=True)
    return replace(made, is_choice=True) if made.type.base in TEMPORAL else made


FUNCTIONS: dict[str, Function] = {
    "COALESCE": _coalesce, "IFNULL": _coalesce, "CASE": _case, "SIMPLE CASE": _simple_case, "IF": _if,
    "NULLIF": _null_if, "GREATEST": _extreme, "LEAST": _extreme,
}
