"""Manifests of snapshots with as many files as tables of terabytes have."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot import manifest
from applier.snapshot.files.checks import check_footers, check_listed
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.shards import columns_of
from applier.snapshot.manifest import BinlogPosition, Snapshot
from applier.snapshot.publish import begin
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableWriter
from benchmarks.measure import in_child
from benchmarks.report import Table, number

_SHAPES = ((1, 1_000), (100, 1_000), (1, 100_000), (1_000, 100))
"""Tables, and files of each."""
_LINKS = 10_000  # of one file: some file systems allow 65,000


def of_many_files(folder: str) -> Table:
    """Publishing, loading and checking snapshots whose files are links to a small one."""
    table = Table(
        "Manifests of many files",
        "Snapshots of small files. Publish: compare the files with the manifest, and write it with its shards; a local "
        "disk has to have all files by then, which is not in it. Load: what `status` prints, and what each replay onto "
        "the snapshot begins with. Files: the entries of all files, checked. List: compare a base's files with its "
        "folders, as a replay does first. Footers: open each file, as `status` does.",
        ["tables", "files each", "manifest MB", "shards MB", "publish s", "load s", "files s", "list s", "footers s"],
    )
    for shape in _SHAPES:
        table.rows.append([*(f"{count:,}" for count in shape), *map(number, in_child(measured, folder, *shape))])
    return table


def measured(folder: str, n_tables: int, n_files: int) -> list[float]:
    """The figures of the table for this many tables with this many files each."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        output = Path(place, "snapshot")
        publishing = _publish(str(output), n_tables, n_files)
        loading, snapshot = _timed(lambda: manifest.load(str(output)))
        files = [files for table in snapshot.tables for files in table.lists]
        reading, columns = _timed(lambda: [columns_of(each) for each in files])
        listing, _ = _timed(lambda: check_listed(snapshot.uri, columns))
        opening, _ = _timed(lambda: check_footers(snapshot.uri, columns))
        shards = sum(each.shard.bytes for table in snapshot.tables for each in table.sharded)
        return [(output / manifest.MANIFEST).stat().st_size / 1e6, shards / 1e6, publishing, loading, reading, listing,
                opening]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def _publish(output: str, n_tables: int, n_files: int) -> float:
    """Publish such a snapshot; the seconds that its commit took."""
    with begin(output, lasts=False) as staging:
        tables, linked, links = [], None, 0
        for name in (f"t{table}" for table in range(n_tables)):
            [made] = parse_statement(f"CREATE TABLE d.{name} (id BIGINT PRIMARY KEY)", server_charset="utf8mb4")
            target = staging.target("d", name)
            with TableWriter(target, 0, table_schema(made.definition), key=("id",), key_kind="int") as writer:
                writer.write(pa.table({"id": pa.array([1])}, schema=table_schema(made.definition)))
                [first] = writer.close()
            paths = [f"{target.folder}/part-{key:06d}-{os.urandom(6).hex()}.parquet" for key in range(n_files)]
            files = [replace(first, min_key=key, max_key=key, path=path)
                     for key, path in enumerate(paths)]
            for file in files:
                if linked is None or links == _LINKS:
                    linked, links = f"{target.root}/{file.path}", 0
                    shutil.copyfile(f"{target.root}/{first.path}", linked)
                else:
                    os.link(linked, f"{target.root}/{file.path}")
                links += 1
            tables.append(_entry(name, made.definition, files))
        snapshot = Snapshot(BinlogPosition("binlog.000001", 4, "", None, "mysql"), tuple(tables))
        return _timed(lambda: staging.commit(snapshot, "", {}))[0]


def _entry(name: str, definition: TableDefinition, files: list[FileEntry]) -> TableEntry:
    return TableEntry("d", name, definition, ("id",), "int", tuple(files))
