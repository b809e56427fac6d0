"""What is not as the manifest says is found: by `verify` always, and by every verb that reads or carries it over."""

import dataclasses
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.jobs.verify.files import verify
from applier.options import ReplayOptions
from applier.snapshot import manifest
from applier.snapshot.files.digest import digest_of
from tests.support.small_logs import commit, insert, new_log, update

ROWS = [(number, number, "x") for number in range(50)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A log, and a base of its first half: a table that the second half changes, one that it does not, and a versioned
    one; and where the log ends for the base."""
    folder = tmp_path_factory.mktemp("made")
    with new_log(folder) as log:
        log.query("CREATE TABLE other (a INT)", "shop")
        commit(log, insert(ROWS))
        middle = log.position
        commit(log, update([ROWS[7]], [(7, 8, "y")]))
    replay_with(ThisProcess(), ReplayOptions((str(folder),), str(folder / "base"),
                                             stop_position=("binlog.000001", middle), exec_mode="idempotent"))
    return folder


@pytest.fixture
def base(made, tmp_path):
    """A copy of its own."""
    for path in (made / "base").rglob("*"):
        target = tmp_path / "base" / path.relative_to(made / "base")
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            target.write_bytes(path.read_bytes())
    return tmp_path / "base"


def _file(base: Path, table: str) -> Path:
    [file] = manifest.load(str(base)).table("shop", table).files
    return base / file.path


def _rewrite(path: Path, change, **options) -> None:
    """The file's rows, changed, with its own metadata: all pages of it are intact."""
    table = pq.read_table(path)
    pq.write_table(change(table), path, **options)


def _changed_value(table: pa.Table) -> pa.Table:
    return table.set_column(1, table.schema.field("n"), pa.array([99, *table["n"].to_pylist()[1:]], pa.int32()))


def _flip(at):
    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(bytes(data))
    return flip


def _in_the_footer(path: Path) -> None:
    """Of the program that made it: what reads the rows does not look there."""
    data = path.read_bytes()
    assert data.count(b"parquet-cpp-arrow") == 1
    path.write_bytes(data.replace(b"parquet-cpp-arrow", b"parquet-cpp-arroW"))


DAMAGES = {
    "missing": (Path.unlink, "missing"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-1]), "bytes, but its manifest says"),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"x"), "bytes, but its manifest says"),
    "a bit of a page": (_flip(40), "was changed"),
    "the footer": (_in_the_footer, "was changed"),
    "the last byte": (_flip(-1), "was changed|cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_of_a_file_is_found_by_all_that_read_it(damage, made, base, tmp_path, capsys):
    """A replay that rewrites the file, an export, and verify; nothing is published."""
    harm, says = DAMAGES[damage]
    path = _file(base, "item")
    harm(path)
    before = sorted(base.rglob("*"))
    for argv in (["replay", "--binlogs", str(made / "binlog.000001"), "--base", str(base), "--output"],
                 ["export", str(base), "--output"]):
        assert cli.main([*argv, str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert any(part in error for part in says.split("|")) and path.name in error
        assert os.listdir(tmp_path) == ["base"] and sorted(base.rglob("*")) == before
    assert cli.main(["verify", str(base)]) == 2
    told = capsys.readouterr()
    [line] = [line for line in told.out.splitlines() if path.name in line]
    assert any(part in line for part in says.split("|")) and "1 of the snapshot's files" in told.err
    seen = "missing" in damage or damage in ("cut", "longer", "the last byte")
    assert cli.main(["status", str(base)]) == (2 if seen else 0)


def test_rows_that_were_changed_and_look_whole(made, base, tmp_path, capsys):
    """As many, in a file of the size that the manifest says: only the digest tells."""
    path = _file(base, "item")
    _rewrite(path, _changed_value)
    document = manifest.load(str(base))
    _save(base, _with_file(document, "item", lambda file: dataclasses.replace(file, bytes=path.stat().st_size)))
    assert cli.main(["status", str(base)]) == 0
    assert cli.main(["export", str(base), "--output", str(tmp_path / "out")]) == 2
    assert "was changed" in capsys.readouterr().err


def _with_file(snapshot, table, change):
    return dataclasses.replace(snapshot, tables=tuple(
        dataclasses.replace(entry, files=tuple(map(change, entry.files))) if entry.name == table else entry
        for entry in snapshot.tables))


def _save(base, snapshot) -> None:
    (base / "_snapshot.json").write_bytes(snapshot.to_json())


@pytest.mark.parametrize("change, says, exit_code", [
    (lambda file: dataclasses.replace(file, rows=51), "50 rows, but its manifest says 51", 2),
    (lambda file: dataclasses.replace(file, min_key=-1), "from 0 to 49, but its manifest says from -1 to 49", 0),
    (lambda file: dataclasses.replace(file, max_key=48), "from 0 to 49, but its manifest says from 0 to 48", 0),
    (lambda file: dataclasses.replace(file, digest="xxh64:" + "0" * 16), "was changed", 0),
])
def test_a_manifest_that_says_what_is_not_so(change, says, exit_code, base, capsys):
    _save(base, _with_file(manifest.load(str(base)), "item", change))
    assert cli.main(["verify", str(base)]) == 2
    assert says in capsys.readouterr().out
    assert cli.main(["status", str(base)]) == exit_code


@pytest.mark.parametrize("change, says", [
    (lambda table: table.take(pa.array([*range(48), 49, 48])), "not in the order of their key"),
    (lambda table: table.drop(["s"]), "other columns"),
    (lambda table: table.take(pa.array([0, 0, *range(2, 50)])), "not in the order of their key"),
])
def test_rows_that_are_not_the_tables(change, says, base, capsys):
    """Whose digest and size are right: what a program that writes wrongly leaves."""
    path = _file(base, "item")
    _rewrite(path, change)
    data = path.read_bytes()
    _save(base, _with_file(manifest.load(str(base)), "item",
                           lambda file: dataclasses.replace(file, bytes=len(data), digest=digest_of(data))))
    assert cli.main(["verify", str(base)]) == 2
    assert says in capsys.readouterr().out


def test_files_that_should_not_be_there_and_small_ones(base, capsys):
    assert cli.main(["verify", str(base)]) == 0
    assert "5 files with 50 rows" in " ".join(capsys.readouterr().out.split())
    (base / "shop" / "item" / "part-9.parquet").write_bytes(b"x")
    (base / "_schema.sql").write_text("CREATE TABLE evil (a INT);\n")
    (base / "_report.json").unlink()
    damaged = verify(str(base)).damaged
    assert [line.split(":")[0] for line in damaged] == ["_schema.sql", "_report.json", "shop/item/part-9.parquet"]


def test_a_snapshot_of_an_older_program(made, base, tmp_path, capsys):
    """Without digests all else is compared, and it says so; what is made of it has them again."""
    old = _with_file(_with_file(manifest.load(str(base)), "item", _without), "other", _without)
    _save(base, dataclasses.replace(old, others=()))
    assert cli.main(["verify", str(base)]) == 0
    assert "2 files were written without a digest" in capsys.readouterr().out
    _flip(40)(_file(base, "item"))
    assert cli.main(["verify", str(base)]) == 2
    _flip(40)(_file(base, "item"))
    replay_with(ThisProcess(), ReplayOptions((str(made),), str(tmp_path / "out"), base=str(base)))
    assert all(file.digest.startswith("xxh64:") for table in manifest.load(str(tmp_path / "out")).tables
               for file in table.files)


def _without(file):
    return dataclasses.replace(file, digest=None)
