"""Calls of functions and operators in expressions, from their arguments to what they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, ColumnType
from applier.sql.calls import results
from applier.sql.calls.arguments import as_digits, as_instants, as_read, comparing
from applier.sql.calls.bits_as_dates import as_no_date, without_bits
from applier.sql.calls.bytes_beside_text import chosen_of, with_chosen_text
from applier.sql.calls.checks import CHOSEN_DATE, check_chosen, check_misread
from applier.sql.calls.compared_casts import as_compared
from applier.sql.calls.registry import CHOICES, FUNCTIONS
from applier.sql.functions import conditions, intervals
from applier.sql.functions.casts import cast
from applier.sql.functions.json_documents import loose_documents
from applier.sql.functions.json_documents.documents import as_documents
from applier.sql.nodes import Call, Node
from applier.sql.values import JSON, TEXT, Value, as_truth, converted


class Calls:
    """Computes calls for n rows in a session; `value` evaluates an argument."""

    def __init__(self, value: Callable[[Node], Value], n: int, session: Session) -> None:
        self._value, self._n, self._session = value, n, session

    def called(self, call: Call) -> Value:
        """The values of a call. Raises NotComputable."""
        session, last = self._session, call.arguments[-1] if call.name in ("+", "-") else None
        if isinstance(last, Call) and last.name == "INTERVAL":
            instant, count = as_no_date(self._instant(call.arguments[0])), self._value(last.arguments[0])
            made = intervals.added(instant, count, last.word, -1 if call.name == "-" else 1, session, self._n)
            made = results.in_its_charset(made, call, [instant, count], session)
            return replace(made, shows=made.shows and instant.shows)
        if call.name == "CAST":
            return self._cast(call)
        if call.name not in FUNCTIONS:
            raise NotComputable(f"{call.name}(…)")
        given = self._given(call)
        check_misread(call, given, session)
        chosen = chosen_of(call.name, given) if call.name in CHOICES else []
        check_chosen(call, given, chosen)
        if chosen:
            given = with_chosen_text(given, chosen)
        arguments = as_read(call, given, session)
        made = FUNCTIONS[call.name](arguments, call, comparing(call, arguments, session), self._n)
        if call.name in ("ADDTIME", "SUBTIME") and given[0].is_text and made.type.base == "datetime":
            made = intervals.as_shown(made, session)  # the type that it had before an interval was added
        if call.name == "NULLIF" and given[0].type.base in BINARY and made.is_text:  # it was text to be compared
            made = replace(made, values=made.values.cast(pa.binary()), type=given[0].type, digits=given[0].digits,
                           is_loose=given[0].is_loose)
        made = results.in_its_charset(made, call, arguments, session)
        made = results.as_bytes_or_text(made, call, arguments, given, chosen)
        made = results.without_fraction(made, call, session)
        return results.without_unknown_digits(made, call, arguments, session)

    def _cast(self, call: Call) -> Value:
        """A CAST, whose argument is evaluated as its type needs it."""
        value = (self._with_days if call.word.startswith("DATE") else self._value)(call.arguments[0])
        if value.is_of_dates and not call.word.startswith(("CHAR", "BINARY", "DATE")):
            raise NotComputable(CHOSEN_DATE)
        if call.word.startswith(("DATE", "TIME")):
            value = as_no_date(value)
        if call.word.startswith("TIME"):
            [value] = as_instants(call, [value], self._session)
        return results.without_fraction(cast(value, call, self._session), call, self._session)

    def _given(self, call: Call) -> list[Value]:
        """The arguments, each evaluated as this call needs it."""
        session = self._session
        as_value = self._instant if call.name == "TIMESTAMPADD" else \
            self._part if call.name in loose_documents.OF_PARTS and session.flavour == "mariadb" else self._value
        given = self._operands(call) if call.name in conditions.DECIDED_BY else \
            without_bits(call, [as_value(argument) for argument in call.arguments])
        if session.flavour == "mysql" and session.made_in == "binary" and call.name.startswith("JSON_"):
            given = [as_digits(node, value) for node, value in zip(call.arguments, given, strict=True)]
        return as_compared(call, given, self._value, self._n) if session.flavour == "mariadb" else given

    def _part(self, node: Node) -> Value:
        """A part of one of MariaDB's documents, which has the text that JSON_COMPACT or the like would format."""
        if not isinstance(node, Call) or node.name not in loose_documents.FORMATTING:
            return self._value(node)
        document = self._value(node.arguments[0])
        return document if document.is_null else Value(as_documents(document, self._session), JSON, document.constant)

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
        is_choice = isinstance(node, Call) and node.name in CHOICES
        if self._session.flavour != "mysql" or not value.is_text or not is_choice:
            return value
        assert isinstance(node, Call)
        chosen = [_day_of_year(self._instant(argument)) for argument in node.arguments]
        if any(one.type.base == "time" for one in chosen):
            raise NotComputable("an interval added to a time among text, which is one of the current day")
        midnight = ColumnType("datetime")
        return FUNCTIONS[node.name]([converted(one, midnight, self._session) if one.type.base == "date" else one
                                     for one in chosen], node, self._session, self._n)

    def _with_days(self, node: Node) -> Value:
        """A value that becomes a date. In MySQL a YEAR among text that CASE or IF chooses is its first day then."""
        value = self._value(node)
        if self._session.flavour != "mysql" or not value.is_text or not isinstance(node, Call) or \
                node.name not in CHOICES:
            return value
        chosen = [_day_of_year(self._with_days(argument)) for argument in node.arguments]
        if any(one.type.base == "time" for one in chosen):
            raise NotComputable("a time among text as a date, which is one of the current day")
        return FUNCTIONS[node.name](chosen, node, self._session, self._n)


def _day_of_year(value: Value) -> Value:
    """A YEAR as the text of its first day; other values unchanged."""
    if value.type.base != "year":
        return value
    years = pc.utf8_lpad(value.values.cast(pa.string()), 4, "0")
    return replace(value, values=pc.binary_join_element_wise(years, "01-01", "-"), type=TEXT, is_column=False)
