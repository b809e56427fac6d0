"""A lake that merges on read holds at every version what a replica holds there, and what a lake of whole files holds.

Rules: AP-SNAP, AP-ORD, AP-IDEM, FIND, FIND-ROWS, IMG-MIX, DEF-R1b, DEF-R2.
"""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import applier
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.writer.writer import BinlogWriter
from tests.model.test_replays import create, histories, written
from tests.support.examples import examples
from tests.support.histories import write_history
from tests.support.merging import merged_rows, mergings
from tests.support.replica import Refused
from tests.support.small_parts import same, small_parts


def is_in_order(lake, rows):
    """Return whether each table's rows are in the order of its key, which no two have."""
    for name, table in applier.Snapshot(lake).tables.items():
        keys = [tuple(value.encode() if isinstance(value, str) else value for value in map(row.get, table.key))
                for row in rows[name]]
        if table.key and keys != sorted(set(keys)):
            return False
    return True


@settings(max_examples=examples(16), suppress_health_check=list(HealthCheck))
@given(st.data(), small_parts, mergings, st.sampled_from(["walk", "shuffle"]), st.sampled_from([None, 300]))
def test_versions_hold_what_a_replica_holds(data, executor, sizes, route, pass_bytes):
    """With DDL between the rounds and in them, in one pass or several; every version is still there in the end."""
    with tempfile.TemporaryDirectory() as name, executor.sizes(), sizes:
        folder = Path(name)
        history = write_history(data.draw, folder)
        ends = data.draw(st.lists(st.integers(0, len(history.states) - 1), min_size=1, max_size=6, unique=True))
        binlogs = tuple(map(str, history.files))

        def replayed(place, **options):
            replay_with(executor, ReplayOptions(binlogs, stop_position=place, route=route, file_bytes=2000, **options))

        for number in sorted(ends):
            place = history.states[number][0]
            replayed(place, lake=f"{folder}/merging", merge_on_read=True, pass_bytes=pass_bytes)
            replayed(place, lake=f"{folder}/whole")
        for version, number in enumerate(sorted(ends), 1):
            merging, whole = (f"{folder}/{kind}/_versions/{version}" for kind in ("merging", "whole"))
            rows = merged_rows(merging)
            assert same(rows, history.states[number][1].rows()) and is_in_order(merging, rows)
            assert applier.diff(whole, merging).same and applier.diff(merging, whole).same
        checked = applier.fsck(f"{folder}/merging")
        assert not checked.damaged and (pass_bytes or not checked.strays)  # which passes may leave


@settings(max_examples=examples(16), suppress_health_check=list(HealthCheck))
@given(histories(), small_parts, mergings, st.sampled_from(["walk", "shuffle"]))
def test_rounds_are_a_replica(history, executor, sizes, route):
    """Any keys and images, in both modes: a round a transaction, conflicts counted as in one replay."""
    tables, transactions, states = history
    states = [state for state in states if not isinstance(state, Refused)]
    assume(states)
    flavour = tables[0].flavour
    with tempfile.TemporaryDirectory() as name, executor.sizes(), sizes:
        folder = Path(name)
        schema = folder / "schema.sql"
        schema.write_text(";\n".join(create(table.name[2:], table.columns, table.keys) for table in tables) + ";\n")
        with BinlogWriter(folder / "binlog.000001", flavour=flavour) as log:
            places = [written(log, transaction, flavour) for transaction in transactions]
        conflicts = 0
        for number, state in enumerate(states):
            result = replay_with(executor, ReplayOptions(
                (str(folder / "binlog.000001"),), lake=f"{folder}/lake", merge_on_read=True, route=route,
                stop_position=("binlog.000001", places[number][1]), schema=None if number else str(schema),
                exec_mode="idempotent" if tables[0].idempotent else "strict", file_bytes=500))
            conflicts += result.conflicts
            rows = merged_rows(f"{folder}/lake")
            assert same(rows, state.rows()) and conflicts == state.conflicts
        assert not applier.fsck(f"{folder}/lake").damaged
