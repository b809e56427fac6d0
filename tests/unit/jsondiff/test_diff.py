"""Diffs onto documents, by the rules of MySQL's replicas (judged by them in test_server_diffs.py)."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsondiff.diff import Diff, DiffError, Operation, apply, depth
from jsondiff.equality import equal
from jsondiff.path import parse
from jsondiff.text import from_text, to_text
from tests.support.documents import diffs as any_diff
from tests.support.documents import documents
from tests.support.examples import examples

REPLACE, INSERT, REMOVE = Operation.REPLACE, Operation.INSERT, Operation.REMOVE


def applied(document: str, *steps: tuple) -> str:
    return to_text(apply(from_text(document), [Diff(step[0], parse(step[1]), *step[2:]) for step in steps]))


def refused(document: str, *steps: tuple) -> DiffError:
    with pytest.raises(DiffError) as error:
        applied(document, *steps)
    return error.value


@pytest.mark.parametrize(
    "document, step, after",
    [
        ('{"a": 1}', (REPLACE, "$.a", 2), '{"a": 2}'),
        ('{"a": [1, 2]}', (REPLACE, "$.a[last]", None), '{"a": [1, null]}'),
        ('{"a": [1, 2]}', (REPLACE, "$.a[last-1]", "x"), '{"a": ["x", 2]}'),
        ('{"a": 1}', (INSERT, "$.b", [1]), '{"a": 1, "b": [1]}'),
        ("[1, 2]", (INSERT, "$[0]", 0), "[0, 1, 2]"),
        ("[1, 2]", (INSERT, "$[1]", 0), "[1, 0, 2]"),
        ("[1, 2]", (INSERT, "$[2]", 0), "[1, 2, 0]"),
        ("[1, 2]", (INSERT, "$[9]", 0), "[1, 2, 0]"),
        ("[1, 2]", (INSERT, "$[last]", 0), "[1, 0, 2]"),
        ("[1, 2]", (INSERT, "$[last-9]", 0), "[0, 1, 2]"),
        ("[]", (INSERT, "$[last]", 0), "[0]"),
        ("[1, 2, 3]", (REMOVE, "$[1]"), "[1, 3]"),
        ("[1, 2, 3]", (REMOVE, "$[last-2]"), "[2, 3]"),
        ('{"a": {"b": 1, "c": 2}}', (REMOVE, "$.a.b"), '{"a": {"c": 2}}'),
    ],
)
def test_one_diff(document, step, after):
    assert applied(document, step) == after


@pytest.mark.parametrize(
    "document, step, why",
    [
        ('{"a": 1}', (REPLACE, "$", 2), "whole document"),
        ('{"a": 1}', (INSERT, "$", 2), "whole document"),
        ('{"a": 1}', (REMOVE, "$"), "whole document"),
        ('{"a": 1}', (REPLACE, "$.b", 2), "no such member"),
        ('{"a": 1}', (REPLACE, "$[0]", 2), "no such member"),
        ("[1]", (REPLACE, "$[1]", 2), "no such array cell"),
        ("[1]", (REPLACE, "$[last-1]", 2), "no such array cell"),
        ("[1]", (REPLACE, "$.a", 2), "no such array cell"),
        ("1", (REPLACE, "$[0]", 2), "scalar"),
        ('{"a": 1}', (REPLACE, "$.a[0]", 2), "scalar"),
        ('{"a": 1}', (INSERT, "$.a", 2), "already"),
        ('{"a": 1}', (INSERT, "$[0]", 2), "object has no such parts"),
        ("[1]", (INSERT, "$.a", 2), "array has no such parts"),
        ("1", (INSERT, "$[1]", 2), "scalar"),
        ('{"a": 1}', (INSERT, "$.b.c", 2), "no such member"),
        ("[1]", (REMOVE, "$[1]"), "no such array cell"),
        ("[1]", (REMOVE, "$.a"), "no such array cell"),
        ('{"a": 1}', (REMOVE, "$.b"), "no such member"),
        ('{"a": 1}', (REMOVE, "$.a.b"), "scalar"),
    ],
)
def test_what_the_document_does_not_have_is_refused(document, step, why):
    """JD-SAFE2."""
    error = refused(document, step)
    assert error.errno == 3648 and error.number == 1 and why in error.what and error.path == step[1]


def test_diffs_come_in_order_and_an_error_names_its_diff():
    steps = (INSERT, "$.new", {}), (INSERT, "$.new.k", [1]), (REMOVE, "$.new.k[0]"), (REPLACE, "$.new.k", 1)
    assert applied('{"a": 0}', *steps) == '{"a": 0, "new": {"k": 1}}'
    error = refused('{"a": 0}', *steps, (REMOVE, "$.new.l"))
    assert str(error) == "JSON diff 5: REMOVE of $.new.l: there is no such member (MySQL error 3648)"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@given(documents, st.lists(any_diff, max_size=4))
def test_neither_document_nor_values_change(document, diffs):
    """Return whether the diffs apply or not, so a column's diffs apply all or none."""
    before = copy.deepcopy((document, diffs))
    try:
        apply(document, diffs)
    except DiffError:
        pass
    assert equal(document, before[0]) and repr((document, diffs)) == repr(before)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(documents, st.lists(any_diff, max_size=4))
def test_any_diff_onto_any_document_gives_a_document_or_an_error(document, diffs):
    """JD-DIV."""
    try:
        after = apply(document, diffs)
    except DiffError as error:
        assert error.errno in (3648, 3157)
    else:
        assert to_text(from_text(to_text(after))) == to_text(after)


def test_documents_do_not_outgrow_the_depth_limit():
    """Error 3157, as when the server stores one."""
    deep = "[" * 99 + "]" * 99
    path = "$" + "[0]" * 99
    assert depth(from_text(deep)) == 99
    assert applied(deep, (INSERT, path, [])) == "[" * 100 + "]" * 100
    assert refused(deep, (INSERT, path, [{}])).errno == 3157
    assert refused(deep, (REPLACE, path[:-3], [[{}]])).errno == 3157
    assert applied(deep, (REPLACE, path[:-3], [[]])) == "[" * 100 + "]" * 100
