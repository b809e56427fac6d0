"""Record keysearch/weights.zip: what collations compare instead of characters, from WEIGHT_STRING of real servers.

    python -m tests.recorded.keysearch.record_weights MYSQL_URL MARIADB_URL

A URL is mysql://user:password@host:port. keysearch.collation_tables says what the file holds, and learnt_collation how
collations are sought out. At the end random strings of each collation's own characters are weighed, by the tables and
by the server.
"""

import random
import sys

from keysearch.collation import collation_of
from keysearch.collation_tables import IMPLICIT_FIRSTS
from tests.recorded.keysearch.learnt_collation import Collation, check, record_base, record_child
from tests.recorded.keysearch.record_collations import ARCHIVE, CODE_POINTS, UNICODE
from tests.recorded.keysearch.weights_archive import Archive
from tests.recorded.keysearch.weights_of_server import Server

CJK = ("big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis")


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


def record_older(archive: Archive, mysql: Server, mariadb: Server) -> None:
    """The collations of UCA 4.0.0 and 5.2.0, of one level except for Thai."""
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
