"""A connection to a server, by PyMySQL: its timeouts, how passwords are sent, and the errors for refusals.

A server that has not logged in the user after `ANSWER_SECONDS` is given up, and so is one that does not answer a
statement in that time. Statements that read whole tables have `TABLE_SECONDS` (`allow_long_answers`). The kernel's
keepalive ends a connection to an unreachable machine within two minutes, however long an answer may take.

Internals of PyMySQL that are used here are listed in tests/unit/jobs/server/test_pymysql_private.py.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from applier.errors import NotInstalled, UsageError
from applier.io.printable import printable_start
from applier.jobs.server.address import PASSWORD_HINT, ServerAddress

__all__ = ["ANSWER_SECONDS", "PASSWORD_HINT", "ServerAddress", "allow_long_answers", "connect", "refusal"]

ANSWER_SECONDS = 30.0
"""The longest wait for a connection, for the login after it, for the server's next bytes, and for room to send."""
TABLE_SECONDS = 6 * 3600.0
"""The longest wait for the answer to a statement that reads a table."""
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}
"""Seconds without a packet before the kernel probes the other machine, seconds between probes, and how many it sends;
as far as the operating system has these options."""

_OLDEST_PYMYSQL = (1, 2, 1)
"""The first whose plugins see every packet of a login, and that never falls back from TLS that is required."""
_NO_CONNECTION = 2003  # CR_CONN_HOST_ERROR
_NO_CONNECTION_HINT = "is the server running, and is the address right?"
_NO_SOCKET_HINT = f"{_NO_CONNECTION_HINT} localhost means a Unix socket, 127.0.0.1 means TCP"


def connect(address: ServerAddress, instead: str, hints: Mapping[object, str], **options: Any
            ) -> tuple[Any, tuple[type[BaseException], ...]]:
    """Connect and log in. Return PyMySQL's connection, and the errors that it raises.

    `instead` is the hint without PyMySQL, `hints` as in `refusal`, `options` are PyMySQL's. Raise UsageError if the
    server cannot be reached, or asks for the password over a connection that does not protect it.
    """
    try:
        import pymysql  # type: ignore[import-untyped]  # it has no types
    except ImportError:
        raise NotInstalled("PyMySQL, which talks to servers, is not installed",
                           hint=f"pip install 'mysql-binlog-applier[server]', {instead}") from None
    if pymysql.VERSION[:3] < _OLDEST_PYMYSQL:
        raise NotInstalled(f"PyMySQL {pymysql.VERSION_STRING} is too old: it sends passwords without a check",
                           hint="pip install --upgrade 'mysql-binlog-applier[server]'")
    from applier.jobs.server.passwords import PasswordRules, plugins
    from applier.jobs.server.protocol import CheckedConnection

    hints = {_NO_CONNECTION: _NO_CONNECTION_HINT if address.socket is None else _NO_SOCKET_HINT, **hints}
    errors = (pymysql.err.Error, OSError, RuntimeError)
    may_encrypt = address.is_on_this_machine or address.asks_for_public_key or address.public_key is not None
    rules = PasswordRules(str(address), address.encryption.verifies, may_encrypt, address.public_key)
    given: dict[str, Any] = {
        "charset": "utf8mb4", "autocommit": True, "conv": {}, "user": address.user, "password": address.password,
        "host": address.host, "port": address.port, "unix_socket": address.socket, "auth_plugin_map": plugins(rules),
        "connect_timeout": ANSWER_SECONDS, "read_timeout": ANSWER_SECONDS, "write_timeout": ANSWER_SECONDS,
        **address.encryption.arguments(is_socket=address.socket is not None), **options}
    try:
        connection = CheckedConnection(defer_connect=True, **given)
        made = _socket(address, given["connect_timeout"])
        with _ending(made, ANSWER_SECONDS):
            connection.connect(made)
    except (OSError, UnicodeError) as error:  # UnicodeError: a name that no host can have
        lost = pymysql.err.OperationalError(_NO_CONNECTION, getattr(error, "strerror", None) or str(error))
        raise refusal(address, "cannot be reached", lost, hints) from None
    except errors as error:
        cause = getattr(error, "original_exception", None)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise UsageError(f"{address} has a certificate that the option file does not trust: {cause.verify_message}",
                             hint="check that it is the right server; ssl-ca names the authority that signs its "
                                  "certificate") from None
        raise refusal(address, "cannot be reached", error, hints) from None
    return connection, errors


def allow_long_answers(connection: Any) -> None:
    """Let the statements that follow take as long as reading a table does."""
    connection._read_timeout = TABLE_SECONDS


def refusal(address: ServerAddress, what: str, error: BaseException, hints: Mapping[object, str]) -> UsageError:
    """Return the error for one of PyMySQL's. `hints` are hints by the server's error numbers, and None for others."""
    number, *texts = error.args if error.args else (None,)
    said = printable_start(" ".join(str(text) for text in texts) or str(error))
    return UsageError(f"{address} {what}: {said}", errno=number if isinstance(number, int) else None,
                      hint=hints.get(number, hints.get(None)))


def _socket(address: ServerAddress, seconds: float) -> socket.socket:
    """Return a connection to the address; one by TCP notices when the other machine is gone. Raise OSError."""
    if address.socket is not None:
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(seconds)
        try:
            made.connect(address.socket)
        except OSError:
            made.close()
            raise
        return made
    source = None if address.bind_address is None else (address.bind_address, 0)
    made = socket.create_connection((address.host, address.port), seconds, source)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made


@contextmanager
def _ending(made: socket.socket, seconds: float) -> Iterator[None]:
    """End a connection that is not done after so long, however often the server sends a byte."""
    def end() -> None:
        with suppress(OSError):  # it has ended
            same.shutdown(socket.SHUT_RDWR)

    with made.dup() as same:  # TLS takes the socket itself
        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
