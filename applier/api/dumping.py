"""`import_dump` and `export`: turn dumps into snapshots, and snapshots into files that a server can load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from applier.api.calls.arguments import PathLike, Place, Size, Tables, Watcher, watcher
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.replaying import Replayed
from applier.api.snapshots import Snapshot
from applier.api.wording import noted
from applier.binlog.events.gtid import GtidSet
from applier.engine import compiling
from applier.jobs.exporting.task import Exported
from applier.options import ExportOptions, ImportOptions
from applier.options.verbs import EXPORT, IMPORT


@public(IMPORT)
def import_dump(
    dump: PathLike,
    output: PathLike | None = None,
    *,
    lake: PathLike | None = None,
    merge_on_read: bool = False,
    schema: PathLike | None = None,
    position: Place | None = None,
    gtid_set: str | GtidSet | None = None,
    group_id: int | None = None,
    flavour: Literal["mysql", "mariadb"] | None = None,
    system_time_zone: str | None = None,
    database: str | None = None,
    default_character_set: str | None = None,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    target_file_size: Size = "64M",
    parquet: Mapping[str, str] | None = None,
    partition: Mapping[str, str] | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    progress: Watcher | None = None,
) -> Replayed:
    """Make a snapshot from a logical dump, as a base for `replay`.

    >>> base = applier.import_dump("dump", "lake/imported").snapshot
    >>> print(base.position)
    binlog.000003:176495

    {arguments}

    Raises ApplierError for unreadable input; then nothing is published.
    """
    from applier.jobs.importing.job import import_dump as job

    options, watch = options_of(ImportOptions, IMPORT, locals()), watcher(progress)
    compiling.ensure("import", watch)
    return Replayed((noted(job(options, watch)),))


@public(EXPORT)
def export(
    snapshot: PathLike | Snapshot,
    output: PathLike,
    *,
    format: Literal["sql", "tsv"] = "sql",
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    rewrite_db: Mapping[str, str] | None = None,
    definitions: bool = True,
    rows: bool = True,
    if_not_exists: bool = False,
    replace: bool = False,
    where: str | None = None,
    engine: Literal["auto", "local", "spark"] = "local",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    progress: Watcher | None = None,
) -> tuple[Exported, ...]:
    """Write a snapshot as files that a server of its kind can load, including definitions.

    >>> files = applier.export("lake/now", "dump")
    >>> sum(file.rows for file in files)
    8378

    {arguments}

    Raises ApplierError; then the output does not exist.
    """
    from applier.jobs.on_engine.exporting import export as job

    return tuple(job(options_of(ExportOptions, EXPORT, locals()), watcher(progress)))
