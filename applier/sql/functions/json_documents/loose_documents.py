"""Documents that are no values of JSON columns, as MariaDB takes them.

Bytes are text of the character set binary, as literals are in such a table; what a function makes of such a document is
bytes, too. Text is in the character set of the document. Of text in which no document begins, functions make NULL.
Judged by MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, TEMPORAL
from applier.mysql.versions import is_since
from applier.sql.casting.byte_strings import bytes_of_text
from applier.sql.casting.texts import WIDE, by_distinct, in_charset
from applier.sql.functions.collated import EACH_BYTE
from applier.sql.functions.json_documents import (
    document_changes,
    document_comparisons,
    document_readers,
    documents,
    new_documents,
)
from applier.sql.nodes import Call, Literal, Node
from applier.sql.values import BYTES, TEXT, Arguments, Function, Value, as_bytes, as_text, is_ascii, text_type, together

OF_PARTS = frozenset({"JSON_ARRAY", "JSON_OBJECT", "JSON_SET", "JSON_INSERT", "JSON_REPLACE"})
"""Functions that put values into documents."""
_OF_VALUES = OF_PARTS - {"JSON_ARRAY", "JSON_OBJECT"}
"""Those that put values into a document that exists."""
FORMATTING = frozenset({"JSON_COMPACT", "JSON_LOOSE", "JSON_DETAILED", "JSON_PRETTY"})
"""Functions of MariaDB that format a document, which those of `OF_PARTS` take as it was before (seen on 10.5, 10.11 and
11.8)."""
_MISREADING = FORMATTING | {"JSON_UNQUOTE"}
"""Functions of MariaDB that mix characters of one and of more bytes in wide character sets; versions differ in how."""
_FROM_PARTS = frozenset({"JSON_ARRAY", "JSON_OBJECT", "JSON_QUOTE", "MEMBER OF"})
"""Functions whose first argument is no document."""
_OF_ANY_TEXT = frozenset({"JSON_VALID", "JSON_UNQUOTE", "JSON_EXISTS"})
"""Functions that have a value for text that is no document."""
_NULL_OF_NUMBERS = frozenset({
    "JSON_SET", "JSON_INSERT", "JSON_REPLACE", "JSON_REMOVE", "JSON_KEYS", "JSON_EXTRACT", "JSON_QUERY", "JSON_DEPTH",
    "JSON_COMPACT", "JSON_DETAILED", "JSON_CONTAINS_PATH"})
"""Functions that make NULL of text that is a number with more behind it."""
_NUMBERED = r"(?i)\\u(?:00[89a-f]|0[1-9a-f]|[1-9a-f])"
"""A character beyond ASCII by its number."""
_OF_BYTES = r"(?s)^[\x{00}-\x{7F}\x{A0}-\x{FF}]*$"
"""Characters whose code is their byte in `EACH_BYTE`, too."""
_BEGINS = r'^[ \t\n\r]*[{\["\-0-9tfn]'


def _of_text(name: str, function: Function) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if session.flavour == "mysql" or not arguments:
            return function(arguments, call, session, n)
        [document, *others] = arguments
        if document.type.base in MEMBERS | TEMPORAL:
            own = document.type.charset or session.literals
            document = Value(as_text(document, session, own), text_type(own, None), document.constant)
            arguments = [document, *others]
        charset = session.literals if document.type.base == "json" and document.type.charset not in WIDE else \
            document.type.charset
        if {session.literals, charset} & WIDE and (any(map(_is_path, call.arguments)) or name == "JSON_MERGE_PATCH"):
            if name == "JSON_EXTRACT" and charset == session.literals and all(map(_is_path, call.arguments[1:])):
                return Value(pa.nulls(1, pa.string()), text_type(charset, None), constant=True)  # it finds nothing
            _check_finds(arguments, name, charset, session)
        if charset in WIDE and name in _MISREADING:
            raise NotComputable(f"{name} of text in {charset}")
        if document.type.base in BINARY:
            parts = range(2, len(arguments), 2) if name in _OF_VALUES else ()
            arguments = [_by_codes(value) if number in parts and value.is_text and not value.is_document
                         else replace(_text(value, session), is_document=value.is_document and number > 0)
                         for number, value in enumerate(arguments)]
            if name == "JSON_UNQUOTE" and not is_ascii(arguments[0].values):
                raise NotComputable("JSON_UNQUOTE of bytes that are not ASCII")  # in which versions differ
        begins = None
        if name not in _OF_ANY_TEXT and arguments[0].is_text:
            begins = pc.match_substring_regex(arguments[0].values, _BEGINS)
            numbers = by_distinct(arguments[0].values, documents.begins_with_number, pa.bool_())
            begins = pc.and_not(begins, numbers) if name in _NULL_OF_NUMBERS else begins
            readable = pc.if_else(begins, arguments[0].values, "null")
            readable = pc.if_else(numbers, "0", readable) if name == "JSON_MERGE_PATCH" else readable
            arguments = [Value(readable, arguments[0].type, document.constant), *arguments[1:]]
        made = function(arguments, call, session, n)
        if begins is not None and pc.any(pc.invert(begins)).as_py():
            of_rows = together([Value(begins, made.type, document.constant), made], n)
            made = Value(pc.if_else(of_rows[0], of_rows[1], None), made.type, made.constant and document.constant,
                         has_other_number=name == "JSON_EXTRACT")
        if document.type.base in BINARY and pa.types.is_string(made.values.type):
            made = Value(bytes_of_text(made.values, EACH_BYTE), BYTES, made.constant, is_loose=document.is_loose,
                         has_other_number=made.has_other_number)
        if made.type == TEXT and charset in WIDE and name != "JSON_TYPE":
            made = replace(made, type=text_type(charset, None))
        if made.type == TEXT and document.is_text and charset is not None and charset not in UTF8 | WIDE:
            if name == "JSON_UNQUOTE" and not is_ascii(made.values):
                raise NotComputable(f"JSON_UNQUOTE of text in {charset}")  # whose bytes are treated as UTF-8
            made = replace(made, values=in_charset(made.values, charset), type=text_type(charset, None))
        return made

    return computed


def _is_path(node: Node) -> bool:
    return isinstance(node, Literal) and node.text.startswith(("$.", "$["))


def _check_finds(arguments: Arguments, name: str, charset: str | None, session: Session) -> None:
    """Raise NotComputable unless a function finds in a wide character set what it finds in others: paths do if they
    have the document's set. Old versions of MariaDB then write objects byte by byte (seen on 10.5)."""
    is_read = name in _READING
    is_twice_removed = name == "JSON_REMOVE" and len(arguments) > 2  # the second time from other text
    if is_twice_removed or charset != session.literals or not (is_read or name in _CHANGING) or (
            not is_read and not (session.server_version and is_since(session.server_version, _WRITES_OBJECTS))
            and any(pc.any(pc.match_substring(value.values, "{")).as_py() for value in arguments if value.is_text)):
        raise NotComputable(f"{name} in a wide character set")


_READING = frozenset({"JSON_VALUE", "JSON_EXISTS", "JSON_CONTAINS_PATH", "JSON_LENGTH", "JSON_QUERY"})
_CHANGING = _OF_VALUES | {"JSON_REMOVE", "JSON_MERGE_PATCH"}
_WRITES_OBJECTS = (10, 11)


def _text(value: Value, session: Session) -> Value:
    """Bytes, and text beside bytes, as text in which every byte is a character."""
    if value.type.base not in BINARY and not value.is_text:
        return value
    text = to_utf8(as_bytes(value, session), EACH_BYTE)
    if pc.any(pc.match_substring_regex(text, _NUMBERED)).as_py():
        raise NotComputable("a document of bytes with a character by its number")
    return Value(text, TEXT, value.constant)


def _by_codes(value: Value) -> Value:
    """Text beside a document of bytes, as text in which every byte is a character: a character becomes the byte of its
    code in Unicode."""
    if pc.all(pc.match_substring_regex(value.values, _OF_BYTES)).as_py() is False:
        raise NotComputable("text with characters beyond a byte in a document of bytes")
    return Value(value.values, TEXT, value.constant)


FUNCTIONS: dict[str, Function] = {
    name: function if name in _FROM_PARTS else _of_text(name, function)
    for name, function in (document_readers.FUNCTIONS | document_comparisons.FUNCTIONS | new_documents.FUNCTIONS
                           | document_changes.FUNCTIONS).items()}
