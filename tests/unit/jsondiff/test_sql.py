"""Diffs as SQL; whole logs against mysqlbinlog are in recorded/show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsondiff.diff import Diff, Operation
from jsondiff.path import parse
from jsondiff.sql import quote, to_sql
from jsondiff.values import Opaque, Unsigned
from tests.support.documents import diffs

REPLACE, INSERT, REMOVE = Operation.REPLACE, Operation.INSERT, Operation.REMOVE


def sql(*steps: tuple) -> str:
    return to_sql([Diff(step[0], parse(step[1]), *step[2:]) for step in steps], "@2")


def test_the_example_of_the_worklog():
    """WL#2955, section 6: nested in reverse order, the same operations joined, one line a step (JD-SHOW)."""
    assert sql(
        (REPLACE, "$.a", 7), (REPLACE, "$.b[1]", "bb"), (REMOVE, "$.c"), (REMOVE, "$.d[0]"), (INSERT, "$.e", "ee"),
        (INSERT, "$.f[1]", "ff"), (INSERT, "$.g", "gg"),
    ).split("\n") == [
        "JSON_INSERT(", "JSON_ARRAY_INSERT(", "JSON_INSERT(", "JSON_REMOVE(", "JSON_REPLACE(@2, '$.a', 7,",
        "'$.b[1]', 'bb'),", "'$.c',", "'$.d[0]'),", "'$.e', 'ee'),", "'$.f[1]', 'ff'),", "'$.g', 'gg')",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value, literal",
    [
        (None, "null"), (True, "true"), (1, "1"), (Unsigned(2**64 - 1), str(2**64 - 1)), (1.0, "1.0"), ("1", "'1'"),
        (Opaque(246, bytes([4, 2, 0x80 + 11, 32])), "11.32"), (Opaque(252, b"a"), "'base64:type252:YQ=='"),
        (Opaque(10, bytes.fromhex("0000000000bab219")), "'2024-02-29'"), ([], "CAST('[]' AS JSON)"),
        ({"a'\n": 'b"\\'}, r"""CAST('{"a\'\\n": "b\\"\\\\"}' AS JSON)"""), ("a'\\\n\"", r"""'a\'\\\n"'"""),
    ],
)  # fmt: skip
def test_values_are_quoted_by_their_type(value, literal):
    assert sql((REPLACE, "$.a", value)) == f"JSON_REPLACE(@2, '$.a', {literal})"


def test_no_diffs_are_the_column_itself():
    assert sql() == "@2"


def test_paths_are_quoted_too():
    steps = (REMOVE, '$."it\'s"'), (INSERT, '$."\\n]"', 1)
    assert sql(*steps) == """JSON_INSERT(\nJSON_REMOVE(@2, '$."it\\'s"'),\n'$."\\\\n]"', 1)"""
    assert quote("\0\x07\b\t\n\v\f\r\x1a\x7f\\'é") == r"'\x00\x07\b\t\n\x0b\f\r\x1a" + "\x7f" + r"\\\'é'"


@given(st.lists(diffs, min_size=1, max_size=6))
def test_calls_are_closed_and_steps_have_a_line(column):
    text = to_sql(column, "@1")
    calls = [line for line in text.split("\n") if line.endswith("(")]
    assert len(text.split("\n")) == len(calls) + len(column)
    assert text.count("@1, '$") >= 1 and text.startswith("JSON_") and text.endswith(")")
