"""Expressions of other sql_modes, in which || may concatenate text and NOT may bind like !, in the default one.

Source: MySQL manual and MariaDB documentation, "Server SQL Modes"; judged by both servers.
"""

from __future__ import annotations

from applier.errors import NotComputable
from applier.sql.grammar import Reader, operator_tokens
from applier.sql.nodes import Call, Node
from applier.sql.tokens import Token

_JOINING = frozenset({"PIPES_AS_CONCAT", "ANSI", "ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL"})
"""Modes in which || concatenates text, by themselves or as a part of their meaning."""


def in_default_mode(sql: str, sql_mode: str) -> str:
    """Rewrite an expression of another sql_mode, in which || may concatenate text and NOT may bind like !, so that it
    means the same in the default one. Raises NotComputable for an expression of an unknown form."""
    modes = set(sql_mode.upper().split(","))
    if not modes & {*_JOINING, "HIGH_NOT_PRECEDENCE"}:
        return sql
    tokens = operator_tokens(sql)
    words = {token.text if token.kind == "sign" else token.keyword for token in tokens}
    joins, binds = "||" in words and bool(modes & _JOINING), "NOT" in words and "HIGH_NOT_PRECEDENCE" in modes
    if not joins and not binds:
        return sql
    if joins and "ORACLE" in modes:
        raise NotComputable("|| in sql_mode ORACLE, where NULL is not text")
    reader = _RewritingReader(tokens, sql, joins=joins, binds=binds)
    reader.whole()
    return reader.rewritten()


class _RewritingReader(Reader):
    """Reads an expression in which || `joins` text and NOT `binds` like !, and writes it anew."""

    def __init__(self, tokens: list[Token], sql: str, *, joins: bool, binds: bool) -> None:
        super().__init__(tokens, sql)
        self._joins, self._binds = joins, binds
        self._before: dict[int, str] = {}
        self._after: dict[int, str] = {}
        self._commas: list[Token] = []

    def rewritten(self) -> str:
        """The SQL that means the same in the default mode."""
        parts, commas = [], {token.start for token in self._commas}
        for place in range(len(self._sql) + 1):
            parts.append(self._after.get(place, "") + self._before.get(place, ""))
            in_comma = place in commas or place - 1 in commas
            parts.append("," if place in commas else "" if in_comma else self._sql[place:place + 1])
        return "".join(parts)

    def _put_around(self, start: int, opening: str) -> None:
        """Enclose the SQL from `start` to where the reader is; outer calls are read later than inner ones."""
        end = self._tokens[self._place - 1].end
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
        self._put_around(start, "CONCAT(")
        return Call("CONCAT", tuple(parts))

    def _unary(self) -> Node:
        start = self.token.start
        if not (self._binds and self._take("NOT")):
            return super()._unary()
        node = Call("NOT", (self._signed(),))
        self._put_around(start, "(")
        return node
