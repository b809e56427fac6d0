"""Replicas whose columns have other types than the source's, from the command line on: the real replica's tables are
imported, and hold after the replay what the real replica held, or the replay stops where that one stopped."""

import json

import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.snapshot import manifest
from applier.writer.writer import BinlogWriter
from tests.support.real_server import Case, differences
from tests.support.small_logs import commit, delete, insert, update

pytestmark = pytest.mark.usefixtures("spark")

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])


def replayed(case, folder, route, *options):
    """Import the replica's tables and replay the case's log on them, with its conversions; the exit code."""
    base, output = folder / "base", folder / "out"
    assert cli.main(["import", str(case.folder / "target.sql"), "--flavour", case.server, "--output", str(base)]) == 0
    allowed = [option.partition("=")[2] for option in description(case).get("target_options", [])]
    conversions = [word for text in allowed for word in ("--type-conversions", text)]
    return cli.main(["replay", "--base", str(base), "--binlogs", *map(str, case.binlogs), "--output", str(output),
                     "--master", "local[2]", "--route", route, *conversions, *options])


def description(case):
    return json.loads((case.folder / "case.json").read_text())


@pytest.mark.by_turns("route")
@pytest.mark.contradicted  # the replica's rows are not the source's
@both_routes
@pytest.mark.parametrize("name", ["target-types-non-lossy", "target-types-lossy", "target-types-unsigned",
                                  "target-types-unsigned-default"])
def test_columns_of_other_types(name, route, tmp_path):
    """AP-POS, FIND: values are converted as a replica does it; keys and whole rows are found by converted values."""
    case = Case(name)
    assert replayed(case, tmp_path, route) == 0
    assert differences(tmp_path / "out", case.expected()) == []
    [allowed] = description(case)["target_options"]
    options = manifest.load(str(tmp_path / "out")).source.options
    assert options["type_conversions"] == sorted(allowed.partition("=")[2].lower().split(","))


@pytest.mark.by_turns("route")
@both_routes
@pytest.mark.parametrize(("name", "table", "types"), [
    ("target-types-none", "ty.wider", ("int", "bigint")),
    ("target-types-lossy-refused", "ty.t", ("varchar(80(bytes))", "varchar(10)")),
    ("target-types-different", "ty.t", ("varchar(80(bytes))", "int")),
])
def test_what_is_not_allowed_stops(name, table, types, route, tmp_path, capsys):
    """AP-POS: 1677 with the table, the column and both types; up to the transaction before, all is as the replica's."""
    case = Case(name)
    assert replayed(case, tmp_path, route) == 1
    error = capsys.readouterr().err
    assert "1677" in error and table in error and "column 1, v, cannot be converted" in error
    assert all(f"'{kind}" in error for kind in types)
    assert not (tmp_path / "out").exists()
    before = error.partition("--stop-position ")[2].partition(" ")[0].rstrip(";,.")
    assert replayed(case, tmp_path / "again", route, "--stop-position", before) == 0
    assert differences(tmp_path / "again" / "out", case.expected()) == []


@pytest.mark.by_turns("route")
@both_routes
@pytest.mark.parametrize("key", ["BIGINT UNSIGNED", "TINYINT", "MEDIUMINT UNSIGNED", "BIGINT"])
def test_keys_of_another_width_and_sign(key, route, tmp_path):
    """AP-POS, FIND: an INT in the log finds the row under the key that the table's type makes of it."""
    log = BinlogWriter(tmp_path / "binlog.000001")
    commit(log, insert([(1, 1, "a"), (5, 5, "e"), (100, 7, "z")]))
    commit(log, update([(5, 5, "e")], [(9, 6, "f")]), delete([(1, 1, "a")]))
    log.close()
    schema = tmp_path / "schema.sql"
    schema.write_text(f"CREATE TABLE shop.item (id {key} NOT NULL PRIMARY KEY, n BIGINT, s VARCHAR(20));")
    assert cli.main(["replay", "--schema", str(schema), "--binlogs", str(log.path), "--output", str(tmp_path / "out"),
                     "--master", "local[2]", "--route", route, "--type-conversions", "all_non_lossy,all_lossy"]) == 0
    [file] = manifest.load(str(tmp_path / "out")).table("shop", "item").files
    rows = pq.read_table(tmp_path / "out" / file.path).to_pylist()
    assert [(int(row["id"]), row["n"], row["s"]) for row in rows] == [(9, 6, "f"), (100, 7, "z")]
