"""Complete changes and histories against a replica that is lists of rows, and against states after each event group.

Rules: FIND, FIND-ROWS, IDX-R1 to R4, IMG-MIX, IMG-W, IMG-U, IMG-D, DEF-R1a, DEF-R1b, DEF-R2, AP-ORD, GRP-1, GRP-2.
"""

import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from applier.errors import ReplayStopped
from applier.jobs.changes.job import ChangeLog
from applier.jobs.history.job import row_history
from applier.jobs.replay.job import replay_with
from applier.options import ChangesOptions, ReplayOptions
from applier.writer.writer import BinlogWriter
from tests.model.test_replays import create, histories, written
from tests.support.examples import examples
from tests.support.folded_changes import fold
from tests.support.folded_changes import rows_of as texts_of
from tests.support.histories import write_history
from tests.support.replica import Refused
from tests.support.small_parts import rows_of, same, small_parts

OF_VERSIONS = ["_valid_from", "_valid_to", "_from_seq", "_to_seq", "_from_change", "_to_change", "_change_type",
               "_ended_by", "_from_gtid", "_to_gtid"]


def read(feed):
    return pa.Table.from_batches(feed.batches(), feed.schema)


def as_of(history, place):
    name, offset = place
    sequence = int(name.rpartition(".")[2]) << 40 | offset
    valid = history.filter((pc.field("_from_seq") <= sequence)
                           & (pc.field("_to_seq").is_null() | (pc.field("_to_seq") > sequence)))
    return valid.drop_columns(OF_VERSIONS).to_pylist()


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(histories(), small_parts)
def test_each_step_is_the_replicas(history, executor):
    """Any keys and images, in batches of any size: after each transaction the history has the replica's rows, and the
    changes add up to them. Where the replica refuses a change, they stop there."""
    tables, transactions, states = history
    assume(not tables[0].idempotent)
    *done, last = states
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        schema = folder / "schema.sql"
        schema.write_text(";\n".join(create(table.name[2:], table.columns, table.keys) for table in tables) + ";\n")
        with BinlogWriter(folder / "binlog.000001", flavour=tables[0].flavour) as log:
            places = [written(log, transaction, tables[0].flavour) for transaction in transactions]
        end = ("binlog.000001", places[-1][0]) if isinstance(last, Refused) else None
        done += [] if end else [last]

        def log_up_to(stop):
            return ChangeLog(ChangesOptions((str(folder / "binlog.000001"),), schema=str(schema), complete=True,
                                            stop_position=stop))

        if end:
            table = tuple(last.table.split("."))
            try:
                read(log_up_to(None).feed(table))
            except ReplayStopped as error:
                assert (error.mysql_errno, error.table) == (last.errno, last.table)
            else:
                raise AssertionError(f"{last!r} expected")
        if end and not done:
            return
        good = log_up_to(end)
        for table in tables:
            changes, versions = read(good.feed((table.name[:1], table.name[2:]))), read(
                row_history(good, (table.name[:1], table.name[2:])))
            for (_, offset), state in zip(places, done, strict=False):
                held = {table.name: as_of(versions, ("binlog.000001", offset))}
                assert same(held, {table.name: state.rows()[table.name]})
            columns = [column.name for column in table.columns]
            left = pa.Table.from_pylist(done[-1].rows()[table.name], pa.schema([
                changes.schema.field(column) for column in columns]))
            assert fold(changes, columns, ()) == Counter(texts_of(left, columns))


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(st.data(), small_parts)
def test_a_history_has_the_state_after_each_group(data, executor):
    """With DDL, rollbacks, several files, and rows of a base."""
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        history = write_history(data.draw, folder)
        binlogs = tuple(map(str, history.files))
        number = data.draw(st.integers(0, len(history.states) - 1))
        replay_with(executor, ReplayOptions(binlogs, f"{folder}/base", stop_position=history.states[number][0]))
        base = rows_of(folder / "base")
        assert same(base, history.states[number][1].rows())
        for first, options in ((0, {}), (number, {"base": f"{folder}/base"})):
            log = ChangeLog(ChangesOptions(binlogs, complete=True, **options))
            for table in history.end.rows():
                versions = read(row_history(log, tuple(table.split("."))))
                for place, state in history.states[first:]:
                    if table in state.rows():
                        now = state.tables[table.partition(".")[2]][0].columns
                        held = [_with(row, now) for row in as_of(versions, place)]
                        assert same({table: held}, {table: state.rows()[table]}), (table, place)


def _with(row, columns):
    """A row without the columns of tables of its name before it, which have no values."""
    assert all(value is None for name, value in row.items() if name not in columns)
    return {name: row[name] for name in columns}
