"""Compacts a lake that merges on read: a new version at the same position, with rewritten files."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from applier.errors import UsageError
from applier.jobs.replay.merging import MergedTable
from applier.jobs.replay.result import ReplayResult
from applier.options.parquet import file_settings, parquet_onto
from applier.schema.schema_file import schema_file
from applier.snapshot import FILE_BYTES
from applier.snapshot.files.shards import columns_of
from applier.snapshot.files.unsigned_bigints import choice_onto
from applier.snapshot.lake import compaction
from applier.snapshot.lake.lake_staging import open_lake
from applier.snapshot.lakes import number_of


@dataclass(frozen=True)
class Compacted:
    """`version` is the lake's latest version; `files` with changes, of `bytes`, were rewritten, `left` were not."""

    version: int
    files: int
    bytes: int
    left: int


def compact(uri: str, budget: int | None = None, file_bytes: int = FILE_BYTES) -> Compacted:
    """Compact the lake at a path or URI: rewrite at most `budget` bytes (None: all) of files with changes, into
    files of about `file_bytes`. Without changes, no version is made.

    Raises SnapshotError where there is no lake or it cannot be read, UsageError for a lake of whole files, AnotherRun
    if another run has published a version in the meantime.
    """
    began, lake = time.perf_counter(), open_lake(uri)
    base = lake.latest
    if base is None:
        raise UsageError("the lake has no version", file=uri, hint="`replay --lake` makes one")
    if not lake.merges:
        raise UsageError("the lake has whole files, which are never merged", file=uri)
    columns = [columns_of(table.files) for table in base.tables]
    changed = {path: size for one in columns
               for path, size, change in zip(one.paths, one.bytes, one.changed, strict=True) if change is not None}
    chosen = compaction.due(columns, sum(changed.values()) if budget is None else budget, share=-1)
    if not chosen:
        return Compacted(number_of(base.uri), 0, 0, 0)
    kept = base.source.options
    with lake.begin(file_settings(parquet_onto(kept, ()), file_bytes=file_bytes,
                                  unsigned_bigint=choice_onto(kept, None))) as staging:
        entries = []
        for before in base.tables:
            staging.keep_folder(before.database, before.name, before)
            name = before.database, before.name
            files, history = (staging.carry_over(base, listed, *name, history=is_history) if listed else []
                              for listed, is_history in ((before.files, False), (before.history, True)))
            table = MergedTable(before.definition.shown, before, base, staging)
            bare = replace(before, files=tuple(files), history=tuple(history), row_files=(), positions=())
            entries.append(table.entry(bare, [], chosen))
        position = base.position
        report = ReplayResult(staging.output, str(position), position.gtid_set, position.timestamp, (),
                              {"compact": time.perf_counter() - began},
                              (f"compacted {len(chosen)} of {len(changed)} files with changes",))
        made = staging.commit(replace(base, tables=tuple(entries)),
                              schema_file([entry.definition for entry in entries], base.objects), report.report())
    return Compacted(number_of(made.uri), len(chosen), sum(changed[path] for path in chosen),
                     len(changed) - len(chosen))
