"""Column types, and literals of each in every form that SQL has."""

from __future__ import annotations

import random

NUMBERS = ["0", "1", "-1", "2", "7", "12", "127", "128", "-300", "70000", "1.5", "2.5", "-0.5", "99.995", "-1234.5678",
           "2147483648", "20240229", "101112", "1e3", "0x10", "b'101'", "'5'", "'12x'", "' 3 '", "TRUE", "+4"]
WORDS = ["", "a", "A", "b ", "B", "ab", "7", " 12x", "-3.5", "2024-02-29", "é", "É", "日本", "x,y", "abcdefgh", "1e2",
         "10:11:12.5", "2001-02-03 04:05:06", "ß", "ss", "a\\b", "it''s", "Ж", "ж", "100%", "a_b",
         "{\"k\": 1}", "[1, 2]",
         "ÿ", "ñandú", "ąę", "😀", "'' --", "a\tb", "\\n", "ｱ", "i", "I", "İ", "00012"]
BYTES = ["''", "'a'", "'abcd'", "x'00ff'", "'12'", "X'C3A9'", "0x6162", "_binary'é'", "b'1100001'", "_binary x'E9'"]
DAYS = ["2024-02-29", "1999-12-31", "2001-02-03", "2030-06-07", "2020-01-31", "2023-03-26", "2023-10-29", "1970-01-02",
        "2016-12-31", "2037-12-31"]
TIMES = ["00:00:00", "23:59:59", "04:05:06", "23:59:59.6", "12:34:56.789012", "02:30:00", "01:30:00.5",
         "23:59:59.999999"]
DURATIONS = ["'10:11:12'", "'-01:02:03'", "'100:00:00'", "'10:11:12.129'", "'-01:02:03.5'", "101112", "'838:59:59'",
             "TIME'11:12:13.5'", "{t '01:02:03'}", "'1 02:03:04'", "'23:59:59.9999'"]
DOCUMENTS = ["'{\"a\": [1, 2.50, null], \"b\": {\"c\": \"x\"}}'", "'[]'", "'\"text\"'", "'7'", "'{\"a\": \"é\"}'",
             "'[1, \"1\", true, 1e2]'", "'null'"]
MEMBERS = ["a", "b", "é", "日本", "x y", "B2", "ß", "Ж", "7", "c"]
CHARSETS = ["utf8mb4", "latin1", "utf8mb3", "cp1251", "ascii", "binary", "ucs2", "utf16", "utf32", "latin2", "gbk",
            "sjis", "ujis", "koi8r", "greek", "cp850", "big5", "euckr", "latin5"]
USUAL = ["utf8mb4", "utf8mb4", "utf8mb4", "latin1", "latin1", "utf8mb3", "utf8mb3", "ascii", "binary", "cp1251"]
COLLATIONS = ["utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "latin1_bin", "latin1_general_cs",
              "latin1_german2_ci", "utf8mb4_unicode_520_ci", "utf8mb3_general_ci", "utf8mb3_bin", "cp1251_general_ci",
              "utf8mb4_swedish_ci", "latin1_swedish_ci", "ucs2_general_ci", "utf16_bin", "gbk_chinese_ci",
              "sjis_japanese_ci"]
FRACTIONS = ["", "", "(1)", "(2)", "(3)", "(6)"]

NUMERIC = ["TINYINT", "SMALLINT UNSIGNED", "MEDIUMINT", "INT", "INT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED",
           "DECIMAL(8,3)", "DECIMAL(20,0)", "DECIMAL(30,10)", "FLOAT", "DOUBLE", "INT(5) ZEROFILL", "BOOLEAN",
           "DECIMAL(5,2) UNSIGNED", "REAL", "FLOAT(7,3)", "BIT(5)", "BIT(64)", "YEAR", "SERIAL", "DEC", "DOUBLE(9,2)"]
TEXTUAL = ["CHAR(4)", "VARCHAR(12)", "VARCHAR(12)", "VARCHAR(300)", "TEXT", "TINYTEXT", "MEDIUMTEXT", "NCHAR(5)",
           "NVARCHAR(9)", "CHAR", "LONGTEXT", "NATIONAL VARCHAR(7)", "VARCHAR(60)", "TEXT(100)"]
BINARIES = ["BINARY(3)", "VARBINARY(8)", "BLOB", "TINYBLOB", "VARBINARY(40)", "BLOB(40)"]

FAMILIES = {
    "tinyint": "n", "smallint": "n", "mediumint": "n", "int": "n", "bigint": "n", "decimal": "n", "float": "n",
    "double": "n", "bit": "n", "year": "y", "char": "s", "varchar": "s", "tinytext": "s", "text": "s",
    "mediumtext": "s",
    "longtext": "s", "enum": "e", "set": "e", "binary": "b", "varbinary": "b", "tinyblob": "b", "blob": "b",
    "mediumblob": "b", "longblob": "b", "date": "d", "datetime": "d", "timestamp": "d", "time": "t", "json": "j",
    "point": "g", "geometry": "g"}
"""A letter for the values of each type, by the first word of what information_schema has."""


class Values:
    """Literals and types, at random."""

    def __init__(self, chance: random.Random, flavour: str):
        self.random, self.flavour = chance, flavour

    def pick(self, values):
        return self.random.choice(values)

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    # ---- literals

    def literal(self, family: str) -> str:
        """A literal of a family, or of another one that a server converts."""
        if self.chance(0.04):
            family = self.pick("nsdtb")
        make = {"n": self.number, "s": self.text, "e": self.member, "b": lambda: self.pick(BYTES), "d": self.datetime,
                "t": lambda: self.pick(DURATIONS), "j": lambda: self.pick(DOCUMENTS), "g": self.point,
                "y": lambda: self.pick(["1999", "2024", "70", "2155", "'69'", "0"])}
        return make.get(family, self.text)()

    def number(self) -> str:
        return self.pick(NUMBERS)

    def point(self) -> str:
        return f"ST_GeomFromText('POINT({self.pick([0, 1, -2.5])} {self.pick([3, 4.25])})')"

    def string(self, word: str) -> str:
        """A word in single quotes; `word` has doubled quotes."""
        return f"'{word}'"

    def text(self) -> str:
        word = self.pick(WORDS)
        what = self.random.random()
        if what < 0.72:
            return self.string(word)
        if what < 0.76:
            return f"N{self.string(word)}"
        if what < 0.80:
            return f"_utf8mb4{self.string(word)}"
        if what < 0.83:
            return f"_latin1{self.string(word)}"
        if what < 0.86:
            return self.pick(["X'C3A9'", "x'6162'", "0x4A4B", "b'01100001'"])
        if what < 0.89:
            return self.pick(["_utf8mb4 x'C3A9'", "_latin1 X'E9'", "_cp1251 x'C6'", "_ucs2 x'00E900EA'", "_gbk x'C4E3'",
                              "_utf8mb4 0xE697A5", "_sjis x'93FA'"])
        if what < 0.92:
            return f"_binary{self.string(word)}"
        if what < 0.95:
            return f"{self.string(word)} {self.string(self.pick(WORDS))}"
        if what < 0.97:
            return f"_utf8mb4{self.string(word)} COLLATE {self.pick(['utf8mb4_bin', 'utf8mb4_general_ci'])}"
        return self.number()

    def member(self) -> str:
        return self.pick([f"'{self.pick(MEMBERS)}'", f"'{self.pick(MEMBERS)}'", "1", "2", "'a,é'", "''",
                          f"'{self.pick(MEMBERS)},{self.pick(MEMBERS)}'"])

    def datetime(self) -> str:
        day, time = self.pick(DAYS), self.pick(TIMES)
        return self.pick([f"'{day} {time}'", f"'{day} {time}'", f"'{day}'", f"TIMESTAMP'{day} {time}'", f"DATE'{day}'",
                          f"{{d '{day}'}}", f"{{ts '{day} {time}'}}", day.replace("-", ""), f"'{day}T{time}'",
                          (day + time).replace("-", "").replace(":", ""), f"'{day.replace('-', '')}'",
                          f"'{day[2:]}'", f"'{day.replace('-', '/')} {time}'"]
                         + [f"'{day} {time}{self.pick(['+01:00', '-05:30'])}'"] * (self.flavour == "mysql"))

    # ---- types

    def kind(self, family: str | None = None) -> str:
        """A type, with its character set."""
        family = family or self.pick("nnnsssssbeeddddtj" + "g" * self.chance(0.2))
        if family in "sc":
            return self.pick(TEXTUAL) + self.charset()
        if family == "e":
            members = ", ".join(f"'{member}'" for member in self.random.sample(MEMBERS, self.pick([2, 3, 5])))
            if self.chance(0.1):
                members += ", X'C384', _latin1'ö'"
            return f"{self.pick(['ENUM', 'SET'])}({members})" + self.charset(0.4)
        if family == "d":
            return self.pick(["DATE", f"DATETIME{self.pick(FRACTIONS)}", f"TIMESTAMP{self.pick(FRACTIONS)} NULL",
                              f"DATETIME{self.pick(FRACTIONS)}", f"TIMESTAMP{self.pick(FRACTIONS)}"])
        if family == "t":
            return f"TIME{self.pick(FRACTIONS)}"
        if family == "g":
            return self.pick(["POINT", "GEOMETRY"])
        return {"n": self.pick(NUMERIC), "b": self.pick(BINARIES), "j": "JSON", "y": "YEAR"}[family]

    def charset(self, of: float = 0.5) -> str:
        """Words for a character set or a collation, or none."""
        if not self.chance(of):
            return ""
        what = self.random.random()
        if what < 0.5:
            return f" CHARACTER SET {self.pick(USUAL)}"
        if what < 0.65:
            return f" CHARACTER SET {self.pick(CHARSETS)}"
        if what < 0.9:
            return f" COLLATE {self.pick(COLLATIONS)}"
        if what < 0.96:
            name = self.pick(COLLATIONS)
            return f" CHARSET {name.partition('_')[0]} COLLATE {name}"
        return self.pick([" ASCII", " UNICODE", " BINARY", " CHARACTER SET latin1 BINARY"])
