"""`applier verify`: compare a snapshot's files with its manifest, or its rows with a server's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from applier.cli.application import verb
from applier.options.reading import HASH
from applier.options.verbs import VERIFY

if TYPE_CHECKING:
    from applier.jobs.verify.result import ServerComparison


@verb(VERIFY)
def verify(*, sql: bool, repair: str | None, format: str, json: bool, **arguments: Any) -> None:
    """Read all files of a snapshot and compare them with its manifest, or compare its rows with a server's.

    By itself, it prints a line for each damaged, missing or unknown file (digests, sizes, rows, columns, keys),
    and exits with 2 if there is one. Against a server, it prints which ranges of rows differ in which columns, and
    exits with 1 if there is one.

        applier verify /lake/now
        applier verify /lake/now --sql | mysql --batch > sums.tsv
        applier verify /lake/now --against sums.tsv
        applier verify /lake/now --against sums.tsv --sql | mysql --batch > rows.tsv
        applier verify /lake/now --against sums.tsv --against rows.tsv
        applier verify /lake/now --server mysql://admin@replica:3306
                       --binlogs /backup/binlogs --repair fix.sql
    """
    from applier.errors import UsageError

    snapshot, chosen = arguments["snapshot"], {name: arguments[name] for name in ("hash", "tables", "ignore_tables")}
    if repair is not None or any(arguments[name] for name in ("against", "server", "binlogs", "defaults_file")):
        from applier.api.verifying import verify as compare
        from applier.cli.terminal import progress
        from applier.io.disk.new_files import check_new

        if repair is not None:
            check_new(repair)
        with progress() as watcher:
            found = compare(**arguments, for_repair=repair is not None, progress=watcher)
        _tell(snapshot, found, sql, arguments["rows"], json, repair, format)
    elif sql:
        from applier.api.verifying import verify_sql
        from applier.io.printable import print_lines

        print_lines([verify_sql(snapshot, **chosen)])
    elif chosen != {"hash": HASH.default, "tables": None, "ignore_tables": None}:
        raise UsageError("--tables, --ignore-tables and --hash apply only to a comparison with a server", file=snapshot,
                         hint="give --sql, --against or --server, too; all files of a snapshot are verified")
    else:
        _files(snapshot, json)


def _files(snapshot: str, json: bool) -> None:
    from applier.api.snapshots import Snapshot
    from applier.cli.output.status import VERIFIED
    from applier.cli.terminal import progress
    from applier.errors import SnapshotError

    with progress() as watcher:
        verified = Snapshot(snapshot).verify(watcher)
    VERIFIED.print(json, verified)
    if verified.damaged:
        raise SnapshotError(f"{len(verified.damaged):,} of the snapshot's files are damaged, missing or unknown",
                            file=snapshot, hint="restore them from a backup, or replay or import the snapshot again")


def _tell(snapshot: str, found: ServerComparison, sql: bool, rows: int, json: bool, repair: str | None,
          format: str) -> None:
    from applier.cli.output.compared import COMPARISON
    from applier.errors import ServerDiffers
    from applier.io.printable import print_lines
    from applier.jobs.verify.statements import file_of

    if sql:
        print_lines([file_of(found.rows_sql())])
        return
    COMPARISON.print(json, found, rows)
    if not found.same and repair is not None:
        _write(found, repair, format, json)
    if not found.same:
        raise ServerDiffers(f"{len(found.different):,} of {found.tables:,} tables are not the same on the server",
                            file=snapshot, hint="--sql beside --against prints the statements that ask for the rows"
                            if not any(table.rows for table in found.different) else None)


def _write(found: ServerComparison, output: str, format: str, json: bool) -> None:
    from applier.cli.output.differences import print_repair
    from applier.io.disk.new_files import new_output

    repair = found.repair()
    with new_output(output) as partial:
        if format == "binlog":
            repair.write_events(partial)
        else:
            with open(partial, "xb") as file:
                file.writelines(repair.statements())
    if not json:
        print_repair(repair, output, format)
