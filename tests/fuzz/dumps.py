"""Mutants of SQL files, as `applier import` reads them: words, quotes, comments and numbers where none belong."""

import gzip
import random
from functools import cache

from tests.support.folders import RECORDED

_FILES = ("cases/*/target.sql", "cases/*/base.sql", "importing/**/*.sql", "importing/**/*.sql.gz")
_MOST_BYTES, _HEAD = 28_000, 8_000
_WORDS = (
    b"'", b'"', b"`", b"\\", b"\\'", b"''", b"(", b")", b",", b";", b"/*", b"*/", b"/*!50000 ", b"/*M!100000 ", b"--",
    b"-- ", b"#", b"\n", b"\0", b"\xff", b"0x", b"x'", b"b'", b"X'0", b"_binary ", b"_binary'", b"NULL", b"DEFAULT",
    b"1e", b"1e999", b"-", b".", b"-.", b"9" * 25, b"CONVERT(", b" USING utf8mb4)", b"VALUES", b"INSERT INTO ",
    b"REPLACE ", b"ON DUPLICATE KEY", b"DELIMITER ;;\n", b"DELIMITER " + b"x" * 40 + b"\n", b"SET NAMES latin1;",
    b"SET NAMES gbk;", b"SET SQL_MODE='ANSI_QUOTES,NO_BACKSLASH_ESCAPES';", b"'2024-01-01 00:00:00.9999999'",
    b"'-838:59:59'", b"'0000-00-00'", b'{"a":', b"[[[[[[", b"\\N", b"\t", b"\r\n", b"CHARACTER SET utf16 ", b"bit(64)",
    b"decimal(65,30)", b"enum('a')", b"vector(3)", b"TRUE", b"FALSE", b"UNHEX(", b"FROM_BASE64('", b"time(6)", b"year",
    b"geometry", b"PARTITION BY HASH(id) PARTITIONS 99999999", b"LOAD DATA INFILE 'x' INTO TABLE t;")


def mutant(number: int) -> bytes:
    """The bytes of an SQL file: always the same for a number."""
    dice = random.Random(f"dumps {number}")
    data = bytearray(dice.choice(sources()))
    if len(data) > _MOST_BYTES:  # its head, and some lines behind it
        start = dice.randrange(_HEAD, len(data) - _MOST_BYTES + _HEAD)
        data = data[:data.rfind(b"\n", 0, _HEAD) + 1] + data[data.find(b"\n", start) + 1:start + _MOST_BYTES - _HEAD]
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        _change(data, dice)
    return bytes(data)


def _change(data: bytearray, dice: random.Random) -> None:
    at, kind, word = dice.randrange(len(data) + 1), dice.random(), dice.choice(_WORDS)
    if kind < 0.45:
        data[at:at] = word
    elif kind < 0.6:
        data[at:at + len(word)] = word
    elif kind < 0.75:
        del data[at:at + dice.choice((1, 1, 2, 5, 50))]
    elif kind < 0.85 and at < len(data):
        data[at] ^= 1 << dice.randrange(8)
    elif kind < 0.95:
        to = dice.randrange(len(data) + 1)
        data[to:to] = data[at:at + dice.randrange(1, 200)] * dice.choice((1, 1, 3))
    else:
        del data[max(at, 1):]


@cache
def sources() -> list[bytes]:
    """Dumps of both servers, and other SQL files that an import takes as they are."""
    paths = sorted(path for pattern in _FILES for path in RECORDED.glob(pattern))
    return [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in paths]
