"""Expressions of other sql_modes in the default one: || may concatenate text, NOT may bind like !, REAL may be FLOAT,
an empty text may be NULL, and in MariaDB's ORACLE mode functions do other things; those have names of their own, as the
server shows them.
In NO_BACKSLASH_ESCAPES, MySQL reads the escapes of an expression that it keeps as text.

Source: MySQL manual and MariaDB documentation, "Server SQL Modes"; judged by both servers.
"""

from __future__ import annotations

from itertools import groupby

from applier.mysql.character_sets.client_charsets import filled_up, introduced_charset
from applier.sql.grammar import Reader
from applier.sql.nodes import Call, Node
from applier.sql.operand_grammar import ORACLE_FUNCTIONS
from applier.sql.token_reader import operator_tokens
from applier.sql.tokens import Token, render, tokenize

_JOINING = frozenset({"PIPES_AS_CONCAT", "ANSI", "ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL"})
"""Modes in which || concatenates text, by themselves or as a part of their meaning."""

ESCAPES = str.maketrans({"\\": "\\\\", "\0": "\\0", "\n": "\\n", "\r": "\\r"})
"""MySQL's escapes for these characters in literals of a stored expression."""


def in_default_mode(sql: str, sql_mode: str) -> str:
    """Rewrite an expression of another sql_mode, in which || may concatenate text, NOT may bind like ! and REAL may be
    FLOAT, so that it means the same in the default one. Raises NotComputable for an expression of an unknown form."""
    modes = set(sql_mode.upper().split(","))
    if "ORACLE" in modes:
        sql = _with_oracle_functions(sql)
    if modes & {"REAL_AS_FLOAT", "ANSI"}:
        sql = _with_floats(sql)
    if not modes & {*_JOINING, "HIGH_NOT_PRECEDENCE"}:
        return sql
    tokens = operator_tokens(sql)
    words = {token.text if token.kind == "sign" else token.keyword for token in tokens}
    joins, binds = "||" in words and bool(modes & _JOINING), "NOT" in words and "HIGH_NOT_PRECEDENCE" in modes
    if not joins and not binds:
        return sql
    reader = _RewritingReader(tokens, sql, joins=joins, binds=binds)
    reader.joining = "CONCAT_OPERATOR_ORACLE" if "ORACLE" in modes else "CONCAT"
    reader.whole()
    return reader.rewritten()


def with_nulls(tokens: list[Token], sql_mode: str) -> list[Token]:
    """An expression's tokens where an empty text, with its character set, is NULL if the sql_mode has
    EMPTY_STRING_IS_NULL. Several texts in a row are one."""
    if "EMPTY_STRING_IS_NULL" not in sql_mode.upper():
        return tokens
    made: list[Token] = []
    for kind, run in groupby(tokens, key=lambda token: token.kind):
        together = list(run)
        if kind == "string" and not any(token.text for token in together):
            if made and made[-1].kind == "word" and made[-1].text.startswith("_"):
                made.pop()
            together = [Token("word", "NULL", together[0].start, together[-1].end)]
        made += together
    return made


def with_escapes_as_text(sql: str) -> str:
    """Return a stored expression of MySQL in the form that a session in sql_mode NO_BACKSLASH_ESCAPES reads: the
    escapes that the server has written in its literals are text (seen on 9.7)."""
    tokens = tokenize(sql)[:-1]
    made = []
    for before, token in zip([None, *tokens], tokens):
        charset = introduced_charset(before.text) if before is not None and before.kind == "word" else None
        if token.kind == "string":
            token = token._replace(text=token.text.translate(ESCAPES))
        elif token.kind == "bytes" and charset not in (None, "binary"):
            token = token._replace(text=read_as_written(bytes.fromhex(token.text), str(charset)).hex())
        made.append(token)
    return render(made)


def read_as_written(data: bytes, charset: str) -> bytes:
    """The bytes of a literal in `charset` after MySQL has written them with escapes and read these as text. It escapes
    bytes, also those within a character."""
    return filled_up(data.decode("latin1").translate(ESCAPES).encode("latin1"), charset)


def _with_floats(sql: str) -> str:
    """An expression with FLOAT for the type REAL; behind a point, REAL is a name."""
    tokens = tokenize(sql)
    are_types = [token.keyword == "REAL" and before.text != "." for before, token in zip([tokens[-1], *tokens], tokens)]
    if not any(are_types):
        return sql
    return render([token._replace(text="FLOAT") if is_type else token
                   for token, is_type in zip(tokens, are_types)][:-1])


def _with_oracle_functions(sql: str) -> str:
    """An expression with the functions that the server takes in sql_mode ORACLE; those with a schema have its mode."""
    tokens = tokenize(sql)
    return render([token._replace(text=ORACLE_FUNCTIONS[token.keyword])
                   if token.keyword in ORACLE_FUNCTIONS and following.text == "(" and before.text != "." else token
                   for before, token, following in zip([tokens[-1], *tokens], tokens, [*tokens[1:], tokens[-1]])][:-1])


class _RewritingReader(Reader):
    """Reads an expression in which || `joins` text and NOT `binds` like !, and writes it again."""

    def __init__(self, tokens: list[Token], sql: str, *, joins: bool, binds: bool) -> None:
        super().__init__(tokens, sql)
        self._joins, self._binds = joins, binds
        self.joining = "CONCAT"
        self._before: dict[int, str] = {}
        self._after: dict[int, str] = {}
        self._commas: list[Token] = []

    def rewritten(self) -> str:
        """The SQL that means the same in the default mode."""
        parts, commas = [], {token.start for token in self._commas}
        for at in range(len(self._sql) + 1):
            parts.append(self._after.get(at, "") + self._before.get(at, ""))
            in_comma = at in commas or at - 1 in commas
            parts.append("," if at in commas else "" if in_comma else self._sql[at:at + 1])
        return "".join(parts)

    def _put_around(self, start: int, opening: str) -> None:
        """Enclose the SQL from `start` to where the reader is; outer calls are read later than inner ones."""
        end = self._tokens[self._at - 1].end
        self._before[start] = opening + self._before.get(start, "")
        self._after[end] = self._after.get(end, "") + ")"

    def _negation(self) -> Node:
        return self._operand() if self._binds else super()._negation()

    def _operand(self) -> Node:
        """An operand, or several that || concatenates."""
        start, parts = self.token.start, [self._unary()]
        while self._joins and self.word == "||":
            self._commas.append(self._next())
            parts.append(self._unary())
        if len(parts) == 1:
            return parts[0]
        self._put_around(start, f"{self.joining}(")
        return Call(self.joining, tuple(parts))

    def _unary(self) -> Node:
        start = self.token.start
        if not (self._binds and self._take("NOT")):
            return super()._unary()
        node = Call("NOT", (self._signed(),))
        self._put_around(start, "(")
        return node
