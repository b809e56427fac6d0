"""Partial updates of JSON in units, against the reference replica (JD-READ, JD-DIV, JD-NULL)."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.apply.index import key_index
from applier.apply.output import documents, image_reader, rows
from applier.apply.tables import table_walk
from applier.plan.stops.stop_error import first_of
from jsondiff import diff as plain
from jsondiff import wire
from jsondiff.diff import Diff, DiffError, Operation
from jsondiff.encode import encode
from jsondiff.path import Cell, Member
from jsondiff.path import Path as JsonPath
from jsondiff.text import to_text
from tests.support.examples import examples
from tests.support.replica import NULL, Diffs
from tests.support.replica_model import ABSENT, DELETE, INSERT, UPDATE, Event, Stop, Table, apply, m, model

TABLE = Table("id int NOT NULL, j json, n int, k json, PRIMARY KEY (id)", ["int", "json", "int", "json"],
              (None, NULL, None, NULL), (0,))
JSON = (1, 3)
ALL = (1, 1, 1, 1)

DOCUMENTS = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
                         lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcé"), inner,
                                                                                     max_size=3), max_leaves=6)


@dataclass
class PartialUpdate:
    """An event of rows whose JSON values may be lists of diffs."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    rows: list[tuple[tuple, tuple]]
    operation: int = UPDATE

    def encode(self, table):
        data = b""
        for old, new in self.rows:
            bits = [isinstance(new[c], Diffs) for c in JSON]
            data += m.image(table.kinds, logged(old)) + (b"\1" + m.bitmap(bits) if any(bits) else b"\0")
            data += m.image(table.kinds, logged(new))
        return m.event(39, m.rows_body(UPDATE, 7, len(table.kinds), self.before, self.after, data))


def logged(row):
    return tuple(value if c not in JSON or value is ABSENT else None if value is NULL
                 else wire.encode(value) if isinstance(value, Diffs) else encode(value) for c, value in enumerate(row))


def plain_event(event):
    rows = [tuple(None if image is None else logged(image) for image in row) for row in event.rows]
    return Event(event.operation, event.before, event.after, rows)


def shown(row):
    return tuple(value if c not in JSON else None if value is NULL else to_text(value) for c, value in enumerate(row))


def containers(document, legs=()):
    found = [(legs, document)] if isinstance(document, dict | list) else []
    parts = document.items() if isinstance(document, dict) else enumerate(document) \
        if isinstance(document, list) else ()
    for key, part in parts:
        found += containers(part, (*legs, Member(key) if isinstance(key, str) else Cell(key)))
    return found


@st.composite
def diff_of(draw, document):
    """A diff that mostly fits the document."""
    places = containers(document) if document is not NULL else []
    if not places or not draw(st.integers(0, 14)):
        legs = draw(st.lists(st.sampled_from([Member("a"), Member("z"), Cell(0), Cell(1, True)]), min_size=1,
                             max_size=2))
        operation = draw(st.sampled_from(Operation))
    else:
        legs, inner = draw(st.sampled_from(places))
        keys = [Member(key) for key in inner] if isinstance(inner, dict) else [Cell(n) for n in range(len(inner))]
        operation = draw(st.sampled_from(Operation)) if keys else Operation.INSERT
        if operation == Operation.INSERT:
            free = [Member(name) for name in "abcdé" if name not in inner] if isinstance(inner, dict) else [
                Cell(draw(st.integers(0, 4)), draw(st.booleans()))]
            legs = (*legs, draw(st.sampled_from(free or [Member("free")])))
        else:
            legs = (*legs, draw(st.sampled_from(keys)))
    value = None if operation == Operation.REMOVE else draw(DOCUMENTS)
    return Diff(operation, JsonPath(tuple(legs)), value)


@st.composite
def diffs_of(draw, document):
    found = Diffs()
    for _ in range(draw(st.integers(0, 3))):
        found.append(draw(diff_of(document)))
        try:
            document = plain.apply(document, found[-1:])
        except DiffError:
            break
    return found


def value_of(draw, column, known, partial):
    if column == 2:
        return draw(st.none() | st.integers(-5, 5))
    if partial and draw(st.integers(0, 3)):
        return draw(diffs_of(known))
    return draw(st.just(NULL) | DOCUMENTS)


@st.composite
def histories(draw):
    """A base, events that mostly can be applied, and where units are cut."""
    base = [(n, *(value_of(draw, c, NULL, False) for c in (1, 2, 3))) for n in draw(st.sets(st.integers(0, 5)))]
    events, moves = [], False
    for _ in range(draw(st.integers(1, 9))):
        rows = {key: row for (key,), row in model(TABLE, base, events).items()}
        operation = draw(st.sampled_from((INSERT, UPDATE, UPDATE, UPDATE, UPDATE, DELETE)))
        images = st.sampled_from((ALL, (0, 1, 0, 0), (0, 1, 1, 1), (0, 0, 1, 1), (1, 1, 0, 0)))
        after = (1, *draw(images)[1:]) if operation == INSERT else draw(images)
        pairs = []
        for _ in range(draw(st.integers(1, 3))):
            key = draw(st.integers(-1, 7)) if not rows or not draw(st.integers(0, 9)) or operation == INSERT else \
                draw(st.sampled_from(sorted(rows)))
            known = rows.get(key, (None, NULL, None, NULL))
            new_key = draw(st.integers(-1, 7)) if operation == INSERT or not draw(st.integers(0, 4)) else key
            new = tuple(ABSENT if not here else new_key if c == 0 else value_of(draw, c, known[c], operation == UPDATE)
                        for c, here in enumerate(after))
            pairs.append((None if operation == INSERT else (key, ABSENT, ABSENT, ABSENT),
                          None if operation == DELETE else new))
            moves |= operation == UPDATE and after[0] == 1
        kind = (1, 0, 0, 0)
        if operation == UPDATE:
            events.append(PartialUpdate(kind, after, pairs))
        else:
            events.append(Event(operation, *((None, after) if operation == INSERT else (kind, None)), pairs))
        try:
            model(TABLE, base, events)
        except Stop:
            if draw(st.integers(0, 2)):
                events.pop()
                continue
            events += draw(st.sampled_from([[], [Event(DELETE, kind, None, [((99, *[ABSENT] * 3), None)])]]))
            break
    cuts = [] if moves else draw(st.lists(st.integers(0, 6), max_size=2, unique=True))
    return base, events, cuts


@pytest.fixture
def small(monkeypatch):
    """Everything so small that it fills up: batches, indexes, chunks, parts of diffs."""
    monkeypatch.setattr(table_walk, "BATCH_ROWS", 3)
    monkeypatch.setattr(key_index, "FIRST_KEYS", 2)
    monkeypatch.setattr(rows, "CHUNK_ROWS", 2)
    monkeypatch.setattr(documents, "DIFFS_AT_A_TIME", 2)
    monkeypatch.setattr(documents, "CHUNK_DIFFS", 4)
    monkeypatch.setattr(image_reader, "CHUNK_BYTES", 200)


@settings(max_examples=examples(80),
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(histories(), st.integers(1, 3))
def test_units_do_what_a_replica_does(small, history, spread):
    """JD-READ, JD-NULL, JD-SAFE2, DEF-R2, FIND-ROWS, AP-ORD: documents of the base, of inserts and of updates take
    their diffs in order, whatever other columns do; or the same stop, also where the row is gone later."""
    check(*history, spread=spread)


def check(base, events, cuts=(), spread=1):
    folder = Path(tempfile.mkdtemp())
    try:
        texts = [tuple(value if c not in JSON else None if value is NULL else to_text(value).encode()
                       for c, value in enumerate(row)) for row in base]
        found = apply(TABLE, [event if isinstance(event, PartialUpdate) else plain_event(event) for event in events],
                      folder, base=texts, cuts=list(cuts), spread=spread)
        try:
            expected = model(TABLE, base, events)
        except Stop as stop:
            assert found.stopped, stop
            if spread == 1:
                first = first_of(found.stopped, {found.stopped[0].file: 0})
                assert (first.position, first.row, first.mysql_errno) == \
                    (found.positions[stop.event], stop.row, stop.errno)
            return found
        assert found.stopped == []
        assert found.rows == [shown(expected[key]) for key in sorted(expected)]
        return found
    finally:
        shutil.rmtree(folder)
