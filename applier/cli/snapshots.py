"""`applier status`, `report` and `verify`: what a snapshot is, how it came to be, and whether it is still that."""

from typing import Annotated

import typer

from applier.cli.application import app


@app.command()
def status(snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")]) -> None:
    """Say at which position a snapshot stands, and what is in it.

    Sees that its files are there, with the size and the number of rows that they should have; `verify` reads them.
    """
    from applier.cli.status import print_snapshot
    from applier.snapshot import manifest
    from applier.snapshot.checks import check_files

    loaded = manifest.load(snapshot)
    print_snapshot(loaded)
    check_files(loaded, [file for table in loaded.tables for file in table.all_files])


@app.command()
def verify(snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="What `replay` or `import` made.")]
           ) -> None:
    """Read all files of a snapshot, and see that they are what it says: digests, sizes, rows, columns and keys.

    Prints a line for each file that is not, or that is there and should not be, and exits with 2 then.
    """
    from applier.cli.status import print_verified
    from applier.cli.terminal import progress
    from applier.errors import SnapshotError
    from applier.jobs.verify import verify as job

    with progress() as watcher:
        verified = job(snapshot, watcher)
    print_verified(verified)
    if verified.damaged:
        raise SnapshotError(f"{len(verified.damaged):,} of the snapshot's files are not as they should be",
                            file=snapshot, hint="take them from a backup, or replay or import the snapshot anew")


@app.command()
def report(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")],
    html: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write it to this file as one page with plots, which needs nothing else.")] = None,
) -> None:
    """Say what the replay that made a snapshot did: changes by table, how rows were found, conflicts, and time."""
    from applier.cli.status import print_report
    from applier.jobs.report.loading import load_report

    loaded = load_report(snapshot)
    if html is None:
        print_report(loaded)
        return
    from applier.jobs.report.page import html_page

    with open(html, "w", encoding="utf-8") as file:
        file.write(html_page(loaded))
