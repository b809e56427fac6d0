"""The grammar of operands in SQL expressions: literals, names, CASE, and calls of functions with words of their own.

Source: MySQL manual, "Literal Values", "Expressions", "Built-In Functions".
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from applier.errors import NotComputable
from applier.sql.nodes import Call, Literal, Name, Node
from applier.sql.token_reader import TokenReader
from applier.sql.tokens import Token

BITS, SUM = 6, 9
"""Levels of precedence (`grammar`): of bit operators, and of sums."""
_TYPES = {"TIMESTAMP": "DATETIME"}
_WITHOUT_PARENTHESES = {"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "LOCALTIME", "LOCALTIMESTAMP", "UTC_DATE",
                        "UTC_TIME", "UTC_TIMESTAMP"}
_SYNONYMS = {
    "CURRENT_TIMESTAMP": "NOW", "LOCALTIME": "NOW", "LOCALTIMESTAMP": "NOW", "CURRENT_DATE": "CURDATE",
    "CURRENT_TIME": "CURTIME", "UCASE": "UPPER", "LCASE": "LOWER", "CHARACTER_LENGTH": "CHAR_LENGTH",
    "OCTET_LENGTH": "LENGTH", "SUBSTR": "SUBSTRING", "MID": "SUBSTRING", "CEIL": "CEILING", "SHA": "SHA1",
    "DAYOFMONTH": "DAY", "DATE_ADD": "ADDDATE", "DATE_SUB": "SUBDATE", "POWER": "POW",
    "NVL": "IFNULL", "LENGTHB": "LENGTH",
    "ST_GEOMETRYFROMTEXT": "ST_GEOMFROMTEXT", "GEOMFROMTEXT": "ST_GEOMFROMTEXT",
    "GEOMETRYFROMTEXT": "ST_GEOMFROMTEXT", "ST_POINTFROMTEXT": "ST_GEOMFROMTEXT",
    "ST_LINESTRINGFROMTEXT": "ST_GEOMFROMTEXT", "ST_POLYGONFROMTEXT": "ST_GEOMFROMTEXT",
}
ORACLE_FUNCTIONS = {
    "CONCAT": "CONCAT_OPERATOR_ORACLE", "LENGTH": "CHAR_LENGTH", "REPLACE": "REPLACE_ORACLE", "TRIM": "TRIM_ORACLE",
    "LTRIM": "LTRIM_ORACLE", "RTRIM": "RTRIM_ORACLE", "LPAD": "LPAD_ORACLE", "RPAD": "RPAD_ORACLE",
    "DECODE": "DECODE_ORACLE",
    **dict.fromkeys(("SUBSTR", "SUBSTRING", "MID"), "SUBSTR_ORACLE")}
"""The functions that MariaDB takes in sql_mode ORACLE."""
_SCHEMAS: dict[str, dict[str, str]] = {"mariadb_schema": {}, "oracle_schema": ORACLE_FUNCTIONS}


def _decoded(subject: Node, *branches: Node) -> Node:
    """DECODE: values to compare with, where NULL equals NULL, and results in turn; the rest is the ELSE."""
    pairs = tuple(Call("<=>", (subject, branch)) if number % 2 == 0 else branch
                  for number, branch in enumerate(branches[:len(branches) // 2 * 2]))
    return Call("CASE", (*pairs, branches[-1] if len(branches) % 2 else Literal("null")))


_AFTER_INTERVALS = frozenset({"+", "-", "=", "<", ">", "<=", ">=", "<>", "!=", "<=>", "IN", "IS", "BETWEEN", "LIKE",
                              "REGEXP", "RLIKE", "NOT", "<<", ">>", "&", "|"})
"""Words after `INTERVAL 1 DAY + x` that MariaDB reads as part of x."""


class OperandReader(TokenReader, ABC):
    """Reads what stands between operators."""

    @abstractmethod
    def expression(self, level: int) -> Node:
        """Parse an expression of operators of this level of precedence or higher ones."""

    def _primary(self) -> Node:
        if self._take("("):
            node = self.expression(0)
            self._expect(")")
            return node
        if self.word == "CASE":
            return self._case()
        if self._take("{"):  # ODBC: a type with its literal, or a word of any kind before an expression
            word = self._next()
            typed = {"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}.get(word.keyword)
            made = self._temporal(typed) if typed and self.token.kind == "string" else self.expression(0)
            self._expect("}")
            return made
        token = self._next()
        following = self.token
        if token.kind == "number":
            return Literal("number", token.text)
        if token.kind == "bytes":
            return Literal("bytes", token.text, is_number=token.is_number)
        if token.kind == "string":
            return self._string(token)
        if token.kind == "name":
            return self._named(token)
        if token.kind != "word":
            self._at -= 1
            raise self.unknown()
        if token.text.startswith("_") and following.kind in ("string", "bytes"):
            self._at += 1
            charset = token.text[1:].lower()
            if following.kind == "bytes":
                return Literal("bytes", following.text, charset)
            return Literal("string", self._string(following).text, charset)
        if token.keyword in ("TRUE", "FALSE"):
            return Literal("bool", str(int(token.keyword == "TRUE")))
        if token.keyword == "NULL":
            return Literal("null")
        if token.keyword in ("DATE", "TIME", "TIMESTAMP") and following.kind == "string":
            return self._temporal(token.keyword)
        if token.keyword == "INTERVAL" and self.word == "(" and (found := self._interval_function()):
            return found
        if token.keyword == "INTERVAL":  # INTERVAL 1 DAY + x
            interval = self._interval()
            self._expect("+")
            instant = self.expression(SUM + 1)
            if self.word in _AFTER_INTERVALS:  # to which MariaDB adds the interval, too
                raise NotComputable("INTERVAL … + a sum or a comparison")
            return Call("+", (instant, interval))
        if self.word == "(":
            return self._call(token.keyword)
        if token.keyword in _WITHOUT_PARENTHESES:
            return Call(_SYNONYMS.get(token.keyword, token.keyword))
        return self._named(token)

    def _string(self, token: Token) -> Literal:
        text = token.text
        while self.token.kind == "string":
            text += self._next().text
        return Literal("string", text)

    def _temporal(self, word: str) -> Node:
        """A literal with its type, of as many digits behind the point as it has."""
        text = self._string(self._next())
        found = re.fullmatch(r"[-/\d:\sT]*\.(\d*)\s*", text.text)
        digits = min(6, len(found[1])) if found else 0
        return Call("CAST", (text,), "DATE" if word == "DATE" else f"{_TYPES.get(word, word)}({digits})")

    def _named(self, token: Token) -> Node:
        """A column's name is the last part: its table and database precede it. MariaDB's functions may have the schema
        whose sql_mode they are of, as it shows those of other modes."""
        schema = ""
        while self.word == ".":
            schema = token.text.lower()
            self._at += 1
            token = self._next()
        if self.word == "(" and schema in _SCHEMAS:
            return self._call(_SCHEMAS[schema].get(token.text.upper(), token.text.upper()))
        if token.kind not in ("word", "name"):
            raise self.unknown()
        return Name(token.text)

    def _case(self) -> Node:
        self._expect("CASE")
        subject = () if self.word == "WHEN" else (self.expression(0),)
        branches: list[tuple[Node, Node]] = []
        while self._take("WHEN"):
            when = self.expression(0)
            self._expect("THEN")
            branches.append((when, self.expression(0)))
        node: Node = self.expression(0) if self._take("ELSE") else Literal("null")
        self._expect("END")
        if not branches:
            raise self.unknown()
        return Call("SIMPLE CASE" if subject else "CASE",
                    (*subject, *(part for branch in branches for part in branch), node))

    def _arguments(self, *separators: str) -> tuple[Node, ...]:
        self._expect("(")
        found: list[Node] = []
        while not self._take(")"):
            if found and not self._take(*separators):
                self._expect(",")
            found.append(self._interval() if self._take("INTERVAL") else self.expression(0))
        return tuple(found)

    def _interval(self) -> Node:
        count = self.expression(0)
        return Call("INTERVAL", (count,), self._next().keyword)

    def _interval_function(self) -> Node | None:
        """INTERVAL as a function; None if it is one value in parentheses before a unit."""
        start = self._at
        arguments = self._arguments()
        if len(arguments) > 1:
            return Call("INTERVAL", arguments)
        self._at = start
        return None

    def _call(self, name: str) -> Node:
        if name in ("CAST", "CONVERT"):
            return self._cast()
        if name == "EXTRACT":
            self._expect("(")
            unit = self._next().keyword
            self._expect("FROM")
            value = self.expression(0)
            self._expect(")")
            return Call("EXTRACT", (value,), unit)
        if name in ("TIMESTAMPADD", "TIMESTAMPDIFF"):
            self._expect("(")
            unit = self._next().keyword
            self._expect(",")
            self._at -= 1
            self._tokens[self._at] = Token("sign", "(", self.token.start, self.token.end)
            return Call(name, self._arguments(), unit.removeprefix("SQL_TSI_"))
        if name == "POSITION":
            self._expect("(")
            sought = self.expression(BITS)
            self._expect("IN")
            within = self.expression(0)
            self._expect(")")
            return Call("LOCATE", (sought, within))
        if name in ("TRIM", "TRIM_ORACLE"):
            return self._trim(name)
        if name == "CHAR":
            return self._characters()
        if name == "JSON_VALUE":
            return self._json_value()
        name = _SYNONYMS.get(name, name)
        arguments = self._arguments(*("FROM", "FOR") if name in ("SUBSTRING", "SUBSTR_ORACLE") else ())
        if name == "NVL2" and len(arguments) == 3:
            return Call("IF", (Call("ISNULL", arguments[:1]), arguments[2], arguments[1]))
        if name == "DECODE_ORACLE" and len(arguments) > 2:
            return _decoded(*arguments)
        if name in ("ADDDATE", "SUBDATE") and len(arguments) == 2:
            interval = arguments[1] if isinstance(arguments[1], Call) and arguments[1].name == "INTERVAL" else \
                Call("INTERVAL", (arguments[1],), "DAY")
            return Call("-" if name == "SUBDATE" else "+", (arguments[0], interval))
        return Call(name, arguments)

    def _trim(self, name: str) -> Node:
        self._expect("(")
        where = self._next().keyword if self.word in ("LEADING", "TRAILING", "BOTH") else ""
        removed = None if self.word == "FROM" else self.expression(0)
        if removed is not None and not self._take("FROM"):
            if where:
                raise self.unknown()
            self._expect(")")
            return Call(name, (removed,))
        if removed is None:
            self._expect("FROM")
        text = self.expression(0)
        self._expect(")")
        return Call(name, (text,) if removed is None else (text, removed), where)

    def _json_value(self) -> Node:
        """JSON_VALUE with the type that it returns."""
        self._expect("(")
        document = self.expression(0)
        self._expect(",")
        path = self.expression(0)
        start = self.token.start
        if self._take("RETURNING"):
            start = self.token.start
            self._take("SIGNED", "UNSIGNED")
        word = self._sql[start:self.token.start].strip().upper()
        self._expect(")")
        return Call("JSON_VALUE", (document, path), word)

    def _characters(self) -> Node:
        self._expect("(")
        found = [self.expression(0)]
        while self._take(","):
            found.append(self.expression(0))
        charset = self._next().text if self._take("USING") else ""
        self._expect(")")
        return Call("CHAR", tuple(found), charset)

    def _cast(self) -> Node:
        self._expect("(")
        value = self.expression(0)
        if self._take("USING"):
            word = "CHARSET " + self._next().text
        else:
            if not self._take("AS"):
                self._expect(",")
            start, depth = self.token.start, 0
            while depth or self.word != ")":
                depth += {"(": 1, ")": -1}.get(self.word, 0)
                self._next()
            word = " ".join(self._sql[start:self.token.start].upper().split())
        self._expect(")")
        return Call("CAST", (value,), word)
