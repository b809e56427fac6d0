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

_LOOSE = re.compile(r"\\|\d[.eE]|(?<![\d.])0\d")


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


def reading(read: Callable[[str], Any], session: Session) -> Callable[[str], Any]:
    """Return a function that reads a document; for a text that is not one, NULL in MariaDB."""
    def made(text: str) -> Any:
        return read(text) if session.flavour == "mysql" or is_document(text) else None

    return made


def is_document(text: str) -> bool:
    """Return whether MariaDB takes a text as a document. Raises NotComputable where it takes more than JSON has: any
    escape, `1.`, `00`, and numbers of any size."""
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
