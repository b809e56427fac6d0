"""`applier rewrite`: write an archive again, smaller, with full images, or filtered."""

from typing import Any

from applier.cli.application import verb
from applier.options.verbs import REWRITE


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
    from applier.cli.output.written import REWRITTEN
    from applier.cli.terminal import print_note, progress

    with progress() as watcher:
        done = write(**arguments, progress=watcher)
    REWRITTEN.show(done)
    for note in done.notes:
        print_note(note)
