"""Record what real servers take for equal, which tests compare keysearch.collation with.

    python -m tests.recorded.keysearch.record_collations MYSQL_URL MARIADB_URL

A URL is mysql://user:password@host:port. Of every collation that the servers list, pairs of strings that may be equal
are compared by `=` and by a unique key; of the usual ones, the weights of all characters are compared, too.
"""

import gzip
import hashlib
import io
import itertools
import json
import pathlib
import random
import re
import struct
import sys
import unicodedata
import zipfile
from collections.abc import Iterator
from functools import cache
from urllib.parse import urlsplit

import numpy as np
import pymysql

from keysearch.collation import collation_of
from keysearch.collation_tables import POINT_BITS, collation_index, weight_table
from tests.support.folders import ROOT

CODE_POINTS = [*range(0xD800), *range(0xE000, 0x110000)]
BMP = [point for point in CODE_POINTS if point < 0x10000]
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
ARCHIVE = ROOT / "keysearch" / "weights.zip"
UNICODE = ("utf8mb4", "utf8mb3", "ucs2", "utf16", "utf16le", "utf32")
MOST_PAIRS, UNIQUE_PAIRS = 40, 2
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


@cache
def joined() -> list[str]:
    """Strings of any characters, and of those of living scripts."""
    choose = random.Random(8)
    return ["".join(map(chr, choose.choices(points, k=5))) for points in (CODE_POINTS, CODE_POINTS[:0x3000])
            for _ in range(20000)]


@cache
def contracted(name: str = "uca1400.1") -> list[str]:
    """Strings of the characters that weigh something else together, and of spaces."""
    choose = random.Random(9)
    records = [string for string in strings_of(name) if len(string) > 1]
    letters = sorted({c for record in records for c in record} | set(" a\u0301"))
    strings = [choose.choice(records) + "".join(choose.choices(letters, k=choose.randrange(3))) for _ in range(10000)]
    return strings + [head + record for head in sorted({record[0] for record in records}) for record in records
                      if abs(ord(head) - ord(record[0])) < 0x80]


def strings_of(name: str) -> list[str]:
    """The strings that have weights of their own in a table."""
    nodes, found = {0: ""}, []
    for step, entry, node in weight_table(name).steps.tolist():
        text = nodes[step >> POINT_BITS] + chr(step & (1 << POINT_BITS) - 1)
        nodes[node] = text if node else ""
        found += [text] * (entry != 0)
    return found


def samples() -> Iterator[tuple[str, str]]:
    """Pairs of strings that a collation may take for equal: characters that look like each other, ignorable ones,
    spaces at the end, and of any block."""
    choose = random.Random(7)
    alike = ["aAáÁāªᵃ🄰", "sSßẞſˢ", "eEéèＥ", "   \u00a0\u3000", "\0\u200d\u0301\u00ad", "가각\u1100\u1161",
             "一丁㐀𠀀🀄😀", "ıIiİÍ", "æÆ", "oOøØºÖ", "дД", "กเ", "\u0fb2\u0f71\u0f80", "カｶか㌀",
             "ﷺص", "1¹①١", "-_.\t", "Ǆǅǆ", "ĿL·"]
    strings = [*alike, *(["ae", "ss", "AE", "SS", "oe", "カ", "صلى الله"] * 2)]
    for _ in range(6000):
        left = "".join(choose.choice(choose.choice(strings)) for _ in range(choose.randrange(5)))
        right = "".join(choose.choice(next((group for group in alike if c in group), c)) for c in left)
        yield left + " " * choose.choice([0, 0, 1, 2]), right + choose.choice(["", "", " ", "\0", "\u0301", "\u00a0"])
    for _ in range(3000):
        points = choose.choices(CODE_POINTS[:0x3000] if choose.random() < 0.7 else CODE_POINTS, k=2)
        text = chr(points[0]) + chr(points[1])
        yield text, choose.choice([text.upper(), text.lower(), text[::-1], text.swapcase() + " "])


def kind_of(collation: str, flavour: str) -> str:
    """What collations are called together that compare alike in all their character sets."""
    charset, _, kind = collation_of(collation, flavour).partition("_")
    kind = kind.replace("nopad_", "")
    return kind if charset in UNICODE else charset + "_" * bool(kind) + kind


def tables_of(kind: str) -> list[str]:
    return collation_index().get(kind, [])


@cache
def special(kind: str) -> tuple[list[str], list[str]]:
    """Characters that weigh something else than in the collation's parent, or have several weights; and strings."""
    names = tables_of(kind)
    if not names:
        return [], []
    head, points, counts = listed(names[0])
    if head["parent"] is None:
        points = np.flatnonzero((counts > 1) & (counts < 0xF0) | (counts == 0))
        if len(points) == 0:
            points = np.flatnonzero(counts < 0xF0)
    return [chr(point) for point in points], sorted(strings_of(names[0]))


def listed(name: str) -> tuple[dict, np.ndarray, np.ndarray]:
    """What a table's file says itself."""
    with zipfile.ZipFile(io.BytesIO(ARCHIVE.read_bytes())) as archive:
        data = io.BytesIO(archive.read(name))
    head = json.loads(data.readline())
    points, counts = (np.frombuffer(data.read(np.dtype(kind).itemsize * n), kind)
                      for kind, n in list(head["arrays"].values())[:2])
    return head, np.cumsum(points, dtype=np.int64), counts


_ALIKE = [*"aAáÁäÄåæÆcCčČćhHdDđĐðsSßšŠzZžŽoOöÖőøØuUüÜűlLłĽnNñÑyYýtTþiIıİíjJ .-_'", "ch", "Ch", "CH", "ss", "ae", "aa",
          "дД", "и\u0306й", "αΑά", "กิ", "เก", "かガｶ", "カー", "カア", "一", "丁", "۱", "क्", "\u0301", "\u0308", "\0",
          "\t", "\u200d", "Ａ", "ａ", "①", "가", "\u1100\u1161", "밃", "밶", "ﬁ", "Ǆ", "ǆ", "dž", "Lj", "ǉ", "l·", "😀",
          "𝐀"]
_LATIN = [chr(c) for c in range(0x20, 0x250)]


def own_pairs(kind: str) -> list[tuple[str, str]]:
    """Pairs of strings that collations of a kind may take for equal, of characters that are theirs."""
    choose = random.Random(kind)
    points, strings = special(kind)
    own = choose.sample(points, min(len(points), 300)) or _ALIKE
    strings = strings or _ALIKE
    found = set()
    for _ in range(3000):
        some = choose.choices([own, strings, _ALIKE, _LATIN], [3, 3, 3, 1], k=choose.randrange(1, 4))
        left = "".join(choose.choice(strings) for strings in some)
        right = _changed(left, choose, own, strings)
        if left != right and max(len(left), len(right)) < 16:
            found.add((left, right))
    return sorted(found)


def _changed(text: str, choose: random.Random, own: list[str], strings: list[str]) -> str:
    """A string that may be equal to another one."""
    first = choose.randrange(len(text))
    normalized = [unicodedata.normalize(form, text) for form in ("NFD", "NFC", "NFKD")]
    return choose.choice([
        text.upper(), text.lower(), text.swapcase(), text[::-1], text + choose.choice(" \0\u0301\t"), *normalized,
        normalized[0][0], text.replace(text[first], choose.choice(own)),
        text.replace(text[first], choose.choice(_ALIKE)), text[:1] + choose.choice(strings) + text[1:],
        text[:1] + choose.choice(own) + text[1:], text[1:] + choose.choice(strings)])


class Judge:
    """A server that compares strings."""

    def __init__(self, url: str):
        self.cursor = connect(url)
        self.cursor.execute("SET sql_mode = ''")
        self.version = self.cursor.connection.get_server_info()
        self.flavour = "mariadb" if "MariaDB" in self.version else "mysql"

    def collations(self) -> list[str]:
        """All names, those of MariaDB that are of several character sets once for each."""
        if self.flavour == "mysql":
            self.cursor.execute("SELECT collation_name FROM information_schema.collations")
        else:
            self.cursor.execute("SELECT full_collation_name FROM "
                                "information_schema.collation_character_set_applicability")
        return sorted({name for name, in self.cursor.fetchall()})

    def load(self, pairs: list[tuple[str, str]]) -> None:
        """Make these the pairs that are compared."""
        self.cursor.execute("DROP TABLE IF EXISTS p")
        self.cursor.execute("CREATE TABLE p (n INT PRIMARY KEY, l VARCHAR(60), r VARCHAR(60)) CHARACTER SET utf8mb4 "
                            "COLLATE utf8mb4_bin")
        self.cursor.executemany("INSERT INTO p VALUES (%s, %s, %s)", [(n, *pair) for n, pair in enumerate(pairs)])

    def compared(self, collation: str) -> str:
        """For each pair "=", "<" or ">" as the server finds them, "." where the character set lacks a character."""
        charset = collation.partition("_")[0]
        if charset == "binary":
            self.cursor.execute("SELECT CAST(l AS BINARY) = CAST(r AS BINARY), CAST(l AS BINARY) < CAST(r AS BINARY), "
                                "1 FROM p ORDER BY n")
        else:
            self.cursor.execute(
                f"SELECT CONVERT(l USING {charset}) = CONVERT(r USING {charset}) COLLATE {collation}, "
                f"CONVERT(l USING {charset}) < CONVERT(r USING {charset}) COLLATE {collation}, "
                f"CAST(CONVERT(CONVERT(l USING {charset}) USING utf8mb4) AS BINARY) = CAST(l AS BINARY) AND "
                f"CAST(CONVERT(CONVERT(r USING {charset}) USING utf8mb4) AS BINARY) = CAST(r AS BINARY) "
                "FROM p ORDER BY n")
        return "".join("." if not whole else "=" if same else "<" if less else ">"
                       for same, less, whole in self.cursor.fetchall())

    def refused(self, collation: str, pairs: list[tuple[str, str]]) -> list[bool]:
        """For each pair whether a unique key takes the second for a duplicate of the first."""
        charset = collation.partition("_")[0]
        kind = "VARBINARY(60)" if charset == "binary" else f"VARCHAR(60) CHARACTER SET {charset} COLLATE {collation}"
        self.cursor.execute("DROP TABLE IF EXISTS u")
        self.cursor.execute(f"CREATE TABLE u (n INT, k {kind}, UNIQUE (n, k))")
        found = []
        for n, (left, right) in enumerate(pairs):
            self.cursor.execute("INSERT INTO u VALUES (%s, %s)", (n, left))
            self.cursor.execute("INSERT IGNORE INTO u VALUES (%s, %s)", (n, right))
            found.append(self.cursor.rowcount == 0)
        return found


def record_truth(mysql: str, mariadb: str) -> None:
    pairs = list(samples())
    truth: dict = {"pairs": pairs, "equal": {}, "digests": {}, "joined": {}, "contracted": {}, "own pairs": {},
                   "own equal": {}, "kinds": {}}
    judges = [Judge(mysql), Judge(mariadb)]
    for judge in judges:
        flavour, cursor = judge.flavour, judge.cursor
        truth["version " + flavour] = judge.version
        cursor.execute("SET sql_log_bin = 0")
        fill(cursor, [chr(point) for point in CODE_POINTS])
        judge.load(pairs)
        for name in COLLATIONS[flavour]:
            truth["equal"][f"{flavour} {name}"] = judge.compared(name)
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
    record_own(truth, judges)
    TRUTH.write_bytes(gzip.compress(json.dumps(truth).encode(), 9, mtime=0))


def record_own(truth: dict, judges: list[Judge]) -> None:
    """Of each kind of collations, pairs of which as many are equal as not, and what each collation says."""
    kinds: dict[str, list[tuple[Judge, str]]] = {}
    for judge in judges:
        for name in judge.collations():
            kinds.setdefault(kind_of(name, judge.flavour), []).append((judge, name))
    for kind, collations in kinds.items():
        judge, name = collations[0]
        charset = name.partition("_")[0]
        candidates = own_pairs(kind)
        judge.load(candidates)
        said = judge.compared(name)
        by_value = {value: [pair for pair, one in zip(candidates, said, strict=True) if one in value]
                    for value in ("=", "<>")}
        chosen = [pair for some in by_value.values()
                  for pair in random.Random(kind).sample(some, min(len(some), MOST_PAIRS))]
        truth["own pairs"][kind] = chosen
        for judge in judges:
            judge.load(chosen)
        for judge, name in collations:
            truth["own equal"][f"{judge.flavour} {name}"] = said = judge.compared(name)
            truth["kinds"][f"{judge.flavour} {name}"] = kind
            few = [n for value in ("=", "<>") for n in [i for i, one in enumerate(said) if one in value][:UNIQUE_PAIRS]]
            refused = judge.refused(name, [chosen[n] for n in few])
            if refused != [said[n] == "=" for n in few]:
                raise SystemExit(f"a unique key says otherwise: {judge.flavour} {name} {[chosen[n] for n in few]}")
        print(kind, charset, len(chosen), said.count("="), flush=True)


def digest(found: list[bytes]) -> str:
    """Of byte strings: where each ends, as int64, and then all of them."""
    ends = struct.pack(f"<{len(found)}q", *itertools.accumulate(map(len, found)))
    return hashlib.sha256(ends + b"".join(found)).hexdigest()


if __name__ == "__main__":
    record_truth(*sys.argv[1:])
