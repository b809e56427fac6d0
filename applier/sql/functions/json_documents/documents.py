"""Values as documents of JSON, and as paths in them.

MySQL's documents are canonical: their text is the result of `jsondiff.normalize`. MariaDB's are text, with numbers and
strings as written. Source of the functions here: MySQL manual, "JSON Functions"; judged by both servers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
<<<<<<< HEAD
from applier.mysql.types import BINARY, GEOMETRY, MEMBERS, TEMPORAL, ColumnType
from applier.sql.casting.byte_strings import bytes_of_text
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.texts import WIDE, by_distinct
from applier.sql.casting.values import convert_values
from applier.sql.functions.combinations import computed
from applier.sql.functions.json_documents.document_nodes import Node, found, parsed
from applier.sql.nodes import Call
from applier.sql.values import (
    BOOL,
    BYTES,
    JSON,
    TEXT,
    Arguments,
    Function,
    Value,
    as_text,
    is_ascii,
    numbers,
    one,
    shown_bytes,
    together,
    truth,
)
from jsondiff.encode import encode
=======
from applier.mysql.types import BINARY
from applier.sql.casting.texts import by_distinct
from applier.sql.values import TEXT, Arguments, Value, as_text, one, shown_bytes
>>>>>>> main
from jsondiff.normalize import normalize
from jsondiff.path import Path, PathError
from jsondiff.path import parse as parse_path
from jsondiff.text import from_text
from jsondiff.values import DocumentError

_LOOSE = re.compile(r"\\|\d[.eE]")


def as_documents(value: Value, session: Session) -> pa.Array:
    """Return values as documents, in text. Raises NotComputable for a value that is not text."""
    text = as_text(value, session)
    if session.flavour == "mysql":
        try:
            return text if value.type.base == "json" else normalize(text)
        except DocumentError as error:
            raise NotComputable(str(error)) from None
    if value.type.base in BINARY or not value.shows:
        raise NotComputable("a document from bytes, or from digits that are not known")
    return text


def paths_of(arguments: Arguments) -> list[Path]:
    """Return the paths that arguments of a JSON function name. Raises NotComputable for text that is not a path."""
    texts = [Value(shown_bytes(value), TEXT, value.constant) if value.type.base in BINARY else value
             for value in arguments]
    try:
        return [parse_path(str(one(value))) for value in texts]
    except PathError as error:
        raise NotComputable(f"a path: {error}") from None


def unquoted(documents: pa.Array) -> pa.Array:
    """Return the characters of documents that are strings, and the texts of others."""
    def characters(text: str) -> str:
        if len(text) < 2 or text[0] != '"' or text[-1] != '"':
            return text
        try:
            read: str = json.loads(text, strict=False)
        except ValueError:
            raise NotComputable(f"JSON_UNQUOTE of {text[:100]!r}") from None
        return read

    return by_distinct(documents, characters)


def reading(read: Callable[[str], Any], session: Session) -> Callable[[str], Any]:
    """Return a function that reads a document; for a text that is not one, NULL in MariaDB."""
    def made(text: str) -> Any:
        return read(text) if session.flavour == "mysql" or is_document(text) else None

    return made


def is_document(text: str) -> bool:
    """Return whether MariaDB takes a text as a document. Raises NotComputable where it takes more than JSON has: any
    escape, `1.`, and numbers of any size."""
    if begins_with_number(text):
        return False
    try:
        from_text(text)
    except DocumentError:
        if _LOOSE.search(text):
            raise NotComputable(f"whether {text[:100]!r} is a document") from None
        return False
    return True


def begins_with_number(text: str) -> bool:
    """Return whether a text begins with a number and continues, like that of a date."""
    return _MORE_THAN_NUMBER.match(text) is not None


_MORE_THAN_NUMBER = re.compile(r"\s*-?(?:0\d|\d+(?:\.\d+)?(?:\s+\S|[^\s\d.eE]))")
<<<<<<< HEAD


def _keys(node: Node, paths: list[Path]) -> str | None:
    part = found(node, (paths or [Path()])[0], "mysql")
    names = part.names if part is not None else ()
    return "[" + ", ".join(dict.fromkeys(names)) + "]" if part is not None and part.kind == "{" else None


def _exists(node: Node, paths: list[Path]) -> bool:
    return found(node, paths[0], "mariadb") is not None


def _depth(node: Node, _: list[Path]) -> int:
    return 1 + max((_depth(part, []) for part in node.parts), default=0)


def _compact(node: Node, _: list[Path]) -> str:
    """The text without spaces."""
    parts = [_compact(part, []) for part in node.parts]
    if node.kind == "{":
        return "{" + ",".join(f"{name}:{part}" for name, part in zip(node.names, parts, strict=True)) + "}"
    return "[" + ",".join(parts) + "]" if node.kind else node.text


def _type(node: Node, _: list[Path]) -> str:
    """In MySQL text does not tell the types of numbers, and whether a string is one, or a date."""
    if node.kind:
        return "OBJECT" if node.kind == "{" else "ARRAY"
    if node.text in ("true", "false", "null"):
        return "NULL" if node.text == "null" else "BOOLEAN"
    raise NotComputable("JSON_TYPE of a number or a string")


def _written_type(node: Node, paths: list[Path]) -> str:
    """In MariaDB."""
    if node.kind or node.text in ("true", "false", "null"):
        return _type(node, paths)
    return "STRING" if node.text[0] == '"' else "DOUBLE" if "." in node.text else "INTEGER"


def _type_of(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_TYPE: text that is parsed has whole numbers, doubles and strings."""
    [value] = arguments
    if session.flavour == "mariadb" or not value.is_text:
        read_type = _type if session.flavour == "mysql" else _written_type
        return _of_document(read_type, pa.string())(arguments, call, session, n)

    def read(text: str) -> str:
        node = parsed(text)
        if node.kind or node.text in ("true", "false", "null"):
            return _type(node, [])
        if node.text.startswith('"'):
            return "STRING"
        if not node.text.removeprefix("-").isdigit() or not -2**63 <= int(node.text) < 2**64:
            return "DOUBLE"
        return "INTEGER" if int(node.text) < 2**63 else "UNSIGNED INTEGER"

    return Value(by_distinct(as_documents(value, session), read), TEXT, value.constant)


def _pretty(node: Node, _: list[Path]) -> str:
    return _lines(node, "\n")


def _lines(node: Node, indent: str) -> str:
    if not node.parts:
        return node.written()
    within = indent + "  "
    parts = [_lines(part, within) for part in node.parts]
    if node.kind == "{":
        parts = [f"{name}: {part}" for name, part in zip(node.names, parts, strict=True)]
    return node.kind + ",".join(within + part for part in parts) + indent + {"{": "}", "[": "]"}[node.kind]


def _detailed(node: Node, _: list[Path]) -> str:
    return _detailed_lines(node, "\n")


def _detailed_lines(node: Node, indent: str) -> str:
    """Return MariaDB's form of several lines: a value with parts begins a line of its own."""
    if not node.kind or (node.kind == "[" and not node.parts):
        return node.written()
    within = indent + "    "
    parts = [_detailed_lines(part, within) for part in node.parts]
    if node.kind == "{":
        parts = [f"{name}: {within if part.kind else ''}{text}"
                 for name, part, text in zip(node.names, node.parts, parts, strict=True)]
    return node.kind + ",".join(within + part for part in parts) + indent + {"{": "}", "[": "]"}[node.kind]


def _stored_size(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_STORAGE_SIZE: the bytes of the binary document. The text of a JSON value does not tell every type, nor how
    much room partial updates left in a column."""
    [value] = arguments
    if session.flavour != "mysql" or not (value.is_text or value.type.base == "json"):
        raise NotComputable(f"{call.name}(…)")
    documents = as_documents(value, session)
    if not value.is_text and (value.is_column or pc.any(pc.match_substring_regex(documents, _TYPED)).as_py()):
        raise NotComputable("JSON_STORAGE_SIZE of a document whose text does not tell its size")
    made = by_distinct(documents, lambda text: len(encode(from_text(text))), pa.int64())
    return numbers(made, constant=value.constant)


_TYPED = r'(^|[\[:,] ?)("(-?\d|base64:)|-?\d+[.eE])'
"""Scalars of a canonical text that may have been made of a date, a time, bytes or a DECIMAL."""


def _queried(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_QUERY of MariaDB: the part that is an object or an array, as written in the document."""
    [path] = paths_of(arguments[1:]) or [Path()]

    def query(text: str) -> str | None:
        part = found(parsed(text), path, session.flavour)
        if part is None or not part.kind:
            return None
        whole = text.strip()
        if path == Path() or part.written() in whole:
            return whole if path == Path() else part.written()
        raise NotComputable("JSON_QUERY of a part with other spaces than usual")

    return Value(by_distinct(as_documents(arguments[0], session), _read(query, session)), JSON, arguments[0].constant)


def _overlap(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_OVERLAPS: whether arrays share a value, objects a member, or two values are equal."""
    if session.flavour != "mysql":
        raise NotComputable(f"{call.name}(…)")
    if any(value.is_null for value in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    arrays = together([replace(value, values=as_documents(value, session)) for value in arguments], n)
    made = computed(arrays, lambda one, other: _overlaps(parsed(one), parsed(other)), pa.bool_())
    return truth(made, constant=all(value.constant for value in arguments))


def _overlaps(one: Node, other: Node) -> bool:
    if one.kind == other.kind == "{":
        members = {(name, _comparable(part)) for name, part in one.members()}
        return any((name, _comparable(part)) in members for name, part in other.members())
    values = {_comparable(part) for part in (one.parts if one.kind == "[" else (one,))}
    return any(_comparable(part) in values for part in (other.parts if other.kind == "[" else (other,)))


def _contains(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_CONTAINS: whether a document, or the part to which a path leads, has another one in it."""
    if any(value.is_null for value in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    [path] = paths_of(arguments[2:]) or [Path()]
    arrays = together([replace(value, values=as_documents(value, session)) for value in arguments[:2]], n)

    def has(text: str, sought: str) -> bool | None:
        if session.flavour == "mariadb" and not (is_document(text) and is_document(sought)):
            return None
        part = found(parsed(text), path, session.flavour)
        if part is None:
            return None if session.flavour == "mysql" else False
        return _has(part, parsed(sought))

    made = computed(arrays, has, pa.bool_())
    return truth(made, constant=all(value.constant for value in arguments[:2]))


def _has(node: Node, sought: Node) -> bool:
    if node.kind == "[":
        return all(any(_has(part, one) for part in node.parts) for one in (
            sought.parts if sought.kind == "[" else (sought,)))
    if node.kind == "{":
        members = dict(node.members())
        return sought.kind == "{" and all(name in members and _has(members[name], part)
                                          for name, part in sought.members())
    return not sought.kind and _comparable(node) == _comparable(sought)


def _is_member(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MEMBER OF: whether an array has a value, or a document is it."""
    value, documents = arguments
    if any(argument.is_null for argument in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    arrays = together([as_part(value, session), replace(documents, values=as_documents(documents, session))], n)
    arrays[0] = pc.if_else(value.of_rows(len(arrays[0])).is_null(), pa.scalar(None, pa.string()), arrays[0])

    def has(one: str, within: str) -> bool:
        node = parsed(within)
        return _comparable(parsed(one)) in map(_comparable, node.parts if node.kind == "[" else (node,))

    made = computed(arrays, has, pa.bool_())
    return truth(made, constant=all(argument.constant for argument in arguments))


def _comparable(node: Node) -> object:
    """A value that is equal where two parts of documents are."""
    if node.kind == "{":
        return frozenset((name, _comparable(part)) for name, part in node.members())
    if node.kind == "[":
        return tuple(map(_comparable, node.parts))
    if node.text.startswith('"') or node.text in ("true", "false", "null"):
        return node.text
    return Decimal(node.text)


def _is_of_schema(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_SCHEMA_VALID by the schema that has no rule."""
    schema, value = arguments
    if session.flavour != "mysql" or parsed(str(one(schema))).written() != "{}":
        raise NotComputable("JSON_SCHEMA_VALID by a schema")
    made = as_documents(value, session)
    return truth(pc.if_else(made.is_valid(), True, pa.scalar(None, pa.bool_())), constant=value.constant)


def _contains_path(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, how, *others = arguments
    if any(argument.is_null for argument in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    paths, words = paths_of(others), str(one(how)).lower()
    if words not in ("one", "all"):
        raise NotComputable("JSON_CONTAINS_PATH of neither one nor all")

    def contains(text: str) -> bool:
        document = parsed(text)
        return (any if words == "one" else all)(found(document, path, session.flavour) for path in paths)

    made = by_distinct(as_documents(value, session), _read(contains, session), pa.bool_())
    return truth(made, constant=value.constant)


def _quote(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if session.flavour == "mariadb" and value.type.base in (*BINARY, *GEOMETRY):
        return Value(by_distinct(shown_bytes(value), quoted), TEXT, value.constant)
    text = _shown_text(value, session)
    if session.flavour == "mariadb" and not value.is_text and value.type.base not in TEMPORAL:
        return Value(pa.nulls(len(text), pa.string()), TEXT, value.constant)
    return Value(by_distinct(text, quoted), TEXT, value.constant)


_BYTES = {"varbinary": 15, "tinyblob": 249, "mediumblob": 250, "longblob": 251, "blob": 252, "binary": 254}
"""The numbers by which MySQL's documents name the types of bytes."""
_LINE = 57
"""Bytes of a line of base64."""


def _as_base64(data: bytes, code: int) -> str:
    if len(data) > _LINE:
        raise NotComputable("so many bytes in a document")
    return f'"base64:type{code}:{base64.b64encode(data).decode()}"'


def _misread(value: Value) -> pa.Array:
    """Text in a wide character set as MySQL has it in documents: it takes the bytes for UTF-8 (seen on 9.7)."""
    if value.type.collation is None:
        raise NotComputable(f"a function's text in {value.type.charset} in a document")
    try:
        return bytes_of_text(value.values, value.type.charset or "").cast(pa.string())
    except pa.ArrowInvalid:
        raise NotComputable(f"text in {value.type.charset} in a document, whose bytes are not UTF-8") from None


def _shown_text(value: Value, session: Session) -> pa.Array:
    """A value's text as a SELECT shows it. Raises NotComputable for codes that MariaDB may make NULL: those without a
    character of their own, and backslashes of East Asian sets."""
    text = as_text(value, session)
    if session.flavour == "mariadb" and value.is_text and (not text.equals(value.values) or (
            value.type.charset in MULTI_BYTE and pc.any(pc.match_substring(text, "\\")).as_py())):
        raise NotComputable(f"codes of {value.type.charset} that MariaDB may not find in a document")
    return text


def as_part(value: Value, session: Session) -> Value:
    """A value as a part of a document, as its text."""
    if value.is_null:
        made = pa.nulls(len(value.values), pa.string())
    elif value.values.null_count == len(value.values):
        made = pa.nulls(len(value.values), pa.string())
    elif not value.shows or value.type.base == "bit":
        raise NotComputable("a number whose digits are not known in a document")
    elif value.type.base == "json":
        made = value.values
    elif value.type == BOOL and value.type is not BOOL and session.flavour == "mariadb":
        raise NotComputable("TRUE in a document, which is 1 once it has been stored")
    elif value.type is BOOL:
        made = pc.if_else(pc.equal(value.values, 0), "false", "true")
    elif value.is_text and session.flavour == "mysql" and value.type.charset in WIDE:
        made = by_distinct(_misread(value), quoted)
    elif value.is_text and (session.flavour == "mysql" or value.type.base != "longtext" or not value.is_column):
        made = by_distinct(_shown_text(value, session), quoted)
    elif value.type.base == "double" and session.flavour == "mysql":
        made = by_distinct(value.values, to_text)
    elif pa.types.is_decimal(value.values.type) or pa.types.is_integer(value.values.type) or \
            value.type.base == "double":
        padded = session.flavour == "mysql" and (value.type.zerofill or value.type.base == "year")
        type_ = replace(value.type, base="bigint" if value.type.base == "year" else value.type.base, zerofill=False) \
            if padded else value.type
        made = shown(value.values, type_, session.flavour)
    elif value.type.base in BINARY and session.flavour == "mysql":
        code = _BYTES["varbinary" if value.is_loose else value.type.base]
        made = by_distinct(value.values, lambda data: None if data is None else _as_base64(data, code))
    elif value.type.base in MEMBERS:
        made = by_distinct(_shown_text(value, session), quoted)
    elif value.type.base in BINARY:
        made = by_distinct(shown_bytes(value), quoted)
    elif value.type.base in TEMPORAL and session.flavour == "mariadb":
        made = by_distinct(as_text(value, session), quoted)
    elif value.type.base in TEMPORAL:
        local = replace(value.type, base="datetime") if value.type.base == "timestamp" else value.type
        shown_as = local if local.base == "date" else replace(local, fsp=6)
        clock = convert_values(value.values, value.type, shown_as, session)
        made = by_distinct(convert_values(clock, shown_as, TEXT, session), quoted)
    else:
        raise NotComputable(f"{value.type.base.upper()} in a document")
    return Value(made.fill_null("null"), JSON, value.constant)


def _parts(arguments: Arguments, session: Session) -> list[Value]:
    """Values as parts of a document; beside text in a wide character set, MariaDB makes text of numbers."""
    texts = [value for value in arguments if value.is_text]
    are_wide = {value.type.charset in WIDE for value in [value for value in texts if not value.constant] or texts}
    charsets = {session.literals, *(value.type.charset for value in texts)}
    if session.flavour == "mariadb" and charsets & _NOT_ASCII and len(texts) < len(arguments):
        raise NotComputable("numbers in a document beside text in a character set that has not all of ASCII")
    if session.flavour == "mariadb" and any(value.type.base in BINARY for value in arguments) and (
            charsets & WIDE or not all(is_ascii(value.values) for value in texts)):
        raise NotComputable("bytes in a document beside text that is not ASCII")
    if session.flavour == "mysql" or not (are_wide or {session.literals in WIDE}) - {False}:
        return [as_part(value, session) for value in arguments]
    if len(are_wide) > 1 or any(value.type.base == "json" for value in arguments):
        raise NotComputable("a document beside text in a wide character set")
    return [Value(by_distinct(as_text(value, session), quoted).fill_null("null"), JSON, value.constant)
            for value in arguments]


_NOT_ASCII = frozenset({"sjis", "swe7"})
"""Sets beside which MariaDB makes text of numbers, too (seen of sjis on 10.5)."""


def _array(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    parts = _parts(arguments, session)
    if not parts:
        return Value(pa.array(["[]"]), JSON, constant=True)
    joined = pc.binary_join_element_wise(*together(parts, n), ", ")
    made = pc.binary_join_element_wise("[", joined, "]", "")
    return _of_parts(made, arguments, session, constant=all(part.constant for part in parts))


def _of_parts(made: pa.Array, arguments: Arguments, session: Session, *, constant: bool) -> Value:
    """A document made of parts, which is bytes in MariaDB if one of them is."""
    if session.flavour == "mariadb" and any(value.type.base in BINARY for value in arguments):
        return Value(made.cast(pa.binary()), BYTES, constant)
    return Value(made, JSON, constant)


def _object(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MySQL orders members by the length, then the bytes, of their names, and keeps the last of one name."""
    names = [name.decode() if isinstance(name := one(value), bytes) and name.isascii() and session.flavour == "mariadb"
             else name for value in arguments[::2]]
    if len(arguments) % 2 or not all(isinstance(name, str) for name in names):
        raise NotComputable("JSON_OBJECT whose names are not text")
    members = list(zip(names, _parts(arguments, session)[1::2], strict=True))
    if session.flavour == "mysql":
        members = sorted(dict(members).items(), key=lambda member: (len(member[0].encode()), member[0].encode()))
    if not members:
        return Value(pa.array(["{}"]), JSON, constant=True)
    values = together([part for _, part in members], n)
    parts = [pc.binary_join_element_wise(f"{quoted(name)}: ", array, "")
             for (name, _), array in zip(members, values, strict=True)]
    joined = pc.binary_join_element_wise(*parts, ", ")
    made = pc.binary_join_element_wise("{", joined, "}", "")
    return _of_parts(made, arguments, session, constant=all(part.constant for _, part in members))


FUNCTIONS: dict[str, Function] = {
    "JSON_EXTRACT": _extract, "JSON_UNQUOTE": _unquote, "JSON_VALUE": _value, "JSON_LENGTH": _length,
    "JSON_VALID": _valid, "JSON_QUOTE": _quote, "JSON_ARRAY": _array, "JSON_OBJECT": _object,
    "JSON_KEYS": _of_document(_keys, pa.string()), "JSON_DEPTH": _of_document(_depth, pa.int64()),
    "JSON_EXISTS": _of_document(_exists, pa.bool_(), ["mariadb"]),
    "JSON_COMPACT": _of_document(_compact, pa.string(), ["mariadb"]), "JSON_TYPE": _type_of,
    "JSON_PRETTY": _of_document(_pretty, pa.string(), ["mysql"]), "JSON_SCHEMA_VALID": _is_of_schema,
    "JSON_DETAILED": _of_document(_detailed, pa.string(), ["mariadb"]), "JSON_QUERY": _queried,
    "JSON_OVERLAPS": _overlap, "MEMBER OF": _is_member, "JSON_CONTAINS": _contains,
    "JSON_CONTAINS_PATH": _contains_path, "JSON_STORAGE_SIZE": _stored_size,
}
=======
>>>>>>> main
