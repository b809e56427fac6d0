"""Settings of a session, as statements that set them."""

from __future__ import annotations

from typing import Protocol

from tests.live.values import COLLATIONS, Values

ENCODINGS = {"utf8mb4": "utf-8", "utf8mb3": "utf-8", "utf8": "utf-8", "binary": "utf-8", "latin1": "cp1252",
             "cp1251": "cp1251", "gbk": "gbk", "sjis": "shift_jis", "ujis": "euc_jp", "big5": "big5", "koi8r": "koi8_r",
             "latin2": "iso8859_2", "greek": "iso8859_7", "ascii": "ascii", "cp850": "cp850", "latin5": "iso8859_9"}
"""Python's codecs for the character sets that a client may speak."""
MODES = ["ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "PAD_CHAR_TO_FULL_LENGTH", "STRICT_ALL_TABLES",
         "STRICT_TRANS_TABLES", "NO_ZERO_DATE", "NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES", "REAL_AS_FLOAT",
         "IGNORE_SPACE", "HIGH_NOT_PRECEDENCE", "NO_UNSIGNED_SUBTRACTION", "NO_AUTO_VALUE_ON_ZERO",
         "ERROR_FOR_DIVISION_BY_ZERO", "ANSI", "TRADITIONAL", "ONLY_FULL_GROUP_BY"]
STRICT = "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO"
OFFSETS = ["'+00:00'", "'-05:30'", "'+13:00'", "'+02:00'", "SYSTEM"]
ZONES = ["'Europe/Rome'", "'America/New_York'", "'Australia/Lord_Howe'", "'Asia/Kathmandu'", "'America/St_Johns'"]


class Grammar(Protocol):
    """What only one flavour has."""

    modes: list[str]

    def images(self) -> list[str]: ...
    def settings(self) -> list[str]: ...


class Sessions:
    """Statements that set what sessions differ in; without `zones` the server knows no named time zone."""

    def __init__(self, values: Values, grammar: Grammar, *, zones: bool):
        self._pick, self._chance, self._sample = values.pick, values.chance, values.random.sample
        self._grammar, self._zones = grammar, OFFSETS + ZONES * zones

    def first(self) -> list[str]:
        """Those of a new session."""
        found = [self._mode()]
        found += [self._zone()] * self._chance(0.5) + [self._names()] * self._chance(0.4)
        found += [self._image()] * self._chance(0.6) + [self._other()] * self._chance(0.3)
        return found

    def change(self) -> list[str]:
        return [self._pick([self._mode, self._mode, self._zone, self._zone, self._names, self._names, self._image,
                            self._other])()]

    def _mode(self) -> str:
        what, modes = self._pick(range(10)), MODES + self._grammar.modes
        if what < 3:
            return f"SET sql_mode = '{STRICT}'"
        if what < 5:
            return "SET sql_mode = ''"
        return f"SET sql_mode = '{','.join(self._sample(modes, self._pick([1, 1, 2, 3])))}'"

    def _zone(self) -> str:
        return f"SET time_zone = {self._pick(self._zones)}"

    def _names(self) -> str:
        charset = self._pick([*ENCODINGS, "utf8mb4", "utf8mb4", "utf8mb4", "latin1", "binary"])
        return self._pick([
            f"SET NAMES {charset}", f"SET NAMES {charset}", "SET NAMES utf8mb4",
            f"SET NAMES utf8mb4 COLLATE {self._pick(['utf8mb4_bin', 'utf8mb4_unicode_ci', 'utf8mb4_general_ci'])}",
            f"SET character_set_connection = {charset}", f"SET collation_connection = {self._pick(COLLATIONS)}",
            f"SET CHARACTER SET {charset}", f"SET character_set_client = {charset}",
            f"SET collation_server = {self._pick(COLLATIONS)}"])

    def _image(self) -> str:
        return f"SET binlog_row_image = {self._pick(self._grammar.images())}"

    def _other(self) -> str:
        return self._pick([
            "SET foreign_key_checks = 0", "SET foreign_key_checks = 1", "SET unique_checks = 0",
            "SET explicit_defaults_for_timestamp = OFF", "SET explicit_defaults_for_timestamp = ON",
            "SET auto_increment_increment = 3", "SET auto_increment_offset = 2",
            "SET lc_time_names = 'de_DE'", "SET lc_time_names = 'fr_FR'", "SET timestamp = 1711846800.5",
            "SET timestamp = 1698541200", "SET timestamp = DEFAULT", "SET sql_auto_is_null = 1", "SET autocommit = 1",
            *self._grammar.settings()])


def encoding_after(statement: str, before: str) -> str:
    """Python's codec for the client's character set once a statement has been taken."""
    words = statement.replace("=", " ").split()
    if words[:2] == ["SET", "NAMES"] or words[:2] == ["SET", "character_set_client"]:
        return ENCODINGS.get(words[2], before)
    if words[:3] == ["SET", "CHARACTER", "SET"]:
        return ENCODINGS.get(words[3], before)
    return before
