"""`applier rewrite`: an archive again, smaller, with full images, or filtered."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from applier.cli.application import IgnoreServerIdsOption, ServerIdsOption, app
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed
from applier.cli.replay_options import IgnoreTablesOption, RewriteDbOption, TablesOption
from applier.option_texts import parse_rewrites, parse_server_ids

if TYPE_CHECKING:
    from applier.jobs.rewrite.result import Rewritten


class Image(StrEnum):
    """What row images have."""

    minimal = "minimal"
    noblob = "noblob"
    full = "full"


@app.command()
def rewrite(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it, from its beginning or from --base on. Several may "
                                "follow.")],
    output: Annotated[str, typer.Option(metavar="DIR", help="The directory to make: the files and an index of them.")],
    image: Annotated[Image | None, typer.Option(
        help="What images of updates and deletes have. minimal: before, the key equivalent, and after, what "
             "changed; noblob: besides, all columns but TEXT, BLOB and JSON. Images that have less stay as they "
             "are. full: all columns, found by applying the archive to --base.")] = None,
    partial_json: Annotated[bool, typer.Option(
        "--partial-json", help="Make diffs of JSON documents that updates change (MySQL), if that is less.")] = False,
    full_json: Annotated[bool, typer.Option(
        "--full-json", help="Make whole documents of the JSON diffs in updates (PARTIAL_UPDATE_ROWS).")] = False,
    compress: Annotated[bool, typer.Option(
        "--compress", help="Compress transactions (MySQL) or rows events (MariaDB), as servers do it.")] = False,
    base: Annotated[str | None, typer.Option(
        metavar="SNAPSHOT", help="A snapshot with which the archive begins.")] = None,
    tables: TablesOption = None,
    ignore_tables: IgnoreTablesOption = None,
    rewrite_db: RewriteDbOption = None,
    server_ids: ServerIdsOption = None,
    ignore_server_ids: IgnoreServerIdsOption = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Write an archive again, smaller, with full images, or only a part of it, and prove that it replays to the same
    rows.

    Names of files, GTIDs, servers, times, statements and their order stay; positions change. Both archives are
    replayed, and all changes and rows compared, before the output is there. With filters, transactions that lose all
    their changes become empty (MySQL with GTIDs), or go (other logs), as a replica with these filters writes them.

        applier rewrite --binlogs /backup --image minimal --compress
                        --output /backup-small
        applier rewrite --binlogs /backup-small --image full --output /backup-full
        applier rewrite --binlogs /backup --tables shop --output /backup-shop
    """
    from applier.api.rewriting import rewrite as write
    from applier.cli.terminal import print_note, progress

    with progress() as watcher:
        done = write(keyed(binlogs, keyring, key_file, key_file_secret), output,
                     image=None if image is None else image.value, partial_json=partial_json,
                     full_json=full_json, compress=compress, base=base, tables=tables, ignore_tables=ignore_tables,
                     rewrite_db=dict(parse_rewrites(rewrite_db or [])), server_ids=parse_server_ids(server_ids or []),
                     ignore_server_ids=parse_server_ids(ignore_server_ids or []), progress=watcher)
    _print(done)
    for note in done.notes:
        print_note(note)


def _print(done: "Rewritten") -> None:
    from applier.cli.grids import result_console
    from applier.cli.terminal import assembled, words

    console = result_console()
    files, groups = len(done.files), done.groups
    console.print(assembled((done.output, "bold"), f": {files:,} file{'s' * (files != 1)}, {groups:,} event groups, "
                            f"{done.bytes_before:,} bytes become {done.bytes_after:,} ({done.ratio:.0%})"),
                  soft_wrap=True)
    if done.emptied or done.dropped:
        console.print(words(f"filtered: {done.emptied:,} transactions have no changes left; {done.dropped:,} rows "
                            "events are dropped"), soft_wrap=True)
    console.print(words(str(done.proof)), soft_wrap=True)
