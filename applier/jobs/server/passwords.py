"""When a password is sent: PyMySQL's authentication plugins that send it, each behind a check of the connection.

    mysql_native_password, client_ed25519      PyMySQL's own: they answer a challenge, and no password is sent
    mysql_clear_password, dialog               the password itself: only over TLS with a verified certificate
    caching_sha2_password, sha256_password     the password itself: over TLS or a Unix socket; encrypted by the server's
                                               public key: to this machine, or where the option file asks for it
    mysql_old_password                         never

The server chooses the plugin, and says whether it has TLS and which public key: so does anyone in the middle.
Sources: MySQL Source Documentation, "Authentication Methods"; MySQL Reference Manual, "Caching SHA-2 Pluggable
Authentication" and "Client-Side Cleartext Pluggable Authentication".
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import partial
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from pymysql import _auth  # type: ignore[import-untyped]  # it has no types

from applier.errors import UsageError

_VERIFY = "add ssl-ca=FILE and ssl-mode=VERIFY_IDENTITY to the option file"
_LAST_QUESTION = 0x01
_PASSWORD_QUESTION = b"Password: "
_KEY_FOR_CACHING_SHA2, _KEY_FOR_SHA256 = b"\x02", b"\x01"


@dataclass(frozen=True)
class PasswordRules:
    """The facts that are known of a connection before it is made.

    `server` is its name in errors, `verifies` whether TLS with a verified certificate is sure. `may_encrypt` says
    whether the password may be sent without TLS, encrypted by a public key. `public_key` is that key in PEM, None for
    the one that the server sends.
    """

    server: str
    verifies: bool
    may_encrypt: bool
    public_key: bytes | None = None


def plugins(rules: PasswordRules) -> dict[str, Any]:
    """Return PyMySQL's `auth_plugin_map`."""
    kinds = {"mysql_clear_password": _ClearPassword, "dialog": _Dialog, "mysql_old_password": _OldPassword,
             "caching_sha2_password": _CachingSha2, "sha256_password": _Sha256}
    return {name: partial(kind, rules, name) for name, kind in kinds.items()}


class _Plugin:
    """Logs in by one plugin. PyMySQL calls `authenticate` with the packet that switches to the plugin, whose identifier
    and name are read, or with one of the plugin's own, and takes the packet that ends the login."""

    def __init__(self, rules: PasswordRules, name: str, connection: Any) -> None:
        self._rules, self._name, self._connection = rules, name, connection

    def authenticate(self, packet: Any) -> Any:
        raise NotImplementedError

    def _exchange(self, data: bytes) -> Any:
        self._connection.write_packet(data)
        return self._connection._read_packet()

    def _refused(self, why: str, hint: str) -> UsageError:
        return UsageError(f"{self._rules.server} asks for the password by {self._name}, {why}", hint=hint)

    def _broken(self) -> UsageError:
        return UsageError(f"{self._rules.server} violates the protocol of {self._name}",
                          hint="check that a MySQL or MariaDB server answers there")

    def _check_verified(self) -> None:
        if not self._rules.verifies:
            raise self._refused("which sends it as it is, and the server's certificate is not verified", _VERIFY)


class _ClearPassword(_Plugin):
    def authenticate(self, packet: Any) -> Any:
        self._check_verified()
        return self._exchange(self._connection.password + b"\0")


class _Dialog(_Plugin):
    """PAM on MariaDB: questions, of which the one for the password is answered."""

    def authenticate(self, packet: Any) -> Any:
        self._check_verified()
        while True:
            question = packet.read_all()
            if question[1:] != _PASSWORD_QUESTION:
                raise self._refused("with a question other than for a password", "use another user")
            packet = self._exchange(self._connection.password + b"\0")
            if packet.is_ok_packet() or question[0] & _LAST_QUESTION:
                return packet


class _OldPassword(_Plugin):
    def authenticate(self, packet: Any) -> Any:
        raise self._refused("whose answer is as good as the password", "let the user have another plugin")


class _Sha256(_Plugin):
    """sha256_password. PyMySQL sends the password in the first packet already where there is TLS, and else asks for the
    server's key."""

    def authenticate(self, packet: Any) -> Any:
        if packet.is_auth_switch_request():
            self._connection.salt = packet.read_all().removesuffix(b"\0")
            packet = None
        return self._send_password(_KEY_FOR_SHA256, packet)

    def _goes_unencrypted(self) -> bool:
        """Return whether the server takes the password itself: this plugin's only through TLS."""
        return isinstance(self._connection._sock, ssl.SSLSocket)

    def _send_password(self, request_key: bytes, key_packet: Any = None) -> Any:
        """Send the password over a protected connection, or encrypted. `key_packet` has the server's key already."""
        connection, rules = self._connection, self._rules
        if self._goes_unencrypted() or not connection.password:
            return self._exchange(connection.password + b"\0")
        if not rules.may_encrypt:
            raise self._refused("and the connection is not encrypted",
                                f"{_VERIFY}; without TLS, server-public-key-path=FILE or get-server-public-key")
        key = rules.public_key
        if key is None:
            key = (self._exchange(request_key) if key_packet is None else key_packet).get_all_data()[1:]
        try:
            encrypted = _auth.sha2_rsa_encrypt(connection.password, connection.salt, key)
        except (ValueError, ZeroDivisionError, UnsupportedAlgorithm):  # no key, or no challenge
            raise self._broken() from None
        return self._exchange(encrypted)


class _CachingSha2(_Sha256):
    """caching_sha2_password: a challenge, and the password where the server has not cached its hash."""

    def authenticate(self, packet: Any) -> Any:
        connection = self._connection
        if packet.is_auth_switch_request():
            connection.salt = packet.read_all().removesuffix(b"\0")
            packet = self._exchange(_auth.scramble_caching_sha2(connection.password, connection.salt))
        if packet.is_ok_packet():  # there is no password
            return packet
        match packet.get_all_data():
            case b"\x01\x03":  # the hash is cached, and the answer to the challenge is right
                return connection._read_packet()
            case b"\x01\x04":
                return self._send_password(_KEY_FOR_CACHING_SHA2)
            case _:
                raise self._broken()

    def _goes_unencrypted(self) -> bool:
        return super()._goes_unencrypted() or self._connection.unix_socket is not None
