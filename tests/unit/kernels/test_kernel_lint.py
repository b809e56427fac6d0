"""`make lint` finds in kernels what mypy finds elsewhere."""

import pytest

from tests.support.kernel_lint import check, texts_of_kernels

RECORDS = '''# mypy: allow-untyped-defs
INNER, _, _ = struct("inner", hits=np.int64)
STORE, store_view, store_at = struct("store", size=np.int64, **dict.fromkeys(("first", "last"), np.int64), inner=INNER)

@inline
def begin(store, first):
    store.first = first

@intrinsic
def load(typing_context, address):
    return None

@inline
def last_of(address):
    return store_view(address)
'''


def faults_of(body):
    text = ("# mypy: allow-untyped-defs\nfrom m.records import begin, last_of, load, store_at\n"
            f"from m import records\n{body}")
    return [line.removeprefix("m.kernel:") for line in check({"m.records": RECORDS, "m.kernel": text})
            if line.startswith("m.kernel:")]


@pytest.mark.parametrize("body, fault", [
    ("def f(at):\n    store = store_at(at, 0)\n    return store.length", "6: a record 'store' has no field length"),
    ("def f(at):\n    return records.store_at(at, 0).frist", "5: a record 'store' has no field frist"),
    ("def f(at):\n    a, b = 1, store_at(at, 0)\n    b.inner.misses = a", "6: a record 'inner' has no field misses"),
    ("def f(at):\n    g(store_at(at, 0))\ndef g(store):\n    store.end = 1", "7: a record 'store' has no field end"),
    ("def f(at):\n    return last_of(at).end", "5: a record 'store' has no field end"),
    ("def f(at):\n    begin(at)", "5: begin() needs an argument first"),
    ("def f(at):\n    records.begin(at, 1, 2)", "5: begin() takes 2 arguments, not 3"),
    ("def f(at):\n    begin(at, fist=1)", "5: begin() takes no argument fist"),
    ("def f(at):\n    load()", "5: load() needs an argument address"),
], ids=str)
def test_a_fault_is_found(body, fault):
    assert faults_of(body) == [fault]


@pytest.mark.parametrize("body", [
    "def f(at):\n    store = store_at(at, 0)\n    begin(store, first=store.last + store.inner.hits)",
    "def f(begin):\n    begin()",
    "def f(at):\n    store = store_at(at, 0)\n    store = at\n    return store.real",
    "def f(at):\n    return load(at), begin(*at)",
], ids=str)
def test_nothing_else_is(body):
    """Parameters and variables hide functions; a variable that is two things is not looked at."""
    assert faults_of(body) == []


def test_the_kernels_have_none():
    texts = texts_of_kernels()
    assert len(texts) > 100
    assert check(texts) == []
