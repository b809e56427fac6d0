"""`applier sync`: a lake that follows an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from applier.cli.application import verb
from applier.options.verbs import SYNC

if TYPE_CHECKING:
    from applier.jobs.sync.job import SyncOptions


@verb(SYNC)
def sync(*, json_log: bool, **arguments: Any) -> None:
    """Keep a lake, and the tables published from it, up to date with a growing archive.

    A round reads the new part of the log, up to the last whole event group of a growing file, makes a version of
    all tables at that position, and publishes it. A failed round is reported and retried after a while; data that
    would stop a replica ends it. SIGTERM and Ctrl-C end it after the round; a killed one resumes where it stopped.

        applier sync --binlogs /backup --lake /lake/shop --every 10s
                     --iceberg sqlite:////lake/catalog.db --keep 7d

    --base and --schema apply to the first version of a lake. -v also prints the notes of each round.
    """
    from applier.api.syncing import sync_options

    _follow(sync_options(arguments), json_log)


def _follow(options: SyncOptions, as_json: bool) -> None:
    """Do rounds, printing one line each, until a signal ends it."""
    import signal

    from applier.cli.output.written import ROUND
    from applier.io.ending import Ending
    from applier.jobs.sync.job import sync as followed

    ending = Ending()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ending.ask)
    for done in followed(options, ending):
        ROUND.print(as_json, done)
