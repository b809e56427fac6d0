"""Calls of functions and operators in expressions: which function computes each, and of which values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, GEOMETRY, NUMBERS, TEMPORAL, ColumnType
from applier.sql.bits_as_dates import as_no_date, without_bits
from applier.sql.bytes_beside_text import as_one_kind, beside_charset, chosen_of, with_chosen_text
from applier.sql.casting.byte_strings import bit_bytes
from applier.sql.casting.texts import WIDE
from applier.sql.compared_casts import as_compared
from applier.sql.functions import (
    arithmetic,
    bits,
    choices,
    codes,
    conditions,
    flow_control,
    geometry,
    intervals,
    letter_cases,
    powers,
    roundings,
    searches,
    sounds,
    text_forms,
    texts,
)
from applier.sql.functions.casts import cast
from applier.sql.functions.dates import calendars, clock_texts, clocks, current, forms, sums, times
from applier.sql.functions.json_documents import loose_documents
from applier.sql.functions.json_documents.documents import as_documents
from applier.sql.nodes import Call, Literal, Node, nodes_of
from applier.sql.read_times import datetimes
from applier.sql.values import (
    BOOL,
    BYTES,
    JSON,
    TEXT,
    Value,
    as_truth,
    converted,
    has_seconds,
    text_type,
    type_of_bytes,
)
from keysearch.collation import collation_of

_FUNCTIONS = (arithmetic.FUNCTIONS | conditions.FUNCTIONS | flow_control.FUNCTIONS | texts.FUNCTIONS | current.FUNCTIONS
              | times.FUNCTIONS | geometry.FUNCTIONS | calendars.FUNCTIONS | text_forms.FUNCTIONS | searches.FUNCTIONS
              | bits.FUNCTIONS | codes.FUNCTIONS | choices.FUNCTIONS | clock_texts.FUNCTIONS | clocks.FUNCTIONS
              | sums.FUNCTIONS | forms.FUNCTIONS | letter_cases.FUNCTIONS | powers.FUNCTIONS | roundings.FUNCTIONS
              | sounds.FUNCTIONS | loose_documents.FUNCTIONS)
_OF_STRINGS = frozenset({
    "CONCAT", "CONCAT_WS", "LPAD", "RPAD", "INSERT", "REPLACE", "TRIM", "SUBSTRING_INDEX", "ELT", "MAKE_SET",
    "EXPORT_SET", "=", "<>", "<", "<=", ">", ">=", "<=>", "IN", "BETWEEN", "LIKE", "REGEXP", "LOCATE", "INSTR",
    "REGEXP_REPLACE", "REGEXP_SUBSTR", "REGEXP_INSTR", "STRCMP", "FIND_IN_SET", "FIELD", "COALESCE", "IFNULL", "NULLIF",
    "GREATEST", "LEAST"})
"""Functions of strings that have one collation, or are bytes, together."""
_TAKING_CHOSEN_DATES = frozenset({
    "CONCAT", "UPPER", "LOWER", "LENGTH", "CHAR_LENGTH", "BIT_LENGTH", "HEX", "REVERSE", "TRIM", "MD5", "SHA1", "QUOTE",
    "TO_BASE64", "CRC32", "ISNULL", "TIMESTAMPADD", "DATE"})
"""Functions that make the same of a date and of its text."""
_CHOSEN_DATE = "a date beside text, one of which is chosen, as other than text"
_OF_BYTES = frozenset({"CONCAT", "CONCAT_WS", "LPAD", "RPAD", "INSERT", "REPLACE", "TRIM", "SUBSTRING_INDEX", "UPPER",
                       "LOWER", "LEFT", "RIGHT", "SUBSTRING", "REVERSE", "LENGTH"})
"""Functions of strings for which a BIT is its bytes."""
_COUNTS = {"LEFT": (1,), "RIGHT": (1,), "LPAD": (1,), "RPAD": (1,), "SUBSTRING": (1, 2), "INSERT": (1, 2),
           "SUBSTRING_INDEX": (2,), "ELT": (0,), "MAKE_SET": (0,), "EXPORT_SET": (0, 4), "LOCATE": (2,)}
"""The arguments of these that are numbers."""
_MISREADING = frozenset({"REPEAT", "LEFT", "RIGHT", "SUBSTRING", "UPPER", "LOWER", "REPLACE", "SUBSTRING_INDEX",
                         "SOUNDEX"})
"""Functions for which MySQL takes the ASCII of a number or a date, unless it is constant, for text in the table's wide
character set, and some bytes behind it (seen on 9.7)."""
_OF_SEARCHES = frozenset({"LPAD", "RPAD", "INSERT", "REPLACE", "TRIM", "SUBSTRING_INDEX", "LOCATE", "INSTR",
                          "STRCMP", "FIND_IN_SET"})
"""Functions that see two bytes for a character of a wide literal beside a number in MySQL's tables of bytes (seen on
9.7)."""
_OF_GEOMETRY = frozenset({"LTRIM", "RTRIM", "HEX"})
"""Others for which a geometry is its bytes."""
_IN_OWN_CHARSET = frozenset({"SOUNDEX", "QUOTE", "CHAR", "JSON_UNQUOTE", "JSON_QUOTE", "JSON_VALUE", "JSON_TYPE",
                             "JSON_COMPACT", "JSON_DETAILED", "JSON_KEYS"})
"""Functions whose text is not in the character set of literals, as text made of numbers is."""
_OF_TIMES = frozenset({"TIME", "HOUR", "MINUTE", "SECOND", "MICROSECOND", "EXTRACT", "ADDTIME", "SUBTIME", "TIMEDIFF",
                       "TIME_TO_SEC", "TIME_FORMAT"})
"""Functions that read a time out of text."""
_CHOICES = frozenset({"CASE", "SIMPLE CASE", "IF"})
_LENGTHENING = frozenset({"LPAD", "RPAD", "REPLACE", "REPEAT"})
_NOT_LENGTHENING = _CHOICES | (_OF_BYTES - _LENGTHENING) | {
    "COALESCE", "IFNULL", "NULLIF", "GREATEST", "LEAST", "ELT"}
"""Functions that make no more bytes than all their arguments have together."""
_WITH_DIGITS = frozenset({"ROUND", "TRUNCATE"})
"""Functions that say with how many digits behind the point an exact number is shown."""
_OF_OPERANDS = frozenset({"+", "-", "*", "/", "MOD", "NEG", "ABS"})
"""Functions whose results have as many digits behind the point as their operands."""
_OF_TEXT = frozenset({"json", *BINARY})
"""Types that are text to arithmetic, beside those with a character set."""
_OF_DOUBLES = _OF_OPERANDS | powers.FUNCTIONS.keys() | {"FLOOR", "CEILING", "ROUND", "TRUNCATE"}
"""Functions of which the digits are known that MariaDB's functions show of their doubles."""
_WITHOUT_DIGITS = frozenset({"bigint", "date", "json", *BINARY})
"""Types of results that do not depend on how many digits of a number are shown, as text does not: a function that needs
a number's text does not compute where that is unknown."""
_WITH_FORMATS = frozenset({"STR_TO_DATE", "DATE_FORMAT", "TIME_FORMAT", "FROM_UNIXTIME", "CONVERT_TZ"})
_OF_A_FORMAT = frozenset({"DATE_FORMAT", "TIME_FORMAT", "FROM_UNIXTIME"})
_IN_BASES = frozenset({"CONV", "BIN", "OCT"})
_IN_SESSION_CHARSET = frozenset({
    "HEX", "CONV", "BIN", "OCT", "TO_BASE64", "FORMAT", "INET_NTOA", "INET6_NTOA", "BIN_TO_UUID", "SPACE", "MD5", "SHA",
    "SHA1", "SHA2", "DATE_FORMAT", "TIME_FORMAT", "FROM_UNIXTIME", "MONTHNAME", "DAYNAME"})
"""Functions whose text is in the session's character set, which is a table's own where the table is opened: bytes, if
that is binary."""


class Calls:
    """Computes calls for n rows in a session; `value` evaluates an argument."""

    def __init__(self, value: Callable[[Node], Value], n: int, session: Session) -> None:
        self._value, self._n, self._session = value, n, session

    def called(self, call: Call) -> Value:
        """The values of a call. Raises NotComputable."""
        last = call.arguments[-1] if call.name in ("+", "-") else None
        if isinstance(last, Call) and last.name == "INTERVAL":
            instant, count = as_no_date(self._instant(call.arguments[0])), self._value(last.arguments[0])
            made = intervals.added(instant, count, last.word, -1 if call.name == "-" else 1, self._session, self._n)
            return self._in_its_charset(made, call, [instant, count])
        if call.name == "CAST":
            value = (self._with_days if call.word.startswith("DATE") else self._value)(call.arguments[0])
            if value.is_of_dates and not call.word.startswith(("CHAR", "BINARY", "DATE")):
                raise NotComputable(_CHOSEN_DATE)
            if call.word.startswith(("DATE", "TIME")):
                value = as_no_date(value)
            if call.word.startswith("TIME"):
                [value] = _as_instants(call, [value], self._session)
            return self._without_fraction(cast(value, call, self._session), call)
        if call.name not in _FUNCTIONS:
            raise NotComputable(f"{call.name}(…)")
        as_value = self._instant if call.name == "TIMESTAMPADD" else \
            self._part if call.name in loose_documents.OF_PARTS and self._session.flavour == "mariadb" else self._value
        arguments = self._operands(call) if call.name in conditions.DECIDED_BY else \
            without_bits(call, [as_value(argument) for argument in call.arguments])
        if self._session.flavour == "mysql" and self._session.made_in == "binary" and call.name.startswith("JSON_"):
            arguments = [_as_digits(node, value) for node, value in zip(call.arguments, arguments, strict=True)]
        if self._session.flavour == "mariadb":
            arguments = as_compared(call, arguments, self._value, self._n)
        if call.name in _MISREADING and self._session.flavour == "mysql" and self._session.made_in in WIDE and \
                not arguments[0].constant and arguments[0].type.base in NUMBERS | TEMPORAL | {"year"}:
            raise NotComputable("text of a number or a date, which MySQL misreads in a table in "
                                f"{self._session.made_in}")
        if call.name in _OF_SEARCHES and self._session.flavour == "mysql" and self._session.made_in == "binary" and \
                any(value.type.charset in WIDE for value in arguments) and \
                any(value.type.base in NUMBERS | TEMPORAL | {"year"} for number, value in enumerate(arguments)
                    if number not in _COUNTS.get(call.name, ())):
            raise NotComputable(f"{call.name} of a number and text in a wide character set in a table of bytes")
        if call.name == "INSERT" and self._session.flavour == "mariadb" and arguments[0].type.base in BINARY and any(
                isinstance(node, Literal) and node.kind == "bytes" and node.charset is None
                for node in nodes_of(call.arguments[0])):
            raise NotComputable("INSERT into a hexadecimal literal, which MariaDB itself changes with each row")
        chosen = chosen_of(call.name, arguments) if call.name in _CHOICES else []
        read = [value for value in arguments if not any(value is one for one in chosen)]
        if any(value.beside_charset is not None for value in read):
            raise NotComputable("bytes, digits in another base or a BIT beside text, one of which is chosen")
        takes_dates = call.name in _TAKING_CHOSEN_DATES or (
            call.name in _OF_STRINGS and all(value.is_text for value in arguments))
        if any(value.is_of_dates for value in read) and not takes_dates:
            raise NotComputable(_CHOSEN_DATE)
        if chosen:
            arguments = with_chosen_text(arguments, chosen)
        given = arguments
        if call.name in _OF_TIMES:
            arguments = _as_instants(call, arguments, self._session)
        if call.name in _OF_BYTES:
            if self._session.flavour == "mariadb" and any(value.type.base == "bit" and value.is_choice
                                                          for value in arguments):
                raise NotComputable("a chosen BIT as text, which is its number there")
            arguments = [Value(bit_bytes(value.values, value.type), BYTES, value.constant)
                         if value.type.base == "bit" and number not in _COUNTS.get(call.name, ()) else value
                         for number, value in enumerate(arguments)]
        if call.name in _OF_BYTES | _OF_GEOMETRY:
            arguments = [replace(value, type=BYTES) if value.type.base in GEOMETRY else value for value in arguments]
        if call.name in _OF_STRINGS:
            arguments = as_one_kind(call.name, arguments, _COUNTS.get(call.name, ()), self._session)
        elif call.name in _WITH_FORMATS:
            if self._session.flavour == "mariadb" and self._session.literals in WIDE and any(
                    value.type.base in BINARY for value in arguments):
                raise NotComputable(f"{call.name} of bytes in a table in {self._session.literals}")
            if self._session.flavour == "mysql" and any(
                    value.type.charset in WIDE for value in arguments if value.constant):
                raise NotComputable(f"{call.name} by a format in a wide character set")  # its bytes are read one by one
            arguments = [_as_format(argument, call.name) for argument in arguments]
        made = _FUNCTIONS[call.name](arguments, call, self._comparing(call, arguments), self._n)
        if call.name in ("ADDTIME", "SUBTIME") and given[0].is_text and made.type.base == "datetime":
            made = intervals.as_shown(made, self._session)  # the type that it had before an interval was added
        if call.name == "NULLIF" and given[0].type.base in BINARY and made.is_text:  # it was text to be compared
            made = replace(made, values=made.values.cast(pa.binary()), type=given[0].type, digits=given[0].digits,
                           is_loose=given[0].is_loose)
        made = self._in_its_charset(made, call, arguments)
        is_explicit, parts = any(value.is_explicit for value in given), chosen or given
        if made.type.base in BINARY and any(value.is_explicit for value in parts) and any(
                value.type.base in {"bit", *BINARY} for value in parts):
            raise NotComputable("bytes beside text with COLLATE, which are text there")
        if made.is_text and made.type.collation is not None and is_explicit:
            made = replace(made, is_explicit=True)
        if made.type is BYTES and call.name in _NOT_LENGTHENING:
            made = replace(made, type=type_of_bytes(arguments))
        if made.type.base in BINARY:
            made = replace(made, is_loose=all(value.is_loose for value in arguments if value.type.base in BINARY),
                           beside_charset=beside_charset(chosen_of(call.name, arguments)) if chosen else None)
        made = self._without_fraction(made, call)
        is_told = call.name == "MAKETIME" or (
            call.name in _WITH_DIGITS and made.type.base == "decimal" and len(arguments) > 1 and arguments[1].constant)
        if self._session.flavour == "mariadb" and made.type.base == "double" and call.name in _OF_OPERANDS and any(
                isinstance(node, Call) and (value.is_text or value.type.base in _OF_TEXT)
                for node, value in zip(call.arguments, arguments, strict=True)):
            return replace(made, shows=False)  # of each function that makes text, MariaDB expects other digits
        if self._session.flavour == "mariadb" and made.type.base == "double" and call.name in _OF_DOUBLES and all(
                value.shows for value in arguments):
            return made
        if is_told or made.is_text or made.type is BOOL or made.type.base in _WITHOUT_DIGITS or all(
                _shows(value) or (has_seconds(value) and not made.type.scale) for value in arguments):
            return made
        is_sure = made.text_scale is not None and all(_shows(value) or value.text_scale == value.type.scale
                                                      for value in arguments)
        return replace(made, shows=False, text_scale=made.text_scale if is_sure else None)

    def _comparing(self, call: Call, arguments: list[Value]) -> Session:
        """The session in which a call compares text: in MySQL that of documents has a collation of its own, which only
        columns and CASTs precede (seen on 9.7)."""
        nodes, compared = call.arguments, arguments
        if call.name == "SIMPLE CASE":
            nodes, compared = (nodes[0], *nodes[1:-1:2]), [arguments[0], *arguments[1:-1:2]]
        if call.name == "FIELD":  # whose first value decides
            nodes = nodes[:1]
        if self._session.flavour != "mysql" or self._session.literals in WIDE or any(
                value.type.collation is not None or value.type.base in BINARY for value in compared):
            return self._session
        collation = _collation_of_documents(nodes)
        return self._session if collation is None else replace(
            self._session, compares_in=collation_of(collation, "mysql"))

    def _in_its_charset(self, made: Value, call: Call, arguments: list[Value]) -> Value:
        """What a call makes, with the character set of text that functions make; MariaDB's documents have that of wide
        text in them."""
        session, own = self._session, self._session.made_in
        wide = {value.type.charset for value in arguments} & WIDE
        if made.type.base == "json" and session.flavour == "mariadb" and len(wide) == 1:
            return replace(made, type=replace(made.type, charset=wide.pop()))
        if made.type != TEXT:
            return made
        if session.literals in WIDE:
            return made if call.name in _IN_OWN_CHARSET else replace(made, type=text_type(session.literals, None))
        if own is None or own in WIDE or call.name not in _IN_SESSION_CHARSET:
            return made
        if own == "binary":
            return replace(made, values=made.values.cast(pa.binary()), type=BYTES, is_loose=True)
        if session.flavour == "mysql" and own in UTF8:
            return made
        return replace(made, type=text_type(own if session.flavour == "mariadb" else None, None))

    def _part(self, node: Node) -> Value:
        """A part of one of MariaDB's documents, which has the text that JSON_COMPACT or the like would format."""
        if not isinstance(node, Call) or node.name not in loose_documents.FORMATTING:
            return self._value(node)
        document = self._value(node.arguments[0])
        return document if document.is_null else Value(as_documents(document, self._session), JSON, document.constant)

    def _without_fraction(self, made: Value, call: Call) -> Value:
        """What a call makes, as text in which MariaDB expects whole seconds if it is a cast or made by a format."""
        expects_none = made.is_text or made.type.base in BINARY
        is_one = call.name in _OF_A_FORMAT or (call.name == "CAST" and not call.word.startswith("CHARSET "))
        return replace(made, text_scale=0) if self._session.flavour == "mariadb" and expects_none and is_one else made

    def _operands(self, call: Call) -> list[Value]:
        """The operands of AND or OR; only the one that decides for all rows, if another one is unknown."""
        operands, unknown = list[Value](), None
        for argument in call.arguments:  # each once, however deep they are
            try:
                operands.append(self._value(argument))
            except NotComputable as error:
                unknown = unknown or error
        if unknown is None:
            return operands
        decisive = conditions.DECIDED_BY[call.name]
        for operand in operands:
            truths = pc.equal(as_truth(operand, self._session), decisive)
            if pc.all(truths, skip_nulls=False).as_py():
                return [operand, operand]
        raise unknown

    def _instant(self, node: Node) -> Value:
        """A value to which an interval is added. In MySQL a DATE among text that is chosen has a time of day then."""
        value = self._value(node)
        is_choice = isinstance(node, Call) and node.name in _CHOICES
        if self._session.flavour != "mysql" or not value.is_text or not is_choice:
            return value
        assert isinstance(node, Call)
        chosen = [_day_of_year(self._instant(argument)) for argument in node.arguments]
        if any(one.type.base == "time" for one in chosen):
            raise NotComputable("an interval added to a time among text, which is one of the current day")
        midnight = ColumnType("datetime")
        return _FUNCTIONS[node.name]([converted(one, midnight, self._session) if one.type.base == "date" else one
                                      for one in chosen], node, self._session, self._n)

    def _with_days(self, node: Node) -> Value:
        """A value that becomes a date. In MySQL a YEAR among text that CASE or IF chooses is its first day then."""
        value = self._value(node)
        if self._session.flavour != "mysql" or not value.is_text or not isinstance(node, Call) or \
                node.name not in _CHOICES:
            return value
        chosen = [_day_of_year(self._with_days(argument)) for argument in node.arguments]
        if any(one.type.base == "time" for one in chosen):
            raise NotComputable("a time among text as a date, which is one of the current day")
        return _FUNCTIONS[node.name](chosen, node, self._session, self._n)


def _collation_of_documents(nodes: Iterable[Node]) -> str | None:
    """The collation in which text is compared if a document's is among it; None if not, or if a CAST has made some."""
    found: str | None = None
    for node in nodes:
        if isinstance(node, Call) and node.name == "CAST" and node.word != "JSON":
            return None
        if isinstance(node, Call) and (node.name in _OF_DOCUMENTS or node.name == "CAST"):
            found = found or "utf8mb4_bin"
        elif isinstance(node, Call) and node.name == "JSON_VALUE":
            found = found or ("utf8mb4_0900_bin" if node.word == "" else None)
        elif isinstance(node, Call) and node.name in _NOT_LENGTHENING | _LENGTHENING:
            found = found or _collation_of_documents(node.arguments)
    return found


_OF_DOCUMENTS = frozenset(
    f"JSON_{word}" for word in ("TYPE", "UNQUOTE", "QUOTE", "PRETTY", "EXTRACT", "KEYS", "ARRAY", "OBJECT", "SET",
                                "INSERT", "REPLACE", "REMOVE", "ARRAY_APPEND", "ARRAY_INSERT", "MERGE_PATCH",
                                "MERGE_PRESERVE", "MERGE", "SEARCH"))
"""MySQL's functions that make documents, or text in the collation of documents."""


def _day_of_year(value: Value) -> Value:
    """A YEAR as the text of its first day; other values unchanged."""
    if value.type.base != "year":
        return value
    years = pc.utf8_lpad(value.values.cast(pa.string()), 4, "0")
    return replace(value, values=pc.binary_join_element_wise(years, "01-01", "-"), type=TEXT, is_column=False)


def _as_instants(call: Call, arguments: list[Value], session: Session) -> list[Value]:
    """The arguments with text to which an interval was added as dates, which a server has, and not as their text."""
    return [_as_instant(value, call, session) if value.is_text and isinstance(node, Call) and (
        node.name == "TIMESTAMPADD" or (node.name in ("+", "-") and isinstance(node.arguments[-1], Call)
                                        and node.arguments[-1].name == "INTERVAL")) else value
            for node, value in zip(call.arguments, arguments, strict=True)]


def _as_instant(value: Value, call: Call, session: Session) -> Value:
    """Text to which an interval was added as a datetime; for MariaDB's TIMEDIFF a date, if it has no time of day."""
    made, days = datetimes(value, session), pc.equal(pc.utf8_length(value.values), len("2001-02-03"))
    if session.flavour == "mysql" or call.name != "TIMEDIFF" or not pc.any(days).as_py():
        return made
    if not pc.all(days).as_py():
        raise NotComputable("TIMEDIFF of days and datetimes to which an interval was added")
    return replace(made, values=made.values.cast(pa.date32()), type=ColumnType("date"))


def _as_digits(node: Node, value: Value) -> Value:
    """A part of a document: in a table in binary, digits in another base are bytes to all functions but to MySQL's
    documents. Raises NotComputable for what other functions make of them."""
    of_digits = [one for one in nodes_of(node) if isinstance(one, Call) and one.name in _IN_BASES]
    if not of_digits or value.type is not BYTES:
        return value
    if of_digits[0] is not node:
        raise NotComputable(f"what a function makes of {of_digits[0].name} in a document, in a table in binary")
    return replace(value, values=value.values.cast(pa.string()), type=TEXT, is_loose=False)



def _as_format(value: Value, name: str) -> Value:
    """A literal of a session whose character set is binary as text, where it is a date or names a format; for
    STR_TO_DATE, all bytes."""
    if value.type.base in BINARY and (
            name == "STR_TO_DATE" or (value.digits is False and value.constant and value.is_loose)):
        return replace(value, values=value.values.cast(pa.string()), type=TEXT, digits=False, is_loose=False)
    return value


def _shows(value: Value) -> bool:
    """False also for a FLOAT or DOUBLE with digits of its own, whose results have others."""
    return value.shows and not (pa.types.is_floating(value.values.type) and value.type.scale is not None)
