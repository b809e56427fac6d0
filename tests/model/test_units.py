"""Units against a replica that is a dict: inserts, updates and deletes with any images, ranges, bases, and stops."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.apply.index import key_index
from applier.apply.tables import table_walk
from applier.plan.stops.stop_error import first_of
from tests.support.examples import examples
from tests.support.replica_model import (
    ABSENT,
    DELETE,
    INSERT,
    UPDATE,
    Event,
    Stop,
    Table,
    apply,
    encoded_rows,
    keys_of,
    model,
    truly,
)

REST = ("a int DEFAULT 7, v int AS (length(aes_encrypt(a, 'k'))) VIRTUAL, "
        "b varchar(255) CHARACTER SET latin1 NOT NULL DEFAULT 'x', c text")
"""`v` has any value in images: nobody computes AES_ENCRYPT."""
REST_KINDS, REST_DEFAULTS = ["int", "int", "varchar(255)", "blob2"], (7, None, b"x", None)
INT_KEY = Table(f"id int NOT NULL DEFAULT 3, {REST}, PRIMARY KEY (id)", ["int", *REST_KINDS],
                (3, *REST_DEFAULTS), (0,), (2,))
UNIQUE = Table(f"u int NULL UNIQUE, id smallint NOT NULL DEFAULT 3, {REST}, UNIQUE KEY k (id)",
               ["int", "smallint", *REST_KINDS], (None, 3, *REST_DEFAULTS), (1,), (3,))
UNSIGNED = Table(f"id bigint unsigned NOT NULL DEFAULT 3, {REST}, PRIMARY KEY (id)", ["bigint", *REST_KINDS],
                 (3, *REST_DEFAULTS), (0,), (2,))
TWO = Table(f"k varchar(255) CHARACTER SET latin1 NOT NULL DEFAULT 'q', {REST}, n int NOT NULL, PRIMARY KEY (n, k)",
            ["varchar(255)", *REST_KINDS, "int"], (b"q", *REST_DEFAULTS, 0), (5, 0), (2,))
BYTES = Table(f"k varbinary(255) NOT NULL DEFAULT 'q', {REST}, PRIMARY KEY (k)", ["varchar(255)", *REST_KINDS],
              (b"q", *REST_DEFAULTS), (0,), (2,))
TABLES = {"int": INT_KEY, "unique": UNIQUE, "unsigned": UNSIGNED, "two": TWO, "bytes": BYTES}
WORDS = st.sampled_from((b"", b"q", b"qq", b"q\0", b"r" * 40, b"s"))
KEYS = {"int": st.integers(-3, 5), "smallint": st.integers(-3, 5), "bigint": st.integers(0, 7), "varchar(255)": WORDS}
VALUES = {"int": st.none() | st.integers(-2**31, 2**31 - 1), "varchar(255)": st.sampled_from((b"", b"word", b"w" * 60)),
          "blob2": st.none() | st.sampled_from((b"", b"text", b"t" * 500))}


def values_of(draw, table, present):
    return tuple(ABSENT if not here else draw((KEYS if c in table.key else VALUES)[kind.name])
                 for c, (kind, here) in enumerate(zip(table.kinds, present, strict=True)))


@st.composite
def histories(draw, name):
    """A base, events about its rows and others, where units are cut, and where the base's files are."""
    table = TABLES[name]
    n, everything = len(table.kinds), (1,) * len(table.kinds)
    base = list({table.key_of(row): row for row in (
        values_of(draw, table, everything) for _ in range(draw(st.integers(0, 4))))}.values())
    rows = {table.key_of(row): row for row in base}
    events = []
    for _ in range(draw(st.integers(1, 10))):
        operation = draw(st.integers(0, 2))
        any_columns = st.just(everything) | st.tuples(*[st.integers(0, 1)] * n)
        before = after = None
        if operation != INSERT:
            before = tuple(int(bit or c in table.key) for c, bit in enumerate(draw(any_columns)))
        if operation != DELETE:
            # an update that assigns nothing is none that a server writes
            after = draw(any_columns.filter(any) if operation == UPDATE else any_columns)
        event = Event(operation, before, after, [])
        events.append(event)
        for _ in range(draw(st.integers(1, 3)) if before or any(after) else 1):
            old = values_of(draw, table, before) if before else None
            known = sorted(rows)
            if old is not None and known and draw(st.integers(0, 9)):  # mostly an existing row
                key = dict(zip(table.key, draw(st.sampled_from(known)), strict=True))
                old = tuple(key.get(c, value) for c, value in enumerate(old))
            with suppress(Stop):  # by a row before it
                old = truly(table, base, events, old) if old is not None else None
            event.rows.append((old, values_of(draw, table, after) if after else None))
        try:
            rows = model(table, base, events)
        except Stop:
            if draw(st.integers(0, 3)):
                events.pop()  # mostly continue without it
            else:
                break
    single = any(event.operation == UPDATE and not all(event.after) and any(event.after[c] for c in table.key)
               for event in events)
    keys = sorted(set(known_keys(table, base, rows)))[1:]  # a range begins above the least key
    cuts = draw(st.lists(st.sampled_from(keys), max_size=3, unique=True)) if keys and not single else []
    return table, base, events, cuts, draw(st.none() | st.lists(st.sampled_from(keys or [None]), max_size=2,
                                                                unique=True)) if keys else None


def known_keys(table, base, rows):
    return keys_of(table, encoded_rows(table, [*base, *rows.values()]))


@pytest.fixture
def small(monkeypatch):
    """Everything so small that it fills up: batches, indexes, buffers."""
    monkeypatch.setattr(table_walk, "BATCH_ROWS", 3)
    monkeypatch.setattr(key_index, "FIRST_KEYS", 2)


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=examples(50),
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_units_do_what_a_replica_does(name, data, small):
    """PKE, FIND, IMG-MIX, DEF-R1b, DEF-R2, FIND-ROWS, AP-ORD: the same rows as the model, or the same stop, whatever
    images events have, however the keys are divided, whether or not units share files of the base, and however the log
    is cut into files."""
    check(*data.draw(histories(name)), spread=data.draw(st.integers(1, 3)))


def check(table, base, events, cuts, file_cuts=None, spread=1):
    folder = Path(tempfile.mkdtemp())
    try:
        found = apply(table, events, folder, base=base, cuts=cuts, file_cuts=file_cuts, spread=spread)
        try:
            expected = model(table, base, events)
        except Stop as stop:
            assert found.stopped, stop
            if spread == 1:  # positions of one file compare
                first = first_of(found.stopped, {found.stopped[0].file: 0})
                assert first.position == found.positions[stop.event]
                words = [value.decode() if isinstance(value, bytes) and table is not BYTES else value
                         for value in stop.key]
                text = ", ".join(repr(word) if isinstance(word, (str, bytes)) else str(word) for word in words)
                assert first.mysql_errno == stop.errno and first.key.endswith(f") = {text}")
            return found
        assert found.stopped == []
        rows = {table.key_of(row): table.shown(row) for row in expected.values()}
        order = sorted(rows, key=lambda key: [*key])
        assert found.rows == [rows[key] for key in order]
        return found
    finally:
        shutil.rmtree(folder)


# ---- by hand

ALL = (1,) * 5


def insert(*ids, images=ALL):
    return Event(INSERT, None, images, [(None, tuple(value if here else ABSENT for value, here in zip(
        (number, 1, None, b"w", b"t"), images, strict=True))) for number in ids])


def update(*pairs, images=ALL):
    return Event(UPDATE, (1, 0, 0, 0, 0), images, [((old, *[ABSENT] * 4), tuple(
        value if here else ABSENT for value, here in zip((new, 2, None, b"ww", None), images, strict=True)))
        for old, new in pairs])


def delete(*ids):
    return Event(DELETE, (1, 0, 0, 0, 0), None, [((number, *[ABSENT] * 4), None) for number in ids])


@pytest.mark.parametrize("events, errno, key, at", [
    ([insert(1), insert(1)], 1062, 1, 1), ([insert(1, 2, 1)], 1062, 1, 0), ([delete(5)], 1032, 5, 0),
    ([insert(5), delete(5), delete(5)], 1032, 5, 2), ([insert(5), delete(5), update((5, 5))], 1032, 5, 2),
    ([insert(1, 2), update((1, 2))], 1062, 2, 1), ([insert(1), update((1, 2)), delete(1)], 1032, 1, 2),
    ([update((-9, 1))], 1032, -9, 0)])
def test_a_change_that_cannot_be_applied_stops_its_unit(tmp_path, events, errno, key, at):
    """FIND, APP-R6: 1062 names the key that is there, 1032 the one that is not, both the event."""
    found = apply(INT_KEY, events, tmp_path)
    [error] = found.stopped
    assert (error.mysql_errno, error.key, error.position, error.table, error.file) == \
        (errno, f"PRIMARY (id) = {key}", found.positions[at], "d.t", "binlog.000001")
    assert error.exit_code == 1


def test_nothing_is_applied_after_a_stop(tmp_path):
    """AP-ORD: the first change that is refused is the one that is named."""
    found = apply(INT_KEY, [delete(1), insert(1), insert(1)], tmp_path)
    assert [error.mysql_errno for error in found.stopped] == [1032]


def test_a_chain_of_key_moves(small):
    """FIND-ROWS: a later row of an event finds what an earlier one made."""
    check(INT_KEY, [], [insert(1, 2, 3), update((3, 4), (2, 3), (1, 2)), update((4, 9), (9, 1)), delete(1), insert(1)],
          [])


def test_a_key_moves_away_and_back_within_an_event(small):
    found = check(INT_KEY, [], [insert(1, 2), update((1, 8), (2, 1), (8, 2))], [])
    assert (found.inserted, found.updated, found.deleted) == (2, 3, 0)


def test_a_row_moves_from_unit_to_unit(small):
    """A move between ranges counts once, and the row is in the range where its key is."""
    found = check(INT_KEY, [(1, 1, None, b"w", None), (4, 1, None, b"v", None)],
                  [update((1, 5)), update((4, 2)), update((5, 1)), insert(6), delete(6)], [3])
    assert (found.inserted, found.updated, found.deleted) == (1, 3, 1)


def test_partial_updates_over_partial_updates(small):
    """DEF-R2: each column keeps the value of the last image that had it; a full image ends the patch."""
    a, b, c = (0, 1, 0, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)
    base = [(0, 5, None, b"base", b"base"), (1, 6, None, b"base", b"base")]
    for events in ([update((0, 0), images=a)], [update((0, 0), images=a), update((0, 0), images=b)],
                   [update((0, 0), images=a), update((0, 0), images=c), update((0, 0))],
                   [update((0, 0), images=a), delete(0), insert(0, images=(1, 0, 0, 0, 0)), update((0, 0), images=b)],
                   [update((1, 7), images=(1, 0, 0, 0, 0)), update((7, 1), images=(1, 0, 0, 1, 0))]):
        check(INT_KEY, base, events, [])


def test_inserts_that_leave_columns_out(small):
    """DEF-R1b: the table's default, of the key too; nothing at all is one row of defaults."""
    check(INT_KEY, [], [insert(1, images=(1, 0, 0, 0, 0)), insert(0, images=(0,) * 5)], [])
    check(INT_KEY, [], [insert(0, images=(0,) * 5), insert(0, images=(0,) * 5)], [])  # 1062, key 3
    nothing = Event(INSERT, None, (0,) * 6, [(None, (ABSENT,) * 6)])
    check(TWO, [], [nothing], [])


def test_many_column_pointers_many_keys_and_their_graves(small):
    """Growth of everything: thousands of keys made, updated in part and deleted again, and the memory of dead ones
    used again."""
    for table, make in ((INT_KEY, lambda n: (n,)), (BYTES, lambda n: (b"%05d" % n * (1 + n % 9),))):
        key = [1, 0, 0, 0, 0]

        def event(operation, numbers, after=(0, 1, 0, 0, 0), make=make, key=key):
            old = [(*make(n), *[ABSENT] * 4) for n in numbers]
            new = [tuple(value if here else ABSENT
                         for value, here in zip((*make(n), n, None, b"w", b""), after, strict=True)) for n in numbers]
            return Event(operation, None if operation == INSERT else tuple(key), None if operation == DELETE else after,
                         [(None if operation == INSERT else b, None if operation == DELETE else a)
                          for b, a in zip(old, new, strict=True)])

        check(table, [], [
            event(INSERT, range(1000), ALL), event(UPDATE, range(0, 1000, 2)), event(DELETE, range(0, 1000, 3)),
            event(INSERT, range(0, 1000, 3), ALL), event(UPDATE, range(1000), (0, 0, 0, 0, 1)),
            event(UPDATE, range(10), ALL), event(DELETE, range(1000)), event(INSERT, range(500, 1500), ALL),
            event(UPDATE, range(700, 900))], [], spread=2)


def test_a_unit_without_changes_keeps_its_base_files(tmp_path):
    """What nothing happened to is not written again."""
    base = [(n, 1, None, b"w", None) for n in (1, 2, 11, 12)]
    found = apply(INT_KEY, [], tmp_path, base=base, cuts=[10])
    assert [row[0] for row in found.rows] == [1, 2, 11, 12]
    assert list((tmp_path / "new" / "t").iterdir()) == []


@pytest.mark.parametrize("events", [[], [update((12, 12))], [delete(1, 2)], [update((2, 5), (11, 3))]])
def test_units_that_share_a_file_have_their_own_rows_of_it(events, tmp_path):
    """Each writes its part of it, though nothing may have happened there."""
    base = [(n, 1, None, b"w", None) for n in (1, 2, 11, 12, 21)]
    found = check(INT_KEY, base, events, [2, 3, 12], [21])
    assert len(found.rows) == 5 - 2 * (events == [delete(1, 2)])
    once = check(INT_KEY, base, events, [])
    assert (found.rows, found.inserted, found.updated, found.deleted) == \
        (once.rows, once.inserted, once.updated, once.deleted)
