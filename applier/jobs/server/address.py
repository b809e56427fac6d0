"""The server's address and user: from an address, and from an option file for its missing parts.

    mysql://USER@HOST:PORT           TCP, to this host
    mysql://USER@HOST                the port of the option file, or 3306
    mysql://USER@localhost           the Unix socket of the option file, or that of the servers' packages, as for the
                                     servers' clients; TCP with a port in the address, or with protocol=TCP in the file
    mysql://USER@?socket=/PATH       this Unix socket
    mysql://                         the host of the option file; without one, localhost

The host of an address is never replaced by another one from the option file.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from applier.errors import UsageError, reason
from applier.jobs.server.encryption import Encryption
from applier.jobs.server.option_file import OptionFile

PASSWORD = "MYSQL_PWD"
"""The variable of the environment with the password, as the servers' own clients have it."""
PASSWORD_HINT = f"{PASSWORD} in the environment or --defaults-file has the password"
_SCHEMES = ("mysql", "mariadb")
_LOCALHOST = "localhost"
_DEFAULT_PORT, _LARGEST_PORT = 3306, 65535
_SOCKET_VARIABLE = "MYSQL_UNIX_PORT"
_DEFAULT_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock")
"""Of the packages for Debian and Red Hat. One in /tmp could be anybody's."""
_PROTOCOLS = ("tcp", "socket")
_LARGEST_KEY = 1 << 16


@dataclass(frozen=True)
class ServerAddress:
    """A server, and the user to log in. `socket` is the path of a Unix socket, None for TCP; `user` is None for the one
    that runs this program."""

    host: str
    port: int = _DEFAULT_PORT
    socket: str | None = None
    user: str | None = None
    password: bytes = field(default=b"", repr=False)
    encryption: Encryption = field(default_factory=Encryption)
    bind_address: str | None = None
    asks_for_public_key: bool = False
    public_key: bytes | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str, defaults_file: str | None = None) -> ServerAddress:
        """Read an address and the option file beside it. Raise UsageError, whose message never has the address: it
        could contain a password."""
        parts, socket = _split(url)
        file = OptionFile() if defaults_file is None else OptionFile.read(defaults_file, parts.scheme)
        host, port, socket = _target(parts, socket, file)
        return cls(host, port, socket,
                   user=unquote(parts.username) if parts.username else file.texts.get("user") or None,
                   password=_password(file), encryption=Encryption.of(file),
                   bind_address=file.texts.get("bind-address"),
                   asks_for_public_key=file.flags.get("get-server-public-key", False), public_key=_public_key(file))

    @property
    def is_on_this_machine(self) -> bool:
        """True if no network is involved. A name other than localhost is not resolved for that."""
        if self.socket is not None or self.host == _LOCALHOST:
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        if self.socket is not None:
            return self.socket
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _split(url: str) -> tuple[SplitResult, str | None]:
    """Return an address's parts, and the socket that it names."""
    not_understood = UsageError("the server address is not valid",
                                hint="give mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH")
    try:
        parts = urlsplit(url)
        port = parts.port
        key, _, value = parts.query.partition("=")
        socket = unquote(value, errors="strict") if key == "socket" and "&" not in value else None
        texts = (unquote(parts.username or "", errors="strict"), parts.hostname or "", socket or "")
    except ValueError:
        raise not_understood from None
    if parts.password is not None:
        raise UsageError("the server address contains a password, which is visible to other users",
                         hint=f"remove it from there; {PASSWORD} in the environment or --defaults-file has it")
    if (parts.scheme not in _SCHEMES or parts.path not in ("", "/") or parts.fragment or port == 0
            or (parts.query and not socket) or not all(text.isprintable() for text in (url, *texts))):
        raise not_understood
    if socket is not None and (parts.hostname not in (None, _LOCALHOST) or port is not None):
        raise UsageError("the server address names both a host and a socket", hint="give one of them")
    return parts, socket


def _target(parts: SplitResult, socket: str | None, file: OptionFile) -> tuple[str, int, str | None]:
    """Return the host, port and Unix socket to connect to."""
    protocol = file.texts.get("protocol", "").lower()
    if protocol and protocol not in _PROTOCOLS:
        raise file.refused("protocol in the option file is neither TCP nor SOCKET")
    host = parts.hostname or (None if socket else file.texts.get("host")) or _LOCALHOST
    port = parts.port or _port(file)
    if socket is None and host == _LOCALHOST and parts.port is None and protocol != "tcp":
        socket = file.texts.get("socket") or os.environ.get(_SOCKET_VARIABLE) or _default_socket()
    return host, port, socket


def _port(file: OptionFile) -> int:
    text = file.texts.get("port", str(_DEFAULT_PORT))
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) <= _LARGEST_PORT):
        raise file.refused("port in the option file is not a port")
    return int(text)


def _default_socket() -> str:
    return next(filter(os.path.exists, _DEFAULT_SOCKETS), _DEFAULT_SOCKETS[0])


def _password(file: OptionFile) -> bytes:
    """Return the bytes of the password. The option file's wins, as for the servers' clients."""
    given = file.texts.get("password")
    return os.fsencode(os.environ.get(PASSWORD, "")) if given is None else given.encode()


def _public_key(file: OptionFile) -> bytes | None:
    path = file.texts.get("server-public-key-path")
    if path is None:
        return None
    try:
        with open(path, "rb") as key_file:
            key = key_file.read(_LARGEST_KEY)
    except OSError as error:
        raise file.refused(f"cannot read what server-public-key-path names: {reason(error)}") from None
    try:
        is_rsa = isinstance(serialization.load_pem_public_key(key), rsa.RSAPublicKey)
    except (ValueError, UnsupportedAlgorithm):
        is_rsa = False
    if not is_rsa:
        raise file.refused("server-public-key-path does not name a file with an RSA public key in PEM")
    return key
