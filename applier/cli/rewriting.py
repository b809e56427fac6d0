"""`applier rewrite`: write an archive again, smaller, with full images, or filtered."""

from typing import TYPE_CHECKING, Any

from applier.cli.application import verb
from applier.options.verbs import REWRITE

if TYPE_CHECKING:
    from applier.jobs.rewrite.result import Rewritten


@verb(REWRITE)
def rewrite(**arguments: Any) -> None:
    """Write an archive again, smaller, with full images, or only a part of it, and prove that it replays to the same
    rows.

    File names, GTIDs, servers, times, statements and their order stay; positions change. Before the output is
    published, both archives are replayed, and all changes and rows compared. With filters, transactions that lose all
    their changes become empty (MySQL with GTIDs), or are removed (other logs), as by a replica with these filters.

        applier rewrite --binlogs /backup --image minimal --compress
                        --output /backup-small
        applier rewrite --binlogs /backup-small --image full --output /backup-full
        applier rewrite --binlogs /backup --tables shop --output /backup-shop
    """
    from applier.api.rewriting import rewrite as write
    from applier.cli.terminal import print_note, progress

    with progress() as watcher:
        done = write(**arguments, progress=watcher)
    _print(done)
    for note in done.notes:
        print_note(note)


def _print(done: "Rewritten") -> None:
    from applier.cli.output.grids import result_console

    console = result_console()
    files, groups = len(done.files), done.groups
    console.say((done.output, "bold"), f": {files:,} file{'s' * (files != 1)}, {groups:,} event groups, "
                f"{done.bytes_before:,} bytes become {done.bytes_after:,} ({done.ratio:.0%})", soft_wrap=True)
    if done.emptied or done.dropped:
        console.say(f"filtered: {done.emptied:,} transactions have no changes left; {done.dropped:,} rows "
                    "events are dropped", soft_wrap=True)
    console.say(str(done.proof), soft_wrap=True)
