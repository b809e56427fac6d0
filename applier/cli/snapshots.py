"""`applier status` and `applier report`: what a snapshot is, and how it came to be."""

from typing import Annotated

import typer

from applier.cli.application import app


@app.command()
def status(snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")]) -> None:
    """Say at which position a snapshot stands, and what is in it."""
    from applier.snapshot import manifest
    from applier.status import print_snapshot

    print_snapshot(manifest.load(snapshot))


@app.command()
def report(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")],
    html: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write it to this file as one page with plots, which needs nothing else.")] = None,
) -> None:
    """Say what the replay that made a snapshot did: changes by table, how rows were found, conflicts, and time."""
    from applier.report.loading import load_report
    from applier.status import print_report

    loaded = load_report(snapshot)
    if html is None:
        print_report(loaded)
        return
    from applier.report.page import html_page

    with open(html, "w", encoding="utf-8") as file:
        file.write(html_page(loaded))
