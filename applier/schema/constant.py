"""Constant SQL expressions, as a DEFAULT may have them: evaluated where their value cannot depend on time or row."""

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

Value = None | bool | int | float | Decimal | str | bytes | bytearray | list | dict
"""bytes are a literal, which is a number too; a bytearray is a string of bytes that an expression made."""

CODECS = {"utf8mb4": "utf-8", "utf8mb3": "utf-8", "ascii": "ascii", "latin1": "cp1252"}
"""The character sets in which a literal's bytes are read; those in others are refused."""


class EncodedText(str):
    """Text that was written as its bytes in a character set."""

    data: bytes

    def __new__(cls, data: bytes, codec: str) -> "EncodedText":
        text = super().__new__(cls, data.decode(codec))
        text.data = data
        return text


class NotConstant(Exception):
    """The expression is none that this module can evaluate; the text says which part of it."""


def evaluate(sql: str) -> Value:
    """The value of an expression: exact numbers as Decimal, JSON arrays and objects as lists and dicts.

    It may be made of literals, + - * over exact numbers, CONCAT, REPEAT, LOWER, UPPER, UNHEX, JSON_ARRAY, JSON_OBJECT
    and CAST(… AS JSON). Raises NotConstant for all else.
    """
    import sqlglot  # 0.15 s to import, and few tables need it
    from sqlglot.errors import SqlglotError

    try:
        return _value(sqlglot.parse_one(sql, dialect="mysql"))
    except (SqlglotError, ValueError) as error:
        raise NotConstant(str(error).partition("\n")[0]) from None


def json_text(value: Value) -> str:
    """A value as the text of a MySQL JSON document: members by the length, then the bytes, of their names."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: (len(name.encode()), name.encode()))
        return "{" + ", ".join(f"{json_text(name)}: {json_text(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(json_text, value)) + "]"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return repr(value).replace("e+", "e")
    if isinstance(value, bytes | bytearray):
        raise NotConstant("bytes in a JSON document")
    return json.dumps(value, ensure_ascii=False)


def _value(node: Any) -> Value:
    evaluator = _EVALUATORS.get(node.name.upper() if type(node).__name__ == "Anonymous" else type(node).__name__)
    if evaluator is None:
        raise NotConstant(node.sql(dialect="mysql"))
    return evaluator(node)


def _literal(node: Any) -> Value:
    if node.is_string:
        return node.this
    return float(node.this) if "e" in node.this.lower() else Decimal(node.this)


def _introduced(node: Any) -> Value:
    """_charset'…' or _charset x'…': text, with the bytes that a binary column takes of it."""
    value, charset = _value(node.expression), str(node.this).lower().removeprefix("_")
    if not isinstance(value, bytes):
        return value
    if charset == "binary":
        return bytearray(value)
    codec = CODECS.get("utf8mb3" if charset == "utf8" else charset)
    if codec is None:
        raise NotConstant(node.sql(dialect="mysql"))
    return EncodedText(value, codec)


def _cast(node: Any) -> Value:
    if node.to.sql().upper() != "JSON":
        raise NotConstant(node.sql(dialect="mysql"))
    value = json.loads(_text(node.this))
    if value is None:
        raise NotConstant("JSON's null, which is not NULL")
    return value


def _number(node: Any) -> Decimal:
    value = _value(node)
    if isinstance(value, str):
        try:
            return Decimal(value)
        except InvalidOperation:
            raise NotConstant(node.sql(dialect="mysql")) from None
    if not isinstance(value, Decimal):
        raise NotConstant(node.sql(dialect="mysql"))
    return value


def _text(node: Any) -> str:
    value = _value(node)
    if isinstance(value, Decimal):
        return format(value, "f")
    if not isinstance(value, str):
        raise NotConstant(node.sql(dialect="mysql"))
    return value


# By the name of sqlglot's class, or of the function where it has no class for it.
_EVALUATORS: dict[str, Callable[[Any], Value]] = {
    "Paren": lambda node: _value(node.this),
    "Introducer": _introduced,
    "Null": lambda _: None,
    "Boolean": lambda node: bool(node.this),
    "Literal": _literal,
    "HexString": lambda node: bytes.fromhex(node.this.zfill(-(-len(node.this) // 2) * 2)),
    "Neg": lambda node: -_number(node.this),
    "Add": lambda node: _number(node.this) + _number(node.expression),
    "Sub": lambda node: _number(node.this) - _number(node.expression),
    "Mul": lambda node: _number(node.this) * _number(node.expression),
    "Cast": _cast,
    "Concat": lambda node: "".join(map(_text, node.expressions)),
    "Repeat": lambda node: _text(node.this) * int(_number(node.args["times"])),
    "Lower": lambda node: _text(node.this).lower(),
    "Upper": lambda node: _text(node.this).upper(),
    "Unhex": lambda node: bytearray.fromhex(_text(node.this)),
    "JSONObject": lambda node: {_text(pair.this): _value(pair.expression) for pair in node.expressions},
    "JSONArray": lambda node: list(map(_value, node.expressions)),
    "JSON_ARRAY": lambda node: list(map(_value, node.expressions)),
}
