"""Which tables are replayed, by --tables and --ignore-tables (AP-FILT)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from applier.errors import UsageError

SYSTEM_DATABASES = frozenset({"mysql", "information_schema", "performance_schema", "sys"})

_NAME = r"(?:`(?:[^`]|``)+`|[^`.,\s]+)"
_FILTER = re.compile(rf"\s*({_NAME})(?:\.({_NAME}))?\s*(?:,|$)")


@dataclass(frozen=True)
class NamePattern:
    """A name with wildcards. `*` is any characters, `?` any one; `%` is any characters, too, and in an entry with a
    `%`, `_` is any one, as in replicate-wild-do-table. After a backslash a character stands for itself."""

    text: str
    server_wildcards: bool

    def matches(self, name: str) -> bool:
        return self._compiled.fullmatch(name) is not None

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        any_one = "?_" if self.server_wildcards else "?"
        parts = [".*" if part in "*%" else "." if part in any_one else re.escape(part[-1])
                 for part in re.findall(r"\\.|.", self.text)]
        return re.compile("".join(parts), re.DOTALL)

    def __str__(self) -> str:
        return self.text


NameOrPattern = str | NamePattern
Entry = tuple[NameOrPattern, NameOrPattern | None]


@dataclass(frozen=True)
class TableFilter:
    """Which tables are replayed: "db.table" or "db" entries to include, and entries to exclude (which win).

    Without entries to include, every table is replayed except for the server's own databases, whose definitions no log
    holds: they are replayed if they are named without wildcards.
    """

    tables: tuple[Entry, ...] = ()
    ignored: tuple[Entry, ...] = ()

    def wanted(self, database: str, table: str) -> bool:
        """Return whether rows and DDL of the table are replayed."""
        if _listed(self.ignored, database, table):
            return False
        own = database.lower() in SYSTEM_DATABASES
        if not self.tables:
            return not own
        return _listed([entry for entry in self.tables if not own or isinstance(entry[0], str)], database, table)

    def keeps(self, database: str, table: str | None) -> bool:
        """Return whether a filtered log keeps the statements about a table, or (None) a database: the server's own
        tables stay unless they are ignored or others are named."""
        if table is not None:
            own = database.lower() in SYSTEM_DATABASES and not self.tables
            return not _listed(self.ignored, database, table) if own else self.wanted(database, table)
        if any(_is_named(database, name) and (rest is None or str(rest) in "*%") for name, rest in self.ignored):
            return False
        return not self.tables or any(_is_named(database, name) for name, _ in self.tables)

    def without_match(self, names: Iterable[tuple[str, str]]) -> list[str]:
        """Return the entries to include that match none of these tables."""
        names = list(names)
        return [_dotted(entry) for entry in self.tables if not any(_listed([entry], *name) for name in names)]

    def for_manifest(self) -> dict[str, object]:
        """Return the entries as JSON."""
        known: dict[str, object] = {}
        if self.tables:
            known["tables"] = [_dotted(entry) for entry in self.tables]
        if self.ignored:
            known["ignore_tables"] = [_dotted(entry) for entry in self.ignored]
        return known


EVERYTHING = TableFilter()


def parse_table_list(texts: list[str]) -> tuple[Entry, ...]:
    """Parse comma-separated DB.TABLE or DB entries, in any number of texts. Names in backticks are literal; others may
    have wildcards (see NamePattern)."""
    entries = []
    for text in texts:
        at = 0
        while at < len(text):
            match = _FILTER.match(text, at)
            if match is None:
                raise UsageError(f"{text!r} is not a list of tables",
                                 hint="write DB.TABLE,DB.TABLE or DB for a whole database; put names with special "
                                      "characters in backticks")
            wild = "%" in re.sub(r"`[^`]*`|\\.", "", match[0])
            entries.append((_name(match[1], wild), None if match[2] is None else _name(match[2], wild)))
            at = match.end()
    return tuple(entries)


def _listed(entries: Iterable[Entry], database: str, table: str) -> bool:
    return any(_is_named(database, entry[0]) and (entry[1] is None or _is_named(table, entry[1])) for entry in entries)


def _is_named(name: str, wanted: NameOrPattern) -> bool:
    return wanted.matches(name) if isinstance(wanted, NamePattern) else wanted == name


def _name(text: str, server_wildcards: bool) -> NameOrPattern:
    """Return a name of a list; a pattern only if it has a wildcard."""
    if text.startswith("`"):
        return unquoted(text)
    wildcards = "*?%_" if server_wildcards else "*?%"
    if any(part in wildcards for part in re.findall(r"\\.|.", text)):
        return NamePattern(text, server_wildcards)
    return re.sub(r"\\(.)", r"\1", text)


def unquoted(name: str) -> str:
    """Return a name that may be in backticks."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _dotted(entry: Entry) -> str:
    return str(entry[0]) if entry[1] is None else f"{entry[0]}.{entry[1]}"


def one_table(name: str) -> tuple[str, str]:
    """Parse the database and the name of a table, written as DATABASE.TABLE."""
    names = parse_table_list([name])
    if len(names) != 1 or not all(isinstance(part, str) for part in names[0]):
        raise UsageError(f"{name!r} is not the name of a table", hint="write DATABASE.TABLE")
    [(database, table)] = names
    return str(database), str(table)
