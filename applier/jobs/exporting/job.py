"""The job: write a snapshot as files that a server can load.

    DIR/_load.sh             gives all files to a client: sh DIR/_load.sh -h HOST -u USER -p
    DIR/_schema.sql          databases and tables
    DIR/DB/TABLE/0000.sql    rows, one file per file of the snapshot; or 0000.tsv, and
    DIR/_load.sql            LOAD DATA for each of these

It is a script, because a client's own SOURCE continues after an error (MariaDB) or is disabled in a pipe (MySQL 9).
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from applier.engine.threads import map_on_threads
from applier.errors import UsageError
from applier.io.progress import Progress, Silent
from applier.io.resolver import absolute
from applier.jobs.exporting import statements
from applier.jobs.exporting.statements import sequences_sql
from applier.jobs.exporting.task import Exported, ExportTask, export_file
from applier.mysql.client_sql import CHARSET, HEAD
from applier.options import ExportOptions
from applier.schema.definition import TableDefinition
from applier.snapshot import manifest
from applier.snapshot.files.checks import check_listed
from applier.snapshot.files.shards import columns_of
from applier.snapshot.manifest import DatabaseEntry, Snapshot
from applier.snapshot.publish import begin
from applier.snapshot.staging import SCHEMA
from applier.snapshot.table_entry import TableEntry
from applier.version import __version__

LOAD = "_load.sh"
LOAD_DATA = "_load.sql"

OnProgress = Callable[[int, int], None]
Runner = Callable[[Sequence[ExportTask], OnProgress], list[Exported]]


def export_snapshot(options: ExportOptions, progress: Progress | None = None,
                    run: Runner | None = None, *, late_attempts: bool = False) -> list[Exported]:
    """Export a snapshot; returns its files of rows. Raises ApplierError, and publishes nothing then.

    `run` runs the tasks, with `late_attempts` as in `begin`; without it they run on threads of this process."""
    progress = progress or Silent()
    snapshot = manifest.load(options.snapshot)
    tables = [table for table in snapshot.tables if options.filter.wanted(table.database, table.name)]
    if not tables and snapshot.tables:
        raise UsageError("no table of the snapshot is selected", file=options.snapshot,
                         hint="--tables and --ignore-tables exclude all of them; `applier status` lists them")
    names = dict(options.rewrites)
    definitions = [table.definition.in_databases(names) for table in tables]
    _check_names(definitions)
    check_listed(snapshot.root, [columns_of(files) for table in tables for files in table.lists])
    with begin(options.output, late_attempts=late_attempts) as staging:
        tasks = []
        for table, definition in zip(tables, definitions, strict=True) if options.rows else ():
            target = staging.target(definition.database, definition.name)
            # a versioned table takes all rows with their times, past ones included
            files = [file for file in (table.files if definition.versioning is None else table.history) if file.rows]
            tasks += [ExportTask(absolute(snapshot.root), file, definition, target,
                                 f"{target.folder}/{number:04d}.{options.format}", options.format, options.replaces,
                                 options.where)
                      for number, file in enumerate(files)]
        progress.phase("export", len(tasks), "files")
        done = (run or on_threads)(tasks, lambda count, _: progress.update(count))
        staging.finish_attempts({file.target: file.written_at for file in done})
        small, head = dict[str, bytes](), _head(options)
        if options.definitions:
            sequences = sequences_sql([(definition, table.files) for table, definition
                                       in zip(tables, definitions, strict=True)])
            sql = statements.schema_sql(snapshot.position, _databases(snapshot, tables, names), definitions,
                                        sequences=sequences, if_not_exists=options.if_not_exists, head=head, objects=[
                                            one for one in snapshot.objects if one.is_about(options.filter)])
            small[SCHEMA] = sql.encode()
        if options.format == "tsv" and options.rows:
            small[LOAD_DATA] = "".join([statements.session(head=head), *(file.load for file in done)]).encode()
        staging.commit_files([file.target for file in done], small, LOAD,
                             _load_script(snapshot, options, done).encode())
    return done


def _head(options: ExportOptions) -> str:
    """Return how files of SQL begin: MariaDB's sandbox allows no LOAD DATA LOCAL."""
    return CHARSET if options.format == "tsv" else HEAD


def _check_names(definitions: Sequence[TableDefinition]) -> None:
    """Raise UsageError where two tables have one name."""
    known = Counter(definition.full_name for definition in definitions)
    if twice := [name for name, times in known.items() if times > 1]:
        raise UsageError("two tables of the snapshot would get the same name", table=twice[0],
                         hint="give their databases other names with --rewrite-db, or leave one out")


def _databases(snapshot: Snapshot, tables: list[TableEntry], names: Mapping[str, str]) -> list[DatabaseEntry]:
    """Return the databases of the tables by their new names, in order; of two that become one, as the first is."""
    known = {entry.name: entry for entry in snapshot.databases}
    found: dict[str, DatabaseEntry] = {}
    for name in sorted({table.database for table in tables}):
        entry = known.get(name, DatabaseEntry(name, "utf8mb4", "utf8mb4_general_ci"))
        found.setdefault(names.get(name, name), replace(entry, name=names.get(name, name)))
    return [found[name] for name in sorted(found)]


def _load_script(snapshot: Snapshot, options: ExportOptions, files: list[Exported]) -> str:
    """Return a shell script that gives the files to one client, which stops at the first error."""
    client = "mariadb" if snapshot.position.flavour == "mariadb" else "mysql"
    # LOAD DATA LOCAL reports a bad row as a warning, not as an error
    words = " --local-infile=1 --show-warnings" if options.format == "tsv" else ""
    names = [SCHEMA] if options.definitions else []
    names += [] if not options.rows else [LOAD_DATA] if options.format == "tsv" else [file.target for file in files]
    reader = "cat" if _head(options) == CHARSET else "tail -n +2"  # older clients of MariaDB know no sandbox
    files_given = "".join(f"{reader} {shlex.quote(f'./{name}')} || exit\n" for name in names)
    return _SCRIPT.format(version=__version__, client=client, files=files_given, words=words)


_SCRIPT = """\
#!/bin/sh
# applier {version}: loads the files beside this script. Options of the client may follow:
#     sh _load.sh -h HOST -u USER -p
# MYSQL=... names another client.
CDPATH= cd -- "$(dirname -- "$0")" || exit
client="${{MYSQL:-{client}}}"
# if the client can, it reads no commands of its own, such as \\!, and takes bytes as UTF-8 whatever the locale
case "$($client --help 2>/dev/null </dev/null)" in
*--binary-mode*) set -- "$@" --binary-mode --default-character-set=utf8mb4 ;;
esac
{{
{files}}} | $client "$@"{words}
"""


def on_threads(tasks: Sequence[ExportTask], on_progress: OnProgress) -> list[Exported]:
    """Run the tasks on threads of this process, one a core."""
    return map_on_threads(export_file, tasks, os.cpu_count() or 1, on_progress)
