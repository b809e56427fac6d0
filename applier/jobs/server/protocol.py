"""PyMySQL's connection, hardened against untrusted servers.

PyMySQL itself reads answers without limit, and raises whatever its parsing runs into (struct.error, IndexError,
AssertionError, …). This connection bounds and checks each answer, and raises ServerAnswerError for a malformed one.
Source: MySQL Source Documentation, "COM_QUERY Response" and "Text Resultset".
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pymysql  # type: ignore[import-untyped]  # it has no types
from pymysql.connections import Connection  # type: ignore[import-untyped]  # as above
from pymysql.constants import COMMAND  # type: ignore[import-untyped]  # as above

from applier.errors import ApplierError, ServerAnswerError

Row = tuple[bytes | None, ...]
_MOST_BYTES_TO_CONNECT = 1 << 20
_OK, _FILE_REQUEST, _END = 0, 0xFB, 0xFE
_NULL = 251
_WIDTHS = {252: 2, 253: 3, 254: 8}
"""Bytes of a length, by the byte before it."""
_LONGEST_END = 8
"""Bytes of the largest packet that ends an answer. A longer packet that begins alike is a row."""


class CheckedConnection(Connection):  # type: ignore[misc]  # it has no types
    """A connection that raises ServerAnswerError where the server breaks the protocol, and PyMySQL's errors where the
    server refuses or is lost."""

    _most_bytes = _left = 0

    def connect(self, sock: Any = None) -> None:
        """Connect and log in."""
        self._most_bytes = self._left = _MOST_BYTES_TO_CONNECT
        with self._checked("the server does not greet as servers of MySQL and MariaDB do"):
            super().connect(sock)

    def ask(self, statement: str, columns: range, most_bytes: int) -> list[Row]:
        """Run a statement and return the rows of its answer, as bytes. `columns` has the numbers of columns that the
        answer can have; 0 is an answer without rows. Raises ServerAnswerError for any other answer, and for one of more
        than `most_bytes`."""
        self._most_bytes = self._left = most_bytes
        with self._checked(f"the answer to {statement[:60]!r} breaks the protocol"):
            self._execute_command(COMMAND.COM_QUERY, statement)
            first = self._read_packet().get_all_data()
            count = 0 if first[0] == _OK else _number(first)
            if count not in columns:
                raise self._broken(f"the answer to {statement[:60]!r} has {count} columns, not {columns[0]}"
                                   + f" to {columns[-1]}" * (len(columns) > 1))
            return self._rows(count) if count else []

    def _rows(self, count: int) -> list[Row]:
        for _ in range(count):
            self._read_packet()  # a column's name and type, which the statement has determined
        if not _is_end(self._read_packet().get_all_data()):
            raise ValueError("no end of the columns")
        rows = []
        while not _is_end(data := self._any_packet().get_all_data()):
            rows.append(_cells(data, count))
        return rows

    def _read_packet(self, *kind: Any) -> Any:
        """Return the next packet, which is not a row. Raises ServerAnswerError for a request for a file: PyMySQL could
        answer it."""
        packet = self._any_packet(*kind)
        if packet.get_all_data()[0] == _FILE_REQUEST:
            raise self._broken("the server asks for a file of this machine (LOAD DATA LOCAL), which it does not get")
        return packet

    def _any_packet(self, *kind: Any) -> Any:
        return super()._read_packet(*kind)

    def _read_bytes(self, num_bytes: int) -> Any:
        if num_bytes > self._left:
            raise self._broken(f"the server's answer is larger than {self._most_bytes >> 20} MB, and is not read")
        self._left -= num_bytes
        return super()._read_bytes(num_bytes)

    def _create_ssl_ctx(self, asked: Any) -> ssl.SSLContext:
        """Return a context for TLS that is only preferred, which verifies no peer: loading certificates would take 20
        ms."""
        if isinstance(asked, ssl.SSLContext):
            return asked
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    @contextmanager
    def _checked(self, what: str) -> Iterator[None]:
        """Raise ServerAnswerError instead of what PyMySQL's parsing raises; PyMySQL's own errors stay."""
        try:
            yield
        except pymysql.err.InternalError as error:
            if error.args and isinstance(error.args[0], int):  # the server's number
                raise
            raise self._broken(what) from error
        except (pymysql.err.Error, OSError, RuntimeError, ApplierError):
            raise
        except Exception as error:  # PyMySQL's parsing raises anything: struct.error, IndexError, AssertionError, …
            raise self._broken(what) from error

    def _broken(self, what: str) -> ServerAnswerError:
        """Close the connection, which can no longer be read, and return the error."""
        self._force_close()
        return ServerAnswerError(f"{self.host}:{self.port}: {what}",
                                 hint="check that a MySQL or MariaDB server answers there")


def _number(packet: bytes) -> int:
    """Return the number that is all of a packet. Raises ValueError where the packet has anything else."""
    width = _WIDTHS.get(packet[0], 0)
    if len(packet) != 1 + width or packet[0] > max(_WIDTHS):
        raise ValueError("no number")
    return int.from_bytes(packet[1:], "little") if width else packet[0]


def _is_end(packet: bytes) -> bool:
    return packet[0] == _END and len(packet) <= _LONGEST_END


def _cells(packet: bytes, count: int) -> Row:
    """Return the values of a row. Raises ValueError, KeyError or IndexError for another number of values."""
    cells: list[bytes | None] = []
    at = 0
    for _ in range(count):
        size = packet[at]
        at += 1
        if size == _NULL:
            cells.append(None)
            continue
        if size > _NULL:
            width = _WIDTHS[size]
            size = int.from_bytes(packet[at:at + width], "little")
            at += width
        cells.append(packet[at:at + size])
        at += size
    if at != len(packet):
        raise ValueError("a row has another length than its values")
    return tuple(cells)
