"""The engine against a replica that is lists of rows: any keys, any images, both modes, both routes, any division.

Rules: FIND, FIND-ROWS, IDX-R1 to R4, IMG-MIX, DEF-R1a, DEF-R1b, DEF-R2, APP-R5 to R7, AP-IDEM, AP-ORD, GRP-1, GRP-2.
REPLICA_EXAMPLES in the environment is how many histories are tried; thousands take minutes.
"""

import copy
import os
import re
import tempfile
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from applier.errors import ApplierError, UsageError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.examples import examples
from tests.support.replica import Change, Column, Key, Refused, Replica, Table
from tests.support.small_parts import rows_of, same, small_parts

A = Column("a", "INT NOT NULL DEFAULT 3", default=3)
S = Column("s", "VARCHAR(4) COLLATE utf8mb4_general_ci NOT NULL DEFAULT 'b'", default="b", ignores_case=True)
B = Column("b", "INT DEFAULT 2", nullable=True, default=2)
W = Column("w", "VARCHAR(4) COLLATE utf8mb4_bin", nullable=True)
T = Column("t", "TEXT", nullable=True)
COLUMNS = [A, S, B, W, T]
NUMBERS, WORDS = st.integers(-1, 4), st.sampled_from(["", "a", "A", "b", "B", "aB"])
VALUES = {"a": NUMBERS, "b": NUMBERS | st.none(), "s": WORDS, "w": WORDS | st.none(), "t": WORDS | st.none()}
RAW = {"a": pa.int32(), "b": pa.int32(), "s": pa.string(), "w": pa.string(), "t": pa.string()}
NAMES = list(VALUES)


@cache
def definition(sql, flavour):
    [change] = parse_statement(sql, default_database="d", server_charset="utf8mb4", flavour=flavour)
    return change.definition


def create(name, columns, keys):
    lines = [f"{column.name} {column.sql}" for column in columns]
    lines += [f"{key.kind} {'' if key.kind == 'PRIMARY KEY' else f'k{number} '}({', '.join(key.columns)})"
              for number, key in enumerate(keys)]
    return f"CREATE TABLE d.{name} ({', '.join(lines)}) CHARSET utf8mb4"


primary_keys = st.sampled_from([(), (), ("a",), ("a",), ("s",), ("s", "a")]).map(
    lambda columns: [Key("PRIMARY KEY", columns)] if columns else [])
other_keys = st.lists(st.builds(Key, st.sampled_from(["UNIQUE KEY", "KEY"]), st.lists(
    st.sampled_from(["a", "s", "b", "w"]), min_size=1, max_size=2, unique=True).map(tuple)), max_size=2)


@st.composite
def histories(draw):
    """(replica's tables as they are at first, transactions, the replica after each; the last may be one that it
    refuses: then there is a Refused in its place)."""
    idempotent, flavour = draw(st.booleans()), draw(st.sampled_from(["mysql", "mariadb"]))
    tables = [Table(f"d.t{number}", COLUMNS, draw(primary_keys) + draw(other_keys), idempotent, flavour)
              for number in range(draw(st.integers(1, 2)))]
    replica, transactions, states = Replica(copy.deepcopy(tables)), [], []
    for _ in range(draw(st.integers(1, 8))):
        transaction, trial = [], copy.deepcopy(replica)
        for _ in range(draw(st.integers(1, 4))):
            change = draw_change(draw, trial)
            try:
                trial.apply([change])
            except Refused as refused:
                if draw(st.integers(0, 7)):  # most histories should not end at their first change
                    continue
                return tables, [*transactions, [*transaction, change]], [*states, refused]
            transaction.append(change)
        if transaction:
            replica = trial
            transactions.append(transaction)
            states.append(copy.deepcopy(replica))
    assume(states)
    return tables, transactions, states


def draw_change(draw, replica):
    """An event on one of the tables: about existing rows, mostly."""
    table = replica.tables[draw(st.sampled_from(sorted(replica.tables)))]
    kind = draw(st.sampled_from(["insert", "insert", "update", "update", "delete"]))
    shape = draw(st.sampled_from(["full", "full", "noblob", "some"]))
    has = {"full": NAMES, "noblob": NAMES[:-1]}
    before = has.get(shape) or draw(subsets)
    after = has.get(draw(st.sampled_from([shape, shape, "some"]))) or draw(subsets)
    trial, rows = copy.deepcopy(table), []
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        row = {name: draw(VALUES[name]) for name in NAMES}
        old = draw(st.sampled_from(trial.rows)) if trial.rows and draw(st.integers(0, 9)) else row
        if kind == "update" and draw(st.booleans()):
            row = old | {name: row[name] for name in draw(subsets)}
        rows.append((None if kind == "insert" else trial.truly({name: old[name] for name in before}),
                     None if kind == "delete" else {name: row[name] for name in after}))
        try:
            trial.apply(*rows[-1])
        except Refused:
            break
    return Change(table.name, rows)


subsets = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)


def written(log, transaction, flavour):
    """Write a transaction; where it begins and ends."""
    begin = log.position
    with log.transaction():
        for change in transaction:
            logged = definition(create(change.table.partition(".")[2], COLUMNS, []), flavour)
            images = [None if rows[0] is None else {name: pa.array([row[name] for row in rows], RAW[name])
                                                    for name in NAMES if name in rows[0]}
                      for rows in zip(*change.rows, strict=True)]
            log.rows(RowChanges(logged, *images))
    return begin, log.position


@settings(max_examples=int(os.environ.get("REPLICA_EXAMPLES", examples(60))),
          suppress_health_check=list(HealthCheck))
@given(histories(), small_parts, st.sampled_from(["walk", "shuffle"]), st.data())
def test_a_replay_is_a_replica(history, executor, route, data):
    """The whole log, or up to the transaction that is refused, in one go and in two."""
    tables, transactions, states = history
    flavour = tables[0].flavour
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        schema = folder / "schema.sql"
        schema.write_text(";\n".join(create(table.name[2:], table.columns, table.keys) for table in tables) + ";\n")
        with BinlogWriter(folder / "binlog.000001", flavour=flavour) as log:
            places = [written(log, transaction, flavour) for transaction in transactions]

        def replayed(output, **options):
            if "base" not in options:
                options["schema"] = str(schema)
            result = replay_with(executor, ReplayOptions(
                (str(folder / "binlog.000001"),), f"{folder}/{output}", route=route,
                exec_mode="idempotent" if tables[0].idempotent else "strict", **options))
            return rows_of(folder / output), result.conflicts

        def is_compatible(got, state):
            rows, conflicts = got
            assert same(rows, state.rows())
            return conflicts

        *done, last = states
        end = {}
        if isinstance(last, Refused):
            try:
                replayed("whole")
            except ApplierError as error:
                assert (error.mysql_errno, error.table) == (last.errno, last.table)
                stop = re.search(r"--stop-position (\S+):(\d+)", error.hint)
                assert (stop[1], int(stop[2])) == ("binlog.000001", places[-1][0])
                end = {"stop_position": (stop[1], int(stop[2]))}
            else:
                raise AssertionError(f"{last!r} expected")
        else:
            done.append(last)
        if not done:
            with pytest.raises(UsageError, match="these binlogs contain nothing before the place to stop"):
                replayed("whole", **end)
            return
        state = done[-1]
        assert is_compatible(replayed("whole", **end), state) == state.conflicts
        number = data.draw(st.integers(0, len(done) - 1))
        part = is_compatible(replayed("part", stop_position=("binlog.000001", places[number][1])), done[number])
        rest = is_compatible(replayed("rest", base=f"{folder}/part", **end), state)
        assert part == done[number].conflicts and part + rest == state.conflicts
