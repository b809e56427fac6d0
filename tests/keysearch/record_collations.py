"""Record what real servers take for equal: the weights that keysearch.collation has, and what tests compare it with.

    python tests/keysearch/record_collations.py tables MYSQL_URL MARIADB_URL
    python tests/keysearch/record_collations.py truth MYSQL_URL MARIADB_URL

A URL is mysql://user:password@host:port. `tables` writes keysearch/weights_*.gz from WEIGHT_STRING of every code point,
and keysearch/contractions_*.gz from that of the pairs and triples of characters that may weigh something else together;
`truth` asks both servers for a digest of the same, and compares pairs of random strings by `=`.
"""

import gzip
import hashlib
import itertools
import json
import pathlib
import random
import re
import struct
import sys
from collections.abc import Iterator
from functools import cache
from urllib.parse import urlsplit

import pymysql

CODE_POINTS = [*range(0xD800), *range(0xE000, 0x110000)]
BMP = [point for point in CODE_POINTS if point < 0x10000]
# A table's name, the collation that it is recorded from, and how many bytes a weight has.
TABLES = {"0900_ai_ci": ("utf8mb4_0900_ai_ci", 2), "general_ci": ("utf8mb4_general_ci", 2),
          "unicode_ci": ("utf8mb4_unicode_ci", 2), "unicode_520_ci": ("utf8mb4_unicode_520_ci", 2),
          "latin1_swedish_ci": ("latin1_swedish_ci", 1), "ascii_general_ci": ("ascii_general_ci", 1)}
OF_MARIADB = {"uca1400_ai_ci": ("utf8mb4_uca1400_ai_ci", 2)}  # with contractions
COLLATIONS = {
    "mysql": ["utf8mb4_0900_ai_ci", "utf8mb4_0900_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci",
              "utf8mb4_unicode_520_ci", "utf8mb4_bin", "utf8mb3_general_ci", "utf8mb3_unicode_ci",
              "utf8mb3_unicode_520_ci", "utf8mb3_bin", "latin1_swedish_ci", "latin1_bin", "ascii_general_ci",
              "ucs2_general_ci", "utf16_general_ci", "utf16_unicode_ci", "utf16_bin", "utf16le_general_ci",
              "utf32_general_ci", "utf32_unicode_520_ci"],
    "mariadb": ["utf8mb4_general_ci", "utf8mb4_general_nopad_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_nopad_ci",
                "utf8mb4_unicode_520_ci", "utf8mb4_bin", "utf8mb4_nopad_bin", "utf8mb3_general_ci",
                "utf8mb3_unicode_ci", "latin1_swedish_ci", "latin1_swedish_nopad_ci", "ascii_general_ci",
                "ucs2_general_ci", "utf16_general_ci", "utf16_unicode_ci", "utf32_general_ci",
                "utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_nopad_ai_ci", "utf8mb3_uca1400_ai_ci", "utf16_uca1400_ai_ci",
                "utf32_uca1400_nopad_ai_ci"]}
PACKAGE = pathlib.Path(__file__).parents[2] / "keysearch"
TRUTH = pathlib.Path(__file__).with_name("server_collations.json.gz")
LATIN1 = [ord(character) for character in bytes(range(256)).decode("cp1252", "ignore")] + [0x81, 0x8D, 0x8F, 0x90, 0x9D]


def points_of(collation: str) -> list[int]:
    """The code points that the collation's character set has."""
    charset = collation.partition("_")[0]
    few = {"utf8mb3": BMP, "ucs2": BMP, "latin1": sorted(LATIN1), "ascii": list(range(128))}
    return few.get(charset, CODE_POINTS)


def connect(url: str) -> pymysql.cursors.Cursor:
    parts = urlsplit(url)
    connection = pymysql.connect(host=parts.hostname, port=parts.port, user=parts.username,
                                 password=parts.password or "", charset="utf8mb4", autocommit=True)
    return connection.cursor()


def fill(cursor: pymysql.cursors.Cursor, strings: list[str]) -> None:
    """A table with these strings in their order."""
    cursor.execute("DROP DATABASE IF EXISTS collations")
    cursor.execute("CREATE DATABASE collations")
    cursor.execute("USE collations")
    cursor.execute("CREATE TABLE t (n INT PRIMARY KEY, c VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)")
    for start in range(0, len(strings), 20000):
        rows = [(start + i, text) for i, text in enumerate(strings[start:start + 20000])]
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", rows)


def stripped(found: list[bytes], collation: str) -> list[bytes]:
    """Weights without those of spaces at the end, where these do not count (PAD SPACE)."""
    if "nopad" in collation or "0900" in collation:
        return found
    space = b" " if collation.startswith(("latin1", "ascii")) else bytes.fromhex(
        "0209" if re.search("unicode_ci|uca1400", collation) else "020A" if "520" in collation else "0020")
    return [_without_end(weight, space) for weight in found]


def _without_end(weight: bytes, end: bytes) -> bytes:
    while weight.endswith(end) and len(weight) % len(end) == 0:
        weight = weight[:-len(end)]
    return weight


def weights(cursor: pymysql.cursors.Cursor, collation: str) -> list[bytes]:
    """WEIGHT_STRING of the table's strings that the collation's character set has."""
    charset = collation.partition("_")[0]
    cursor.execute(f"SELECT HEX(WEIGHT_STRING(CONVERT(c USING {charset}) COLLATE {collation})) FROM t "
                   f"WHERE CONVERT(CONVERT(c USING {charset}) USING utf8mb4) = c ORDER BY n")
    return [bytes.fromhex(text) for text, in cursor.fetchall()]


def implicit(point: int) -> dict[bytes, int]:
    """The weights that UCA gives a character that its table lacks, by the first number of the kind of character."""
    return {struct.pack(">HH", base + (point >> 15), point & 0x7FFF | 0x8000): base
            for base in (0xFB00, 0xFB40, 0xFB80, 0xFBC0)}


def contractions(cursor: pymysql.cursors.Cursor, collation: str) -> dict[tuple[int, ...], bytes]:
    """What characters of the table weigh together, where that is not what they weigh one by one: pairs within a block
    or with an accent, and triples of characters that are in pairs."""
    def weight(text: str) -> str:
        return f"WEIGHT_STRING({text} COLLATE {collation})"

    def found(tables: str, *names: str) -> dict[tuple[int, ...], bytes]:
        together = weight(f"CONCAT({', '.join(f'{name}.c' for name in names)})")
        greedy = weight("CONCAT(a.c, b.c)") if len(names) == 3 else weight("a.c")
        last = weight(f"{names[-1]}.c")
        cursor.execute(f"SELECT {', '.join(f'{name}.n' for name in names)}, HEX({together}) FROM {tables} "
                       f"AND NOT {together} <=> CONCAT({greedy}, {last})")
        return {tuple(row[:-1]): bytes.fromhex(row[-1]) for row in cursor.fetchall()}

    cursor.execute("CREATE TABLE some (n INT PRIMARY KEY, c VARCHAR(4) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, "
                   "block INT, KEY (block))")
    cursor.execute("INSERT INTO some SELECT n, c, n DIV 128 FROM (SELECT ORD(CONVERT(c USING utf32)) n, c FROM t) all_ "
                   "WHERE n < 0x2000 OR n BETWEEN 0xA000 AND 0xABFF OR n BETWEEN 0x10000 AND 0x12000")
    near = "some a JOIN some b ON (b.block BETWEEN a.block - 1 AND a.block + 1 OR b.n BETWEEN 0x300 AND 0x36F)"
    pairs = found(near, "a", "b")
    heads, tails = ({pair[place] for pair in pairs} for place in (0, 1))
    cursor.execute("ALTER TABLE some ADD COLUMN head INT DEFAULT 0, ADD COLUMN tail INT DEFAULT 0")
    for column, points in (("head", heads), ("tail", tails)):
        cursor.execute(f"UPDATE some SET {column} = 1 WHERE n IN ({', '.join(map(str, points))})")
    triples = found("some a JOIN some b ON a.head AND (b.head OR b.tail) AND b.block BETWEEN a.block - 1 AND "
                    "a.block + 1 JOIN some c ON c.tail AND c.block BETWEEN a.block - 1 AND a.block + 1", "a", "b", "c")
    alone = dict(zip(CODE_POINTS, weights(cursor, collation), strict=True))
    overlapping = {triple for triple, weight in triples.items() if triple[:2] not in pairs and
                   weight == alone[triple[0]] + pairs.get(triple[1:], b"")}
    return pairs | {triple: weight for triple, weight in triples.items() if triple not in overlapping}


def table(found: list[bytes], points: list[int], width: int) -> bytes:
    """The file of one table; keysearch.collation_tables says how it is read."""
    counts, values = bytearray(b"\xff") * 0x110000, []
    for point, weight in zip(points, found, strict=True):
        if (base := implicit(point).get(weight)) is not None:
            counts[point] = 0xF0 + (base - 0xFB00 >> 6)
            continue
        units = [int.from_bytes(weight[i:i + width]) for i in range(0, len(weight), width)]
        counts[point] = len(units)
        near = len(units) == 1 and point < 0x10000
        values += [unit - point & 0xFFFF if near else unit for unit in units]
    return struct.pack("<B", width) + bytes(counts) + struct.pack(f"<{len(values)}H", *values)


def record_tables(mysql: str, mariadb: str) -> None:
    for url, tables in ((mysql, TABLES), (mariadb, OF_MARIADB)):
        cursor = connect(url)
        fill(cursor, [chr(point) for point in CODE_POINTS])
        for name, (collation, width) in tables.items():
            data = table(weights(cursor, collation), points_of(collation), width)
            if tables is OF_MARIADB:
                found = sorted(contractions(cursor, collation).items())
                data += b"".join(weight[i:i + 2][::-1] for _, weight in found for i in range(0, len(weight), 2))
                records = b"".join(struct.pack("<3IB", *points, *[0] * (3 - len(points)), len(weight) // 2)
                                   for points, weight in found)
                PACKAGE.joinpath(f"contractions_{name}.gz").write_bytes(gzip.compress(records, 9, mtime=0))
            PACKAGE.joinpath(f"weights_{name}.gz").write_bytes(gzip.compress(data, 9, mtime=0))


@cache
def joined() -> list[str]:
    """Strings of any characters, and of those of living scripts."""
    choose = random.Random(8)
    return ["".join(map(chr, choose.choices(points, k=5))) for points in (CODE_POINTS, CODE_POINTS[:0x3000])
            for _ in range(20000)]


@cache
def contracted(name: str = "uca1400_ai_ci") -> list[str]:
    """Strings of the characters that weigh something else together, and of spaces."""
    choose = random.Random(9)
    records = [[point for point in points if point] for *points, _ in struct.iter_unpack(
        "<3IB", gzip.decompress(PACKAGE.joinpath(f"contractions_{name}.gz").read_bytes()))]
    points = sorted({point for record in records for point in record} | {0x20, 0x61, 0x301})
    strings = [choose.choice(records) + choose.choices(points, k=choose.randrange(3)) for _ in range(10000)]
    strings += [[head, *record] for head in sorted({record[0] for record in records}) for record in records
                if abs(head - record[0]) < 0x80]
    return ["".join(map(chr, string)) for string in strings]


def samples() -> Iterator[tuple[str, str]]:
    """Pairs of strings that a collation may take for equal: characters that look like each other, ignorable ones,
    spaces at the end, and of any block."""
    choose = random.Random(7)
    alike = ["aAáÁāªᵃ🄰", "sSßẞſˢ", "eEéèＥ", "   \u00a0\u3000", "\0\u200d\u0301\u00ad", "가각\u1100\u1161",
             "一丁㐀𠀀🀄😀", "ıIiİÍ", "æÆ", "oOøØºÖ", "дД", "กเ", "\u0fb2\u0f71\u0f80", "カｶか㌀",
             "ﷺص", "1¹①١", "-_.\t", "Ǆǅǆ", "ĿL·"]
    pieces = [*alike, *(["ae", "ss", "AE", "SS", "oe", "カ", "صلى الله"] * 2)]
    for _ in range(6000):
        left = "".join(choose.choice(choose.choice(pieces)) for _ in range(choose.randrange(5)))
        right = "".join(choose.choice(next((group for group in alike if c in group), c)) for c in left)
        yield left + " " * choose.choice([0, 0, 1, 2]), right + choose.choice(["", "", " ", "\0", "\u0301", "\u00a0"])
    for _ in range(3000):
        points = choose.choices(CODE_POINTS[:0x3000] if choose.random() < 0.7 else CODE_POINTS, k=2)
        text = chr(points[0]) + chr(points[1])
        yield text, choose.choice([text.upper(), text.lower(), text[::-1], text.swapcase() + " "])


def equal(cursor: pymysql.cursors.Cursor, pairs: list[tuple[str, str]], collation: str) -> str:
    """For each pair "1" or "0" as the server finds them equal, "." where the character set lacks a character."""
    charset = collation.partition("_")[0]
    cursor.execute(f"SELECT CONVERT(l USING {charset}) = CONVERT(r USING {charset}) COLLATE {collation}, "
                   f"CAST(CONVERT(CONVERT(l USING {charset}) USING utf8mb4) AS BINARY) = CAST(l AS BINARY) AND "
                   f"CAST(CONVERT(CONVERT(r USING {charset}) USING utf8mb4) AS BINARY) = CAST(r AS BINARY) "
                   "FROM p ORDER BY n")
    return "".join(str(same) if whole else "." for same, whole in cursor.fetchall())


def record_truth(**urls: str) -> None:
    pairs = list(samples())
    truth: dict = {"pairs": pairs, "equal": {}, "digests": {}, "joined": {}, "contracted": {}}
    for flavour, url in urls.items():
        cursor = connect(url)
        fill(cursor, [chr(point) for point in CODE_POINTS])
        cursor.execute("CREATE TABLE p (n INT PRIMARY KEY, l VARCHAR(60), r VARCHAR(60)) CHARACTER SET utf8mb4 COLLATE "
                       "utf8mb4_bin")
        cursor.executemany("INSERT INTO p VALUES (%s, %s, %s)", [(n, *pair) for n, pair in enumerate(pairs)])
        truth["version " + flavour] = cursor.connection.get_server_info()
        for name in COLLATIONS[flavour]:
            truth["equal"][f"{flavour} {name}"] = equal(cursor, pairs, name)
            if not name.endswith("_bin"):
                truth["digests"][f"{flavour} {name}"] = digest(stripped(weights(cursor, name), name))
        fill(cursor, joined())
        for name in COLLATIONS[flavour]:
            if name.startswith(("utf8mb4", "utf16", "utf32")) and not name.endswith("_bin"):
                truth["joined"][f"{flavour} {name}"] = digest(stripped(weights(cursor, name), name))
        fill(cursor, contracted())
        for name in COLLATIONS[flavour]:
            if "uca1400" in name and not name.startswith("utf8mb3"):
                truth["contracted"][f"{flavour} {name}"] = digest(stripped(weights(cursor, name), name))
    TRUTH.write_bytes(gzip.compress(json.dumps(truth).encode(), 9, mtime=0))


def digest(found: list[bytes]) -> str:
    """Of byte strings: where each ends, as int64, and then all of them."""
    ends = struct.pack(f"<{len(found)}q", *itertools.accumulate(map(len, found)))
    return hashlib.sha256(ends + b"".join(found)).hexdigest()


if __name__ == "__main__":
    if sys.argv[1] == "tables":
        record_tables(*sys.argv[2:])
    else:
        record_truth(mysql=sys.argv[2], mariadb=sys.argv[3])
