"""Mutants of binlogs that know the format: fields with values that no server writes, in files whose checksums fit.

What is within compressed events is unpacked, changed and packed again. Every file ends where a page ends, so that a
read past its end is a crash.
"""

import random
import struct
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa

from tests.support.folders import CASES

PAGE, HEADER = 4096, 19
FORMAT, TABLE_MAP, PAYLOAD, PARTIAL_UPDATE, IGNORABLE = 15, 19, 40, 39, 0x80
COMPRESSED = range(165, 172)
ROWS = frozenset((*range(23, 26), *range(30, 33), PARTIAL_UPDATE))
_MOST_SOURCE, _MOST_EVENTS = 400_000, 150
_WEIGHTS = {**dict.fromkeys(ROWS, 3), **dict.fromkeys(COMPRESSED, 8), TABLE_MAP: 6, PAYLOAD: 10, PARTIAL_UPDATE: 6,
            2: 2, FORMAT: 0.3}
_KNOWN = (2, 15, 16, 19, 23, 24, 25, 30, 31, 32, 33, 34, 38, 39, 40, 42, 160, 161, 162, 163, 165, 166, 169)
_TYPES = (*range(21), 140, 141, 242, 243, *range(245, 256))
_METADATA = (*range(10), 16, 30, 31, 38, 39, 65, 66, 127, 128, 200, 254, 255)
_NAMES = (b"", b"/", b"..", b"a/b", b"\0x", b"\xff\xfe", b"`'\";", b"x" * 255, b"\n\n", b"\x1b[31m", b"_snapshot.json")
EXTREMES = (b"\0", b"\xff", b"\xfb", b"\xfc", b"\xfd", b"\xfe", b"\0\0", b"\xff\xff", b"\xff\x7f", b"\0\x80",
            b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80",
            b"\xfe" + b"\xff" * 7 + b"\x7f", b"\xfe" + b"\xfe" + b"\xff" * 6 + b"\x7f", b"\xfe" + b"\xff" * 8,
            b"\xfd\xff\xff\xff", b"\xfc\xff\xff", b"\x10\x27", b"\1\0", b"\xfe" + b"\0" * 7 + b"\x40")
_NUMBERS = (0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 250, 251, 252, 253, 254, 255, 256, 4095, 4096, 4097, 65535,
            65536, 1 << 24, 1 << 31, (1 << 32) - 1, (1 << 63) - 2, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
_ZSTD = pa.Codec("zstd", compression_level=1)

Dice = random.Random


def mutant(number: int) -> bytes:
    """The bytes of a file: always the same for a number."""
    dice = Dice(f"events {number}")
    data = dice.choice(sources() if dice.random() < 0.6 else _rare()).read_bytes()
    events = cut(data, 4)
    checksum = checksum_bytes(events)
    if len(events) > _MOST_EVENTS:  # the head and a part of it
        start = dice.choice((2, dice.randrange(2, len(events) - 60)))
        events = events[:2] + events[start:start + _MOST_EVENTS]
    events = mutated(events, dice, checksum, dice.choice((1, 1, 2, 3, 5)))
    file = bytearray(data[:4]) + b"".join(sealed(event, checksum) for event in events)
    at = 4 + len(events[0]) if events else len(file)
    file[at:at] = sealed(_padding(-len(file) % PAGE, checksum), checksum)
    return bytes(file) if dice.random() > 0.1 else bytes(file[:dice.randrange(1, len(file) // PAGE + 1) * PAGE])


@cache
def sources() -> list[Path]:
    """Binlogs of real servers: both flavours, all image modes, JSON diffs, compressed ones."""
    return [path for path in sorted(CASES.glob("*/binlog.0*"))
            if 200 < path.stat().st_size < _MOST_SOURCE and path.read_bytes()[:4] == b"\xfebin"]


@cache
def _rare() -> list[Path]:
    """Those with compressed events or JSON diffs, or values of all types."""
    return [path for path in sources() if any(word in path.parent.name for word in ("compressed", "partial", "types"))]


def cut(data: bytes, start: int) -> list[bytearray]:
    """The events from an offset on, as far as their sizes make sense."""
    events = []
    while start + HEADER <= len(data):
        size = int.from_bytes(data[start + 9:start + 13], "little")
        if not HEADER <= size <= len(data) - start:
            break
        events.append(bytearray(data[start:start + size]))
        start += size
    return events


def checksum_bytes(events: list[bytearray]) -> int:
    return 4 * any(len(event) > HEADER + 4 and zlib.crc32(event[:-4]) == int.from_bytes(event[-4:], "little")
                   for event in events[1:4])


def sealed(event: bytearray, checksum: int) -> bytearray:
    """The event with a checksum that fits; the in-use flag of a format description does not count."""
    if checksum and len(event) >= HEADER + checksum:
        counted = event[:-checksum]
        if counted[4] == FORMAT:
            counted[17] &= ~1
        event[-checksum:] = zlib.crc32(counted).to_bytes(4, "little")
    return event


def _padding(room: int, checksum: int) -> bytearray:
    """An event to be skipped that fills a page."""
    room += PAGE if room < HEADER + checksum else 0
    return bytearray(struct.pack("<IBIIIH", 0, 250, 1, room, 0, IGNORABLE) + bytes(room - HEADER))


def mutated(events: list[bytearray], dice: Dice, checksum: int, times: int) -> list[bytearray]:
    for _ in range(times):
        if not events:
            break
        at = dice.choices(range(len(events)), [_WEIGHTS.get(event[4], 1) for event in events])[0]
        event, kind = events[at], dice.random()
        if kind < 0.86:
            events[at] = _changed(event, dice, checksum)
        elif kind < 0.9:
            event[4] = dice.choice((*_KNOWN, dice.randrange(256)))
        elif kind < 0.93:
            del events[at]
        elif kind < 0.96:
            events.insert(dice.randrange(len(events) + 1), bytearray(event))
        elif kind < 0.98:
            size = dice.choice((0, 18, 19, 22, 23, len(event) - 1, len(event) + 1, 2**31, 2**32 - 1))
            event[9:13] = size.to_bytes(4, "little")
        else:
            event[13:17] = dice.randbytes(4)
    return events


def _changed(event: bytearray, dice: Dice, checksum: int) -> bytearray:
    """An event with another body, and the size that it then has."""
    body = event[HEADER:len(event) - checksum]
    try:
        body = _change_of(event[4])(body, dice, event[4])
    except (ValueError, LookupError, OSError, OverflowError, zlib.error):  # it was damaged before
        poke(body, dice)
    changed = event[:HEADER] + body + bytes(checksum)
    changed[9:13] = len(changed).to_bytes(4, "little")
    return changed


def _change_of(kind: int) -> Callable[[bytearray, Dice, int], bytearray]:
    if kind in ROWS:
        return _rows
    if kind in COMPRESSED:
        return _zipped
    return {TABLE_MAP: _table_map, PAYLOAD: _payload, FORMAT: _format}.get(kind, _anywhere)


def _anywhere(body: bytearray, dice: Dice, _: int) -> bytearray:
    poke(body, dice)
    return body


def _format(body: bytearray, dice: Dice, kind: int) -> bytearray:
    if dice.random() < 0.3:
        return _anywhere(body, dice, kind)
    body[dice.choice((56, -1, dice.randrange(len(body))))] = odd(dice) & 255
    return body


def poke(data: bytearray, dice: Dice, start: int = 0) -> None:
    """Turn, set, insert or take out something; mostly early, where the lengths are."""
    if len(data) <= start:
        return
    at = dice.randrange(start, len(data))
    if dice.random() < 0.6:
        at = min(len(data) - 1, start + dice.randrange(60))
    kind = dice.random()
    if kind < 0.35:
        data[at] ^= 1 << dice.randrange(8)
    elif kind < 0.8:
        value = dice.choice(EXTREMES)
        data[at:at + len(value)] = value[:len(data) - at]
    elif kind < 0.9:
        data[at:at] = dice.choice(EXTREMES)
    else:
        del data[at:at + dice.choice((1, 1, 2, 4, 8, 30))]


def odd(dice: Dice) -> int:
    return dice.choice((*_NUMBERS, dice.randrange(1 << 16)))


def packed(number: int, width: int | None = None) -> bytes:
    """A packed integer, of a width that it would not have, too."""
    if width is None:
        width = 1 if number < 251 else 2 if number < 1 << 16 else 3 if number < 1 << 24 else 8
    head = {1: b"", 2: b"\xfc", 3: b"\xfd", 8: b"\xfe"}[width]
    return head + (number & (1 << 8 * width) - 1).to_bytes(width, "little")


def unpacked(data: bytearray, at: int) -> tuple[int, int]:
    width = {252: 2, 253: 3, 254: 8}.get(data[at], 0)
    return (data[at] if width == 0 else int.from_bytes(data[at + 1:at + 1 + width], "little")), at + 1 + width


def _table_map(body: bytearray, dice: Dice, _: int) -> bytearray:
    at, names = 8, []
    for _ in range(2):
        names.append(bytes(body[at + 1:at + 1 + body[at]]))
        at += body[at] + 2
    n, at = unpacked(body, at)
    types, at = body[at:at + n], at + n
    length, at = unpacked(body, at)
    metadata, at = body[at:at + length], at + length
    nullable, optional = body[at:at + (n + 7) // 8], body[at + (n + 7) // 8:]
    columns, size = packed(n), packed(length)
    kind = dice.randrange(13)
    if kind < 3 and types:
        types[dice.randrange(n)] = dice.choice(_TYPES)
    elif kind < 6 and metadata:
        metadata[dice.randrange(length)] = dice.choice(_METADATA)
    elif kind == 6:
        columns = packed(odd(dice), dice.choice((1, 2, 3, 8)))
    elif kind == 7:
        size = packed(odd(dice), dice.choice((1, 2, 3, 8)))
    elif kind == 8 and nullable:
        nullable[dice.randrange(len(nullable))] = dice.choice((0, 255))
    elif kind == 9:
        values = [dice.randbytes(dice.randrange(20)) for _ in range(dice.randrange(5))]
        optional = bytearray().join(bytes([dice.randrange(16)]) + packed(len(value)) + value for value in values)
    elif kind == 10:
        columns, types, size, metadata, nullable = b"\0", b"", b"\0", b"", b""
    elif kind == 11:
        names[dice.randrange(2)] = dice.choice(_NAMES)
    else:
        poke(optional, dice)
    named = b"".join(bytes([len(name)]) + name + b"\0" for name in names)
    return bytearray(b"").join((body[:8], named, columns, types, size, metadata, nullable, optional))


def _rows(body: bytearray, dice: Dice, kind: int) -> bytearray:
    at = 8
    if kind >= 30:
        at += int.from_bytes(body[8:10], "little")
        if dice.random() < 0.1:
            body[8:10] = struct.pack("<H", odd(dice) & 0xFFFF)
            return body
        if dice.random() < 0.1:
            extra = dice.randbytes(dice.randrange(30))
            return body[:8] + struct.pack("<H", len(extra) + 2) + extra + body[at:]
    n, bitmaps = unpacked(body, at)
    size, chance = (n + 7) // 8 * (2 if kind in (24, 31, PARTIAL_UPDATE) else 1), dice.random()
    if chance < 0.1:
        return body[:at] + packed(odd(dice), dice.choice((1, 2, 3, 8))) + body[bitmaps:]
    if chance < 0.25 and size:
        body[bitmaps + dice.randrange(size)] ^= 1 << dice.randrange(8)
        return body
    if chance < 0.3:
        return body[:bitmaps + size]
    poke(body, dice, bitmaps + size if dice.random() < 0.85 else 0)
    return body


def _payload(body: bytearray, dice: Dice, _: int) -> bytearray:
    fields, at = {}, 0
    while (field := unpacked(body, at))[0]:
        length, start = unpacked(body, field[1])
        fields[field[0]], at = unpacked(body, start)[0], start + length
    data, algorithm = bytes(body[field[1]:]), fields.get(2, 0)
    inner = _ZSTD.decompress(data, fields[3], asbytes=True) if algorithm == 0 else data
    if dice.random() < 0.75:
        inner = b"".join(mutated(cut(inner, 0), dice, 0, dice.choice((1, 1, 2))))
    if dice.random() < 0.05:
        inner *= dice.choice((2, 50))
    algorithm = dice.choice((0, 0, 0, 0, 255))
    claims, more = len(inner), b""
    data = bytearray(_ZSTD.compress(inner, asbytes=True) if algorithm == 0 else inner)
    kind = dice.randrange(10)
    if kind == 0:
        claims = odd(dice)
    elif kind == 1:
        claims = max(0, claims + dice.choice((-1, 1, -HEADER, HEADER)))
    elif kind == 2:
        more = packed(dice.choice((4, 5, 9, 200, 1 << 40))) + packed(odd(dice)) + dice.randbytes(dice.randrange(4))
    elif kind == 3:
        algorithm = odd(dice)
    elif kind == 4:
        poke(data, dice)
    elif kind == 5 and algorithm == 0:
        half = len(inner) // 2
        data = bytearray().join(_ZSTD.compress(part, asbytes=True) for part in (inner[:half], inner[half:]))
    size = odd(dice) if kind == 6 else len(data)
    for number, value in ((2, algorithm), (3, claims), (1, size)):
        more += packed(number) + packed(len(packed(value))) + packed(value)
    return bytearray(more + b"\0" + data)


def _zipped(body: bytearray, dice: Dice, kind: int) -> bytearray:
    """MariaDB's: 0x80 and the bytes of the length, the length, a zlib stream."""
    for at in range(min(len(body), 400)):
        width = body[at] & 7
        if body[at] & 0xF8 == 0x80 and 1 <= width <= 4 and body[at + 1 + width:at + 2 + width] == b"\x78":
            break
    else:
        return _anywhere(body, dice, kind)
    data = bytearray(zlib.decompress(body[at + 1 + width:]))
    for _ in range(dice.choice((1, 1, 3))):
        poke(data, dice)
    length, zipped, what = len(data), zlib.compress(data), dice.randrange(8)
    if what == 0:
        length = odd(dice) & 0xFFFFFFFF
    elif what == 1:
        length = max(0, length + dice.choice((-1, 1)))
    elif what == 2:
        zipped = zipped[:len(zipped) // 2]
    width = dice.choice((1, 2, 4)) if what < 3 else max(1, (length.bit_length() + 7) // 8)
    return body[:at] + bytes([0x80 | width]) + (length & (1 << 8 * width) - 1).to_bytes(width, "big") + zipped
