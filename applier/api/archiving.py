"""`archive`: a live server's binlogs, copied."""

from __future__ import annotations

from collections.abc import Callable

from applier.api.arguments import PathLike, Server, Watcher, address_of, path, watcher
from applier.api.public import public
from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError
from applier.jobs.archive.result import Archived
from applier.options.verbs import ARCHIVE


@public(ARCHIVE)
def archive(
    source: str | Server,
    output: PathLike,
    *,
    start_gtid: str | GtidSet | None = None,
    start_file: str | None = None,
    until_now: bool = False,
    allow_group_access: bool = False,
    defaults_file: PathLike | None = None,
    stopped: Callable[[], bool] | None = None,
    progress: Watcher | None = None,
) -> Archived:
    """Copy the binlogs of a server as a replica gets them, byte for byte, and go on as it writes. A second call with
    the same output goes on where the first one was, however that ended.

        archived = applier.archive("mysql://repl@db1:3306", "backup/binlogs", until_now=True)
        applier.replay("backup/binlogs", "lake/now")

    {arguments}

    Raises UsageError for a server that cannot be asked, or is another one than the output is of; ArchiveError (1236)
    where it has purged what comes next, (1610) for an event that is damaged; ServerAnswerError for a server that breaks
    the protocol. A connection that is lost is made anew; with until_now, ArchiveError after eight in a row that brought
    nothing new.
    """
    from applier.jobs.archive.job import ArchiveOptions
    from applier.jobs.archive.job import archive as copy
    from applier.jobs.archive.output import GROUP, PRIVATE

    if start_gtid is not None and start_file is not None:
        raise UsageError("--start-gtid and --start-file both say where to begin", hint="give one of them")
    gtids = GtidSet.parse(start_gtid) if isinstance(start_gtid, str) else start_gtid
    options = ArchiveOptions(address_of(source, defaults_file), path(output), gtids, start_file, not until_now,
                             GROUP if allow_group_access else PRIVATE)
    return copy(options, watcher(progress), stopped or (lambda: False))
