"""What published tables were as of a place in the log: the snapshot of Iceberg, or version of Delta, of each."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import applier
from applier import cli
from tests.support import delta_readers, iceberg_readers
from tests.support.iceberg_readers import cells


@pytest.fixture(params=["iceberg", "delta"])
def where(tmp_path, request):
    return {"iceberg": f"sqlite:///{tmp_path}/catalog.db"} if request.param == "iceberg" else {
        "delta": str(tmp_path / "delta")}


@pytest.fixture
def publish(tmp_path, replayed, where):
    def run(**options):
        return applier.publish(tmp_path / f"out{replayed()}", **where, **options).position
    return run


@pytest.fixture
def rows(tmp_path, where):
    """The rows of each table as of a place, as each reader finds them."""
    def run(place=None, **options):
        found = {}
        for table in applier.published(**where, as_of=place, **options).tables:
            if "delta" in where:
                each = [pa.table(DeltaTable(table.place, version=table.id).to_pyarrow_table()),
                        delta_readers.with_duckdb(table.place, version=table.id)]
            else:
                known = iceberg_readers.catalog(tmp_path).load_table(table.name)
                each = [known.scan(snapshot_id=table.id).to_arrow(),
                        iceberg_readers.with_duckdb(known, snapshot=table.id)]
            [found[table.name], other] = map(cells, each)
            assert other == found[table.name]
        return found
    return run


def insert(log, name, number, time=None):
    with log.transaction(time):
        log.insert(f"d.{name}", {"id": [number], **({"v": ["x"]} if name == "t" else {})})


T = ["(1, 'a')", "(2, 'b')"]


def test_all_tables_as_they_were(log, publish, rows, where):
    """Also where some did not change, had no rows yet, or were not there; by position, GTID set and time."""
    first = publish()
    insert(log, "u", 7)
    second = publish()
    later = datetime.now(UTC) + timedelta(hours=1)
    log.query("ALTER TABLE t ADD COLUMN n INT", "d")
    log.query("CREATE TABLE w (id INT PRIMARY KEY)", "d")
    insert(log, "u", 8, later)
    third = publish()
    assert rows(first) == {"d.t": T, "d.u": []}
    assert rows(second) == {"d.t": T, "d.u": ["(7,)"]}
    expected = {"d.t": ["(1, 'a', None)", "(2, 'b', None)"], "d.u": ["(7,)", "(8,)"], "d.w": []}
    assert rows(third) == rows() == rows(later) == expected
    assert rows(f"{applier.published(**where, as_of=second).position.gtid_set}")["d.u"] == ["(7,)"]
    assert rows(later - timedelta(minutes=1)) == rows(second)
    with pytest.raises(applier.SnapshotError, match=f"precedes the oldest version.* at {first}"):
        rows("binlog.000001:4")


def test_what_the_catalog_has_forgotten_is_told(tmp_path, log, publish, rows, where):
    """Dropped tables; in Delta they keep their history."""
    first = publish()
    log.query("DROP TABLE u", "d")
    second = publish()
    then = applier.published(**where, as_of=first)
    if "delta" in where:
        assert rows(first) == {"d.t": T, "d.u": []} and then.notes == ()
    else:
        assert rows(first) == {"d.t": T} and f"d.u was dropped later, at {second}" in then.notes[0]
    assert rows(second) == {"d.t": T} and applier.published(**where, as_of=second).notes == ()


def test_only_some_tables(log, publish, where):
    publish()
    insert(log, "u", 7)
    second = publish(tables="d.u")
    assert applier.published(**where).notes == ("not all tables were published there: some tables may stand before it",)
    insert(log, "u", 8)
    insert(log, "t", 8)
    publish()
    assert applier.published(**where).notes == () != applier.published(**where, as_of=second).notes


def test_an_earlier_snapshot_again(tmp_path, log, publish, rows, where):
    """Publications went back: a place leads to the nearest one at or before it all the same."""
    first = publish()
    insert(log, "t", 3)
    second = publish()
    applier.publish(tmp_path / "out0", **where)
    assert (rows(first)["d.t"], rows(second)["d.t"]) == (T, [*T, "(3, 'x')"])


def test_expired_history(tmp_path, log, publish, where):
    """What a table was at a place that others have still is not made up."""
    first = publish()
    insert(log, "t", 3)
    publish()
    if "iceberg" in where:
        table = iceberg_readers.catalog(tmp_path).load_table("d.t")
        table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    else:
        DeltaTable(tmp_path / "delta/d/t").create_checkpoint()
        (tmp_path / "delta/d/t/_delta_log/00000000000000000000.json").unlink()
    found = applier.published(**where, as_of=first)
    assert [table.name for table in found.tables] == ["d.u"]
    assert found.notes == ("what d.t was there is no more known: its commits of then have expired",)


def test_of_one_line_of_snapshots(tmp_path, log, publish, where):
    """Positions of several have no order; and where nothing was published there is no place."""
    with pytest.raises(applier.SnapshotError, match="no table was published there"):
        applier.published(**where)
    publish()
    if "delta" in where:
        return
    applier.replay(tmp_path / "binlog.000001", tmp_path / "other", rewrite_db={"d": "e"})
    applier.publish(tmp_path / "other", **where)
    with pytest.raises(applier.SnapshotError, match="tables of 2 unrelated lineages"):
        applier.published(**where)
    assert len(applier.published(**where, tables="e").tables) == 2


def test_the_command(tmp_path, log, publish, where, capsys):
    position = publish()
    [(kind, place)] = where.items()
    given = ["status", f"--{kind}", place, "--as-of", position]
    assert cli.main(given) == 0
    said = capsys.readouterr().out
    assert "d.t" in said and position in said and ("version" if kind == "delta" else "snapshot") in said
    assert cli.main([*given, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [table["name"] for table in document["tables"]] == ["d.t", "d.u"] and not document["notes"]
    assert cli.main(["status", "--as-of", position]) == 2
    assert "neither --iceberg nor --delta" in " ".join(capsys.readouterr().err.split())
    shutil.rmtree(tmp_path / "out0")
    assert cli.main(given) == 0
