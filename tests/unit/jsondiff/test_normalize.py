"""Columns of text: what is canonical stays, all else becomes what from_text and to_text make of it."""

import random
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from jsondiff.columns import bytes_and_offsets
from jsondiff.decode import decode
from jsondiff.kernels.canonical_kernel import find_others
from jsondiff.normalize import normalize
from jsondiff.text import from_text, to_text
from jsondiff.values import DocumentError
from tests.support.examples import examples
from tests.support.json_documents import DOCUMENTS, RECORDED, opaque_values, recorded

GOOD_TEXTS = [line[0] for line in recorded("server_texts") if isinstance(line[1], str)]


LONG_INTEGER = re.compile(r"\b\d{20}\b(?![.e])")


def others(texts: list[str]) -> list[bool]:
    """Which texts the kernel leaves to the parser."""
    column = pa.array(texts, pa.string())
    found = np.empty(len(texts), np.bool_)
    find_others(*bytes_and_offsets(column), np.ones(len(texts), np.bool_), found)
    return found.tolist()


def canonical(text: str) -> str | None:
    """What the server prints for a text, None if it refuses it."""
    try:
        return to_text(from_text(text))
    except DocumentError:
        return None


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_column_keeps_nulls_and_what_is_canonical(kind):
    texts = [None, '{"b":1,"a":[ 1.50 , -0]}', '{"a": 1}', "", None, '"\\u00e9"', '{"é": 1, "z": 2}']
    texts[3] = " null\n"
    expected = [None, '{"a": [1.5, 0], "b": 1}', '{"a": 1}', "null", None, '"é"', '{"z": 2, "é": 1}']
    column = pa.array(texts, kind)
    assert normalize(column).to_pylist() == expected
    assert normalize(column).type == kind
    assert normalize(column[2:5]).to_pylist() == expected[2:5]
    assert normalize(column[2:3]).to_pylist() == expected[2:3]
    assert normalize(column[:0]).to_pylist() == []
    assert normalize(pa.array([None, None], kind)).to_pylist() == [None, None]


def test_what_a_server_printed_is_canonical():
    """Without opaque values: a DECIMAL's text reads back as a double."""
    texts = pa.array([text for document, text in RECORDED if not opaque_values(decode(document))])
    assert len(texts) > 350
    assert normalize(texts).equals(texts)


def test_columns_become_what_each_text_becomes():
    assert normalize(pa.array(GOOD_TEXTS)).to_pylist() == [to_text(from_text(text)) for text in GOOD_TEXTS]


def test_what_the_kernel_takes_is_canonical():
    """And it takes all but keys with escapes and integers of twenty digits, 15,000 doubles among them."""
    texts = [text for document, text in RECORDED if not opaque_values(decode(document))]
    texts += [canonical(text) for text in GOOD_TEXTS]
    left = [text for text, other in zip(texts, others(texts)) if other]
    assert len(left) < 0.5 * len(texts) > 1000
    assert [text for text in left if "\\" not in text and not LONG_INTEGER.search(text)] == []


def test_texts_that_are_nearly_canonical_are_left_to_the_parser():
    """A character put in, taken out or changed: no such text is taken that prints otherwise."""
    dice, mutants = random.Random(5), []
    for text in [text for _, text in RECORDED if len(text) < 2000] + [canonical(text) for text in GOOD_TEXTS]:
        for _ in range(6):
            at = dice.randrange(len(text))
            put = dice.choice(["", *'0159.eE+-"\\[]{},: nua\n\x01', "\\u000b", "\\u0041", "0.0", "é"])
            mutants.append(text[:at] + put + text[at + dice.randrange(2) :])
    taken = [text for text, other in zip(mutants, others(mutants)) if not other]
    assert len(taken) > 500
    assert [text for text in taken if canonical(text) != text] == []


ODD = """
    -0 0 00 01 1.0 1.00 -0.0 -0 0.10 1e5 1e15 1e16 1E16 1e+16 10e15 1.0e16 0.1e17 1e-15 0.000000000000001 1e-14
    1e400 2e308 1.7976931348623157e308 1.7976931348623158e308 5e-324 4e-324 4.9e-324 2.2250738585072014e-308
    9007199254740993.0 18446744073709551615 18446744073709551616 -9223372036854775808 -9223372036854775809 99
    1. .1 1e 1e- - 0.30000000000000004 0.3000000000000000444 123456789012345680000.0 1.2345678901234568e20 1e0001 0.0e0
    true tru truex null nul nulll false fals falsey "a" "\\u000B" "\\u000b" "\\u000a" "\\n" "\\/" "\\u0020" "\\u001" "
    [] [ ] [1,2] [1] [1,] {} { } {"a":1} {"a" [ { ] } [] [[] [[]]] {"":1,"":2}
"""


def test_odd_texts():
    """Each whole, cut off anywhere, and in containers."""
    texts = ODD.split() + ["[1, 2]", '{"a": 1}', '{"b": 1, "a": 2}', '{"a": 1, "a": 1}', '{"aa": 1, "b": 2}', "[1, 2"]
    texts += ['{"a": 1, "b": 2, "aa": {"b": []}, "ab": {}}', "[" * 100 + "]" * 100, "[" * 101 + "]" * 101]
    texts += ["1 ", "\0", "", " "]
    texts += [text[:at] for text in texts for at in range(min(len(text), 50))]
    texts += [f"[{text}, {text}]" for text in texts] + [f'{{"a": {text}}}' for text in texts]
    taken = [text for text, other in zip(texts, others(texts)) if not other]
    assert [text for text in taken if canonical(text) != text] == []
    left = {text for text in texts if canonical(text) == text} - set(taken)
    assert {text for text in left if not LONG_INTEGER.search(text)} == set()


@settings(max_examples=examples(60))
@given(DOCUMENTS)
def test_normalized_texts_stay(value):
    column = normalize(pa.array([to_text(value)]))
    assert normalize(column).equals(column)


@pytest.mark.parametrize(
    "text, errno", [("", 3140), ("{", 3140), ("nul", 3140), ("[1]]", 3140), ("[" * 101 + "]" * 101, 3157)]
)
def test_a_bad_text_is_named_with_its_row(text, errno):
    with pytest.raises(DocumentError) as error:
        normalize(pa.array(["1", None, text, "{"]))
    assert (error.value.row, error.value.errno) == (2, errno)
