"""What characters, strings and pairs of letters weigh on a real server, for record_weights.py."""

from collections.abc import Iterable

from tests.recorded.keysearch.record_collations import CODE_POINTS, UNICODE, connect, fill

_BREAK = "\x01"
"""No collation of UCA compares it, and none looks beyond it."""

Weights = tuple[int, ...]
Levels = tuple[Weights, ...]


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
        self._same: dict[Levels, Levels] = {}  # a million characters share few

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
            found[text] = self._same.setdefault(levels, levels)
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
