"""The log that a verb reads: an archive, or an archive and the server that wrote it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from applier.api.calls.arguments import PathLike, Server, address_of
from applier.errors import UsageError
from applier.io.progress import Progress
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from applier.schema.table_filter import TableFilter


def opened(options: ChangesOptions, server: str | Server | None, defaults_file: PathLike | None, filter: TableFilter,
           progress: Progress) -> AbstractContextManager[ChangeLog]:
    """Return the log; with a server, its definitions of the wanted tables, and its rows until the end of the block.
    Raises UsageError."""
    if server is None:
        if defaults_file is not None:
            raise UsageError("--defaults-file is of a server", hint="also give --server")
        return nullcontext(ChangeLog(options, progress))
    from applier.jobs.server_state.log import log_of_server

    return log_of_server(options, address_of(server, defaults_file), filter, progress)
