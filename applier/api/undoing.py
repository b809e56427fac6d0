"""`undo`: write a script that reverts transactions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal, Unpack

from applier.api.calls.arguments import KeyNames, PathLike, Paths, Place, Server, Tables, Time, Watcher, watcher
from applier.api.calls.change_logs import opened
from applier.api.calls.job_options import bounds, options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError
from applier.io.encryption.keys import Keys
from applier.jobs.undo.result import Undone
from applier.options import ChangesOptions, UndoOptions
from applier.options.choosing import STOP
from applier.options.verbs import UNDO


@public(UNDO)
def undo(
    binlogs: Paths,
    output: PathLike,
    *,
    gtids: str | GtidSet | None = None,
    start: Place | Time | None = None,
    stop: Place | Time | None = None,
    thread_ids: Iterable[int] = (),
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    where: str | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    server: str | Server | None = None,
    defaults_file: PathLike | None = None,
    until: Place | Time | None = None,
    format: Literal["sql", "binlog"] = "sql",
    on_conflict: Literal["refuse", "skip", "columns", "force"] = "refuse",
    define_from_log: bool = False,
    system_time_zone: str | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Undone:
    """Write a script that reverts transactions on a server: their rows get the values that they had before. Rows that
    others have changed since are found before anything is written.

    >>> undone = applier.undo("backup", "undo.sql", gtids="20810cc3-e548-11f1-a5e4-02fc00000001:1928")
    >>> [(table.name, table.inserted, table.deleted, table.updated) for table in undone.tables]
    [('shop.products', 0, 0, 140)]

    {arguments}

    SQL is one transaction. Each statement changes one row, which it finds by all of its values; a row that is not
    as the log left it stops the whole transaction.

    Raises UndoRefused; UsageError if the log has none of the transactions; SchemaError if one of them, or a
    later statement, created or altered one of the tables; and the errors of `replay`. If a table or partition was
    emptied or dropped, its rows are restored, and so is the table or partition.
    """
    from applier.jobs.undo import job

    given = locals()
    whole = dict.fromkeys(("gtids", "start", "stop", "thread_ids"))
    whole_log = options_of(ChangesOptions, UNDO, given | whole, complete=True, **bounds(STOP.of(name="stop"), until))
    options, watch = options_of(UndoOptions, UNDO, given, changes=whole_log), watcher(progress)
    if os.path.exists(options.output):
        raise UsageError("the output already exists", file=options.output, hint="name a file that does not exist")
    with opened(options.changes, server, defaults_file, options.filter, watch) as log:
        return job.undo(options, log, watch)
