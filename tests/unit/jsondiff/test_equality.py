"""Equality of documents as a real server's = sees it (JD-EQ)."""

import pytest
from hypothesis import given, settings

from jsondiff.decode import decode
from jsondiff.encode import encode
from jsondiff.equality import equal
from jsondiff.values import Opaque, Unsigned
from tests.support.examples import examples
from tests.support.json_documents import DOCUMENTS, recorded

EQUAL = [(decode(bytes.fromhex(document)), set(same)) for document, same in recorded("server_equal")]
"""Documents of a MySQL 9.7 server, and which of those before it = takes for equal."""


def test_equal_is_what_the_server_takes_for_equal():
    """All pairs of 600 documents: numbers of every type, -0.0, dates, opaque bytes, alone and in containers."""
    assert len(EQUAL) > 600 and sum(len(same) for _, same in EQUAL) > 1000
    for number, (document, same) in enumerate(EQUAL):
        found = {other for other in range(number) if equal(EQUAL[other][0], document)}
        assert found == same, document


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(DOCUMENTS, DOCUMENTS)
def test_a_document_equals_itself_and_order_does_not_matter(one, other):
    assert equal(one, decode(encode(one)))
    assert equal(one, other) == equal(other, one)
    assert not equal(one, [one]) and not equal({"": one}, one)


def test_types_that_python_does_not_tell_apart():
    assert equal(1, 1.0) and equal(Unsigned(1), 1) and equal(-0.0, 0)
    assert not equal(1, True) and not equal(0, False) and not equal([None], [False])
    assert not equal("a", Opaque(15, b"a")) and not equal(Opaque(15, b"a"), Opaque(252, b"a"))
    assert not equal(2**63, float(2**63)) and equal(Unsigned(9223372036854776000), float(2**63))


def test_what_no_document_holds_is_refused():
    with pytest.raises(TypeError):
        equal((), 1)
