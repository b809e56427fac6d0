"""`applier verify`: a snapshot's files against its manifest, and its rows against a server's."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from applier.cli.application import app
from applier.cli.documents import Json, comparison_document, print_json, verified_document
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed

if TYPE_CHECKING:
    from applier.jobs.verify.result import ServerComparison


class Hash(StrEnum):
    """What is summed up of values and rows."""

    crc32 = "crc32"
    sha2 = "sha2"


@app.command()
def verify(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="What `replay` or `import` made.")],
    sql: Annotated[bool, typer.Option(
        "--sql", help="Print statements for a server: sums of its rows by table, key range and column. With --against: "
                      "those that ask for the rows of ranges that differ.")] = False,
    against: Annotated[list[str] | None, typer.Option(
        metavar="RESULT", help="Compare the snapshot with what a client printed of the server's answers; - is stdin. "
                               "Several may be given: sums, then rows.")] = None,
    server: Annotated[str | None, typer.Option(
        metavar="URL", help="Compare it with this server, mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH, while "
                            "it is written to. The password is in MYSQL_PWD of the environment or in --defaults-file."
        )] = None,
    defaults_file: Annotated[str | None, typer.Option(
        metavar="FILE", help="An option file of the servers' clients: password and TLS of --server, and what its "
                             "address leaves out of user, host, port and socket.")] = None,
    binlogs: Annotated[list[str] | None, typer.Option(
        metavar="PATH...", help="With --server: an archive that leads the snapshot to exactly where the server stands."
        )] = None,
    hash: Annotated[Hash, typer.Option(help="What is summed up: CRC32, or 60 bits of SHA-256.")] = Hash.crc32,
    rows: Annotated[int, typer.Option(min=0, help="How many rows of each table that differs are shown.")] = 20,
    repair: Annotated[str | None, typer.Option(
        metavar="FILE", help="With --server: write statements that make the server's rows those of the snapshot, only "
                             "where they differ, in one transaction that fails where a row has changed meanwhile.")
        ] = None,
    json: Json = False,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Read all files of a snapshot and compare them with its manifest, or its rows with those of a server.

    By itself, it prints a line for each file that is damaged, missing or unknown (digests, sizes, rows, columns, keys),
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

    if against is not None or server is not None or binlogs or defaults_file or repair is not None:
        from applier.api.verifying import verify as compare
        from applier.cli.terminal import progress
        from applier.io.new_output import check_new

        if repair is not None:
            check_new(repair)
        with progress() as watcher:
            found = compare(snapshot, against, server=server, defaults_file=defaults_file,
                            binlogs=binlogs and keyed(binlogs, keyring, key_file, key_file_secret), hash=hash.value,
                            rows=rows, for_repair=repair is not None, tables=tables, ignore_tables=ignore_tables,
                            progress=watcher)
        _tell(snapshot, found, sql, rows, json, repair)
    elif sql:
        from applier.api.verifying import verify_sql
        from applier.io.printable import print_lines

        print_lines([verify_sql(snapshot, hash=hash.value, tables=tables, ignore_tables=ignore_tables)])
    elif tables or ignore_tables or hash is not Hash.crc32:
        raise UsageError("--tables, --ignore-tables and --hash apply only to a comparison with a server", file=snapshot,
                         hint="give --sql, --against or --server, too; all files of a snapshot are verified")
    else:
        _files(snapshot, json)


def _files(snapshot: str, json: bool) -> None:
    from applier.api.snapshots import Snapshot
    from applier.cli.status import print_verified
    from applier.cli.terminal import progress
    from applier.errors import SnapshotError

    with progress() as watcher:
        verified = Snapshot(snapshot).verify(watcher)
    if json:
        print_json(verified_document(verified))
    else:
        print_verified(verified)
    if verified.damaged:
        raise SnapshotError(f"{len(verified.damaged):,} of the snapshot's files are damaged, missing or unknown",
                            file=snapshot, hint="restore them from a backup, or replay or import the snapshot again")


def _tell(snapshot: str, found: ServerComparison, sql: bool, rows: int, json: bool,
          repair: str | None) -> None:
    from applier.cli.compared import print_comparison
    from applier.errors import ServerDiffers
    from applier.io.printable import print_lines
    from applier.jobs.verify.statements import file_of

    if sql:
        print_lines([file_of(found.rows_sql())])
        return
    if json:
        print_json(comparison_document(found, rows))
    else:
        print_comparison(found, rows)
    if not found.same and repair is not None:
        _write(found, repair, json)
    if not found.same:
        raise ServerDiffers(f"{len(found.different):,} of {found.tables:,} tables are not the same on the server",
                            file=snapshot, hint="--sql beside --against prints the statements that ask for the rows"
                            if not any(table.rows for table in found.different) else None)


def _write(found: ServerComparison, output: str, json: bool) -> None:
    from applier.cli.differences import print_repair
    from applier.io.new_output import new_output

    repair = found.repair()
    with new_output(output) as partial, open(partial, "xb") as file:
        file.writelines(repair.statements())
    if not json:
        print_repair(repair, output)
