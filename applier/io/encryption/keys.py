"""The locations of the keys of encrypted logs, and the keys in such files.

A location of logs includes the locations of its keys (KeyedLocation), and is passed like any other one to readers of
logs, also to tasks on other machines. Only paths are sent: a process that reads a file's bytes reads the keys for it,
and keeps them no longer. The contents of key files appear in no message.

    component_keyring_file   JSON; keyring_file: "Keyring file version:", then a record per key (MySQL's manual,
                             "Keyring Components and Plugins")
    file_key_management      a line per key, `id;hexadecimal digits`; that of binlogs has the id 1; as a whole it may be
                             encrypted with a secret (MariaDB's documentation, "File Key Management Encryption
                             Plugin")
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from applier.errors import UsageError, reason
from applier.io.resolver import check_regular

_PLUGIN_START = b"Keyring file version:"
_PLUGIN_HEADER = 24
_PLUGIN_MASK = b"*305=Ljt0*!@$Hnm(*-9-w;:"
"""The bytes with which the plugin combines keys in its file, by exclusive or."""
_BINLOG_KEY = "1"
_SALTED = b"Salted__"
_DIGESTS = ("sha1", "sha256", "sha512", "sha224", "sha384")
"""The digests by which a key file's secret becomes its key: the server's default, and the possible values of
file_key_management_digest."""
_LARGEST = 16 << 20
_AES_KEYS = (16, 24, 32)

PathLike = str | os.PathLike[str]
Paths = PathLike | Sequence[PathLike]


@dataclass(frozen=True, init=False)
class Keys:
    """Where the keys of encrypted binlogs are: `keyring`, files of component_keyring_file or keyring_file, has those of
    MySQL's, `key_file`, files of file_key_management, those of MariaDB's, and `key_file_secret` the password of
    encrypted key files."""

    keyring: tuple[str, ...]
    key_file: tuple[str, ...]
    key_file_secret: str | None

    def __init__(self, keyring: Paths = (), key_file: Paths = (), key_file_secret: PathLike | None = None) -> None:
        values = {"keyring": _absolute(keyring), "key_file": _absolute(key_file),
                  "key_file_secret": None if key_file_secret is None else os.path.abspath(key_file_secret)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def of(self, locations: Iterable[str]) -> tuple[str, ...]:
        """The locations of logs with where their keys are. Raises UsageError for files that have no keys."""
        if self == Keys():
            return tuple(locations)
        self.check()
        return tuple(KeyedLocation(location, self) for location in locations)

    def check(self) -> None:
        """Read all of them. Raises UsageError for one that cannot be read, or is none."""
        for path in self.keyring:
            _keyring(path)
        if self.key_file_secret is not None and not self.key_file:
            raise UsageError("a secret of a key file is given without the key file", file=self.key_file_secret,
                             hint="also give the key file")
        self.binlog_keys()

    def master_key(self, name: str) -> bytes | None:
        """The key of this name in a keyring. Raises UsageError."""
        return next((keys[name] for path in self.keyring if name in (keys := _keyring(path))), None)

    def binlog_keys(self) -> list[bytes]:
        """The keys of MariaDB's binlogs, one of each key file. Raises UsageError."""
        return [_binlog_key(path, self.key_file_secret) for path in self.key_file]


class KeyedLocation(str):
    """A path or uri of logs that also says where their keys are."""

    keys: Keys

    def __new__(cls, location: str, keys: Keys) -> KeyedLocation:
        made = super().__new__(cls, location)
        made.keys = keys
        return made

    def __reduce__(self) -> tuple[type[KeyedLocation], tuple[str, Keys]]:
        return KeyedLocation, (str(self), self.keys)


def keys_of(location: str) -> Keys | None:
    """Where the keys of a location's logs are, as far as it says so."""
    return location.keys if isinstance(location, KeyedLocation) else None


def like(location: str, other: str) -> str:
    """The other location, with the keys of the first one."""
    keys = keys_of(location)
    return other if keys is None else KeyedLocation(other, keys)


def _absolute(paths: Paths) -> tuple[str, ...]:
    return tuple(map(os.path.abspath, [paths] if isinstance(paths, str | os.PathLike) else paths))


def _keyring(path: str) -> dict[str, bytes]:
    """A keyring's keys by their names."""
    data = _read(path)
    try:
        return dict(_of_plugin(data) if data.startswith(_PLUGIN_START) else _of_component(json.loads(data)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error):
        pass  # its text may contain keys
    raise UsageError("this is not a keyring of component_keyring_file or keyring_file", file=path,
                     hint="the keys of other keyrings (Vault, KMIP, OCI, AWS) cannot be read: copy the logs from the "
                          "server with `mysqlbinlog --read-from-remote-server --raw`, which decrypts them")


def _of_component(document: Any) -> Iterator[tuple[str, bytes]]:
    for element in document["elements"]:
        yield element["data_id"], bytes.fromhex(element["data"])


def _of_plugin(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Each record: its size and those of four fields, u64; then name, type, user and key, padded to 8 bytes."""
    at = _PLUGIN_HEADER
    while at < len(data) and data[at : at + 3] != b"EOF":
        _, *sizes = struct.unpack_from("<5Q", data, at)
        fields, field_at = [], at + 40
        for size in sizes:
            if size > len(data) - field_at:
                raise ValueError("a truncated record")
            fields.append(data[field_at : field_at + size])
            field_at += size
        yield fields[0].decode(), bytes(byte ^ _PLUGIN_MASK[i % len(_PLUGIN_MASK)] for i, byte in enumerate(fields[3]))
        at = field_at + -field_at % 8


def _binlog_key(path: str, secret: str | None) -> bytes:
    data = _read(path)
    if not data.startswith(_SALTED):
        key = _key_in(data)
    elif secret is None:
        raise UsageError("the key file is encrypted", file=path, hint="give the file with its secret, which is the "
                         "server's file_key_management_filekey: --key-file-secret FILE")
    else:
        password = _read(secret).split(b"\n")[0].rstrip(b"\r")
        key = next(filter(None, (_key_in(_decrypted(data, password, digest)) for digest in _DIGESTS)), None)
        if key is None:
            raise UsageError("the key file is not encrypted with this secret, or has no key 1", file=path,
                             hint="give the server's file_key_management_filekey")
    if key is None:
        raise UsageError("the key file has no key 1, which MariaDB encrypts binlogs with", file=path,
                         hint="give the file that the server's file_key_management_filename names; the keys of other "
                              "plugins cannot be read: copy the logs from the server with `mariadb-binlog "
                              "--read-from-remote-server --raw`, which decrypts them")
    return key


def _key_in(data: bytes) -> bytes | None:
    for line in data.decode("utf-8", "replace").splitlines():
        number, mark, digits = line.partition(";")
        if mark and number.strip() == _BINLOG_KEY:
            try:
                key = bytes.fromhex(digits.split("#")[0].strip())
            except ValueError:
                return None
            return key if len(key) in _AES_KEYS else None
    return None


def _decrypted(data: bytes, password: bytes, digest: str) -> bytes:
    """Decrypt a file of `openssl enc -aes-256-cbc`; another file gives nothing that looks like a line with a key. Key
    and vector come from the password and the salt by digests of digests."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    salt, body = data[8:16], data[16:]
    derived, last = b"", b""
    while len(derived) < 48:
        last = hashlib.new(digest, last + password + salt).digest()
        derived += last
    decryptor = Cipher(algorithms.AES(derived[:32]), modes.CBC(derived[32:48])).decryptor()
    text = decryptor.update(body[: len(body) // 16 * 16])
    return text[: -text[-1]] if text and text[-1] <= 16 else b""


def _read(path: str) -> bytes:
    check_regular(path)
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST)
    except OSError as error:
        raise UsageError(f"cannot read the file of keys: {reason(error)}", file=path,
                         hint="every machine that reads the logs needs it, at the same path") from error
