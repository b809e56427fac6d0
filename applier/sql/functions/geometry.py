"""Makes geometries from their text and coordinates: the server's bytes, a spatial reference system's number and WKB.

Source: MySQL manual, "Geometry Well-Known Text (WKT) Format", "Internal Geometry Storage Format"; judged by both
servers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.type_registry import TYPES
from applier.mysql.types import BINARY, ColumnType
from applier.sql.casting.texts import by_distinct
from applier.sql.functions.combinations import computed
from applier.sql.nodes import Call
from applier.sql.values import Function, Value, as_number, as_text, numbers, shown_bytes, together
from applier.sql.whole_numbers import whole_number

GEOMETRY = ColumnType("geometry")
_KINDS = {name.upper(): entry.shape for name, entry in TYPES.items() if entry.shape}
_WORD = re.compile(r"\s*([A-Za-z]+|[(),]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
_MOST_TEXT, _MOST_DEPTH = 1 << 20, 20


def _from_text(arguments: list[Value], call: Call, session: Session, n: int) -> Value:
    value, srid = arguments[0], whole_number(arguments[1], session) if len(arguments) > 1 else 0
    if len(arguments) > 2 or not 0 <= srid < 1 << 32:
        raise NotComputable("ST_GeomFromText with options")
    if srid and session.flavour == "mysql":  # there, a geographic one's axes may be the other way round
        raise NotComputable("ST_GeomFromText in a spatial reference system, whose axes are not known")
    head = struct.pack("<I", srid)
    texts = shown_bytes(value) if value.type.base in BINARY else as_text(value, session)
    made = by_distinct(texts, lambda text: head + _Text(text).geometry(), pa.binary())
    return Value(made, GEOMETRY, value.constant)


def _point(arguments: list[Value], call: Call, session: Session, n: int) -> Value:
    x, y = (as_number(value, session).cast(pa.float64()) for value in arguments)
    sides = together([replace(value, values=side) for value, side in zip(arguments, (x, y), strict=True)], n)
    made = computed(sides, lambda x, y: struct.pack(_POINT, 0, 1, 1, x, y), pa.binary())
    return Value(made, GEOMETRY, constant=all(value.constant for value in arguments))


_POINT = "<IBIdd"


def _coordinate(place: int) -> Function:
    """ST_X and ST_Y of points without a spatial reference system."""
    def called(arguments: list[Value], call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        if value.type.base not in ("geometry", "point") or session.flavour != "mysql":
            raise NotComputable(f"{call.name}(…)")

        def read(data: bytes | None) -> float | None:
            if data is None:
                return None
            srid, order, kind, *coordinates = struct.unpack(_POINT, data)  # or an error
            if (srid, order, kind) != (0, 1, 1):
                raise NotComputable(f"{call.name} of another geometry than a point")
            return float(coordinates[place])

        try:
            return numbers(by_distinct(value.values, read, pa.float64()), constant=value.constant)
        except struct.error:
            raise NotComputable(f"{call.name} of another geometry than a point") from None

    return called


class _Text:
    """Reads one geometry's text. Raises NotComputable if it is not one, or has an unknown form."""

    def __init__(self, text: str) -> None:
        self._words: list[str] = []
        at = 0
        if len(text) > _MOST_TEXT:
            raise NotComputable("a geometry's text of more than 1 MiB")
        while at < len(text):
            match = _WORD.match(text, at)
            if match is None:
                raise NotComputable(f"{text[:100]!r} as a geometry")
            self._words.append(match[1].upper())
            at = match.end()
        self._place, self._text = 0, text

    def geometry(self) -> bytes:
        made = self._geometry(0)
        if self._place != len(self._words):
            raise self._unknown()
        return made

    def _unknown(self) -> NotComputable:
        return NotComputable(f"{self._text[:100]!r} as a geometry")

    def _next(self) -> str:
        self._place += 1
        if self._place > len(self._words):
            raise self._unknown()
        return self._words[self._place - 1]

    def _geometry(self, depth: int) -> bytes:
        kind = _KINDS.get(self._next())
        if kind is None or depth > _MOST_DEPTH:
            raise self._unknown()
        head = struct.pack("<BI", 1, kind)
        if kind == 1:
            return head + self._in_parentheses(self._coordinates)
        return head + self._listed({
            2: self._coordinates, 3: self._line, 4: self._single, 5: lambda: struct.pack("<BI", 1, 2) + self._line(),
            6: lambda: struct.pack("<BI", 1, 3) + self._listed(self._line), 7: lambda: self._geometry(depth + 1),
        }[kind])

    def _in_parentheses(self, read: Callable[[], bytes]) -> bytes:
        if self._next() != "(":
            raise self._unknown()
        made = read()
        if self._next() != ")":
            raise self._unknown()
        return made

    def _listed(self, read: Callable[[], bytes]) -> bytes:
        def all_of() -> bytes:
            parts = [read()]
            while self._place < len(self._words) and self._words[self._place] == ",":
                self._place += 1
                parts.append(read())
            return struct.pack("<I", len(parts)) + b"".join(parts)

        return self._in_parentheses(all_of)

    def _line(self) -> bytes:
        return self._listed(self._coordinates)

    def _single(self) -> bytes:
        bare = self._place < len(self._words) and self._words[self._place] != "("
        return struct.pack("<BI", 1, 1) + (self._coordinates() if bare else self._in_parentheses(self._coordinates))

    def _coordinates(self) -> bytes:
        try:
            return struct.pack("<dd", float(self._next()), float(self._next()))
        except ValueError:
            raise self._unknown() from None


FUNCTIONS: dict[str, Function] = {
    "ST_X": _coordinate(0), "ST_Y": _coordinate(1),
    "ST_GEOMFROMTEXT": _from_text, "POINT": _point,
}
