"""Values on the terminal, in SQL syntax. Long values are cut: two values side by side around their first
difference, so that it is visible.

Values are compared as a whole: texts are equal exactly if the values are.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import pyarrow as pa

from applier.jobs.exporting.cells import WRITERS, texts_of
from applier.jobs.exporting.text_kernel import PLAIN
from applier.mysql.type_registry import Family
from applier.mysql.types import arrow_type
from applier.schema.table_parts import Column

LONGEST_VALUE = 60
"""The most characters of a value to show, not counting quotes and marks of bytes."""
_CONTEXT = 20
"""The characters to show before a difference."""
_BARE = (Family.DECIMAL, Family.FLOATING, Family.YEAR, Family.VECTOR)


@dataclass(frozen=True)
class ValueText:
    """A value: its whole text, or its bytes, or None for NULL. A `bare` text has no quotes. str() cuts it at
    its end."""

    value: str | bytes | None
    bare: bool = False

    def __str__(self) -> str:
        return self._part(0)

    @property
    def whole(self) -> str:
        """Return the value without cuts."""
        return "NULL" if self.value is None else self._quoted(self.value.hex() if isinstance(self.value, bytes)
                                                              else self.value)

    def beside(self, other: ValueText) -> tuple[str, str]:
        """Return this value and another one, each cut around their first difference if it would otherwise be lost."""
        first, context = _first_difference(self.value, other.value), _CONTEXT // self._digits
        start = 0 if first + context < max(self._most, other._most) else first - context
        return self._part(start), other._part(start)

    @property
    def _digits(self) -> int:
        """Return the number of characters per unit of the value."""
        return 2 if isinstance(self.value, bytes) else 1

    @property
    def _most(self) -> int:
        """Return the most units to show."""
        return LONGEST_VALUE // self._digits

    def _part(self, start: int) -> str:
        """Return the value from a unit on, up to the limit."""
        if self.value is None:
            return "NULL"
        if len(self.value) <= self._most:
            start = 0
        rest = len(self.value) - start
        units = self._most if rest <= self._most else self._most - 1
        part = self.value[start:start + units]
        text = part.hex() if isinstance(part, bytes) else part
        return self._quoted(f"{'…' * (start > 0)}{text}{'…' * (rest > units)}")

    def _quoted(self, text: str) -> str:
        if isinstance(self.value, bytes):
            return f"x'{text}'"
        return text if self.bare else f"'{text}'"


def value_texts(column: Column, values: pa.Array) -> list[ValueText]:
    """Return the values of a column as texts for people."""
    bare = False
    if values.type == arrow_type(column.type):
        family = column.type.entry.family
        bare = WRITERS[family][0] == PLAIN or family in _BARE
        values = values if family is Family.VECTOR else texts_of(column, values)
    return [ValueText(value if value is None or isinstance(value, bytes) else str(value), bare)
            for value in values.to_pylist()]


def _first_difference(a: str | bytes | None, b: str | bytes | None) -> int:
    """Return the number of units that both have in common at their beginning."""
    if a is None or b is None or type(a) is not type(b):
        return 0
    return bisect_left(range(min(len(a), len(b))), True, key=lambda n: a[:n + 1] != b[:n + 1])
