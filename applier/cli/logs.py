"""`applier summary`, `locate`, `index` and `explain`: inspect binlogs without replaying them."""

from typing import Any

from applier.cli.application import verb
from applier.cli.naming import named_binlogs
from applier.errors import UsageError
from applier.io.encryption.keys import Keys
from applier.options.verbs import EXPLAIN, INDEX, LOCATE, SUMMARY


@verb(SUMMARY)
def summary(*, json: bool, html: str | None, **arguments: Any) -> None:
    """Sum up binlogs: the largest transactions, rows by table, kind and time, DDL, and the threads that made them.

    No schema is needed: rows are counted, not decoded. Times are of event groups, in UTC.

    Who deleted the orders last night?

        applier summary --binlogs /backup --tables shop.orders
                        --start-datetime '2026-03-14 00:00:00'
    """
    from applier.api.logs import summary as summarize
    from applier.cli.output.summarized import SUMMARY as SUMMED
    from applier.cli.output.summarized import write_page
    from applier.cli.terminal import progress

    with progress() as watcher:
        found = summarize(**arguments, progress=watcher)
    if html is not None:
        write_page(found, html)
    SUMMED.print(json, found)


@verb(LOCATE)
def locate(*, json: bool, **arguments: Any) -> None:
    """Find event groups: the file, the start and the end, without reading rows.

    Uses the heads of the files, or the archive's index if `applier index` has made one. `replay --stop-position` with
    the start stops before the group, with the end after it. By heads, a time is found only if the servers' clocks never
    jumped; by the index it is exact.
    """
    from applier.api.logs import locate as find
    from applier.cli.output.located import LOCATED
    from applier.cli.terminal import progress

    with progress() as watcher:
        found = find(**arguments, progress=watcher)
    LOCATED.print(json, found)


@verb(INDEX)
def index(*, binlogs: list[str] | None, directory: str | None, keys: Keys | None) -> None:
    """Write an index beside an archive, which makes `locate` faster.

    The index is checked against the files whenever it is used, and updated if it does not match them.
    """
    from applier.api.calls.job_options import logs
    from applier.binlog.locating import search
    from applier.cli.output.written import INDEXED
    from applier.cli.terminal import progress
    from applier.engine import compiling

    [location, *others] = named_binlogs(binlogs, None if directory is None else [directory])
    if others:
        raise UsageError(f"{location} and {others[0]} are two directories", hint="an index is made for one at a time")
    [archive] = logs({"binlogs": [location], "keys": keys})
    with progress() as watcher:
        compiling.ensure("outline", watcher)
        indexed = search.index(archive, watcher)
    INDEXED.show(indexed)


@verb(EXPLAIN)
def explain(*, json: bool, **arguments: Any) -> None:
    """Report by which key a replay would find the rows of each table, and where definitions come from, without
    replaying.

    Reads only headers, table maps and DDL. Warns if a before-image may match a row other than the intended one, and if
    duplicates in a key cannot be found as the server finds them.
    """
    from applier.api.logs import explain as ask
    from applier.cli.output.explained import EXPLAINED
    from applier.cli.terminal import progress

    with progress() as watcher:
        explained = ask(**arguments, progress=watcher)
    EXPLAINED.print(json, explained.tables, explained.definitions)
