"""Of any history that a server could write, a transaction is undone so that a replica holds what it would without it,
or the undo is refused, since others have touched its rows: IMG-MIX, PKE, FIND-ROWS."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import applier
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.examples import examples
from tests.support.histories import DATABASE, write_history
from tests.support.small_parts import rows_of, same, small_parts

pytestmark = pytest.mark.slow


def without(before, after, end):
    """The rows at the end as they would be if what made one state of another had not happened; None where a row that it
    touched is another one at the end."""
    expected, nothing = end.copy(), (None, {})
    for name, (table, was) in before.tables.items():
        rows = after.tables.get(name, nothing)[1]
        if name not in after.tables:  # dropped
            expected.tables.setdefault(name, (table, {}))
        for key in was.keys() | rows.keys():
            if was.get(key) != rows.get(key):
                held = expected.tables[name][1]
                if held.get(key) != rows.get(key):
                    return None
                held.pop(key, None)
                if key in was:
                    held[key] = was[key]
    return expected.rows()


def touched_since(states, before, after):
    """Return whether a row that made one state of another was not what it made of it after one of the later
    transactions."""
    return any(state.tables.get(name, (None, {}))[1].get(key) != after.tables.get(name, (None, {}))[1].get(key)
               for name, (_, was) in before.tables.items() for state in states
               for key in was.keys() | after.tables.get(name, (None, {}))[1].keys()
               if was.get(key) != after.tables.get(name, (None, {}))[1].get(key))


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(st.data(), small_parts)
def test_a_transaction_that_nobody_built_on_is_as_if_it_had_not_been(data, executor):
    """From the beginning of the log, or from a base of many small files."""
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        history = write_history(data.draw, folder)
        number = data.draw(st.integers(len(history.states) // 2, len(history.states) - 1))
        if number == 0:
            return
        (_, before), (_, after) = history.states[number - 1:number + 1]
        start, stop = history.states[number - 1][0], history.states[number][0]
        files, base = tuple(map(str, history.files)), None
        if data.draw(st.booleans()):
            base = f"{name}/base"
            at = history.states[data.draw(st.integers(0, number - 1))][0]
            replay_with(executor, ReplayOptions(files, base, stop_position=at))
        try:
            found = applier.undo(files, folder / "undo.000001", start=start, stop=stop, base=base, format="binlog")
        except applier.UndoRefused:
            note("refused")
            assert number < len(history.states) - 1
            return
        except (applier.SchemaError, applier.UsageError) as error:
            note(str(error))
            assert "statement" in error.message or "none of the transactions" in error.message
            return
        assert not touched_since([state for _, state in history.states[number + 1:]], before, after)
        replay_with(executor, ReplayOptions(files, f"{name}/after"))
        replay_with(executor, ReplayOptions((f"{name}/undo.000001",), f"{name}/undone", base=f"{name}/after",
                                            start_position=("undo.000001", 4)))
        assert same(rows_of(folder / "undone"), without(before, after, history.end))
        assert {one.name: one.rows_after for one in found.tables if one.rows_after is not None}.items() <= {
            table: len(rows) for table, rows in rows_of(folder / "undone").items()}.items()
        assert all(one.name.startswith(f"{DATABASE}.") for one in found.tables)


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(st.data(), small_parts)
def test_a_log_that_begins_after_the_rows_were_made_undoes_the_same(data, executor):
    """With the definitions as of where it begins, and full images, unless others have built on the transaction."""
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        history = write_history(data.draw, folder)
        files = tuple(map(str, history.files))
        first = data.draw(st.integers(1, max(1, len(files) - 1)))
        late, in_late = files[first:], [number for number, (place, _) in enumerate(history.states)
                                        if place[0] in {Path(file).name for file in files[first:]}]
        if len(in_late) < 2:
            return
        number = data.draw(st.sampled_from(in_late[1:]))
        (start, before), (stop, after) = history.states[number - 1:number + 1]
        replay_with(executor, ReplayOptions(files[:first], f"{name}/before"))
        given_schema = f"{name}/before/_schema.sql"
        options = {"start": start, "stop": stop, "format": "binlog"}
        try:
            expected = applier.undo(files, folder / "expected.000001", **options)
        except applier.ApplierError as error:
            note(str(error))
            with pytest.raises(applier.ApplierError):
                applier.undo(late, folder / "undo.000001", schema=given_schema, **options)
            return
        try:
            found = applier.undo(late, folder / "undo.000001", schema=given_schema, **options)
        except applier.ApplierError as error:
            event(error.message[:40])
            assert re.search("before-image does not contain|does not contain the rows that|does not say what column|"
                             "foreign keys change|can't find record: the row to update or delete does not exist",
                             str(error))
            return
        event("undone")
        assert [(one.name, one.inserted, one.deleted, one.updated, one.same) for one in found.tables] == [
            (one.name, one.inserted, one.deleted, one.updated, one.same) for one in expected.tables]
        replay_with(executor, ReplayOptions(files, f"{name}/after"))
        replay_with(executor, ReplayOptions((f"{name}/undo.000001",), f"{name}/undone", base=f"{name}/after",
                                            start_position=("undo.000001", 4)))
        assert same(rows_of(folder / "undone"), without(before, after, history.end))
