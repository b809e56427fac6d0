"""`import_dump` and `export`: dumps become snapshots, and snapshots files that a server loads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from applier.api import arguments
from applier.api.arguments import (
    PathLike,
    Place,
    Size,
    Tables,
    Watcher,
    database_names,
    path,
    size,
    spark_conf,
    table_filter,
    watcher,
)
from applier.api.checked import checked
from applier.api.replaying import Replayed
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.engine import compiling
from applier.jobs.exporting.task import Exported
from applier.options import ExportOptions, ImportOptions
from applier.snapshot import FILE_BYTES


@checked
def import_dump(
    dump: PathLike,
    output: PathLike | None = None,
    *,
    lake: PathLike | None = None,
    schema: PathLike | None = None,
    position: Place | None = None,
    gtid_set: str | GtidSet | None = None,
    group_id: int | None = None,
    flavour: Literal["mysql", "mariadb"] | None = None,
    system_time_zone: str | None = None,
    database: str | None = None,
    default_character_set: str | None = None,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    target_file_size: Size = FILE_BYTES,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    progress: Watcher | None = None,
) -> Replayed:
    """Make a snapshot from a logical dump, for `replay` to go on from.

    >>> base = applier.import_dump("dump", "lake/imported").snapshot
    >>> print(base.position)
    binlog.000003:176495

    dump: a file of mysqldump or mariadb-dump, plain, .gz or .zst, "-" for stdin, or a folder of mysqldump --tab,
        mariadb-dump --dir, mydumper, MySQL Shell or `export`.
    output: the snapshot to make, which is complete or not there.
    lake: in place of output, a lake, of which it becomes the next version.
    schema: a file of CREATE TABLEs of tables whose rows are Parquet files; the dump is then a folder of these.
    position: the binlog position of the dump, if it does not name it itself.
    gtid_set: the transactions that the dump contains, if it does not name them itself.
    group_id: the id of the last event group in the dump, of a server whose events have such ids.
    flavour: the server that the dump is from, if it does not say so itself.
    system_time_zone: the server's, for dumps whose TIMESTAMPs are in it.
    database: the database of a dump of one, where its header does not say it.
    default_character_set: that of the dump's text, if it does not say it; utf8mb4 otherwise.
    unsigned_bigint: what BIGINT UNSIGNED is in files, as for `replay`.
    target_file_size: about how large new files become.
    tables: only these.
    ignore_tables: all but these.
    progress: called with each Step.

    Raises ApplierError for what cannot be read; then nothing is published.
    """
    from applier.jobs.importing.job import import_dump as job

    options = ImportOptions(
        path(dump), "" if output is None else path(output), None if position is None else arguments.position(position),
        None if gtid_set is None else str(gtid_set), flavour, table_filter(tables, ignore_tables),
        None if schema is None else path(schema), system_time_zone, size(target_file_size), unsigned_bigint,
        database, None if lake is None else path(lake), group_id, default_character_set)
    watch = watcher(progress)
    compiling.ensure("import", watch)
    return Replayed((job(options, watch),))


@checked
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
    engine: Literal["local", "auto", "spark"] = "local",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    progress: Watcher | None = None,
) -> tuple[Exported, ...]:
    """Write a snapshot as files that a server of its kind loads, definitions included.

    >>> files = applier.export("lake/now", "dump")
    >>> sum(file.rows for file in files)
    8378

    snapshot: what to write.
    output: the folder to make; `_load.sh` in it loads all of it.
    format: INSERT statements, or files for LOAD DATA with the statements for it.
    tables: only these.
    ignore_tables: all but these.
    rewrite_db: the names that databases are to have, by those in the snapshot.
    definitions: whether to write CREATE TABLEs.
    rows: whether to write rows.
    if_not_exists: keep tables that exist; else they are an error.
    where: only rows for which this SQL expression on a table's columns is true.
    replace: replace rows with the same keys; else they are an error, and with tsv they stay, with a warning.
    engine: threads of this process, Spark, or what suits the work; a master means Spark.
    master, conf: Spark's, as for `replay`.
    progress: called with each Step.

    Raises ApplierError; then there is no output.
    """
    from applier.jobs.on_engine.exporting import export as job

    options = ExportOptions(snapshot.uri if isinstance(snapshot, Snapshot) else path(snapshot), path(output), format,
                            table_filter(tables, ignore_tables),
                            "spark" if master is not None and engine == "local" else engine, master,
                            database_names(rewrite_db), definitions, rows, if_not_exists, replace, where,
                            spark_conf(conf))
    return tuple(job(options, watcher(progress)))
