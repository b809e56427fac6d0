"""String literals and casts to text in tokens: their character sets, by introducers, by the session and by what a
server makes of expressions.

MySQL keeps each literal with its character set. MariaDB keeps an expression as text in UTF-8 and reads it again:
literals are then in the table's character set, and a byte outside of ASCII behind an introducer becomes an escape that
MariaDB does not know, so x and two digits. (Seen on MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from applier.errors import SchemaError
from applier.mysql.character_sets.client_charsets import (
    NOT_ASCII,
    UTF8,
    ClientCharsets,
    CodedText,
    as_national,
    decoded,
    encoded,
    filled_up,
    introduced_charset,
)
from applier.mysql.versions import is_since
from applier.sql.tokens import Token, tokenize

_NATIONAL = "utf8mb3"
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
"""Characters of four bytes, which utf8mb3 does not have."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""What stands for bytes that are no UTF-8."""
_OF_BYTES = NOT_ASCII | {"binary"}
_BEFORE_OTHERS = frozenset({"DATE", "TIME", "TIMESTAMP", "COLLATE", "SET", "USING"})
"""Words before a literal that takes no introducer."""
_ODBC = ("D", "T", "TS")
_WIDE = NOT_ASCII - {"swe7"}


def keeps_wide(flavour: str, server_version: str) -> bool:
    """False for a MariaDB that keeps expressions in utf8mb3: of characters of four bytes, those in N'…', in bytes and
    from a client of utf8mb3 get through until an ALTER TABLE writes the expression again, and the others become
    question marks (seen on 10.5; 10.11 and 11.8 keep utf8mb4)."""
    return flavour == "mysql" or not server_version or is_since(server_version, (10, 6))


def as_rewritten(text: str) -> str:
    """Text as a MariaDB without `keeps_wide` writes it."""
    return _BEYOND.sub("?", text)


def introduced(tokens: list[Token], sql: str, charsets: ClientCharsets) -> list[Token]:
    """A statement's tokens, with the bytes of a string literal instead of its text where it has an introducer and is
    not ASCII; those of a wide set are filled up to whole characters. N'…' is in the national character set, a form of
    UTF-8."""
    made: list[Token] = []
    if charsets.connection in _WIDE:
        tokens = _with_rows_of_bytes(tokens, sql, charsets)
    for token in _literals(tokens):
        before = made[-1] if made else None
        if token.kind == "string":
            charset = _introduced_by(before)
            if charset is None and _is_national(token, before, sql) and (
                    not token.text.isascii() or charsets.connection != "utf8mb4"):
                charset = _NATIONAL
                made.append(Token("word", f"_{_NATIONAL}", token.start - 1, token.start))
            if charset is not None and token.text and (not token.text.isascii() or charset in _OF_BYTES):
                token = _of_bytes(filled_up(charsets.raw(token.text), charset), charset, token)
        elif token.kind == "bytes" and (charset := _introduced_by(before)) is not None:
            token = token._replace(text=filled_up(bytes.fromhex(token.text), charset).hex())
        made.append(token)
    return made


def _with_rows_of_bytes(tokens: list[Token], sql: str, charsets: ClientCharsets) -> list[Token]:
    """The tokens, with string literals in a row as bytes. In a wide character_set_connection, a server takes each byte
    of the second literal, and of those that follow, for a character of latin1, unless the first one has an introducer
    of another kind: then their bytes follow its own."""
    made: list[Token] = []
    charset: str | None = None
    for token in tokens:
        if token.kind != "string" or not made or made[-1].kind not in ("string", "bytes") or (
                made[-1].kind == "bytes" and charset is None):
            charset = None
        elif charset is None:
            first = made.pop()
            charset = _introduced_by(made[-1] if made else None)
            data = charsets.raw(first.text)
            if charset is None:
                charset = _NATIONAL if _is_national(first, made[-1] if made else None, sql) else charsets.connection
                data = encoded(decoded(data, charsets.client), charset)
                made.append(Token("word", f"_{charset}", first.start - 1, first.start))
            made.append(Token("bytes", data.hex(), first.start, first.end))
        if charset is None:
            made.append(token)
            continue
        data = encoded(decoded(charsets.raw(token.text), charsets.client), charsets.connection)
        if charset in _WIDE:
            data = encoded(decoded(data, "latin1"), charset)
        made[-1] = Token("bytes", made[-1].text + data.hex(), made[-1].start, token.end)
    return made


def as_written(tokens: list[Token], charsets: ClientCharsets, *, names_utf8: bool = False) -> list[Token]:
    """An expression's tokens, each literal in the character set of the session: with an introducer where that is not
    utf8mb4, or, for a form of UTF-8 and `names_utf8`, where the literal is not ASCII."""
    made: list[Token] = []
    names = charsets.connection not in UTF8 or (not names_utf8 and charsets.connection != "utf8mb4")
    for token in _literals(_with_charsets_of_casts(tokens, charsets)):
        if token.kind != "string" or _introduced_by(made[-1] if made else None) or _takes_none(made):
            made.append(token)
            continue
        text = charsets.literal(token.text)
        data = text.data if isinstance(text, CodedText) else text.encode("utf-8", "surrogateescape")
        charset = charsets.connection if charsets.connection not in UTF8 or (
            not names_utf8 and charsets.connection == _NATIONAL and _BEYOND.search(text)) else "utf8mb4"
        if (data.isascii() and charset not in NOT_ASCII) or (charset == "utf8mb4" and not names_utf8):
            if names:
                made.append(Token("word", f"_{charsets.connection}", token.start, token.start))
            made.append(token._replace(text=str(text)))
        else:
            made.append(Token("word", f"_{charset}", token.start, token.start))
            made.append(Token("bytes", data.hex(), token.start, token.end))
    return made


def _takes_none(before: list[Token]) -> bool:
    """True behind words before a literal that takes no introducer: those above, and ODBC's {d, {t and {ts."""
    word = before[-1].keyword if before else None
    return word in _BEFORE_OTHERS or (word in _ODBC and len(before) > 1 and before[-2].text == "{")


def with_odbc_text(tokens: list[Token], charsets: ClientCharsets, flavour: str) -> list[Token]:
    """An expression's tokens, with text instead of ODBC's {d '…'}, {t '…'} and {ts '…'} where a server takes it for
    that: MariaDB from a client of bytes, MySQL from one of sjis, and of bytes into a wide character set."""
    is_text = charsets.client == "binary" and (flavour == "mariadb" or charsets.connection in _WIDE)
    if not is_text and (flavour, charsets.client) != ("mysql", "sjis"):
        return tokens
    made: list[Token] = []
    for token in _literals(tokens):
        opening, word, literal = made[-3:] if len(made) > 2 else [token] * 3
        if (opening.text, token.text) == ("{", "}") and literal.kind == "string" and word.keyword in _ODBC:
            made[-3:] = [literal]
        else:
            made.append(token)
    return made


def with_charsets_of_chr(tokens: list[Token], charset: str) -> list[Token]:
    """An expression's tokens, with CHAR(… USING …) instead of MariaDB's CHR(…), whose bytes are text in
    character_set_database (seen on 10.5, 10.11 and 11.8)."""
    made, starts = list[Token](), list[bool]()
    for number, token in enumerate(tokens):
        if token.kind == "sign" and token.text == "(":
            starts.append(number > 0 and tokens[number - 1].kind == "word" and tokens[number - 1].keyword == "CHR")
            if starts[-1]:
                made[-1] = made[-1]._replace(text="CHAR")
        elif token.kind == "sign" and token.text == ")" and starts and starts.pop():
            made += [Token("word", "USING", token.start - 2, token.start - 1),
                     Token("word", charset, token.start, token.start)]
        made.append(token)
    return made


def as_kept(tokens: list[Token], charsets: ClientCharsets, *, keeps_wide: bool = True) -> list[Token]:
    """An expression's tokens as MariaDB reads them again: literals in the table's character set. Without
    `keeps_wide`, characters of four bytes are question marks; with it, they are only where the connection's character
    set has none."""
    made: list[Token] = []
    for token in _literals(_with_charsets_of_casts(tokens, charsets)):
        charset = _introduced_by(made[-1] if made else None)
        if charset is not None and made[-1].end - made[-1].start == len("N"):
            data = bytes.fromhex(token.text) if token.kind == "bytes" else token.text.encode()
            text = _SURROGATE.sub("?", decoded(data, charset))
            if keeps_wide == (charset == _NATIONAL):
                text = as_national(text) if keeps_wide else as_rewritten(text)
            made[-1] = Token("string", text, made[-1].start, token.end)
            continue
        if charset is not None and token.kind in ("string", "bytes"):
            data = bytes.fromhex(token.text) if token.kind == "bytes" else token.text.encode()
            text = _read_again(data)
            token = Token("bytes", filled_up(text.encode(), charset).hex(), token.start, token.end) \
                if charset in _OF_BYTES else Token("string", text, token.start, token.end)
        elif token.kind == "string":
            text = str(charsets.literal(token.text))
            if not keeps_wide and charsets.connection not in ("binary", _NATIONAL):
                text = as_rewritten(text)
            elif keeps_wide and charsets.connection == _NATIONAL:
                text = as_national(text)
            token = token._replace(text=text)
        made.append(token)
    return made


def _with_charsets_of_casts(tokens: list[Token], charsets: ClientCharsets) -> Iterator[Token]:
    """The tokens, with the session's character set behind each CAST AS CHAR or CONVERT to CHAR that names none."""
    if charsets.connection == "utf8mb4":
        yield from tokens
        return
    words, starts = [*tokens, *[Token("end", "", 0, 0)] * 4], list[str]()
    inserted = None
    for number, token in enumerate(tokens):
        if number == inserted:
            yield from (Token("word", word, -3 * apart, 1 - 3 * apart)
                        for apart, word in enumerate(("CHARACTER", "SET", charsets.connection), 1))
        if token.text == "(" and token.kind == "sign":
            starts.append(tokens[number - 1].keyword if number else "")
        elif token.text == ")" and token.kind == "sign" and starts:
            starts.pop()
        elif (starts and token.kind in ("word", "sign") and (token.text.upper(), starts[-1]) in _BEFORE_TYPES
                         and words[number + 1].keyword in _TEXTS):
            end = number + (5 if words[number + 2].text == "(" else 2)
            inserted = end if words[end].text == ")" else None
        yield token


_BEFORE_TYPES = {("AS", "CAST"), (",", "CONVERT")}
_TEXTS = frozenset({"CHAR", "CHARACTER", "VARCHAR"})


def _of_bytes(data: bytes, charset: str, token: Token) -> Token:
    """A literal of these bytes: as text if they are UTF-8, and in a form of it."""
    if charset in UTF8:
        with suppress(UnicodeDecodeError):
            return Token("string", data.decode(), token.start, token.end)
    return Token("bytes", data.hex(), token.start, token.end)


def _read_again(data: bytes) -> str:
    """The text that MariaDB makes of a literal's bytes, which it writes as for an error message."""
    written = "".join(chr(byte) if 0x20 <= byte <= 0x7E else f"\\x{byte:02X}" for byte in data)
    try:
        return tokenize(f"'{written}'")[0].text
    except SchemaError:
        return written  # MariaDB cannot open such a table


def _literals(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens, with string literals in a row as one."""
    last: Token | None = None
    for token in tokens:
        if last is not None and token.kind == "string":
            last = Token("string", last.text + token.text, last.start, token.end)
            continue
        if last is not None:
            yield last
        last = token if token.kind == "string" else None
        if last is None:
            yield token
    if last is not None:
        yield last


def _introduced_by(before: Token | None) -> str | None:
    return introduced_charset(before.text) if before is not None and before.kind == "word" else None


def _is_national(token: Token, before: Token | None, sql: str) -> bool:
    """True if there is an N in front of the literal, which is no word's last letter."""
    return sql[token.start - 1:token.start] in ("N", "n") and (before is None or before.end < token.start)
