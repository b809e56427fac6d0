"""Diffs applied to columns of text: what each operation does to which document."""

import numpy as np
import pyarrow as pa
import pytest

from jsondiff import wire
from jsondiff.apply import Applied, apply_diffs, explain
from jsondiff.diff import Diff, Operation
from jsondiff.path import parse


def applied(documents: list[str | None], chains: list[list[bytes]]) -> Applied:
    """Each document with its chain of column values."""
    starts = np.cumsum([0, *map(len, chains)])
    diffs = [value for chain in chains for value in chain]
    return apply_diffs(pa.array(documents, pa.string()), pa.array(diffs, pa.binary()), starts)


def column(*diffs) -> bytes:
    """A column value of diffs: (operation, path) or (operation, path, value)."""
    return wire.encode([Diff(operation, parse(path), *value) for operation, path, *value in diffs])


REPLACE, INSERT, REMOVE = Operation


def one(document: str | None, *values: bytes) -> str | int | None:
    """The text, or MySQL's error number."""
    result = applied([document], [list(values)])
    return explain(result.codes[0])[0] if result.codes[0] else result.texts[0].as_py()


@pytest.mark.parametrize(
    "document, values, outcome",
    [
        (None, [], None),
        (None, [b""], "null"),
        (None, [b"", column((REPLACE, "$.a", 1))], 3648),
        (None, [column((REPLACE, "$.a", 1))], 3648),
        (None, [column((REPLACE, "$.a", 1)) + b"\x09"], 3649),
        ("5", [column((REPLACE, "$", 1))], 3648),
        ("5", [column((REPLACE, "$[0]", 1))], 3648),
        ("[5]", [column((REPLACE, "$[last]", 1), (INSERT, "$[last]", 0), (INSERT, "$[9]", {}))], "[0, 1, {}]"),
        ("[]", [column((INSERT, "$[last]", 0))], "[0]"),
        ("[]", [column((INSERT, "$.a", 0))], 3648),
        ("{}", [column((INSERT, "$[0]", 0))], 3648),
        ("{}", [column((INSERT, "$.b", 0), (INSERT, "$.aa", 1), (INSERT, "$.a", {}), (INSERT, "$.a.c", []))],
         '{"a": {"c": []}, "b": 0, "aa": 1}'),
        ('{"a": 1}', [column((REMOVE, "$.a")), column((INSERT, "$.a", None)), b""], '{"a": null}'),
        ('{"a": 1}', [column((INSERT, "$.a", 1))], 3648),
        ('{"¢": 1, "€": 2}', [column((REMOVE, '$."¢"')),
                                column((REPLACE, '$."123456"', 3)).replace(b"123456", b"\\u20ac")], '{"€": 3}'),
        ('{"a": 1}', [column((REMOVE, "$.b"))], 3648),
        ('{"a": 1}', [b"\x00\x03$.a\x00"], '{"a": null}'),
        ('{"a": 1}', [b"\x02\x03$.*"], 3649),
        ('{"a": 1}', [b"\x00\xfc\x03\x00$.a\x03\x05\x07\x00"], '{"a": 7}'),
        ('{"a": 1}', [b"\x00\xfd\x03\x00\x00$.a\xfe\x03" + bytes(7) + b"\x05\x07\x00"], '{"a": 7}'),
        ('{"a": 1}', [b"\x00\xff\x03" + bytes(7) + b"$.a\x03\x05\x07\x00"], 1610),
        ('{"a": 1}', [b"\x02\x09$.a.b.c.d"], 3648),
        ("[[1], {}]", [column((REMOVE, "$" + "[0]" * 200))], 3648),
        ('{"a": 1,"b": 2}', [column((REMOVE, "$.a"))], 3140),
        ('{"b": 1, "a": 2}', [column((REMOVE, "$.a"))], 3140),
    ],
)  # fmt: skip
def test_outcome(document, values, outcome):
    assert one(document, *values) == outcome
