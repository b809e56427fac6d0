"""Diffs against what a MySQL 9.7 server logged, applied and refused (see record_diffs.py)."""

import gzip
import json
import pathlib
from collections import Counter

import pytest

from jsondiff import wire
from jsondiff.decode import decode
from jsondiff.diff import Diff, DiffError, Operation, apply
from jsondiff.encode import encode
from jsondiff.path import parse
from jsondiff.text import from_text, to_text

CORRUPTED_DIFF = 3649
"""ER_CORRUPTED_JSON_DIFF, the server's number for all that cannot be read; JD-SAFE1 and JD-SAFE2 ask for others."""


def recorded(name: str) -> list[list]:
    with gzip.open(pathlib.Path(__file__).parent / f"{name}.jsonl.gz") as file:
        return [json.loads(line) for line in file]


def test_partial_updates_lead_to_what_the_source_has():
    """JSON_SET, JSON_REPLACE and JSON_REMOVE, with values of every SQL type, on documents that have them too."""
    lines = recorded("server_updates")
    assert len(lines) > 1000
    for document, before, diffs, after in lines:
        assert to_text(decode(bytes.fromhex(document))) == before
        read = wire.decode(bytes.fromhex(diffs))
        assert wire.encode(read).hex() == diffs
        assert to_text(apply(decode(bytes.fromhex(document)), read)) == after


def test_any_diffs_have_the_outcome_of_the_servers_replication():
    """JD-SAFE1, JD-SAFE2, JD-NULL, JD-DIV: thousands of diffs that fit or do not, and damaged ones."""
    outcomes = Counter()
    for before, diffs, outcome in recorded("server_replica"):
        document = None if before is None else encode(from_text(before))
        if isinstance(outcome, str):
            assert to_text(decode(wire.apply(document, bytes.fromhex(diffs)))) == outcome
            outcomes["applied"] += 1
            continue
        if outcome == 3648 and replaces_by_the_same(document, bytes.fromhex(diffs)):
            outcomes["same"] += 1
            continue
        with pytest.raises(DiffError) as error:
            wire.apply(document, bytes.fromhex(diffs))
        assert error.value.errno in ((1610, outcome) if outcome == CORRUPTED_DIFF else (outcome,)), diffs
        outcomes[outcome] += 1
    assert outcomes["applied"] > 1000 and outcomes[3648] > 500 and outcomes[CORRUPTED_DIFF] > 100
    assert outcomes["same"] < 30


def replaces_by_the_same(document: bytes | None, diffs: bytes) -> bool:
    """Return whether some REPLACE has the value that is there already. A replica refuses it where it would otherwise
    have changed the stored bytes in place, which rests on how these were laid out; no source logs one."""
    value = None if document is None else decode(document)
    try:
        for diff in wire.decode(diffs):
            before, value = value, apply(value, [diff])
            if diff.operation == Operation.REPLACE and encode(before) == encode(value):
                return True
    except DiffError:
        pass
    return False


def test_inserts_into_arrays_are_the_servers_function():
    """JSON_ARRAY_INSERT leaves a document as it is where the path leads to no cell of an array."""
    lines = recorded("server_array_inserts")
    assert len(lines) > 1000
    for before, path, value, after in lines:
        insert = Diff(Operation.INSERT, parse(path), decode(bytes.fromhex(value)))
        try:
            result = apply(from_text(before), [insert])
        except DiffError:
            result = from_text(before)
        assert to_text(result) == after
