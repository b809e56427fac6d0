"""All rows that differ, with the values of both sides: of every type, by every kind of key, and without one."""

import random
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from applier import cli
from applier.errors import ServerAnswerError
from applier.io.progress import Silent
from applier.jobs.verify import plan as planning
from applier.jobs.verify.answers import RowHashes
from applier.jobs.verify.canonical import canonical_bytes, stored_values
from applier.jobs.verify.comparing import compare
from applier.jobs.verify.row_differences import row_differences
from applier.jobs.verify.rows import key_texts
from applier.jobs.verify.sums import RangeSums, hashes_of, sums_of
from applier.mysql.character_sets.exact_text import shown
from applier.mysql.reader_values import lossy_charset
from applier.schema.definition import table_schema
from applier.schema.table_filter import EVERYTHING
from applier.snapshot import manifest
from applier.snapshot.reader import read_batches
from tests.recorded.verify.answers import CASES, RANGED, RANGED_ROWS
from tests.support.real_server import Case, replayed


@pytest.fixture(scope="module", params=[*CASES, *RANGED])
def snapshot(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "snapshot"
    replayed(Case(request.param), folder)
    return manifest.load(str(folder))


def _rows(snapshot, table):
    batches = [batch for file in table.entry.files for batch in read_batches(snapshot.root, file, table.definition)]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0] if batches else None


def _cells(table, batch):
    """Rows as the bytes that are compared."""
    columns = [canonical_bytes(column, values).to_pylist()
               for column, values in zip(table.columns, batch.columns, strict=False)]
    return list(zip(*columns, strict=True))


class _There:
    """A server with these rows, by table."""

    def __init__(self, plan, rows):
        self.plan, self._rows = plan, rows

    def rows_of(self, table, number):
        batch = self._rows[table.full_name]
        made = hashes_of(table, batch)
        chosen = np.flatnonzero(table.ranges_of(batch, made) == number)
        return batch.take(pa.array(chosen)), made[:, chosen]

    def hashes(self, table, number):
        batch, made = self.rows_of(table, number)
        keys = key_texts([table.columns[n] for n in table.key], [batch.column(n) for n in table.key]) if table.key \
            else pa.array(made[0]).cast(pa.string())
        return RowHashes(keys, made[1:])

    def values(self, table, number, keys):
        batch, _ = self.rows_of(table, number)
        found = zip(self.hashes(table, number).keys.to_pylist(), _cells(table, batch), strict=True)
        return [(key, values) for key, values in found if key in set(keys)]


def test_values_of_the_server_become_those_of_the_snapshot(snapshot):
    for table in planning.plan(snapshot, EVERYTHING, "crc32").tables:
        batch = _rows(snapshot, table)
        for column, values in zip(table.columns, batch.columns if batch is not None else (), strict=False):
            if charset := lossy_charset(column.type):
                values = shown(values, charset)
            assert stored_values(column, table.definition, canonical_bytes(column, values)).equals(values), column.name


@pytest.mark.by_turns("seed")
@pytest.mark.parametrize("seed", range(3))
def test_differences_lead_from_the_server_to_the_snapshot(snapshot, seed, monkeypatch):
    monkeypatch.setattr(planning, "RANGE_ROWS", RANGED_ROWS)
    chooser = random.Random(seed)
    plan = planning.plan(snapshot, EVERYTHING, "crc32")
    here = {table.full_name: rows for table in plan.tables if (rows := _rows(snapshot, table)) is not None}
    there = {table.full_name: _changed(table, here[table.full_name], chooser) if table.full_name in here
             else pa.RecordBatch.from_pylist([], table_schema(table.definition)) for table in plan.tables}
    server, sums = _There(plan, there), sums_of(plan, Silent())
    found = compare(plan, sums, SimpleNamespace(position="", sums={
        (table.full_name, number): _Sums(server, table)[number] for table in plan.tables
        for number in range(table.ranges)}))
    differences = row_differences(found, sums, server)
    for table in plan.tables:
        diff, rows = differences.tables[table.full_name], Counter(_cells(table, there[table.full_name]))
        for batch in diff.differing_rows():
            for kind, changed, cells in zip(batch.column("_change_type").to_pylist(),
                                            batch.column("_changed").to_pylist(), _cells(table, batch), strict=True):
                rows[cells] += 1 if kind in ("insert", "update_postimage") else -1
                assert (changed is None) == (kind in ("insert", "delete"))
        assert all(count >= 0 for count in rows.values())
        assert +rows == Counter(_cells(table, here[table.full_name]) if table.full_name in here else ())
        assert (diff.differing == 0) == (table.full_name not in found.by_table)
        assert (diff.rows_before, diff.rows_after) == (there[table.full_name].num_rows, table.entry.rows)


class _Sums:
    """The sums of ranges that the server would give."""

    def __init__(self, server, table):
        self._server, self._table = server, table

    def __getitem__(self, number):
        _, made = self._server.rows_of(self._table, number)
        if not made.shape[1] and self._table.buckets > 1:  # GROUP BY has no row for it
            return None
        row, *columns = (sum(map(int, hashes)) for hashes in made)
        return RangeSums(made.shape[1], row, tuple(columns))


def _changed(table, rows, chooser):
    """The rows with some gone, some twice where there is no key, and values of a column that is no key exchanged."""
    kept = [n for n in range(rows.num_rows) if chooser.random() > .2]
    if not table.key:
        kept += [n for n in kept if chooser.random() < .3]
    made = rows.take(pa.array(kept, pa.int64()))
    free = [n for n in range(len(table.columns)) if n not in table.key]
    if free and kept:
        number = chooser.choice(free)
        mixed = made.column(number).take(pa.array(chooser.sample(range(len(kept)), len(kept))))
        made = made.set_column(number, rows.schema.field(number), mixed)
    return made


@pytest.mark.parametrize("values", [(b"\xff\xfe",), (b"no number",), (None, b"1" * 70)])
def test_a_value_that_does_not_fit_its_column(values, tmp_path):
    replayed(Case("mysql-types-number-time"), tmp_path / "snapshot")
    plan = planning.plan(manifest.load(str(tmp_path / "snapshot")), EVERYTHING, "crc32")
    table = next(table for table in plan.tables if table.entry.rows and table.key)
    server, sums = _There(plan, {table.full_name: _rows(plan.snapshot, table).slice(0, 0)}), sums_of(plan, Silent())
    server.values = lambda table, number, keys: [("00", (values * len(table.columns))[:len(table.columns)])]
    found = compare(plan, sums, SimpleNamespace(position="", sums={
        (table.full_name, number): RangeSums(0, 0, ()) for number in range(table.ranges)}))
    with pytest.raises(ServerAnswerError, match="a value that does not fit its column"):
        row_differences(found, sums, server)


def test_a_repair_needs_a_server_and_a_file_that_is_new(tmp_path, capsys):
    replayed(Case("mysql-types-number-time"), tmp_path / "snapshot")
    (tmp_path / "there.sql").write_text("kept")
    command = ["verify", str(tmp_path / "snapshot"), "--repair"]
    assert cli.main([*command, str(tmp_path / "new.sql"), "--against", "sums.tsv"]) == 2
    assert "a repair needs the server's values" in capsys.readouterr().err
    assert cli.main([*command, str(tmp_path / "there.sql"), "--server", "mysql://root@127.0.0.1:1"]) == 2
    assert "the output already exists" in capsys.readouterr().err
    assert (tmp_path / "there.sql").read_text() == "kept"
    assert not (tmp_path / "new.sql").exists()
