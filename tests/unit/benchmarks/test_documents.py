"""The benchmark of JSON documents: what it measures is done, and right."""

import json

import pytest

from benchmarks import documents
from jsondiff.decode import decode


@pytest.mark.parametrize("kind", documents.KINDS)
def test_documents_are_read(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(documents, "COLUMN_BYTES", 1000)
    cost, size, each = documents.read(kind)
    made = documents.documents_of(kind, 1000)
    assert cost.wall > 0 and size == sum(map(len, made)) and each == size / len(made)
    values = [json.loads(text) for text in documents.to_text(documents.pa.array(made)).to_pylist()]
    assert values == [decode(document) for document in made]


@pytest.mark.parametrize("kind", documents.DIFFS)
def test_documents_are_updated(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Every diff goes with its document, else it raises."""
    monkeypatch.setattr(documents, "DOCUMENTS", 20)
    cost, each = documents.update(kind)
    assert cost.wall > 0 and 8000 < each < 12000
