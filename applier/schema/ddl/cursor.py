"""Reads a statement's tokens from left to right, with the context that its meaning depends on."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from applier.errors import NO_DATABASE, SchemaError
from applier.mysql.character_sets.client_charsets import ClientCharsets, CodedText
from applier.mysql.character_sets.collations import DEFAULT_COLLATIONS, Charset, named_default
from applier.mysql.character_sets.labels import read_by_mariadb
from applier.mysql.names import folded
from applier.mysql.values.time_zones import shifted, zone_of
from applier.mysql.values.zone_times import utc_of
from applier.sql.literal_charsets import as_kept, as_written, with_charsets_of_chr, with_odbc_text
from applier.sql.sql_modes import in_default_mode, with_nulls
from applier.sql.tokens import Token, render

_EPOCH = datetime.datetime(1970, 1, 1)
UTF8MB4 = Charset("utf8mb4", "utf8mb4_0900_ai_ci")  # a new MySQL server's default


@dataclass(frozen=True, slots=True)
class StatementContext:
    """The context on which a statement's meaning depends, besides its text (EV-CTX).

    `databases` holds the default character set of each database that is known; `server` is that of all others and of
    new ones. `time_zone` is that of the session ("+02:00", "Europe/Rome", or "SYSTEM", which the log does not resolve).
    `default_collations` are those of character sets without one. `rewrites` has other names for databases that the
    statement names (AP-FILT); `default_database` is renamed already. `inline_references`: REFERENCES beside a column
    makes a foreign key; `keeps_checks`: the server has CHECK constraints; `compiled_defaults`: CHARACTER SET DEFAULT
    has the collation that MariaDB is compiled with (collations.compiles_defaults); `sorts_descending`: DESC in a key
    counts; `keeps_wide`: expressions are kept with characters of four bytes (literal_charsets.keeps_wide).
    `timestamp_us` is the statement's time in microseconds UTC, 0 where none is known. `folds_names`: databases
    and tables are known by their names in lower case. `charsets` are the character sets of literals;
    `foreign_key_checks`, `check_constraint_checks` and `lc_time_names`, a number, are the session's.
    """

    flavour: str = "mysql"
    sql_mode: str = ""
    default_database: str | None = None
    server: Charset = UTF8MB4
    databases: Mapping[str, Charset] = field(default_factory=dict)
    time_zone: str = "+00:00"
    explicit_timestamps: bool = True
    default_collations: Mapping[str, str] = field(default_factory=lambda: DEFAULT_COLLATIONS["mysql"])
    rewrites: Mapping[str, str] = field(default_factory=dict)
    inline_references: bool = False
    keeps_checks: bool = True
    compiled_defaults: bool = True
    sorts_descending: bool = True
    keeps_wide: bool = True
    timestamp_us: int = 0
    folds_names: bool = False
    charsets: ClientCharsets = field(default_factory=ClientCharsets)
    foreign_key_checks: bool = True
    lc_time_names: int = 0
    check_constraint_checks: bool = True

    def named(self, name: str) -> str:
        """Return the name of a database or a table, as the server knows it."""
        return folded(name) if self.folds_names else name

    def database_named(self, name: str) -> str:
        """Return the name of a database after renaming (AP-FILT)."""
        name = self.named(name)
        return self.rewrites.get(name, name)

    def named_default(self, above: Charset) -> Charset:
        """Return the meaning of CHARACTER SET DEFAULT in a database or server with this character set."""
        return named_default(above) if self.flavour == "mariadb" and self.compiled_defaults else above

    def database_charset(self, database: str) -> Charset:
        return self.databases.get(database, self.server)

    def begun(self, unit: int) -> int | None:
        """Return the start, in seconds since 1970 UTC, of the current unit of this many seconds by the session's clock;
        None if that is unknown."""
        local = shifted(self.timestamp_us, self.time_zone) if self.timestamp_us else None
        return None if local is None else (self.timestamp_us - local % (unit * 1_000_000)) // 1_000_000

    def to_utc(self, instant: datetime.datetime) -> datetime.datetime | None:
        """Convert a date and time of the session to UTC, without a zone; None if the session's zone is unknown."""
        zone = zone_of(self.time_zone)
        if zone is None:
            return None
        if self.time_zone[0] not in "+-":
            micros = (instant - _EPOCH) // datetime.timedelta(microseconds=1)
            return _EPOCH + datetime.timedelta(microseconds=int(utc_of(np.array([micros]), self.time_zone)[0]))
        return instant.replace(tzinfo=zone).astimezone(datetime.UTC).replace(tzinfo=None)

    def from_utc(self, instant: datetime.datetime) -> datetime.datetime | None:
        """Convert a date and time in UTC, without a zone, to the session's; None if the session's is unknown."""
        zone = zone_of(self.time_zone)
        return None if zone is None else instant.replace(tzinfo=datetime.UTC).astimezone(zone).replace(tzinfo=None)


class Cursor:
    """A position in a statement's tokens, and the questions that a grammar asks there."""

    def __init__(self, tokens: list[Token], context: StatementContext, databases: set[Token] | None = None) -> None:
        """`databases` gets the tokens of the read part that name a database."""
        self.tokens = tokens
        self.context = context
        self.index = 0
        self.databases = set[Token]() if databases is None else databases

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def keyword(self) -> str:
        """The word here in capitals; a sign stands for itself, anything else is empty."""
        return self.token.text if self.token.kind == "sign" else self.token.keyword

    @property
    def at_end(self) -> bool:
        return self.token.kind == "end" or (self.keyword == ";" and self.tokens[self.index + 1].kind == "end")

    def ahead(self, *words: str) -> bool:
        """Return whether these are the next words."""
        if self.index + len(words) > len(self.tokens):
            return False
        for at, word in enumerate(words, self.index):
            token = self.tokens[at]
            if word != (token.text if token.kind == "sign" else token.keyword):
                return False
        return True

    def has_behind(self, *words: str) -> bool:
        """Return whether these words occur somewhere in the rest."""
        start = self.index
        try:
            return any(self.ahead(*words) for self.index in range(start, len(self.tokens)))
        finally:
            self.index = start

    def accept(self, *words: str) -> bool:
        """Skip these words if they are next; returns whether they were."""
        if found := self.ahead(*words):
            self.index += len(words)
        return found

    def accept_any(self, *words: str) -> str:
        """Skip the next word if it is one of these; returns the word, or the empty string."""
        word = self.keyword
        if word and word in words:
            self.index += 1
            return word
        return ""

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            raise self.error(f"{' '.join(words)} was expected")

    def next(self) -> Token:
        token = self.token
        if token.kind == "end":
            raise self.error("the statement ends too early")
        self.index += 1
        return token

    def name(self) -> str:
        """Return an identifier, quoted or not."""
        if self.token.kind not in ("word", "name"):
            raise self.error("a name was expected")
        return self.next().text

    def table_name(self) -> tuple[str, str]:
        """Return (database, table); without a written database, the session's."""
        database, name = self.qualified_name()
        database = self.context.default_database if database is None else database
        if database is None:
            error = self.error(f"there is no default database to look for table {name} in")
            error.mysql_errno = NO_DATABASE
            raise error
        return database, self.context.named(name)

    def qualified_name(self) -> tuple[str | None, str]:
        """Return a name, and the database before it if one is written."""
        at, name = self.index, self.name()
        if not self.accept("."):
            return None, name
        self.databases.add(self.tokens[at])
        return self.context.database_named(name), self.name()

    def database_name(self) -> str:
        """Return a database's name by itself."""
        self.databases.add(self.token)
        return self.context.database_named(self.name())

    def number(self) -> int:
        token = self.next()
        if token.kind != "number" or not (token.text.isascii() and token.text.isdigit()) or len(token.text) > 20:
            raise self.error("a number was expected", token)
        return int(token.text)

    def literal_or_bytes(self) -> str | bytes:
        """Return a label: a string literal in the connection's character set, or bytes in hexadecimal digits or
        bits."""
        if self.token.kind == "bytes":
            return bytes.fromhex(self.next().text)
        said = self.string()
        text = self.context.charsets.literal(said)
        if isinstance(text, CodedText) and text.charset == "binary":
            return text.data
        return read_by_mariadb(said, text, self.context.charsets) if self.context.flavour == "mariadb" else text

    def literal(self) -> str:
        """Return a string literal in the connection's character set."""
        return self.context.charsets.literal(self.string())

    def string(self) -> str:
        """Return a string in the client's character set; several in a row are one, as in standard SQL."""
        token = self.next()
        if token.kind == "bytes":
            return bytes.fromhex(token.text).decode("utf-8", "replace")
        if token.kind != "string":
            raise self.error("a string was expected", token)
        text = token.text
        while self.token.kind == "string":
            text += self.next().text
        return text

    def word_or_string(self) -> str:
        """Return a name that may also be written as a string, for example of a character set or an engine."""
        return self.string() if self.token.kind == "string" else self.name()

    def parenthesised(self) -> list[Token]:
        """Return the tokens between the parenthesis here and its closing one; skips both."""
        self.expect("(")
        start, depth = self.index, 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.next().text if self.token.kind == "sign" else self.next().kind, 0)
        return self.tokens[start:self.index - 1]

    def expression(self) -> str:
        """Return an expression in parentheses, as SQL without them."""
        return self.sql_of(self.parenthesised())

    def sql_of(self, tokens: list[Token]) -> str:
        """Return an expression's tokens as SQL that means the same in the default sql_mode, from a client of UTF-8: as
        the server keeps it for rows to come."""
        tokens, charsets = self._read(tokens), self.context.charsets
        kept = as_kept(tokens, charsets, keeps_wide=self.context.keeps_wide) if self.context.flavour == "mariadb" else \
            as_written(tokens, charsets)
        return in_default_mode(render(kept), self.context.sql_mode)

    def constant_of(self, tokens: list[Token]) -> str:
        """Like `sql_of`, for an expression that the server computes once, in the statement's session."""
        written = as_written(self._read(tokens), self.context.charsets, names_utf8=True)
        return in_default_mode(render(written), self.context.sql_mode)

    def _read(self, tokens: list[Token]) -> list[Token]:
        """Return an expression's tokens as the server's parser takes them in the session."""
        context = self.context
        tokens = with_odbc_text(with_nulls(tokens, context.sql_mode), context.charsets, context.flavour)
        if context.flavour == "mysql":
            return tokens
        return with_charsets_of_chr(tokens, context.charsets.database or context.database_charset(
            context.default_database or "").charset)

    def rest(self) -> str:
        """Return the rest as SQL; skips it."""
        start, self.index = self.index, len(self.tokens) - 1
        return render(self.tokens[start:self.index])

    def error(self, message: str, token: Token | None = None) -> SchemaError:
        """Return a SchemaError that shows the position in the statement."""
        index = self.index if token is None else self.tokens.index(token)
        near = render(self.tokens[index:index + 8]) or "the end"
        return SchemaError(f"DDL not understood near {near!r}: {message}")
