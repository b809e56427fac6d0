"""The plain bytes of a file as a stream, whether it is packed, encrypted, or neither.

It holds a part of the file at a time, and the decoder's state: up to 128 MB for zstd, 256 MB for xz;
files that need more are refused.
"""

from __future__ import annotations

import io
import lzma
from types import TracebackType
from typing import TYPE_CHECKING

import pyarrow as pa

from applier.errors import ArchiveError, reason
from applier.io.encryption.decrypting import ENCRYPTED_MAGIC, MAGIC, Joined, Stream, decrypted_mysql, start_encryption
from applier.io.encryption.keys import Keys, keys_of
from applier.io.packing import packing_of
from applier.io.resolver import is_local
from applier.io.transient import retried

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

READ_BYTES = 8 << 20
_FIRST_BYTES = 8192
_HEAD_BYTES = 4096
"""More bytes than precede the encrypted part."""
_XZ_MEMORY = 256 << 20
"""The most memory for unpacking: xz -9 needs 65 MB."""


class PlainStream:
    """The plain bytes of a file from its beginning; a context manager. Reads `buffer_bytes` of the file at a time. With
    the keys that its location names it decrypts a file that `is_encrypted`. Errors: OSError, ArchiveError for a damaged
    packed file, and EncryptedBinlog if no key fits."""

    def __init__(self, filesystem: FileSystem, path: str, uri: str, buffer_bytes: int = READ_BYTES) -> None:
        self.uri, self.is_encrypted = uri, False
        self._file: pa.NativeFile = retried(lambda: filesystem.open_input_file(path), uri)
        try:
            start = retried(lambda: self._file.read_at(_FIRST_BYTES, 0), uri)
            packing = packing_of(start)
            self._file.seek(0)
            source = self._file if is_local(filesystem) else pa.PythonFile(_Requests(self._file, uri, start), mode="r")
            buffered = pa.BufferedInputStream(source, buffer_bytes)
            self._stream: Stream = buffered if packing is None else _Unpacked(buffered, packing, uri, buffer_bytes)
            if (keys := keys_of(uri)) is not None:
                self._decrypt(keys)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> PlainStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Read no more."""
        self._file.close()

    def read(self, size: int) -> bytes:
        """The next bytes, `size` but at the end, where there are fewer."""
        parts, left = [], size
        while left and (part := self._stream.read(left)):
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _decrypt(self, keys: Keys) -> None:
        start, stream = self.read(_HEAD_BYTES), self._stream
        decrypted = None
        if start.startswith(ENCRYPTED_MAGIC):
            decrypted = decrypted_mysql(Joined(start, stream), keys, self.uri)
        elif start.startswith(MAGIC) and start_encryption(start):
            from applier.io.encryption.mariadb_decrypting import decrypted_mariadb  # kernels

            decrypted = decrypted_mariadb(start, stream, keys, self.uri)
        self.is_encrypted = decrypted is not None
        self._stream = decrypted or Joined(start, stream)


class _Requests(io.RawIOBase):
    """A remote file from its beginning, whose `start` is known; a request is repeated if the store did not answer
    it."""

    def __init__(self, file: pa.NativeFile, uri: str, start: bytes) -> None:
        self._file, self._uri, self._at, self._start = file, uri, 0, start

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes. Errors: OSError, StoreUnavailable."""
        data, self._start = self._start[:size], self._start[size:]
        data = data or retried(lambda: self._file.read_at(size, self._at), self._uri)
        self._at += len(data)
        return data


class _Unpacked:
    """The contents of a packed file."""

    def __init__(self, packed: pa.NativeFile, packing: str, uri: str, part_bytes: int) -> None:
        self._packing, self._uri = packing, uri
        self._stream: Stream = (_XzStream(packed, part_bytes) if packing == "xz"
                                else pa.CompressedInputStream(packed, packing))

    def read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (OSError, EOFError, lzma.LZMAError) as error:
            what = reason(error) if isinstance(error, OSError) else str(error)
            raise ArchiveError(f"cannot decompress the file with {self._packing}: {what}", file=self._uri,
                               hint="it is truncated or damaged: copy it again, or compress the server's file again"
                               ) from error


class _XzStream:
    """The contents of an .xz file: several xz streams may follow one another, with zeros between them. Unlike Python's
    own reader, within bounds of memory. Errors: LZMAError, EOFError."""

    def __init__(self, packed: pa.NativeFile, part_bytes: int) -> None:
        self._packed, self._part_bytes = packed, part_bytes
        self._decompressor = self._new()

    def read(self, size: int) -> bytes:
        while True:
            if self._decompressor.eof:
                following = self._decompressor.unused_data.lstrip(b"\0")
                while not following and (part := self._packed.read(self._part_bytes)):
                    following = part.lstrip(b"\0")
                if not following:
                    return b""
                self._decompressor = self._new()
                data = following
            elif self._decompressor.needs_input:
                data = self._packed.read(self._part_bytes)
                if not data:
                    raise EOFError("the file ends before its data does")
            else:
                data = b""
            if found := self._decompressor.decompress(data, size):
                return found

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
