"""Encrypted logs as streams of plain bytes.

    MySQL    a header of 512 bytes: fd 62 69 6e, version u8, then fields of a type u8: 1 the name of a key (with its
             length, u8), 2 the file's password (32 bytes), encrypted by that key with AES-256-CBC and 3 this vector (16
             bytes). SHA-512 of the password gives the key, 32 bytes, and the first eight of the counter, by which
             AES-256-CTR encrypts all that follows. (MySQL Internals, "Binary log encryption at rest")
    MariaDB  after START_ENCRYPTION each event is encrypted separately, see mariadb_decrypting.

Positions are those of the plain log: MySQL's header is not part of it, and MariaDB's events keep their positions.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

from applier.errors import ArchiveError, EncryptedBinlog
from applier.io.encryption.keys import Keys

MAGIC, ENCRYPTED_MAGIC = b"\xfebin", b"\xfdbin"
_HEADER_BYTES = 512
_KEY_NAME, _PASSWORD, _VECTOR = 1, 2, 3
_SIZES = {_PASSWORD: 32, _VECTOR: 16}
_START_ENCRYPTION, _HEADER = 164, 19
_FIRST_EVENTS = 3
"""START_ENCRYPTION is among these."""


class Stream(Protocol):
    """Gives the next bytes, at most `size`, and none at its end."""

    def read(self, size: int, /) -> bytes: ...


class Joined:
    """Bytes that were read before, and the stream that they come from."""

    def __init__(self, start: bytes, rest: Stream) -> None:
        self._start, self._rest = start, rest

    def read(self, size: int) -> bytes:
        if not self._start:
            return self._rest.read(size)
        found, self._start = self._start[:size], self._start[size:]
        return found


class DecryptedByCounter:
    """A stream of MySQL's after its header."""

    def __init__(self, stream: Stream, key: bytes, nonce: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._stream = stream
        self._decryptor = Cipher(algorithms.AES(key), modes.CTR(nonce + bytes(8))).decryptor()

    def read(self, size: int) -> bytes:
        return self._decryptor.update(self._stream.read(size))


def decrypted_mysql(stream: Stream, keys: Keys, uri: str) -> Stream:
    """The log in an encrypted file of MySQL's. Raises EncryptedBinlog where its key is not there."""
    fields = _fields(exactly(stream, _HEADER_BYTES), uri)
    name = fields[_KEY_NAME].decode("utf-8", "replace")
    key = keys.master_key(name)
    if key is None:
        given = "is in none of the keyrings" if keys.keyring else "is not known: there is no keyring"
        raise EncryptedBinlog(f"the binlog is encrypted, and its key {name!r} {given}", file=uri, position=0,
                              hint="--keyring FILE, of component_keyring_file or keyring_file: the server's, or a copy "
                                   "from before its binlog master key was rotated (several may be given); else copy "
                                   "the log with `mysqlbinlog --read-from-remote-server --raw`")
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if len(key) != 32:
        raise EncryptedBinlog(f"the key {name!r} in the keyring is none of AES-256", file=uri, position=0)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(fields[_VECTOR])).decryptor()
    secret = hashlib.sha512(decryptor.update(fields[_PASSWORD])).digest()
    plain = DecryptedByCounter(stream, secret[:32], secret[32:40])
    start = exactly(plain, len(MAGIC))
    if start != MAGIC:
        raise EncryptedBinlog(f"the key {name!r} in the keyring is not the one that the binlog is encrypted with",
                              file=uri, position=0, hint="is the keyring of the server that wrote the log?")
    return Joined(start, plain)


def start_encryption(start: bytes) -> tuple[int, int] | None:
    """Where MariaDB's START_ENCRYPTION begins and ends, given the first bytes of a log; None if it has none."""
    at = 4
    for _ in range(_FIRST_EVENTS):
        size = int.from_bytes(start[at + 9 : at + 13], "little")
        if size < _HEADER:
            return None
        if start[at + 4] == _START_ENCRYPTION:
            return at, at + size
        at += size
    return None


def exactly(stream: Stream, size: int) -> bytes:
    """Return the next `size` bytes of a stream, fewer at its end."""
    found = b""
    while len(found) < size and (part := stream.read(size - len(found))):
        found += part
    return found


def _fields(header: bytes, uri: str) -> dict[int, bytes]:
    if header[4:5] != b"\x01":
        raise EncryptedBinlog("the binlog is encrypted in a way that is not known", file=uri, position=4,
                              hint="copy it from the server with `mysqlbinlog --read-from-remote-server --raw`")
    fields: dict[int, bytes] = {}
    at = 5
    while at < len(header) and (kind := header[at]):
        size = _SIZES.get(kind)
        at += 1
        if size is None:
            size = header[at] if at < len(header) else 0
            at += 1
        fields[kind] = header[at : at + size]
        at += size
    if not {_KEY_NAME, *_SIZES} <= fields.keys() or any(len(fields[kind]) != size for kind, size in _SIZES.items()):
        raise ArchiveError("the header of the encrypted binlog is damaged", file=uri, position=0,
                           hint="copy the file again from the server")
    return fields
