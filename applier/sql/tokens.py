"""Divides statements into tokens: quoting, comments and version comments resolved, as the server's own scanner does.

The meaning of a character depends on the sql_mode (ANSI_QUOTES, NO_BACKSLASH_ESCAPES, MariaDB's MSSQL) and, in /*!NNNNN
… */, on the server.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from applier.errors import SchemaError
from applier.mysql.types import quote_name, quote_text

# Statements with version comments for newer servers than these run on no server that this project knows of.
NEWEST = {"mysql": 99_998, "mariadb": 129_999}


LONGEST_DELIMITER = 15
"""The most characters of a name; clients check no further."""
MOST_TOKENS = 1 << 23
"""The most tokens of a statement: more than a table with 4,096 columns and 8,192 partitions by all of them has."""


class Token(NamedTuple):
    """One word of a statement.

    `kind`: "word" (unquoted, keyword or name), "name" (quoted), "string" (`text` is its value), "number", "bytes"
    (`text` is hexadecimal digits, of x'…', 0x…, b'…' and 0b…), "sign" (one character), "end".
    """

    kind: str
    text: str
    start: int
    end: int

    @property
    def keyword(self) -> str:
        """The word in capitals; empty for anything that cannot be a keyword."""
        return self.text.upper() if self.kind == "word" else ""

    def render(self) -> str:
        """The token as SQL that means the same in the default sql_mode."""
        if self.kind == "name" or (self.kind == "word" and not self.text.isascii()):
            return quote_name(self.text)
        if self.kind == "string":
            return quote_text(self.text)
        return f"x'{self.text}'" if self.kind == "bytes" else self.text


def render(tokens: list[Token]) -> str:
    """Tokens as SQL without comments, with a space where the statement had one."""
    parts: list[str] = []
    for before, token in zip([None, *tokens], tokens):
        if before is not None and (before.end != token.start or _would_merge(before, token)):
            parts.append(" ")
        parts.append(token.render())
    return "".join(parts)


def _would_merge(before: Token, token: Token) -> bool:
    """True if the two would be read as one token in the default sql_mode: 'a'"b", x"41" and -- are two tokens; 'a''b'
    is not. Bytes are written with an x in front."""
    if token.kind == "bytes":
        return before.kind == "word"
    if token.kind == "string":
        return before.kind == "string" or before.keyword in ("X", "B", "N")
    return before.kind == token.kind and (token.kind == "name" or before.text == token.text == "-")


def tokenize(sql: str, *, sql_mode: str = "", flavour: str = "mysql") -> list[Token]:
    """The tokens of one statement, the last of kind "end".

    Raises SchemaError where a quote or a comment is not closed, or for more than MOST_TOKENS. Source: MySQL manual,
    "Language Structure", "Comments".
    """
    tokens = list(islice(_scan(sql, sql_mode.upper(), flavour), MOST_TOKENS + 1))
    if len(tokens) > MOST_TOKENS:
        raise SchemaError(f"a statement of more than {MOST_TOKENS:,} words: {sql[:40]!r}…")
    return tokens


def split_statements(text: str) -> Iterator[str]:
    """The statements of an SQL file, divided as the command line client does: at ";", or at what DELIMITER names."""
    delimiter, start, position = ";", 0, 0
    while position < len(text):
        at_line_start = position == 0 or text[position - 1] == "\n"
        if at_line_start and (command := _DELIMITER.match(text, position)):
            if text[start:position].strip():
                yield text[start:position].strip()
            delimiter = command[1][:LONGEST_DELIMITER]
            start = position = command.end()
        elif text.startswith(delimiter, position):
            yield text[start:position].strip()
            start = position = position + len(delimiter)
        else:
            unit = _UNIT.match(text, position)
            assert unit is not None  # any character is one
            position = unit.end()
    if text[start:].strip():
        yield text[start:].strip()


# An unclosed quote or comment reaches to the end: the scan does not start again from each character after it.
_DELIMITER = re.compile(r"[ \t]*DELIMITER[ \t]+(\S+)[^\n]*\n?", re.IGNORECASE)
_UNIT = re.compile(r"""
    '(?:[^'\\]|\\.|'')*(?:'|\Z) | "(?:[^"\\]|\\.|"")*(?:"|\Z) | `[^`]*(?:`|\Z) | /\*.*?(?:\*/|\Z) | --(?=\s)[^\n]*
  | \#[^\n]* | [\w ,()]+ | .
""", re.VERBOSE | re.DOTALL)

_WORD = r"[0-9A-Za-z_$\x80-\U0010ffff]"
_TOKEN = re.compile(rf"""
    (?P<space>   \s+ | \#[^\n]* | --(?=\s|$)[^\n]* )
  | (?P<open>    /\*M?!(?P<version>\d{{5,6}})? )
  | (?P<comment> /\*.*?\*/ )
  | (?P<close>   \*/ )
  | (?P<hex>     [xX]'(?P<hex1>[0-9a-fA-F]*)' | 0x(?P<hex2>[0-9a-fA-F]+)(?!{_WORD}) )
  | (?P<bits>    [bB]'(?P<bits1>[01]*)' | 0b(?P<bits2>[01]+)(?!{_WORD}) )
  | (?P<number>  (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!{_WORD}) )
  | (?P<national> [nN](?=') )
  | (?P<word>    {_WORD}+ )
  | (?P<quoted>  ['"`] )
  | (?P<sign>    . )
""", re.VERBOSE | re.DOTALL)

_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def _scan(sql: str, sql_mode: str, flavour: str) -> Iterator[Token]:
    ansi_quotes = "ANSI" in sql_mode  # ANSI and ANSI_QUOTES both
    escapes = "NO_BACKSLASH_ESCAPES" not in sql_mode
    brackets = "MSSQL" in sql_mode and flavour == "mariadb"
    position, depth = 0, 0
    while position < len(sql):
        match = _TOKEN.match(sql, position)
        assert match is not None  # any character is a sign
        start, position = position, match.end()
        kind, text = match.lastgroup, match[0]
        if kind in ("space", "comment", "national"):
            continue  # N'…' is a plain string here
        if kind == "open":
            if _runs(text, match["version"], flavour):
                depth += 1
            else:
                position = _end_of_comment(sql, start)
        elif kind == "close" and depth:
            depth -= 1
        elif kind == "quoted":
            quote = text
            value, position = _quoted(sql, start, escapes and quote != "`" and not (quote == '"' and ansi_quotes))
            is_name = quote == "`" or (quote == '"' and ansi_quotes)
            yield Token("name" if is_name else "string", value, start, position)
        elif kind == "hex":
            digits = match["hex1"] if match["hex1"] is not None else match["hex2"]
            yield Token("bytes", digits.lower().zfill(-(-len(digits) // 2) * 2), start, position)
        elif kind == "bits":
            digits = match["bits1"] if match["bits1"] is not None else match["bits2"]
            size = -(-len(digits) // 8)
            yield Token("bytes", int(digits or "0", 2).to_bytes(size, "big").hex(), start, position)
        elif kind in ("number", "word"):
            yield Token(kind, text, start, position)
        elif text == "[" and brackets:
            value, position = _quoted(sql, start, False, "]")
            yield Token("name", value, start, position)
        elif text == "/" and sql.startswith("/*", start):
            raise _not_closed("comment", sql, start)
        else:
            for offset, character in enumerate(text):
                yield Token("sign", character, start + offset, start + offset + 1)
    yield Token("end", "", len(sql), len(sql))


def _runs(opening: str, version: str | None, flavour: str) -> bool:
    """True if the server runs the text of this version comment.

    MariaDB alone reads /*M! … */, and ignores MySQL's versions from 5.7 on, which are not its own.
    """
    if opening.startswith("/*M"):
        return flavour == "mariadb" and int(version or 0) <= NEWEST[flavour]
    number = int(version or 0)
    if flavour == "mariadb" and 50_700 <= number <= 99_999:
        return False
    return number <= NEWEST[flavour]


def _end_of_comment(sql: str, start: int) -> int:
    """The index after a skipped comment; comments inside it count."""
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(sql, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise _not_closed("comment", sql, start)


def _quoted(sql: str, start: int, escapes: bool, closing: str = "") -> tuple[str, int]:
    """The value of the quoted text at `start`, and the index after its closing quote, if that is another one."""
    quote, position, parts = closing or sql[start], start + 1, []
    special = re.compile(r"[\\" + quote + "]") if escapes else re.compile(re.escape(quote))
    while mark := special.search(sql, position):
        parts.append(sql[position:mark.start()])
        follows = sql[mark.end():mark.end() + 1]
        if mark[0] == "\\" and follows:
            parts.append(_ESCAPES.get(follows, follows))
        elif mark[0] == quote and follows == quote:
            parts.append(quote)
        elif mark[0] == quote:
            return "".join(parts), mark.end()
        else:
            break
        position = mark.end() + 1
    raise _not_closed("quote", sql, start)


def _not_closed(what: str, sql: str, start: int) -> SchemaError:
    return SchemaError(f"a {what} in the statement is not closed: {sql[start:start + 40]!r}")
