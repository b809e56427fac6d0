"""A connection to a server, by PyMySQL: where it is, who asks, and what is said where it refuses.

A password is in the environment or in an option file, never in an address, and in no message. Connections are encrypted
where the server can do it; ssl-ca, ssl-mode and the like in the option file say whether they must be, and who it is.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from applier.errors import NotInstalled, UsageError
from applier.io.resolver import check_regular

PASSWORD = "MYSQL_PWD"
"""The variable of the environment with the password, as the servers' own clients have it."""
PASSWORD_HINT = f"{PASSWORD} in the environment or --defaults-file has the password"
_SCHEMES = ("mysql", "mariadb")
_DEFAULT_PORT = 3306
_SSL_MODES: dict[str, dict[str, Any]] = {
    "disabled": {"ssl_disabled": True},
    "preferred": {},
    "required": {"ssl": {"verify_mode": "none"}},
    "verify_ca": {"ssl": {"verify_mode": "required", "check_hostname": False}},
    "verify_identity": {"ssl": {"verify_mode": "required", "check_hostname": True}},
}
"""What PyMySQL is told, by ssl-mode of an option file, which it does not read. Source: MySQL Reference Manual,
"Configuring MySQL to Use Encrypted Connections"."""


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is, and who asks. An option file, of which [client] is read, may have the rest, and a password."""

    user: str | None
    host: str | None
    port: int | None
    defaults_file: str | None = None

    @classmethod
    def parse(cls, url: str, defaults_file: str | None = None) -> ServerAddress:
        """Read mysql://USER@HOST:PORT. Raises UsageError, which never has the URL: there may be a password in it."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in _SCHEMES or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise UsageError("the address of the server is not understood", hint="give mysql://USER@HOST:PORT")
        if parts.password is not None:
            raise UsageError("a password is in the server's address, where others can see it",
                             hint=f"leave it out there; {PASSWORD} in the environment or --defaults-file has it")
        return cls(unquote(parts.username) if parts.username else None, parts.hostname, port, defaults_file)

    def __str__(self) -> str:
        return f"{self.host or 'the server'}:{self.port or _DEFAULT_PORT}"


def connect(address: ServerAddress, instead: str, hints: Mapping[object, str], **options: Any
            ) -> tuple[Any, tuple[type[BaseException], ...]]:
    """A connection of PyMySQL with these options, and the errors that it raises. `instead` is what people may do who
    do not have PyMySQL, `hints` as in `refusal`. Raises UsageError where the server cannot be reached."""
    try:
        import pymysql  # type: ignore[import-untyped]  # it has no types
    except ImportError:
        raise NotInstalled("PyMySQL is not installed, and it is what asks a server",
                           hint=f"pip install 'mysql-binlog-applier[server]', {instead}") from None
    errors = (pymysql.err.Error, OSError, RuntimeError)
    given: dict[str, Any] = {"user": address.user, "host": address.host, "port": address.port,
                             "password": os.environ.get(PASSWORD), "read_default_file": address.defaults_file}
    known = {name: value for name, value in given.items() if value is not None}
    encryption = _encryption(address.defaults_file)
    try:
        return pymysql.connect(charset="utf8mb4", autocommit=True, conv={}, **known, **encryption, **options), errors
    except errors as error:
        raise refusal(address, "cannot be reached", error, hints) from None


def refusal(address: ServerAddress, what: str, error: BaseException, hints: Mapping[object, str]) -> UsageError:
    """The error for one of PyMySQL's. `hints` say what to do, by the server's error numbers, and None for others."""
    number, *texts = error.args if error.args else (None,)
    said = " ".join(str(text) for text in texts) or str(error)
    return UsageError(f"{address} {what}: {said}", errno=number if isinstance(number, int) else None,
                      hint=hints.get(number, hints.get(None)))


def _encryption(defaults_file: str | None) -> dict[str, Any]:
    """What an option file asks of the connection. Raises UsageError for a file that cannot be read."""
    if defaults_file is None:
        return {}
    from pymysql.optionfile import Parser  # type: ignore[import-untyped]  # as above

    check_regular(defaults_file)
    parser = Parser()
    try:
        with open(defaults_file, encoding="utf-8") as file:
            parser.read_file(file)
        mode = parser.get("client", "ssl-mode").lower() if parser.has_option("client", "ssl-mode") else "preferred"
    except (OSError, UnicodeError, configparser.Error, TypeError) as error:  # TypeError: an option without a value
        said = error.strerror if isinstance(error, OSError) else "it is no option file"  # not its lines: a password
        raise UsageError(f"the option file cannot be read: {said}", file=defaults_file) from None
    if mode not in _SSL_MODES:
        raise UsageError(f"ssl-mode is {mode!r}", file=defaults_file,
                         hint=f"one of {', '.join(_SSL_MODES).upper()} is understood")
    if mode.startswith("verify") and not any(parser.has_option("client", name) for name in ("ssl-ca", "ssl-capath")):
        raise UsageError(f"ssl-mode is {mode.upper()}, and no ssl-ca says by what", file=defaults_file,
                         hint="add ssl-ca=FILE")
    return _SSL_MODES[mode]
