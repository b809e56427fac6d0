"""Queries a server: every statement goes through `ServerSession.ask`, which checks every answer before it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from applier.errors import ApplierError, ServerAnswerError
from applier.jobs.server.connection import ServerAddress, connect, refusal

MOST_BYTES = 1 << 30
"""The largest answer that is read: as large as the largest max_allowed_packet."""
_MOST_BYTES = 16 << 20
"""The largest answer that is not made of a table's rows."""
_Read = TypeVar("_Read")
Row = tuple[bytes | None, ...]


class ServerSession:
    """A connection to a server. `connection` is PyMySQL's, and `errors` are what it raises.

    Methods raise UsageError where the server refuses a statement, and ServerAnswerError where its answer does not fit
    the statement.
    """

    def __init__(self, address: ServerAddress, instead: str, hints: Mapping[object, str], **options: Any) -> None:
        self._address, self._hints = address, hints
        self.connection, self.errors = connect(address, instead, hints, **options)
        version = self.ask("SELECT VERSION()", 1, only_text)
        self.flavour = "mariadb" if "mariadb" in version.lower() else "mysql"

    def close(self) -> None:
        """Close the connection."""
        with suppress(*self.errors):
            self.connection.close()

    def run(self, statement: str) -> None:
        """Run a statement whose answer has no rows."""
        self.ask(statement, 0, lambda rows: None)

    def ask(self, statement: str, columns: int | range, read: Callable[[Sequence[Row]], _Read],
            most_bytes: int = _MOST_BYTES) -> _Read:
        """Run a statement and return the result of `read` for the rows of the answer, which have this many columns.
        `read` raises ValueError, TypeError or LookupError for rows that do not fit the statement."""
        allowed = columns if isinstance(columns, range) else range(columns, columns + 1)
        try:
            rows = self.connection.ask(statement, allowed, most_bytes)
        except self.errors as error:
            raise refusal(self._address, "refuses to answer", error, self._hints) from None
        try:
            return read(rows)
        except ApplierError:
            raise
        except (ValueError, TypeError, LookupError) as error:
            raise ServerAnswerError(f"{self._address}: the answer to {statement[:60]!r} is malformed",
                                    hint="check that a MySQL or MariaDB server answers there"
                                    ) from error


def text(value: bytes | None) -> str:
    """Return a value as text. Raises TypeError for NULL, ValueError for bytes that are not UTF-8."""
    if value is None:
        raise TypeError("NULL")
    return value.decode()


def whole_number(value: bytes | None) -> int:
    """Return a value as a number. Raises ValueError and TypeError for anything but digits."""
    digits = text(value)
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS:
        raise ValueError("no number")
    return int(digits)


_MOST_DIGITS = 65
"""Of a DECIMAL."""


def only_text(rows: Sequence[Row]) -> str:
    """Return the value of an answer with one row and one column. Raises ValueError and TypeError for other answers."""
    [[value]] = rows
    return text(value)
