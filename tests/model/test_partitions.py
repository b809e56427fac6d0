"""A lake whose tables have partitions holds at every version what a replica holds there, in files of one value each; so
do the tables that are published from it."""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.transforms import parse_transform

import applier
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from tests.model.test_merging_lakes import is_in_order
from tests.support import iceberg_readers as readers
from tests.support.examples import examples
from tests.support.held_rows import held
from tests.support.histories import write_history
from tests.support.merging import merged_rows
from tests.support.small_parts import same, small_parts

CHOICES = {
    "numbered": ("bucket[3](id)", "truncate[1](s)", "identity(s)", "truncate[8](id)"),
    "counted": ("identity(u)", "truncate[5](u)", "bucket[2](b)", "identity(n)"),
    "named": ("year(m)", "month(m)", "day(m)", "hour(m)", "identity(m)", "truncate[1](w)", "identity(id)"),
    "priced": ("month(m)", "identity(d)", "truncate[100](d)", "identity(b)", "truncate[1](b)"),
}
partitions = st.fixed_dictionaries({f"shop.{table}": st.sampled_from(choices) for table, choices in CHOICES.items()})


def value_in(path, text):
    """The one value of a transform of a column in the rows of a file."""
    transform, _, column = text.removesuffix(")").partition("(")
    rows = pq.read_table(path)
    kind = pyarrow_to_schema(rows.schema, format_version=2).find_type(column)
    value_of = parse_transform(transform).transform(kind)
    [value] = {value_of(value) for value in rows.column(column).to_pylist()}
    return value


def check_files(place, chosen):
    """The files of each table have one value each, and all of them have the table's rows."""
    snapshot = applier.Snapshot(place)
    for name, table in snapshot.tables.items():
        entry = manifest.load(str(snapshot.uri)).table(*name.split("."))
        assert str(entry.partition) == chosen[name]
        rows = 0
        for path in table.files:
            rows += pq.read_metadata(path).num_rows
            if table.rows:
                value_in(path, chosen[name])
        assert rows == table.rows


def check_catalog(folder, place, chosen):
    catalog, rows = readers.catalog(folder), dict(held(place))
    assert readers.names(folder) == {".".join(table) for table in rows}
    for table, expected in rows.items():
        found = catalog.load_table(table)
        assert readers.cells(readers.with_pyiceberg(found)) == readers.cells(expected)
        for task in found.scan().plan_files():
            text = chosen[".".join(table)]
            [field] = found.spec().fields
            assert found.schema().find_column_name(field.source_id) == text.partition("(")[2].removesuffix(")")
            value = value_in(task.file.file_path.removeprefix("file://"), text)
            stated = task.file.partition[0]
            assert str(stated) == str(value) or text.startswith("identity(m)"), (stated, value)


@settings(max_examples=examples(12), suppress_health_check=list(HealthCheck))
@given(st.data(), small_parts, partitions, st.sampled_from(["walk", "shuffle"]), st.sampled_from([None, 300]))
def test_versions_hold_what_a_replica_holds(data, executor, chosen, route, pass_bytes):
    """With DDL between the rounds and in them, in one pass or several; what is asked for may change on the way."""
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        history = write_history(data.draw, folder)
        ends = sorted(data.draw(st.lists(st.integers(0, len(history.states) - 1), min_size=1, max_size=4, unique=True)))
        for version, number in enumerate(ends, 1):
            place = history.states[number][0]
            if version > 1 and data.draw(st.integers(0, 3)) == 0:
                chosen = data.draw(partitions)
            replay_with(executor, ReplayOptions(
                tuple(map(str, history.files)), stop_position=place, route=route, file_bytes=2000,
                pass_bytes=pass_bytes, lake=f"{folder}/lake", partition=tuple(chosen.items())))
            made = f"{folder}/lake/_versions/{version}"
            rows = merged_rows(made)
            assert same(rows, history.states[number][1].rows()) and is_in_order(made, rows)
            check_files(made, chosen)
            applier.publish(made, iceberg=f"sqlite:///{folder}/catalog.db")
            check_catalog(folder, made, chosen)
        checked = applier.fsck(f"{folder}/lake", iceberg=f"sqlite:///{folder}/catalog.db")
        assert not checked.damaged and (pass_bytes or not checked.strays)
