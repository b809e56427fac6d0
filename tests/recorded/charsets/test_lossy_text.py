"""Text whose bytes a SELECT does not show: four servers keep such values apart in unique keys and find them again."""

import json
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier import diff, export, undo
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.mysql.character_sets.exact_text import bytes_in, is_lossy
from applier.options import ReplayOptions
from applier.schema.definition import table_schema
from applier.snapshot import manifest
from applier.snapshot.reader import read_unit

LOSSY = Path(__file__).parent / "lossy"
SERVERS = ["mysql", "mariadb", "mariadb11", "mariadb105"]


def replayed(server, output, *, files=(1, 2), cores=1, **options):
    logs = tuple(str(LOSSY / server / f"binlog.{number:06d}.gz") for number in files)
    replay_with(ThisProcess(cores), ReplayOptions(logs, str(output), witness="stop", **options))
    return output


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """The snapshot of a server's first file, or of both: made once."""
    return cache(lambda server, *files: replayed(server, tmp_path_factory.mktemp("snapshot") / "out", files=files))


def recorded(server):
    with open(LOSSY / server / "expected.jsonl", encoding="utf-8") as lines:
        return dict(map(json.loads, lines))


def held(output):
    """The rows as recorded: what readers of the files see, and the bytes."""
    loaded = manifest.load(str(output))
    found = {}
    for entry in loaded.tables:
        rows = read_unit(loaded.root, entry.files, table_schema(entry.definition)).sort_by("n")
        shown = pa.concat_tables(pq.read_table(f"{loaded.root}/{file.path}") for file in entry.files).sort_by("n")
        exact, kind = rows.column("a").combine_chunks(), entry.definition.column("a").type
        is_text = pa.types.is_string(exact.type)
        codes = exact if not is_text else bytes_in(exact, kind.charset) if is_lossy(kind.charset) else \
            exact.cast(pa.binary())
        texts = shown.column("a").to_pylist() if is_text else [None] * len(codes)
        found[f"d.{entry.name}"] = [list(row) for row in zip(
            rows.column("n").to_pylist(), texts, [code.hex().upper() for code in codes.to_pylist()], strict=True)]
    return found


@pytest.mark.by_turns("route", "cores")
@pytest.mark.parametrize("route, cores", [("walk", 1), ("shuffle", 4)])
@pytest.mark.parametrize("server", SERVERS)
def test_values_that_a_select_shows_alike_are_kept_apart(server, route, cores, tmp_path):
    """AP-VAL, FIND: unmapped codes and several codes of one character, in unique keys, by content, and in an ALTER."""
    assert held(replayed(server, tmp_path / "out", route=route, cores=cores)) == recorded(server)


@pytest.mark.by_turns("server")
@pytest.mark.parametrize("server", SERVERS)
def test_a_later_replay_finds_such_rows_in_its_base(server, snapshot, tmp_path):
    """FIND: files keep the bytes of values that readers see as others."""
    assert held(replayed(server, tmp_path / "out", base=str(snapshot(server, 1)))) == recorded(server)


def test_sql_has_the_bytes_of_such_values(snapshot, tmp_path):
    """A server that loads the file gets other keys back as they were."""
    export(snapshot("mariadb", 1, 2), tmp_path / "sql", tables=["d.ascii_p"])
    written = "".join(path.read_text() for path in (tmp_path / "sql").rglob("*.sql"))
    assert "x'E9'" in written.replace("X'", "x'") and "x'EA'" in written.replace("X'", "x'")


@pytest.mark.by_turns("server")
@pytest.mark.parametrize("server", SERVERS)
def test_statements_of_a_difference_and_of_an_undo_have_the_bytes(server, snapshot, tmp_path):
    """DIFF-SAME, UNDO: servers that ran them held the bytes of the other side afterwards. Bytes find the rows, too."""
    changed = b"".join(diff(snapshot(server, 1), snapshot(server, 1, 2)).sql()).decode()
    logs = [str(LOSSY / server / f"binlog.{number:06d}.gz") for number in (1, 2)]
    undo(logs, tmp_path / "undo.sql", start="binlog.000002:4", ignore_tables=[
        name for name in recorded(server) if name.endswith("_k")])
    for text in (changed, (tmp_path / "undo.sql").read_text()):
        assert "DELETE FROM `d`.`greek_p` WHERE `a` = _greek x'" in text
        assert "HEX(`a`) <=> HEX(x'" in text and "x'5C'" in text  # of sjis, where a server writes another backslash


@pytest.mark.by_turns("server")
@pytest.mark.parametrize("server", SERVERS)
def test_tsv_has_the_digits_of_such_columns(server, snapshot, tmp_path):
    """LOAD DATA of each server gave the bytes back; other tables have their text."""
    export(snapshot(server, 1, 2), tmp_path / "tsv", format="tsv", tables=["d.greek_p", "d.euckr_b"])
    loads = (tmp_path / "tsv" / "_load.sql").read_text()
    assert loads.count("`a` = UNHEX(@c0)") == 2
    assert "FF\t9\n" in next((tmp_path / "tsv").rglob("greek_p/*.tsv")).read_text()
