"""`archive`: a live server's binlogs, copied."""

from __future__ import annotations

from collections.abc import Callable

from applier.api.arguments import PathLike, Watcher, path, watcher
from applier.api.checked import checked
from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError
from applier.jobs.archive.result import Archived


@checked
def archive(
    source: str,
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

    source: a server, as mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH, by PyMySQL, which has to be installed.
        The password is in MYSQL_PWD of the environment, or in the option file.
    output: the directory of the archive. On an object store it gets files when they are complete, and the last one when
        this function ends.
    start_gtid: where an output without binlogs begins: at the file with the first transaction that is not in this set.
    start_file: or at this file. By default at the oldest one that the server has.
    until_now: whether to return at the end of the log, instead of waiting for more.
    allow_group_access: whether the group of the directory may read: new files then have the mode 0640, not 0600, and a
        new directory 0750, not 0700.
    defaults_file: an option file of the servers' clients: the password, TLS, and what the address leaves out.
    stopped: asked about twice a second; the function returns after it says True.
    progress: called with each Step; it has a note for each file that is complete.

    Raises UsageError for a server that cannot be asked, or is another one than the output is of; ArchiveError (1236)
    where it has purged what comes next, (1610) for an event that is damaged; ServerAnswerError for a server that breaks
    the protocol. A connection that is lost is made anew; with until_now, ArchiveError after eight in a row that brought
    nothing new.
    """
    from applier.jobs.archive.job import ArchiveOptions
    from applier.jobs.archive.job import archive as copy
    from applier.jobs.archive.output import GROUP, PRIVATE
    from applier.jobs.server_connection import ServerAddress

    if start_gtid is not None and start_file is not None:
        raise UsageError("--start-gtid and --start-file both say where to begin", hint="give one of them")
    address = ServerAddress.parse(source, None if defaults_file is None else path(defaults_file))
    gtids = GtidSet.parse(start_gtid) if isinstance(start_gtid, str) else start_gtid
    options = ArchiveOptions(address, path(output), gtids, start_file, not until_now,
                             GROUP if allow_group_access else PRIVATE)
    return copy(options, watcher(progress), stopped or (lambda: False))
