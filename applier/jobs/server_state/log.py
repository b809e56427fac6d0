"""A log that ends exactly where a server stands, with the definitions and the rows that the server has there.

    one consistent state, and its position → the log up to there → definitions, which no statement of the log changed
    → rows, for values that the log neither has nor assigned
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from applier.binlog.outline.stop import StopNotReached
from applier.errors import UsageError
from applier.io.progress import Progress
from applier.jobs.changes.job import ChangeLog
from applier.jobs.server.address import ServerAddress
from applier.jobs.server_state.definitions import definitions
from applier.jobs.server_state.rows import RowsOfServer
from applier.jobs.verify import live
from applier.jobs.verify.server import Server, ServerPosition
from applier.options import ChangesOptions
from applier.schema.table_filter import TableFilter


@contextmanager
def log_of_server(options: ChangesOptions, address: ServerAddress, filter: TableFilter, progress: Progress
                  ) -> Iterator[ChangeLog]:
    """Return the log up to the server's position, whose wanted tables are defined as on the server. The server is asked
    for rows until the end of the block. Raises UsageError where the log does not reach the position, or is of another
    kind of server; SchemaError where the server's definitions are not those of the log's beginning; and as Server."""
    if options.base is not None or options.schema is not None:
        raise UsageError("--server has the definitions of the tables, and so does "
                         f"{'--base' if options.base is not None else '--schema'}", hint="give one of them")
    if any(stop is not None for stop in (options.stop_position, options.stop_gtid, options.stop_datetime)):
        raise UsageError("with --server the log ends at the server's position", hint="give no other end of it")
    with Server(address, "or give --schema, and leave out --server") as server:
        position = server.begin()
        log = _up_to(position, options, filter, progress)
        if log.flavour != server.flavour:
            raise UsageError(f"the log is of {log.flavour}, the server is of {server.flavour}",
                             hint="give the server that wrote the log, or a replica of it")
        yield log.known_by_server(lambda span: definitions(server, span, filter), RowsOfServer(server))


def _up_to(position: ServerPosition, options: ChangesOptions, filter: TableFilter, progress: Progress) -> ChangeLog:
    """Return the log up to the position, which the archive may not have reached yet."""
    if position.gtid_set:
        options = replace(options, stop_gtid=position.gtid_set)
    else:
        options = replace(options, stop_position=(position.file, position.offset))
    reason = ""
    for attempt in range(live.ATTEMPTS):
        if attempt:
            time.sleep(live.SECONDS_BETWEEN)
        try:
            log = ChangeLog(options, progress, filter=filter)
        except StopNotReached as error:
            reason = error.message
            continue
        if live.is_at(log.ends_at, position):
            return log
        reason = f"it leads to {log.ends_at.gtid_set or log.ends_at}"
    raise UsageError(f"the log does not reach {position}, the server's position: {reason}", file=options.binlogs[-1],
                     hint="give the binlogs of this server or of its source, including the newest: `applier archive` "
                          "copies them")
