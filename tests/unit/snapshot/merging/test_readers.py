"""Lakes that merge on read: every reader merges, or refuses."""

import os

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import applier
from applier import cli
from applier.errors import UsageError
from tests.support.merging import entry_of, rows_of


def test_readers_agree(versions, tmp_path, capsys):
    """Arrow, streams, queries, views in DuckDB, exports and diffs: at every version."""
    _, made, plain = versions
    for version, snapshot in zip(made, plain, strict=True):
        table, wanted = version.tables["shop.item"], rows_of(snapshot)
        assert pa.table(table).equals(wanted) and table.scan().to_table().equals(wanted)
        chosen = pc.field("n") < 0
        assert table.to_arrow(["s"], chosen).equals(wanted.filter(chosen).select(["s"]))
        rows = wanted.to_pylist()
        expected = sorted(tuple(row.values()) for row in rows)
        assert sorted(version.sql("SELECT * FROM shop.item").fetchall()) == expected
        connection = duckdb.connect()
        connection.execute(version.views())
        assert sorted(connection.sql("SELECT * FROM shop.item").fetchall()) == expected
        assert applier.diff(snapshot, version).same
    changes = applier.diff(made[1], made[3])
    assert not changes.same and changes.tables["shop.item"].changed == applier.diff(
        plain[1], plain[3]).tables["shop.item"].changed
    for number, place in enumerate((made[3].uri, plain[3].uri)):
        assert cli.main(["export", place, "--output", str(tmp_path / f"dump{number}"), "--engine", "local"]) == 0
    texts = ["".join(sorted(line for path in sorted(tmp_path.glob(f"dump{number}/shop/**/*.sql"))
                            for line in path.read_text().splitlines(keepends=True))) for number in (0, 1)]
    values = [sorted(text.replace("),(", ")\n(").replace(";", "").split("\n")) for text in texts]
    assert all("again" in text and "moved" in text for text in texts) and len(values[0]) > 0
    capsys.readouterr()


def test_verbs_take_it(log, versions, tmp_path, capsys):
    lake, made, _ = versions
    for words in (["status", lake], ["report", lake], ["views", lake], ["verify", lake], ["versions", lake],
                  ["diff", made[1].uri, lake, "--format", "json"], ["explain", "--base", lake, "--binlogs", log[0]],
                  ["changes", "--base", made[2].uri, "--binlogs", log[0], "--table", "shop.item", "--output", "-"],
                  ["history", "--base", made[1].uri, "--binlogs", log[0], "--table", "shop.item",
                   "--output", str(tmp_path / "history")]):
        assert cli.main(words) == 0, (words, capsys.readouterr())
    capsys.readouterr()


def test_what_does_not_merge_refuses_it(versions, tmp_path, capsys):
    lake, made, _ = versions
    with pytest.raises(UsageError, match="merges on read"):
        made[3].views("spark")
    with pytest.raises(UsageError, match="merges on read"):
        applier.publish(lake, delta=tmp_path / "delta")


def test_a_lake_stays_what_it_is(log, tmp_path, capsys):
    applier.replay(log[0], lake=tmp_path / "whole", stop=log[1][0])
    with pytest.raises(UsageError, match="the kind of a lake cannot change"):
        applier.replay(log[0], lake=tmp_path / "whole", merge_on_read=True)
    with pytest.raises(UsageError, match="--merge-on-read is for lakes"):
        applier.replay(log[0], tmp_path / "out", merge_on_read=True)
    with pytest.raises(UsageError, match="cannot be published"):
        next(applier.sync(log[0], tmp_path / "new", merge_on_read=True, delta=tmp_path / "delta"))
    applier.replay(log[0], lake=tmp_path / "merging", merge_on_read=True, stop=log[1][0])
    version = applier.replay(log[0], lake=tmp_path / "merging", stop=log[1][1]).snapshot
    assert entry_of(version).row_files
    assert not os.path.exists(tmp_path / "out") and not os.path.exists(tmp_path / "new")
