"""`applier sync`: a lake that follows an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from applier.cli.application import verb
from applier.options.verbs import SYNC

if TYPE_CHECKING:
    from applier.jobs.sync.job import SyncOptions
    from applier.jobs.sync.round import Round


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

    from applier.io.ending import Ending
    from applier.jobs.sync.job import sync as followed

    ending = Ending()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ending.ask)
    for done in followed(options, ending):
        if as_json:
            _print_document(done)
        else:
            _print_line(done)


def _print_document(done: Round) -> None:
    import json

    print(json.dumps({"at": _now()} | done.document()), flush=True)


def _print_line(done: Round) -> None:
    from applier.cli.loudness import Loudness, chosen
    from applier.cli.terminal import print_error
    from applier.io.printable import printable
    from applier.jobs.summary.words import counted

    if done.error is not None:
        print_error(done.error)
        return
    parts = [counted(done.changes, "change"), f"{counted(done.files_written, 'file')} written",
             f"{done.files_kept:,} kept"] if done.is_new else ["nothing new"]
    parts += [f"published in {published.catalog}" for published in done.published]
    parts += [f"{counted(done.expired, 'version')} expired"] if done.expired else []
    parts += [f"{done.seconds:.1f} s"] + ([] if done.lag is None else [f"lag {done.lag:.1f} s"])
    for note in done.notes if chosen() is Loudness.VERBOSE else ():
        print(printable(f"{_now()} {note}"))
    print(printable(f"{_now()} version {done.version} at {done.position}: {', '.join(parts)}"), flush=True)


def _now() -> str:
    """Return the local time for a log line."""
    from datetime import datetime

    return datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
