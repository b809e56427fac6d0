"""The grammar of SQL expressions and their operators, in the default sql_mode; `sql_modes` has what other modes read in
another way, `operand_grammar` what stands between operators.

Source: MySQL manual, "Operator Precedence".
"""

from __future__ import annotations

from functools import lru_cache

from applier.errors import NotComputable, SchemaError
from applier.sql.nodes import Call, Literal, Name, Node, levels_of, nodes_of
from applier.sql.operand_grammar import BITS, OperandReader
from applier.sql.token_reader import operator_tokens
from applier.sql.tokens import Token

MOST_DEPTH = 100
"""The most levels of an expression as written; deeper ones are not computed."""
_MOST_LEVELS = 200
"""The most levels of its tree, in which each operator of a chain has a level of its own."""
_LEVELS = [
    {"||": "OR", "OR": "OR"}, {"XOR": "XOR"}, {"&&": "AND", "AND": "AND"}, {},
    {"=": "=", "<=>": "<=>", ">=": ">=", ">": ">", "<=": "<=", "<": "<", "<>": "<>", "!=": "<>", "IS": "IS"},
    {"LIKE": "LIKE", "IN": "IN", "BETWEEN": "BETWEEN", "NOT": "NOT", "REGEXP": "REGEXP", "RLIKE": "REGEXP",
     "SOUNDS": "SOUNDS", "MEMBER": "MEMBER"},
    {"|": "|"}, {"&": "&"}, {"<<": "<<", ">>": ">>"}, {"-": "-", "+": "+"},
    {"*": "*", "/": "/", "DIV": "DIV", "%": "MOD", "MOD": "MOD"}, {"^": "^"},
]
_NOT, _COMPARISON, _PREDICATE = 3, 4, 5
"""Precedence levels. The manual has comparisons and predicates as one; the servers' grammars do not."""


@lru_cache(1024)
def parse_expression(sql: str) -> Node:
    """Parse an expression. Raises NotComputable if it is not one, or has an unknown form."""
    try:
        tokens = operator_tokens(sql)
    except SchemaError as error:
        raise NotComputable(error.message) from None
    node = Reader(tokens, sql).whole()
    if levels_of(node) > _MOST_LEVELS:
        raise NotComputable("an expression with too many levels")
    return node


def has_columns(sql: str) -> bool:
    """True if an expression names columns, or has an unknown form."""
    try:
        return any(isinstance(node, Name) for node in nodes_of(parse_expression(sql)))
    except NotComputable:
        return True


def is_literal(sql: str) -> bool:
    """True if an expression is one literal."""
    try:
        return isinstance(parse_expression(sql), Literal)
    except NotComputable:
        return False


class Reader(OperandReader):
    """Reads expressions, operators by their levels."""

    def __init__(self, tokens: list[Token], sql: str) -> None:
        super().__init__(tokens, sql)
        self._depth = 0

    def whole(self) -> Node:
        """Parse all tokens to a tree."""
        node = self.expression(0)
        if self.token.kind != "end":
            raise self.unknown()
        return node

    def expression(self, level: int) -> Node:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise NotComputable("an expression with too many levels")
        node = self._of_level(level)
        self._depth -= 1
        return node

    def _of_level(self, level: int) -> Node:
        left = self._negation() if level <= _NOT else self._operand()
        for _ in range(MOST_DEPTH):
            found = next((at for at in range(level, len(_LEVELS)) if self.word in _LEVELS[at]), None)
            if found is None:
                return left
            name = _LEVELS[found][self.word]
            self._at += 1
            if found in (_COMPARISON, _PREDICATE):
                left = self._comparison(left, name)
            elif name in ("+", "-") and self._take("INTERVAL"):
                left = Call(name, (left, self._interval()))
            else:
                left = Call(name, (left, self.expression(found + 1)))
        raise NotComputable("an expression with too many operators")

    def _comparison(self, left: Node, name: str) -> Node:
        negated = name == "NOT"
        if negated:
            name = _LEVELS[_PREDICATE].get(self.word, "")
            self._next()
        if name == "IS":
            negated = self._take("NOT")
            if self.word in ("TRUE", "FALSE"):  # never NULL
                truth = Literal("bool", str(int(self._next().keyword == "TRUE")))
                made: Node = Call("<=>", (Call("NOT", (Call("NOT", (left,)),)), truth))
            elif self._take("NULL", "UNKNOWN"):
                made = Call("ISNULL", (left,))
            else:
                raise self.unknown()
        elif name == "IN":
            made = Call("IN", (left, *self._arguments()))
        elif name == "SOUNDS":
            self._expect("LIKE")
            made = Call("=", (Call("SOUNDEX", (left,)), Call("SOUNDEX", (self.expression(BITS),))))
        elif name == "MEMBER":
            self._take("OF")
            made = Call("MEMBER OF", (left, *self._arguments()))
        elif name == "BETWEEN":
            low = self.expression(BITS)
            self._expect("AND")
            high = self.expression(_PREDICATE)
            made = Call("BETWEEN", (left, low, high))
        else:
            made = Call(name, (left, self.expression(BITS if name in ("LIKE", "REGEXP") else _PREDICATE)))
            if name == "LIKE" and self._take("ESCAPE"):
                made = Call(name, (*made.arguments, self._primary()))
        return Call("NOT", (made,)) if negated else made

    def _negation(self) -> Node:
        return Call("NOT", (self.expression(_NOT),)) if self._take("NOT") else self._operand()

    def _operand(self) -> Node:
        """Parse the text between operators."""
        return self._unary()

    def _unary(self) -> Node:
        if self._take("-"):
            if self.word == "INTERVAL":
                raise NotComputable("- INTERVAL … +, which MariaDB subtracts")
            return Call("NEG", (self._signed(),))
        if self._take("+"):
            return self._signed()
        if self._take("!"):
            return Call("NOT", (self._signed(),))
        if self._take("~"):
            return Call("~", (self._signed(),))
        if self._take("BINARY"):
            return Call("CAST", (self._signed(),), "BINARY")
        return self._behind(self._primary())

    def _signed(self) -> Node:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise NotComputable("an expression with too many levels")
        node = self._unary()
        self._depth -= 1
        return node

    def _behind(self, node: Node) -> Node:
        while self.word in ("->", "->>", "COLLATE"):
            word = self._next().text
            if word == "->":
                node = Call("JSON_EXTRACT", (node, self._primary()))
            elif word == "->>":
                node = Call("JSON_UNQUOTE", (Call("JSON_EXTRACT", (node, self._primary())),))
            else:
                node = Call("COLLATE", (node,), self._next().text.lower())
        return node
