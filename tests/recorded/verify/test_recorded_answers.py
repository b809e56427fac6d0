"""`applier verify` against what real servers answered: all types of both, and a change of any value is found."""

import dataclasses
from decimal import localcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
from applier import cli
from applier.jobs.verify import plan as planning
from applier.mysql.type_registry import Family
from applier.schema.table_parts import Column
from applier.snapshot import manifest
from tests.recorded.verify.answers import CASES, RANGED, RANGED_ROWS, answers
from tests.support.real_server import Case, replayed


@pytest.fixture(scope="module")
def truth():
    return answers()


@pytest.fixture(scope="module", params=CASES)
def case(request, truth, tmp_path_factory):
    """A case's snapshot, and files with the server's answers by kind."""
    return _made(request.param, truth, tmp_path_factory)


@pytest.fixture(params=RANGED)
def ranged(request, truth, tmp_path_factory, monkeypatch):
    """The same of a case whose tables are divided into ranges."""
    monkeypatch.setattr(planning, "RANGE_ROWS", RANGED_ROWS)
    return _made(request.param, truth, tmp_path_factory)


def _made(name, truth, tmp_path_factory):
    folder = tmp_path_factory.mktemp(name)
    replayed(Case(name), folder / "snapshot")
    for kind, text in truth[name].items():
        (folder / f"{kind}.tsv").write_text(text)
    return folder


@pytest.mark.by_turns("hash")
@pytest.mark.parametrize("hash", ["crc32", "sha2"])
def test_what_a_server_holds_is_the_same(case, hash, capsys):
    """Every value of every type, by both hashes: what is hashed here is what the server hashes."""
    assert cli.main(["verify", str(case / "snapshot"), "--against", str(case / f"{hash}.tsv"), "--hash", hash]) == 0
    assert "are the same on the server" in capsys.readouterr().out


@pytest.mark.parametrize("hash", ["crc32", "sha2"])
def test_ranges_have_the_rows_that_a_server_puts_there(ranged, hash):
    """By integers, also unsigned ones, where a key begins with one; by hashes of other keys, and of rows without."""
    found = applier.verify(ranged / "snapshot", ranged / f"{hash}.tsv", hash=hash)
    assert found.same and found.ranges > 2 * RANGED_ROWS


def test_a_change_is_found_in_its_range(ranged):
    """Of a table with a key in one range and one row, of one without in those of the row before and after."""
    snapshot = manifest.load(str(ranged / "snapshot"))
    entries, changed = [], {}
    for table in snapshot.tables:
        definition = table.definition.shown
        number, column = len(definition.stored_columns) - 1, definition.stored_columns[-1]
        rows = _read(path := ranged / "snapshot" / table.files[0].path)
        values = _changed(column, rows.column(number).combine_chunks(), False)
        if values is not None and column.name not in table.key:
            _write(path, rows.set_column(number, rows.schema.field(number), values))
            changed[table.full_name] = column.name
            table = _as_it_is(table, path)
        entries.append(table)
    (ranged / "snapshot" / "_snapshot.json").write_bytes(
        dataclasses.replace(snapshot, tables=tuple(entries)).to_json())
    found = applier.verify(ranged / "snapshot", [ranged / "crc32.tsv", ranged / "rows.tsv"])
    assert {table.full_name for table in found.different} == changed.keys()
    for table in found.different:
        assert len(table.ranges) == 1 if table.table.key else len(table.ranges) in (1, 2)
        assert {name for part in table.ranges for name in part.columns} >= {changed[table.full_name]}
        _check_rows(table, changed[table.full_name])


def test_the_statements_are_those_that_were_answered(case):
    """The tag in the answers is a digest of the tables, ranges and expressions: these have not changed since."""
    sql = applier.verify_sql(case / "snapshot")
    [tag] = {line.split("'")[1] for line in sql.splitlines() if line.startswith("SELECT 'applier-")}
    assert tag in (case / "crc32.tsv").read_text()


@pytest.mark.by_turns(one_in=4)
def test_one_changed_value_is_found_down_to_range_column_and_row(case):
    """Of every column of every table, by the least change that its type can hold; a NULL that becomes a value, too."""
    snapshot = manifest.load(str(case / "snapshot"))
    held = {table.full_name: (table, table.definition.shown,
                              _read(case / "snapshot" / table.files[0].path)) for table in snapshot.tables}
    original = (case / "snapshot" / "_snapshot.json").read_bytes()
    paths = [table.files[0].path for table in snapshot.tables]
    kept = {path: (case / "snapshot" / path).read_bytes() for path in paths}
    for turn in range(2 * max(len(definition.stored_columns) for _, definition, _ in held.values())):
        changed = {}
        entries = []
        for name, (table, definition, rows) in held.items():
            number, of_null = turn // 2, bool(turn % 2)
            if number < len(definition.stored_columns):
                column = definition.stored_columns[number]
                if (values := _changed(column, rows.column(number).combine_chunks(), of_null)) is not None:
                    path = case / "snapshot" / table.files[0].path
                    _write(path, rows.set_column(number, rows.schema.field(number), values))
                    changed[name] = column.name
                    table = _as_it_is(table, path)
            entries.append(table)
        if not changed:
            continue
        (case / "snapshot" / "_snapshot.json").write_bytes(
            dataclasses.replace(snapshot, tables=tuple(entries)).to_json())
        found = applier.verify(case / "snapshot", [case / "crc32.tsv", case / "rows.tsv"])
        assert {table.full_name: [part.columns for part in table.ranges] for table in found.different} == \
            {name: [(column,)] for name, column in changed.items()}
        for table in found.different:
            _check_rows(table, changed[table.full_name])
        _restore(case / "snapshot", original, kept)


def _read(path: Path) -> pa.Table:
    """The rows, with what the file says of dates that are none."""
    file = pq.ParquetFile(path)
    said = {key: value for key, value in (file.metadata.metadata or {}).items() if key != b"ARROW:schema"}
    return file.read().replace_schema_metadata(said)


def _write(path: Path, rows: pa.Table) -> None:
    path.unlink()
    pq.write_table(rows, path)


def _as_it_is(table, path: Path):
    """A manifest's table whose one file was written again."""
    file = dataclasses.replace(table.files[0], bytes=path.stat().st_size, digest=None)
    return dataclasses.replace(table, files=(file,))


def _check_rows(table, column: str) -> None:
    kinds = [row.kind for row in table.rows]
    key = [table.columns[number].name for number in table.table.key]
    if key and column not in key:
        assert [(row.kind, row.columns) for row in table.rows] == [("changed", (column,))]
    else:
        assert sorted(kinds) == ["here", "there"]


def _restore(snapshot: Path, original: bytes, kept: dict[str, bytes]) -> None:
    (snapshot / "_snapshot.json").write_bytes(original)
    for path, data in kept.items():
        (snapshot / path).write_bytes(data)


def _changed(column: Column, values: pa.Array, of_null: bool) -> pa.Array | None:
    """The column with one value changed by the least that its type can hold, or with one NULL that is none any more."""
    dates = column.type.entry.family in (Family.DATE, Family.DATETIME)  # a null there may be a date that is none
    if values.null_count == len(values) or (of_null and (dates or not values.null_count)):
        return None
    known = values.drop_null()[0]
    if of_null:
        place, other = values.is_null().index(True).as_py(), pa.array([known.as_py()], values.type)
    else:
        place, other = values.is_valid().index(True).as_py(), _other(column, known)
    picks = list(range(len(values)))
    picks[place] = len(values)
    return pa.concat_arrays([values, other]).take(pa.array(picks))


def _other(column: Column, value: pa.Scalar) -> pa.Array:
    family = column.type.entry.family
    if family in (Family.DATE, Family.DATETIME, Family.TIME):
        least = 1 if family is Family.DATE else 10 ** (6 - column.type.fsp)
        whole = pa.int32() if family is Family.DATE else pa.int64()
        return pa.array([value.cast(whole).as_py() - least], whole).cast(value.type)
    return pa.array([_next(column, value.as_py())], value.type)


def _next(column: Column, plain):
    family = column.type.entry.family
    if family is Family.FLOATING:
        kind = np.float32 if column.type.base == "float" else np.float64
        return plain + 1 if column.type.scale is not None else np.nextafter(kind(plain), kind(0.5))
    if family is Family.VECTOR:
        return [np.nextafter(np.float32(plain[0]), np.float32(9)), *plain[1:]]
    if isinstance(plain, bytes):
        return plain[:-1] + bytes([plain[-1] ^ 1]) if plain else b"\0"
    if isinstance(plain, str):
        return plain + " "
    if family is Family.DECIMAL:
        with localcontext(prec=80):
            return plain + type(plain)(1).scaleb(-(column.type.scale or 0)) * (-1 if plain > 0 else 1)
    return plain - 1 if plain > 0 else plain + 1
