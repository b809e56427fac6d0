"""`archive`: copy a live server's binlogs."""

from __future__ import annotations

from collections.abc import Callable

from applier.api.calls.arguments import PathLike, Paths, Server, Watcher, address_of, path, paths, watcher
from applier.api.calls.public import public
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
    metrics: Paths = (),
    lineage: PathLike | None = None,
    stopped: Callable[[], bool] | None = None,
    progress: Watcher | None = None,
) -> Archived:
    """Copy the binlogs of a server as a replica receives them, byte for byte, and continue as it writes. A second call
    with the same output resumes where the first one stopped, however it ended.

        archived = applier.archive("mysql://repl@db1:3306", "backup/binlogs", until_now=True)
        applier.replay("backup/binlogs", "lake/now")

    {arguments}

    Raises UsageError for a server that cannot be reached, or that is not the output's server; ArchiveError (1236) if it
    has purged the next events, (1610) for a damaged event; ServerAnswerError for a server that violates the protocol. A
    lost connection is replaced; with until_now, ArchiveError is raised after eight in a row that brought nothing new.
    """
    from applier.jobs.archive.job import ArchiveOptions
    from applier.jobs.archive.job import archive as copy
    from applier.jobs.archive.output import GROUP, PRIVATE

    if start_gtid is not None and start_file is not None:
        raise UsageError("--start-gtid and --start-file both say where to begin", hint="give one of them")
    gtids = GtidSet.parse(start_gtid) if isinstance(start_gtid, str) else start_gtid
    options = ArchiveOptions(address_of(source, defaults_file), path(output), gtids, start_file, not until_now,
                             GROUP if allow_group_access else PRIVATE, paths(metrics),
                             None if lineage is None else path(lineage))
    return copy(options, watcher(progress), stopped or (lambda: False))
