"""Packs logs as people do, to be read again."""

import gzip
import lzma
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "lz4": ".lz4", "xz": ".xz"}


def pack(data: bytes, packing: str) -> bytes:
    """The bytes of a packed file."""
    if packing == "gzip":
        return gzip.compress(data, 1)
    if packing == "xz":
        return lzma.compress(data, preset=1)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, packing) as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def pack_archive(logs: Iterable[Path], folder: Path, packings: list[str | None]) -> list[Path]:
    """Packed copies of logs, one after the other with each packing in turn, None for a plain one."""
    folder.mkdir()
    made = []
    for number, log in enumerate(sorted(logs)):
        packing, data = packings[number % len(packings)], log.read_bytes()
        made.append(folder / (log.name + (SUFFIXES[packing] if packing else "")))
        made[-1].write_bytes(pack(data, packing) if packing else data)
    return made
