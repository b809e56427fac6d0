"""The session state that a dump's SET and USE statements make, and in which its other statements are read."""

from __future__ import annotations

from dataclasses import dataclass, field

from applier.jobs.importing.sql.spans import LiteralContext
from applier.mysql.character_sets.client_codecs import codec_of
from applier.mysql.character_sets.collations import charset_name
from applier.sql.tokens import Token, tokenize

_SCOPES = frozenset({"GLOBAL", "SESSION", "LOCAL", "PERSIST", "PERSIST_ONLY"})
_INSERT_HISTORY = "system_versioning_insert_history"
_START = {"character_set_client": "", "sql_mode": "", "time_zone": "SYSTEM", _INSERT_HISTORY: "0"}
_QUOTES_NAMES = frozenset({"ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL"})
"""Modes that include ANSI_QUOTES, besides ANSI; `--compatible` produces them."""


@dataclass
class DumpSession:
    """The variables of a session that matter here, and user variables that save them. `system_time_zone` is the meaning
    of SYSTEM, which no dump names; "SYSTEM" if it is unknown. `default_charset` is that of text whose character set the
    dump does not name; None means UTF-8, as a guess."""

    flavour: str
    database: str | None = None
    system_time_zone: str = "SYSTEM"
    default_charset: str | None = None
    variables: dict[str, str] = field(default_factory=lambda: dict(_START))

    @property
    def sql_mode(self) -> str:
        mode = self.variables["sql_mode"].upper()
        return mode if _QUOTES_NAMES.isdisjoint(mode.split(",")) else f"ANSI_QUOTES,{mode}"

    @property
    def time_zone(self) -> str:
        zone = self.variables["time_zone"]
        return self.system_time_zone if zone.upper() == "SYSTEM" else zone

    @property
    def ansi_quotes(self) -> bool:
        """True if "x" is a name."""
        return "ANSI" in self.sql_mode

    @property
    def backslash(self) -> bool:
        """True if a backslash escapes in text."""
        return "NO_BACKSLASH_ESCAPES" not in self.sql_mode

    @property
    def inserts_history(self) -> bool:
        """True if rows of system-versioned tables keep the times that they are given. Otherwise a server ignores these,
        and mariadb-dump writes them without past rows."""
        return self.variables[_INSERT_HISTORY].upper() in ("1", "ON", "TRUE")

    @property
    def reading(self) -> LiteralContext:
        """How literals are read."""
        return LiteralContext(self.charset, self.backslash, self.time_zone, self.flavour, not self.knows_charset)

    @property
    def knows_charset(self) -> bool:
        """True if the dump, or the user, has named its character set."""
        return bool(self.variables["character_set_client"] or self.default_charset)

    @property
    def charset(self) -> str:
        """The character set of its text."""
        return charset_name(self.variables["character_set_client"] or self.default_charset or "utf8mb4")

    @property
    def codec(self) -> str:
        """How its statements are decoded."""
        return codec_of(self.charset)

    def set(self, sql: str) -> None:
        """A SET statement: variables that do not matter are skipped."""
        tokens = tokenize(sql, sql_mode=self.sql_mode, flavour=self.flavour)[1:-1]
        for assignment in _by_commas(tokens):
            self._assign(assignment)

    def _assign(self, tokens: list[Token]) -> None:
        words = [token.keyword for token in tokens]
        if words[:1] == ["NAMES"] or words[:1] == ["CHARSET"]:
            self._set_names(tokens[1:])
        elif words[:2] == ["CHARACTER", "SET"]:
            self._set_names(tokens[2:])
        equals = next((at for at, token in enumerate(tokens) if token.kind == "sign" and token.text == "="), None)
        if not equals:
            return
        name = _variable(tokens[:equals])
        value = self._value(name, tokens[equals + 1:])
        if value is not None and (name in _START or name.startswith("@")):
            self.variables[name] = value

    def _set_names(self, tokens: list[Token]) -> None:
        if tokens:
            name = tokens[0].text.lower()
            self.variables["character_set_client"] = _START["character_set_client"] if name == "default" else name

    def _value(self, name: str, tokens: list[Token]) -> str | None:
        """Return the value on the right of an assignment to a variable; None if it is of an unknown form."""
        if not tokens:
            return None
        if tokens[0].kind == "sign" and tokens[0].text == "@":
            return self.variables.get(_variable(tokens))
        if tokens[0].keyword == "DEFAULT":
            return _START.get(name)
        return tokens[0].text


def _variable(tokens: list[Token]) -> str:
    """Return a variable's name in small letters, "@x" for one of the user's."""
    signs = [token.text for token in tokens if token.kind == "sign"]
    words = [token.text for token in tokens if token.kind in ("word", "name") and token.keyword not in _SCOPES]
    name = words[-1].lower() if words else ""
    return f"@{name}" if signs.count("@") == 1 else name


def _by_commas(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "sign" and token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
