"""A server that only lets people log in, by any plugin, and keeps what it learns of passwords. It can be an impostor:
it chooses the plugin, says whether there is TLS, and has a key and a certificate of its own.

Source: MySQL Source Documentation, "Connection Phase".
"""

import datetime
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from struct import pack

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

SLOW = "SELECT SLEEP(0.5)"
"""The statement whose answer takes so long."""
_SLOW_SECONDS = 0.5
_CHALLENGE = b"saltsaltsaltsaltsalt"
_CAPABILITIES, _TLS = 0x1 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000, 0x800
_LENGTH_OF_TLS_REQUEST = 32
_OK = b"\0\0\0\2\0\0\0"
_QUERY = 3
_CACHED, _NOT_CACHED = b"\1\3", b"\1\4"


@dataclass
class LoginServer:
    """The server, in a thread; a context manager.

    `plugin` is that of its greeting, `switches_to` the one that it asks for then. `certificate` is a file with a
    certificate and its key, without which there is no TLS; `path` a Unix socket, without which it listens at 127.0.0.1.
    A silent one accepts connections and says nothing, one that drips sends a byte after this many seconds. `logins` are
    the first packets of clients, `learned` the passwords.
    """

    plugin: str = "caching_sha2_password"
    switches_to: str | None = None
    certificate: Path | None = None
    path: str | None = None
    is_cached: bool = False
    sends_as_key: bytes | None = None
    is_silent: bool = False
    drips_every: float = 0
    logins: list[bytes] = field(default_factory=list)
    learned: list[bytes] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> "LoginServer":
        if self.path is None:
            self._listening = socket.create_server(("127.0.0.1", 0))
        else:
            self._listening = socket.socket(socket.AF_UNIX)
            self._listening.bind(self.path)
            self._listening.listen()
        self.port = 0 if self.path is not None else int(self._listening.getsockname()[1])
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for opened in (self._listening, *self._open):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    @property
    def public_key(self) -> bytes:
        return _key().public_key().public_bytes(serialization.Encoding.PEM,
                                                  serialization.PublicFormat.SubjectPublicKeyInfo)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            if not self.is_silent:
                with suppress(OSError, EOFError, ValueError):  # ValueError: what another key encrypted
                    _Login(self, connection).run()
                connection.close()


class _Login:
    def __init__(self, server: LoginServer, connection: socket.socket) -> None:
        self.server, self.connection, self.number = server, connection, 0

    def run(self) -> None:
        server = self.server
        capabilities = _CAPABILITIES | _TLS * (server.certificate is not None)
        self.send(b"\x0a9.7.4\0" + pack("<I", 7) + _CHALLENGE[:8] + b"\0" + pack("<H", capabilities & 0xFFFF)
                  + b"\x2d\2\0" + pack("<H", capabilities >> 16) + bytes((21,)) + bytes(10) + _CHALLENGE[8:] + b"\0"
                  + server.plugin.encode() + b"\0")
        first = self.receive()
        if len(first) == _LENGTH_OF_TLS_REQUEST:
            assert server.certificate is not None
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(server.certificate)
            self.connection = context.wrap_socket(self.connection, server_side=True)
            first = self.receive()
        server.logins.append(first)
        answer = self._answer_in(first)
        plugin = server.plugin
        if server.switches_to is not None:
            plugin = server.switches_to
            data = b"\5Password: " if plugin == "dialog" else _CHALLENGE + b"\0"
            answer = self.ask(b"\xfe" + plugin.encode() + b"\0" + data)
        self._learn(plugin, answer)
        self.send(_OK)
        while (command := self.receive())[0] == _QUERY:
            time.sleep(_SLOW_SECONDS * (command[1:] == SLOW.encode()))
            self.send(_OK)

    def _learn(self, plugin: str, answer: bytes) -> None:
        if plugin == "caching_sha2_password":
            if self.server.is_cached:
                self.send(_CACHED)
                return
            answer = self.ask(_NOT_CACHED)
        if answer in (b"\1", b"\2"):
            answer = self.ask(b"\1" + (self.server.sends_as_key or self.server.public_key))
        if len(answer) == _key().key_size // 8:
            hidden = _key().decrypt(answer, padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None))
            answer = bytes(byte ^ _CHALLENGE[at % 20] for at, byte in enumerate(hidden))
        self.server.learned.append(answer.removesuffix(b"\0"))

    def _answer_in(self, login: bytes) -> bytes:
        at = login.index(b"\0", 32) + 1
        return login[at + 1:at + 1 + login[at]]

    def ask(self, payload: bytes) -> bytes:
        self.send(payload)
        return self.receive()

    def send(self, payload: bytes) -> None:
        packet = pack("<I", len(payload) | self.number << 24) + payload
        self.number += 1
        if not self.server.drips_every:
            self.connection.sendall(packet)
            return
        for byte in packet:
            self.connection.sendall(bytes((byte,)))
            time.sleep(self.server.drips_every)

    def receive(self) -> bytes:
        head = self._exactly(4)
        self.number = head[3] + 1
        return self._exactly(int.from_bytes(head[:3], "little"))

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data


@cache
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def make_certificate(path: Path, host: str) -> Path:
    """Write a certificate that signs itself, with its key, for a name or an address."""
    key = _key()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    begin = datetime.datetime(2020, 1, 1)
    subject = x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(1).not_valid_before(begin).not_valid_after(begin + datetime.timedelta(days=36500))
            .add_extension(x509.SubjectAlternativeName([subject]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256()))
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return path


def make_revocations(path: Path, host: str, is_revoked: bool) -> Path:
    """Write the list of revoked certificates of one that `make_certificate` made, with itself or empty."""
    begin = datetime.datetime(2020, 1, 1)
    made = (x509.CertificateRevocationListBuilder()
            .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)]))
            .last_update(begin).next_update(begin + datetime.timedelta(days=36500)))
    if is_revoked:
        made = made.add_revoked_certificate(
            x509.RevokedCertificateBuilder().serial_number(1).revocation_date(begin).build())
    path.write_bytes(made.sign(_key(), hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return path
