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
from applier.mysql.types import BINARY
from applier.sql.casting.texts import by_distinct
from applier.sql.values import TEXT, Arguments, Value, as_text, one, shown_bytes
from jsondiff.normalize import normalize
from jsondiff.path import Path, PathError
from jsondiff.path import parse as parse_path
from jsondiff.text import from_text
from jsondiff.values import DocumentError

_LOOSE = re.compile(r"\\(?:[^\"\\/bfnrt]|$)|\d[.eE]|(?:^|[\[:,])\s*-[\s,\]}]")
_BEGINNING = re.compile(r'\s*(?:[{\["]|true|false|null)')
_LOOSE_IN_PART = re.compile(r"\\|(?<![\d.])0\d")


def as_documents(value: Value, session: Session) -> pa.Array:
    """Return values as documents, in text. Raises NotComputable for a value that is not text."""
    text = as_text(value, session)
    if session.flavour == "mysql":
        try:
            return text if value.type.base == "json" else normalize(text)
        except DocumentError as error:
            raise NotComputable.because(error) from None
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


def reading(read: Callable[[str], Any], session: Session, *, stops: bool = False) -> Callable[[str], Any]:
    """Return a function that reads a document; for a text that is not one, NULL in MariaDB. With `stops`, MariaDB does
    not read on after the part that it looks for."""
    def made(text: str) -> Any:
        if session.flavour == "mysql" or is_document(text):
            return read(text)
        if stops:
            check_beginning(text)
        return None

    return made


def check_beginning(text: str) -> None:
    """Raise NotComputable for a text that is no document but begins like one: JSON_VALUE, JSON_QUERY and JSON_CONTAINS
    of MariaDB may find a part of it. Seen on 10.5, 10.11 and 11.8."""
    if _BEGINNING.match(text):
        raise NotComputable(f"a part of {text[:100]!r}, which only begins like a document")


def is_document(text: str) -> bool:
    """Return whether MariaDB's functions that look for a part take a text as a document. Raises NotComputable where
    they take more than JSON has: as `is_valid` does, and `00` or an escape, before which they may have found
    the part."""
    is_one = is_valid(text)
    if not is_one and not begins_with_number(text) and _LOOSE_IN_PART.search(text):
        raise NotComputable(f"whether {text[:100]!r} is a document")
    return is_one


def is_valid(text: str) -> bool:
    """Return whether MariaDB's JSON_VALID takes a text as a document. Raises NotComputable where it takes more than
    JSON has: other escapes, `1.`, a minus alone, and numbers of any size. Seen on 10.5, 10.11 and 11.8."""
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
