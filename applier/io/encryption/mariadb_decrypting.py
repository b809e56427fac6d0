"""Encrypted MariaDB logs as streams of plain bytes.

The format description is plain, and so is START_ENCRYPTION after it: a scheme u8 (1 is the known one), the key's
version u32, a nonce of 12 bytes. All later events are encrypted, each separately (mariadb_decrypting_kernel). The
cipher, and which of several keys, are not in the file: the first event that decrypts to a valid one determines them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from applier.errors import EncryptedBinlog
from applier.io.encryption import mariadb_decrypting_kernel as k
from applier.io.encryption.decrypting import Joined, Stream, exactly, start_encryption
from applier.io.encryption.keys import Keys
from keysearch.addresses import address_of

PART_BYTES = 1 << 20
_LARGEST_EVENT = (1 << 30) + (1 << 20)
"""The most bytes of an event, max_allowed_packet and its header; a larger length is damage, and is not decrypted."""
_SCHEME_AT, _NONCE_AT, _NONCE_END = 19, 24, 36
_TYPE_AT, _BODY_AT = 4, 19
_ROTATE, _FORMAT_DESCRIPTION = 4, 15


def decrypted_mariadb(start: bytes, stream: Stream, keys: Keys, uri: str) -> Stream | None:
    """The log that begins with `start` and continues with a stream; None if it is not encrypted, or ends before it says
    so. Raises EncryptedBinlog where no key fits."""
    at, end = start_encryption(start) or (0, 0)
    if not end or end > len(start) or end < at + _NONCE_END:
        return None
    if start[at + _SCHEME_AT] != 1:
        raise EncryptedBinlog(f"the binlog is encrypted by scheme {start[at + _SCHEME_AT]}, which is not known",
                              file=uri, position=at, hint="copy it from the server with `mariadb-binlog "
                                                          "--read-from-remote-server --raw`")
    nonce, rest = start[at + _NONCE_AT : at + _NONCE_END], start[end:]
    first = _first_event(rest, stream)
    if len(first) < k.LEAST or _is_damaged(first):
        return Joined(start[:end] + first, stream)
    cipher = next((cipher for cipher in _ciphers(keys, nonce) if cipher.fits(first, end)), None)
    if cipher is None:
        given = "none of the key files has its key" if keys.key_file else "there is no key file"
        raise EncryptedBinlog(f"the binlog is encrypted, and {given}", file=uri, position=at,
                              hint="--key-file FILE, the server's file_key_management_filename when it wrote the log "
                                   "(several may be given); keys of other plugins cannot be read: copy the log with "
                                   "`mariadb-binlog --read-from-remote-server --raw`")
    return Joined(start[:end], _Decrypted(first, stream, cipher, end))


def _first_event(start: bytes, stream: Stream) -> bytes:
    """Return the bytes read, with all of the first event, as far as the file has it."""
    start += exactly(stream, k.LEAST - len(start))
    return start + exactly(stream, min(int.from_bytes(start[9:13], "little"), _LARGEST_EVENT) - len(start))


def _is_damaged(start: bytes) -> bool:
    """Return whether the event that begins here has a length that no event has."""
    return len(start) >= k.LEAST and not k.LEAST <= int.from_bytes(start[9:13], "little") <= _LARGEST_EVENT


def _ciphers(keys: Keys, nonce: bytes) -> Iterator[EventCipher]:
    for key in keys.binlog_keys():
        yield EventCipher(key, nonce, counts=False)
        yield EventCipher(key, nonce, counts=True)


class EventCipher:
    """Decrypts events: with AES_CTR if it `counts`, else with AES_CBC."""

    def __init__(self, key: bytes, nonce: bytes, *, counts: bool) -> None:
        blocks = Cipher(algorithms.AES(key), modes.ECB())
        self._encryptor, self._decryptor = blocks.encryptor(), blocks.decryptor()
        self._nonce, self._counts = np.frombuffer(nonce, np.uint8), counts
        self._rooms: dict[str, np.ndarray] = {}

    def fits(self, start: bytes, position: int) -> bool:
        """Return whether the event there makes sense when it is decrypted: by its next position, or its checksum; in a
        relay log, where the first ones have the source's position or none, by what it says."""
        size = int.from_bytes(start[9:13], "little")
        event = np.frombuffer(start[:size], np.uint8).copy()
        self.decrypt(event, len(event), position)
        plain = event.tobytes()
        return (int.from_bytes(plain[13:17], "little") == position + size
                or zlib.crc32(plain[:-4]) == int.from_bytes(plain[-4:], "little")
                or _is_of_a_connection(plain))

    def decrypt(self, data: np.ndarray, end: int, position: int) -> None:
        """Decrypt the events in [0, end) of `data`, which begins at a position of the file; the last may be cut off."""
        totals, address = np.zeros(2, np.int64), address_of(data)
        reached = k.whole_events(address, end, _LARGEST_EVENT, totals)
        n_events, n_blocks = totals.tolist()
        if reached < end:  # it is cut off
            n_events, n_blocks = n_events + 1, n_blocks + (end - reached) // k.BLOCK + 1
        blocks, vectors = self._room("blocks", n_blocks), self._room("vectors", n_events)
        k.gather(address, end, position, address_of(self._nonce), address_of(blocks), address_of(vectors))
        answers = self._room("answers", n_blocks + 1)
        if self._counts:
            counters = self._room("counters", n_blocks)
            k.count_on(address, end, address_of(vectors), address_of(counters))
            self._encryptor.update_into(counters.data, answers.data)
            k.scatter_counted(address, end, address_of(blocks), address_of(answers))
        else:
            masks = self._room("masks", n_events + 1)
            self._decryptor.update_into(blocks.data, answers.data)
            self._encryptor.update_into(vectors.data, masks.data)
            k.scatter_chained(address, end, address_of(blocks), address_of(answers), address_of(vectors),
                              address_of(masks))

    def _room(self, what: str, n_blocks: int) -> np.ndarray:
        """Return memory for this many blocks: that of the last call, if it is large enough."""
        room = self._rooms.get(what)
        if room is None or len(room) < n_blocks * k.BLOCK:
            room = self._rooms[what] = np.zeros(n_blocks * k.BLOCK, np.uint8)
        return room[: n_blocks * k.BLOCK]


def _is_of_a_connection(event: bytes) -> bool:
    """Return whether an event without a checksum is a format description or a ROTATE, which a relay log begins with."""
    if event[_TYPE_AT] == _FORMAT_DESCRIPTION:
        return event[_BODY_AT : _BODY_AT + 2] == b"\x04\x00"  # the version of all logs
    name = event[_BODY_AT + 8 :]
    return (event[_TYPE_AT] == _ROTATE and event[_BODY_AT + 5 : _BODY_AT + 8] == bytes(3)  # a position under 1 TB
            and name.isascii() and name.decode().isprintable())


class _Decrypted:
    """The bytes after START_ENCRYPTION. Holds some events at a time, at least one."""

    def __init__(self, start: bytes, stream: Stream, cipher: EventCipher, position: int) -> None:
        self._left, self._stream, self._cipher, self._position = start, stream, cipher, position
        self._plain, self._at = b"", 0

    def read(self, size: int) -> bytes:
        if self._at == len(self._plain):
            self._plain, self._at = self._next(), 0
        found = self._plain[self._at : self._at + size]
        self._at += len(found)
        return found

    def _next(self) -> bytes:
        """Return the next events; the rest of the file if it has no whole one."""
        totals = np.zeros(2, np.int64)
        while True:
            part = self._stream.read(max(PART_BYTES, len(self._left)))
            data = np.frombuffer(self._left + part, np.uint8).copy()
            end = k.whole_events(address_of(data), len(data), _LARGEST_EVENT, totals) if len(data) else 0
            if end or not part or _is_damaged(data[: k.LEAST].tobytes()):
                break
            self._left += part
        if not end:  # the file's end, or damage, which the log's reader finds by the event's length
            self._left = b""
            if len(data) >= k.LEAST and not _is_damaged(data[: k.LEAST].tobytes()):
                self._cipher.decrypt(data, len(data), self._position)
            end = len(data)
        else:
            self._cipher.decrypt(data, end, self._position)
            self._left = data[end:].tobytes()
        self._position += end
        return data[:end].tobytes()
