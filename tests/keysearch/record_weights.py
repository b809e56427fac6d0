"""Record keysearch/weights.zip: what collations compare instead of characters, from WEIGHT_STRING of real servers.

    python tests/keysearch/record_weights.py MYSQL_URL MARIADB_URL

A URL is mysql://user:password@host:port. keysearch.collation_tables says what the file holds. A language's collation is
recorded as what it changes in that of its family: characters of other weights, weights that are others throughout, and
strings that weigh something else together than one by one. Those are sought among pairs of letters of one script, of a
letter and a mark, of what letters decompose to, and then by adding a character to what was found. At the end random
strings of each collation's own characters are weighed, by the tables and by the server.
"""

import io
import json
import random
import sys
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from record_collations import ARCHIVE, CODE_POINTS, UNICODE, connect, fill

from keysearch.collation import collation_of
from keysearch.collation_kernel import MOST_BYTES
from keysearch.collation_tables import IMPLICIT_FIRSTS, LONGEST_CODE

CJK = ("big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis")
_BREAK = "\x01"
"""No collation of UCA compares it, and none looks beyond it."""

Weights = tuple[int, ...]
Levels = tuple[Weights, ...]
_same: dict[Levels, Levels] = {}


class Server:
    """A connection, and what is asked there. The table `t` has every character, `pairs` those of letters."""

    def __init__(self, url: str):
        self.cursor = connect(url)
        self.cursor.execute("SET sql_log_bin = 0, sql_mode = ''")
        self.flavour = "mariadb" if "MariaDB" in self.cursor.connection.get_server_info() else "mysql"
        fill(self.cursor, [chr(point) for point in CODE_POINTS])
        self.cursor.execute("ALTER TABLE t ADD COLUMN p INT")
        self.cursor.execute("UPDATE t SET p = ORD(CONVERT(c USING utf32))")
        self.cursor.execute("ALTER TABLE t ADD KEY (p)")
        self._fill("pairs", language_pairs())

    def names(self) -> list[str]:
        """The collations, those that are of several character sets as of utf8mb4."""
        self.cursor.execute("SHOW COLLATION")
        return ["utf8mb4_" * name.startswith("uca1400") + name for name, *_ in self.cursor.fetchall()]

    def characters(self, collation: str, n_levels: int, like: str | None = None) -> dict[str, Levels]:
        """What the characters weigh that the character set has; only those that weigh something else in `like`."""
        charset = collation.partition("_")[0]
        where = "CONVERT(CONVERT(c USING {0}) USING utf8mb4) = c" if charset not in UNICODE else \
            "p < 65536" if charset in ("utf8mb3", "ucs2") else "TRUE"
        if like is not None:
            where += f" AND {self._whole('c', collation)} <> {self._whole('c', like)}"
        return self._weights("t", "c", collation, n_levels, where.format(charset))

    def strings(self, strings: Iterable[str], collation: str, n_levels: int) -> dict[str, Levels]:
        """What strings weigh."""
        self._fill("some", sorted(set(strings)))
        return self._weights("some", "s", collation, n_levels, "TRUE")

    def joined(self, collation: str) -> list[str]:
        """The pairs that weigh something else than their characters one by one."""
        self.cursor.execute(f"SELECT s FROM pairs WHERE {self._whole('s', collation)} <> {self._whole('b', collation)}")
        return [text for text, in self.cursor.fetchall()]

    def all_joined(self, collation: str) -> list[str]:
        """The same of pairs of letters that are near each other, in any script, and of these and a mark."""
        found = self.joined(collation)
        for first in (*range(0, 0x3400, 128), *range(0xA000, 0xAC00, 128), *range(0xF900, 0x12000, 128)):
            whole, broken = (self._whole(f"CONCAT({text})", collation)
                             for text in ("a.c, b.c", "a.c, _utf8mb4 x'01', b.c"))
            self.cursor.execute(
                f"SELECT CONCAT(a.c, b.c) FROM t a JOIN t b ON b.p BETWEEN {first - 128} AND {first + 255} OR "
                f"b.p BETWEEN 768 AND 879 WHERE a.p BETWEEN {first} AND {first + 127} AND {whole} <> {broken}")
            found += [text for text, in self.cursor.fetchall()]
        return found

    def classes(self, collation: str) -> dict[str, str]:
        """Characters that are equal to one before them, and the first of these. An index finds them, which compares
        as unique keys do: big5_chinese_ci's WEIGHT_STRING is the same for characters that are not."""
        charset = collation.partition("_")[0]
        self.cursor.execute("DROP TABLE IF EXISTS one")
        self.cursor.execute("CREATE TABLE one (p INT PRIMARY KEY, "
                            f"c VARCHAR(1) CHARACTER SET {charset} COLLATE {collation}, KEY (c))")
        self.cursor.execute(f"INSERT INTO one SELECT p, CONVERT(c USING {charset}) FROM t "
                            f"WHERE CONVERT(CONVERT(c USING {charset}) USING utf8mb4) = c")
        self.cursor.execute("SELECT p, (SELECT MIN(b.p) FROM one b FORCE INDEX (c) WHERE b.c = a.c) FROM one a")
        return {chr(point): chr(first) for point, first in self.cursor.fetchall() if point != first}

    def _fill(self, table: str, strings: list[str]) -> None:
        self.cursor.execute(f"DROP TABLE IF EXISTS {table}")
        self.cursor.execute(f"CREATE TABLE {table} (n INT PRIMARY KEY, s VARCHAR(20), b VARCHAR(40)) "
                            "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        for start in range(0, len(strings), 20000):
            self.cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s)", [
                (start + i, text, _BREAK.join(text)) for i, text in enumerate(strings[start:start + 20000])])

    def _whole(self, column: str, collation: str) -> str:
        return f"WEIGHT_STRING(CONVERT({column} USING {collation.partition('_')[0]}) COLLATE {collation})"

    def _weights(self, table: str, column: str, collation: str, n_levels: int, where: str) -> dict[str, Levels]:
        whole = self._whole(column, collation)
        levels = [whole] if self.flavour == "mysql" or n_levels == 1 else \
            [f"{whole[:-1]} LEVEL {level})" for level in ((1, 3) if "_ai_cs" in collation else range(1, n_levels + 1))]
        self.cursor.execute(f"SELECT {column}, {', '.join(levels)} FROM {table} WHERE {where}")
        width = 2 if collation.startswith(UNICODE) or "unicode" in collation else 1
        found = {}
        for text, *strings in self.cursor.fetchall():
            levels = [tuple(int.from_bytes(one[i:i + width]) for i in range(0, len(one), width)) for one in strings]
            if len(levels) < n_levels:
                levels = by_levels(levels[0], n_levels, width)
            levels = tuple(levels)
            found[text] = _same.setdefault(levels, levels)
        return found


def by_levels(weights: Weights, n_levels: int, width: int) -> list[Weights]:
    """One weight string of all levels: zeros are between them; cp1250_czech_cs has greater ones in the first level."""
    if width == 1:
        return [tuple(w for w in weights if w >= 0x80), tuple(w for w in weights if w < 0x80)]
    ends = [i for i, weight in enumerate(weights) if weight == 0]
    starts = [0, *(end + 1 for end in ends)]
    levels = [weights[start:end] for start, end in zip(starts, [*ends, len(weights)], strict=True)]
    return levels + [()] * (n_levels - len(levels))


def language_pairs() -> list[str]:
    """Pairs of letters of one script, and of a letter and a mark."""
    marks = [*range(0x300, 0x370)]
    basic = [*range(0x41, 0x5B), *range(0x61, 0x7B), 0xB7, 0x2BC, 0x2019, 0x27, 0x2D, *range(0xC0, 0x180)]
    latin = [*basic, *range(0x180, 0x250), *range(0x1E00, 0x1F00)]
    scripts = [(latin, basic + marks), (range(0x370, 0x400), [*range(0x370, 0x400), *marks]),
               (range(0x400, 0x530), [*range(0x400, 0x530), *marks])]
    blocks = [range(0x5D0, 0x600), range(0x600, 0x700), range(0x900, 0x980), range(0x980, 0xA00), range(0xD80, 0xE00),
              range(0xE00, 0xF00), range(0x1000, 0x10A0), range(0x3040, 0x3100), range(0x31F0, 0x3200),
              range(0xFF65, 0xFFA0)]
    scripts += [(block, block) for block in blocks]
    scripts += [(range(0x3040, 0x3100), range(0xFF65, 0xFFA0)), (range(0xFF65, 0xFFA0), range(0x3040, 0x3100)),
                (range(0x31F0, 0x3200), range(0x3040, 0x3100)), (range(0x3040, 0x3100), range(0x31F0, 0x3200)),
                (range(0x32D0, 0x3358), range(0x3040, 0x3100)),
                (range(0xFF65, 0xFFA0), range(0x31F0, 0x3200)), (range(0x31F0, 0x3200), range(0xFF65, 0xFFA0))]
    return sorted({chr(a) + chr(b) for heads, tails in scripts for a in heads for b in tails})


class Collation:
    """What a collation's characters and strings weigh: what it says itself, and else its parent, whose weights may be
    others here throughout (remaps)."""

    def __init__(self, name: str, n_levels: int, parent: "Collation | None" = None):
        self.name, self.n_levels, self.parent = name, n_levels, parent
        self.own: dict[str, Levels] = {}
        self.remaps: list[dict[int, int]] = [{} for _ in range(n_levels)]
        self.joined: set[str] = set(parent.joined) if parent else set()

    def of(self, piece: str) -> Levels:
        """What one character weighs, or a string that has weights of its own."""
        if (found := self.own.get(piece)) is not None:
            return found
        if self.parent is None:
            raise KeyError(piece)
        return tuple(remapped(weights, remap) for weights, remap in
                     zip(self.parent.of(piece)[:self.n_levels], self.remaps, strict=True))

    def weights(self, text: str) -> Levels:
        """What a string weighs: the longest strings that have weights of their own, from its beginning on."""
        parts, at = [], 0
        while at < len(text):
            most = min(self.longest, len(text) - at)
            length = next((n for n in range(most, 1, -1) if text[at:at + n] in self.joined), 1)
            parts.append(self.of(text[at:at + length]))
            at += length
        return tuple(tuple(weight for part in parts for weight in part[level]) for level in range(self.n_levels))

    def learn(self, found: dict[str, Levels]) -> list[str]:
        """Note what strings weigh where that is not known yet. Returns these."""
        new = []
        for text in sorted(found, key=len):
            self.longest = max(map(len, self.joined), default=1)
            if self.weights(text) != found[text]:
                self.own[text] = found[text]
                new.append(text)
                if len(text) > 1:
                    self.joined.add(text)
        self.longest = max(map(len, self.joined), default=1)
        return new

    def learn_remaps(self, found: dict[str, Levels], totals: list[Counter]) -> None:
        """Take a parent's weight for another one where most characters that have it have that one here."""
        for level in range(self.n_levels):
            votes: defaultdict[int, Counter] = defaultdict(Counter)
            for text, levels in found.items():
                before, after = self.parent.of(text)[level], levels[level]
                if len(before) == len(after):
                    for i, (a, b) in enumerate(zip(before, after, strict=True)):
                        if not is_tail(before, i):
                            votes[a][b] += 1
            for weight, counted in votes.items():
                changed = sum(counted.values())
                other, most = counted.most_common(1)[0]
                if other != weight and most > totals[level][weight] - changed and most > 2:
                    self.remaps[level][weight] = other

    def totals(self) -> list[Counter]:
        """How often each weight is in the weights of single characters, by level."""
        counted = [Counter() for _ in range(self.n_levels)]
        for text, levels in self.own.items():
            if len(text) == 1:
                for level, weights in enumerate(levels):
                    counted[level].update(w for i, w in enumerate(weights) if not is_tail(weights, i))
        return counted


def is_tail(weights: Weights, i: int) -> bool:
    """Whether a weight is the second one of those that UCA makes from a character's number."""
    return i > 0 and 0xFB00 <= weights[i - 1] <= 0xFBFF and not (i > 1 and 0xFB00 <= weights[i - 2] <= 0xFBFF)


def remapped(weights: Weights, remap: dict[int, int]) -> Weights:
    if not remap:
        return weights
    return tuple(w if is_tail(weights, i) else remap.get(w, w) for i, w in enumerate(weights))


def record_base(server: Server, name: str, collation: str, n_levels: int, seeks: bool) -> Collation:
    """A collation that has no parent."""
    base = Collation(name, n_levels)
    base.own = server.characters(collation, n_levels)
    base.longest = 1
    if seeks:
        found = server.all_joined(collation)
        grow(server, base, collation, base.learn(server.strings(found, collation, n_levels)), near=128)
    return base


def record_child(server: Server, name: str, collation: str, like: str, n_levels: int, parent: Collation,
                 totals: list[Counter]) -> Collation:
    """A language's collation, as what it changes in its parent."""
    child = Collation(name, n_levels, parent)
    found = server.characters(collation, n_levels, like)
    child.learn_remaps(found, totals)
    moved = any(child.remaps)
    child.longest = 1
    child.own = {text: levels for text, levels in found.items() if child.of(text) != levels}
    if moved:  # what did not change on the server may have here
        whole = found.keys()
        kept = {text: levels for text, levels in parent.own.items()
                if len(text) == 1 and text not in whole and child.of(text) != levels[:n_levels]}
        child.own |= {text: levels[:n_levels] for text, levels in kept.items()}
    child.longest = max(map(len, child.joined), default=1)
    strings = set(server.joined(collation)) | parent.joined
    for text in [text for text in child.own if len(text) == 1][:3000]:
        strings |= set(decompositions(text))
    found = server.strings(strings, collation, n_levels)
    grow(server, child, collation, child.learn(found))
    return child


def decompositions(text: str) -> list[str]:
    """A character as others and marks, in all ways."""
    found, last = [], text
    while (parts := unicodedata.decomposition(last[0])) and not parts.startswith("<"):
        last = "".join(chr(int(part, 16)) for part in parts.split()) + last[1:]
        found.append(last)
    return [one for one in found if len(one) > 1]


def grow(server: Server, collation: Collation, name: str, found: list[str], near: int = 0x110000) -> None:
    """Look for longer strings: one that was found, and a character before or behind it."""
    found = [text for text in found if len(text) > 1]
    singles = {text for text in collation.own if len(text) == 1}
    singles = singles if len(singles) < 300 else set()
    while found:
        some = sorted({c for text in collation.joined & set(collation.own) for c in text} | set("".join(found)) |
                      singles)
        longer = {text for one in found for c in some
                  if abs(ord(c) - ord(one[0])) < near or ord(c) in range(0x300, 0x370)
                  for text in (one + c, c + one)}
        if len(longer) > 600_000:
            raise SystemExit(f"{name}: {len(longer)} candidates")
        found = [text for text in collation.learn(server.strings(longer, name, collation.n_levels)) if len(text) > 1]
        print(name, "longer:", len(longer), len(found), found[:5], flush=True)


def check(server: Server, collation: Collation, name: str, n_levels: int | None = None, count: int = 4000,
          levels: Sequence[int] | None = None) -> int:
    """How many random strings weigh something else on the server."""
    choose = random.Random(name)
    own = [text for text in collation.own if len(text) > 1] or ["ch"]
    changed = [text for text in collation.own if len(text) == 1]
    changed = choose.sample(changed, min(len(changed), 300)) or ["a"]
    parents = sorted(collation.joined)
    few = ["a", "C", "s", "z", " ", "\u0301", "\u0308", "\u030c", "\u4e00", "\u20000", "\u00e9", "-", "\u044f"]
    letters = sorted(set("".join(own)))
    strings = set()
    for _ in range(count):
        kinds = choose.choices([own, changed, few, letters, parents or own], [3, 2, 1, 3, 1], k=choose.randrange(1, 5))
        strings.add("".join(choose.choice(kind) for kind in kinds)[:12])
    found = server.strings(strings, name, n_levels or collation.n_levels)
    levels = levels or range(collation.n_levels)
    wrong = [text for text, said in found.items()
             if said != tuple(collation.weights(text)[level] for level in levels)]
    for text in wrong[:4]:
        print("   WRONG", name, ascii(text), found[text], collation.weights(text))
    return len(wrong)


# ---- the file


class Archive:
    """The tables of collations as members of a ZIP file, equal ones once."""

    def __init__(self):
        self.members: dict[str, bytes] = {}
        self.index: dict[str, list[str]] = {}
        self._levels: dict[str, list[str]] = {}

    def add(self, collation: Collation) -> list[str]:
        """A collation's levels. Returns the members that have them."""
        names = []
        for level in range(collation.n_levels):
            parent = self._levels[collation.parent.name][level] if collation.parent else None
            data = table(collation, level, parent)
            if data is None:
                names.append(parent)
                continue
            same = next((name for name, other in self.members.items() if other == data), None)
            if same is None:
                same = f"{collation.name}.{level + 1}" if collation.n_levels > 1 else collation.name
                self.members[same] = data
            names.append(same)
        self._levels[collation.name] = names
        return names

    def write(self) -> None:
        with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_LZMA) as archive:
            for name, data in {"index": json.dumps(self.index, indent=0).encode(), **self.members}.items():
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_LZMA)


def table(collation: Collation, level: int, parent: str | None) -> bytes | None:
    """One level of a collation; None where it is its parent's."""
    remap = collation.remaps[level]
    strings = sorted(text for text in collation.own if len(text) > 1)
    singles = {ord(text): levels[level] for text, levels in collation.own.items() if len(text) == 1}
    if collation.parent is None:
        points = range(0x110000)
    else:
        points = sorted(point for point, weights in singles.items()
                        if remapped(collation.parent.of(chr(point))[level], remap) != weights)
        if not points and not remap and not strings:
            return None
    near = level == 0  # in others most characters have the same weight
    counts, weights = bytearray(), []
    for point in points:
        own = singles.get(point)
        base = implicit_base(point, own)
        if own is None or base is not None:
            counts.append(0xFF if own is None else 0xF0 + IMPLICIT_FIRSTS.index(base))
            continue
        counts.append(count_of(chr(point), own))
        weights += [own[0] - point & 0xFFFF] if near and len(own) == 1 and point < 0x10000 else own
    joined = [collation.own[text][level] for text in strings]
    weights += [weight for own in joined for weight in own]
    olds = sorted(remap)
    arrays = {"points": np.diff(np.array(points if parent else [], np.int64), prepend=0).astype("<u4"),
              "counts": np.frombuffer(bytes(counts), np.uint8),
              "weights": np.array(weights, "<u2"),
              "lengths": np.array([len(text) for text in strings], np.uint8),
              "strings": np.array([ord(c) for text in strings for c in text], "<u4"),
              "joined": np.array([count_of(*both) for both in zip(strings, joined, strict=True)], np.uint8),
              "olds": np.diff(np.array(olds, np.int64), prepend=0).astype("<u2"),
              "news": np.array([remap[old] - old & 0xFFFF for old in olds], "<u2")}
    head = {"parent": parent, "near": near,
            "arrays": {name: [array.dtype.str, len(array)] for name, array in arrays.items()}}
    out = io.BytesIO()
    out.write(json.dumps(head).encode() + b"\n")
    for array in arrays.values():
        out.write(array.tobytes())
    return out.getvalue()


def implicit_base(point: int, weights: Weights | None) -> int | None:
    if weights is None or len(weights) != 2 or weights[1] != point & 0x7FFF | 0x8000:
        return None
    base = weights[0] - (point >> 15)
    return base if base in IMPLICIT_FIRSTS else None


def count_of(text: str, weights: Weights) -> int:
    if len(weights) * LONGEST_CODE > len(text.encode()) * MOST_BYTES:
        raise SystemExit(f"{text!r} has {len(weights)} weights")
    return len(weights)


def points_base() -> Collation:
    """Each character has a weight of its own: what collations begin with of which only equal characters are known."""
    base = Collation("points", 1)
    for point in CODE_POINTS:
        units = (point,) if point < 0x10000 else (IMPLICIT_FIRSTS[-1] + (point >> 15), point & 0x7FFF | 0x8000)
        base.own[chr(point)] = (units,)
    base.longest = 1
    return base


def record_families(archive: Archive, *families: tuple[Server, str]) -> None:
    """UCA 9.0.0's and 14.0.0's collations, and their languages'."""
    for server, family in families:
        names = server.names()
        whole = f"utf8mb4_{family}_as_cs"
        base = record_base(server, family, whole, 3, seeks=True)
        print(family, "contractions", len(base.joined), "wrong", check(server, base, whole), flush=True)
        members = archive.add(base)
        totals = base.totals()
        of = {family: (base, members)}
        for name in names:
            if family not in name or not name.endswith("_as_cs") or name == whole or "nopad" in name:
                continue
            language = name.removesuffix("_as_cs").removeprefix("utf8mb4_")
            child = record_child(server, language, name, whole, 3, base, totals)
            of[language] = (child, archive.add(child))
            print(name, [len(r) for r in child.remaps], len(child.own), "wrong", check(server, child, name), flush=True)
        for language, (child, members) in of.items():
            for suffix, levels in {"ai_ci": (0,), "as_ci": (0, 1), "ai_cs": (0, 2), "as_cs": (0, 1, 2)}.items():
                name = f"utf8mb4_{language}_{suffix}"
                if name in names:
                    archive.index[f"{language}_{suffix}"] = [members[level] for level in levels]
                    if suffix != "as_cs" and (wrong := check(server, child, name, len(levels), 1500, levels)):
                        print(name, "WRONG", wrong)
        if family == "0900":
            ja, members = of["ja_0900"]
            kana = Collation("ja_0900.4", 1)
            kana.own = {text: levels[3:] for text, levels in
                        server.characters("utf8mb4_ja_0900_as_cs_ks", 4).items()}
            kana.longest = 1
            joined = [text for text in ja.own if len(text) > 1]
            found = server.strings(joined, "utf8mb4_ja_0900_as_cs_ks", 4)
            for text, levels in found.items():
                kana.own[text] = levels[3:]
                kana.joined.add(text)
                assert levels[:3] == ja.own[text], text
            kana.longest = max(map(len, kana.joined), default=1)
            archive.index["ja_0900_as_cs_ks"] = members + archive.add(kana)
        _same.clear()


def record_older(archive: Archive, mysql: Server, mariadb: Server) -> None:
    """The collations of UCA 4.0.0 and 5.2.0, of one level but for Thai."""
    bases = {}
    for kind in ("unicode_ci", "unicode_520_ci"):
        bases[kind] = record_base(mysql, kind, f"utf8mb4_{kind}", 1, seeks=True)
        print(kind, "contractions", len(bases[kind].joined), flush=True)
        archive.index[kind] = archive.add(bases[kind])
        for server in (mysql, mariadb):
            print(kind, "wrong", check(server, bases[kind], f"utf8mb4_{kind}"), flush=True)
    totals = {kind: base.totals() for kind, base in bases.items()}
    seen = {}
    for server in (mysql, mariadb):
        for name in server.names():
            kind = collation_of(name, server.flavour).removeprefix("utf8mb4_")
            if not name.startswith("utf8mb4_") or "nopad" in name or "0900" in name or "uca1400" in name \
                    or kind in ("bin", "general_ci", "thai_520_w2") or kind in bases:
                continue
            if kind in seen:
                print(name, "on the other server: wrong", check(server, seen[kind], name), flush=True)
                continue
            parent = min(bases, key=lambda base: differences(server, name, f"utf8mb4_{base}"))
            child = record_child(server, kind, name, f"utf8mb4_{parent}", 1, bases[parent], totals[parent])
            seen[kind] = child
            archive.index[kind] = archive.add(child)
            print(name, parent, [len(r) for r in child.remaps], len(child.own), "wrong", check(server, child, name),
                  flush=True)
    thai = record_base(mariadb, "thai_520_w2", "utf8mb4_thai_520_w2", 2, seeks=True)
    archive.index["thai_520_w2"] = archive.add(thai)
    print("thai contractions", len(thai.joined), "wrong", check(mariadb, thai, "utf8mb4_thai_520_w2"), flush=True)


def differences(server: Server, name: str, like: str) -> int:
    server.cursor.execute(f"SELECT COUNT(*) FROM t WHERE WEIGHT_STRING(c COLLATE {name}) <> "
                          f"WEIGHT_STRING(c COLLATE {like})")
    return server.cursor.fetchone()[0]


def record_simple(archive: Archive, mysql: Server, mariadb: Server) -> None:
    """One weight a character, or a few: general_ci and its older forms, and those of 8-bit character sets."""
    general = record_base(mysql, "general_ci", "utf8mb4_general_ci", 1, seeks=False)
    archive.index["general_ci"] = archive.add(general)
    for kind in ("general_mysql500_ci", "tolower_ci"):
        child = Collation(kind, 1, general)
        child.longest = 1
        child.own = {text: levels for text, levels in mysql.characters(f"utf8mb3_{kind}", 1).items()
                     if general.of(text) != levels}
        archive.index[kind] = archive.add(child)
    points = points_base()
    archive.add(points)
    for name in mysql.names():
        charset = name.partition("_")[0]
        if name.endswith("_bin") or charset in (*UNICODE, "binary", "tis620") or name == "gb18030_unicode_520_ci":
            continue
        if name == "latin2_czech_cs":
            record_classes(archive, name, points, {"\t": " "})
        elif charset in CJK:
            found = {}
            for server in (mysql, mariadb)[:1 if charset == "gb18030" else 2]:
                own = collation_of(name, server.flavour)
                if found.setdefault(own, classes := server.classes(name)) != classes:
                    raise SystemExit(f"{name} is not the same on both servers")
            for own, classes in found.items():
                record_classes(archive, own, points, classes)
        else:
            n_levels = 2 if name == "cp1250_czech_cs" else 1
            child = Collation(name, n_levels)
            child.longest = 1
            child.own = mysql.characters(name, n_levels)
            letters = [chr(c) for c in (*range(0x41, 0x5B), *range(0x61, 0x7B))]
            if n_levels == 2:
                child.learn(mysql.strings([a + b for a in letters for b in letters], name, 2))
            print(name, len(child.own), "wrong", check_8bit(mysql, child, name), flush=True)
            archive.index[name] = archive.add(child)
    archive.index["gb18030_unicode_520_ci"] = ["unicode_520_ci"]


def record_classes(archive: Archive, name: str, points: Collation, classes: dict[str, str]) -> None:
    """A collation of which only equal characters are known."""
    child = Collation(name, 1, points)
    child.longest = 1
    child.own = {text: points.own[first] for text, first in classes.items()}
    archive.index[name] = archive.add(child)
    print(name, archive.index[name], len(child.own), flush=True)


def check_8bit(server: Server, collation: Collation, name: str) -> int:
    choose = random.Random(name)
    letters = [text for text in collation.own if len(text) == 1]
    strings = ["".join(choose.choices(letters + ["c", "h", "C", "H"] * 20, k=5)) for _ in range(1000)]
    found = server.strings(strings, name, collation.n_levels)
    return sum(collation.weights(text) != said for text, said in found.items())


def main() -> None:
    mysql, mariadb = Server(sys.argv[1]), Server(sys.argv[2])
    archive = Archive()
    record_simple(archive, mysql, mariadb)
    archive.write()
    record_older(archive, mysql, mariadb)
    archive.write()
    record_families(archive, (mysql, "0900"), (mariadb, "uca1400"))
    archive.write()
    print(ARCHIVE.stat().st_size)


if __name__ == "__main__":
    main()
