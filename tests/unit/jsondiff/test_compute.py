"""Diffs between two documents."""

import cProfile

import pytest
from hypothesis import assume, given, settings

from jsondiff import wire
from jsondiff.compute import column, diff
from jsondiff.diff import apply
from jsondiff.encode import encode
from jsondiff.text import from_text
from jsondiff.values import Unsigned
from tests.support.documents import alike, documents
from tests.support.examples import examples


def check(old, new) -> None:
    diffs = diff(old, new)
    if diffs is None:
        assert not any(isinstance(old, kind) and isinstance(new, kind) for kind in (dict, list))
    else:
        assert encode(apply(old, diffs)) == encode(new)
        assert bool(diffs) == (encode(old) != encode(new))


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(alike, alike)
def test_diffs_lead_from_one_document_to_the_other(old, new):
    """Types included: 1, 1.0 and true are three values."""
    check(old, new)


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(documents, documents)
def test_diffs_lead_from_any_document_to_any_other(old, new):
    check(old, new)


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(alike, alike)
def test_the_smaller_form_is_logged(old, new):
    """JD-ENC."""
    assume(diff(old, new) is not None)
    partial, data = column(old, new)
    assert len(data) == min(len(encode(new)), len(wire.encode(diff(old, new))))
    assert partial == (len(data) < len(encode(new)))
    assert (wire.apply(encode(old), data) if partial else data) == encode(new)


@pytest.mark.parametrize(
    "old, new, diffs",
    [
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 3}', ["REPLACE $.b"]),
        ('{"a": 1, "b": 2}', '{"b": 2, "c": 3}', ["REMOVE $.a", "INSERT $.c"]),
        ("[1, 2, 3, 4]", "[1, 3, 4]", ["REMOVE $[1]"]),
        ("[1, 2, 3, 4]", "[0, 1, 2, 3, 4, 5]", ["INSERT $[4]", "INSERT $[0]"]),
        ('[{"a": "long enough", "b": 1}, 2]', '[{"a": "long enough", "b": 2}, 2]', ["REPLACE $[0].b"]),
        ('{"a": [1, 2, 3]}', '{"a": [4, 5, 6]}', ["REPLACE $.a"]),
        ('{"a": 1}', '{"a": 1}', []),
        ("1", "2", None),
        ("[1]", '{"a": 1}', None),
    ],
)
def test_there_are_few(old, new, diffs):
    found = diff(from_text(old), from_text(new))
    assert (found if found is None else [f"{each.operation.name} {each.path}" for each in found]) == diffs


def test_equal_numbers_of_other_types_differ():
    assert len(diff({"a": 1, "b": [1]}, {"a": 1.0, "b": [Unsigned(1)]})) == 2


@pytest.mark.slow
def test_long_arrays_take_no_long_time():
    """Calls are counted: comparing each element with each other would take 20 million."""
    old, new = [{"n": n} for n in range(4000)], [{"n": -n} for n in range(5000)]
    profile = cProfile.Profile()
    assert profile.runcall(diff, old, new) is not None
    assert sum(entry.callcount for entry in profile.getstats()) < 3_000_000
    check(old, new)
