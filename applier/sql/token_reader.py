"""The tokens of an expression, whose signs are whole operators, and a reader of them."""

from __future__ import annotations

from applier.errors import NotComputable
from applier.sql.tokens import Token, tokenize

_SIGNS = ("<=>", "->>", "||", "&&", ">=", "<=", "<>", "!=", "<<", ">>", "->")


def operator_tokens(sql: str) -> list[Token]:
    """The tokens of an expression, its signs whole operators. Raises SchemaError."""
    tokens = tokenize(sql)
    joined: list[Token] = []
    number = 0
    while number < len(tokens):
        token, size = tokens[number], 1
        for sign in _SIGNS if token.kind == "sign" else ():
            together = tokens[number:number + len(sign)]
            if "".join(part.text for part in together) == sign and all(part.kind == "sign" for part in together) \
                    and together[-1].end - together[0].start == len(sign):
                token, size = Token("sign", sign, token.start, together[-1].end), len(sign)
                break
        joined.append(token)
        number += size
    return joined


class TokenReader:
    """Reads the tokens of an expression from left to right."""

    def __init__(self, tokens: list[Token], sql: str) -> None:
        self._tokens, self._sql, self._at = tokens, sql, 0

    @property
    def token(self) -> Token:
        return self._tokens[self._at]

    @property
    def word(self) -> str:
        return self.token.text if self.token.kind == "sign" else self.token.keyword

    def unknown(self) -> NotComputable:
        return NotComputable(f"{self._sql[self.token.start:][:60] or 'the end'!r} in ({self._sql[:200]})")

    def _take(self, *words: str) -> bool:
        if self.word in words and self.word:
            self._at += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise self.unknown()

    def _next(self) -> Token:
        if self.token.kind == "end":
            raise self.unknown()
        self._at += 1
        return self._tokens[self._at - 1]
