"""Replays in one pass and in several, and whether they are the same.

Tables with a key have the same rows in the same order; how these are divided into files may differ, as a later pass
leaves files alone in which nothing changes. Tables without a key are multisets of rows.
"""

import dataclasses
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest


def run(binlogs, output, progress=None, **options):
    """The result of a replay, or the error's text."""
    paths = tuple(map(str, binlogs)) if isinstance(binlogs, list) else (str(binlogs),)
    try:
        return replay_with(ThisProcess(2), ReplayOptions(paths, str(output), **options), progress)
    except ApplierError as error:
        assert not output.exists()
        return f"{type(error).__name__}: {error}"


def contents(folder):
    """A snapshot without the names of files: the manifest, rows by table, the list of conflicts."""
    snapshot, rows = manifest.load(str(folder)), {}
    root = Path(snapshot.root)
    for table in snapshot.tables:
        for kind, files in (("now", table.files), ("ever", table.history)):
            if files:
                read = pa.concat_tables([pq.read_table(root / file.path, partitioning=None) for file in files])
                found = [repr(row) for row in read.to_pylist()]
                rows[table.full_name, kind] = found if table.key else sorted(found)
    tables = [dataclasses.replace(table, files=(), history=()) for table in snapshot.tables]
    conflicts = Path(snapshot.uri) / "_conflicts.parquet"
    return (dataclasses.replace(snapshot, tables=tuple(tables), others=()), rows,
            pq.read_table(conflicts).to_pylist() if conflicts.exists() else None)


def said(result, counts=True):
    """A report without times and work, and without the snapshot's own path."""
    work = {"key": "", "files_written": 0, "files_carried": 0, "bytes_written": 0, "units": 0, "ranges": 0, "tied": "",
            "seconds": 0}
    tables = [dataclasses.replace(table, **work, **({} if counts else {"inserts": 0, "updates": 0, "deletes": 0,
                                                                       "found": {}}))
              for table in result.tables]
    witness = dataclasses.replace(result.witness, computed=0, computed_agreed=0)  # of some images of each unit
    return dataclasses.replace(result, snapshot="", tables=tables, seconds={}, units=0, route="", witness=witness)


def log_bytes(binlogs):
    return sum(file.stat().st_size for file in binlogs)


def holds_the_same(once, result, folder, counts=True):
    """Return whether both replays ended alike, and nothing is left beside the output of the one in passes."""
    one, several = folder / "once", folder / "passes"
    if isinstance(once, str) or isinstance(result, str):
        assert result == once
    else:
        assert said(result, counts) == said(once, counts)
        assert contents(several) == contents(one)
        assert not (several / "_passes").exists()
        assert sum(table.files_written + table.files_carried for table in result.tables) == \
            sum(len(table.files) for table in manifest.load(str(several)).tables)
    assert {path.name for path in folder.iterdir()} <= {"once", "passes"}
