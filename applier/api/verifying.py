"""`verify` and `verify_sql`: check whether a server holds the same rows as a snapshot."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Unpack

from applier.api.calls.arguments import (
    KeyNames,
    PathLike,
    Paths,
    Place,
    Server,
    Tables,
    Watcher,
    address_of,
    paths,
    table_filter,
    uri,
    watcher,
)
from applier.api.calls.job_options import logs
from applier.api.calls.public import public
from applier.api.changes import changes
from applier.api.replaying import replay
from applier.api.snapshots import Snapshot
from applier.binlog.outline.stop import StopNotReached
from applier.errors import ApplierError, UsageError
from applier.io.encryption.keys import Keys
from applier.jobs.verify import statements
from applier.jobs.verify.plan import plan
from applier.jobs.verify.result import DifferentTable, ServerComparison
from applier.option_texts import parse_rewrites
from applier.options.option import ADVANCED, READ
from applier.options.verbs import REPLAY, VERIFY, VERIFY_SQL
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest

if TYPE_CHECKING:
    from applier.jobs.verify.server import ServerPosition

_KEPT_OPTIONS = ["tables", "ignore_tables", *(option.name for option in REPLAY.options if option.recorded
                                              and option.group in (ADVANCED, READ))]
"""Options that apply to any replay of a log, not only to one up to a position."""


@public(VERIFY_SQL)
def verify_sql(
    snapshot: PathLike | Snapshot,
    *,
    hash: Literal["crc32", "sha2"] = "crc32",
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
) -> str:
    """Return statements for a client of a server that holds the same tables: the server answers with sums, one row per
    range of about 100,000 rows, and `verify` compares them with the snapshot.

    >>> sql = applier.verify_sql("lake/now", tables="shop.orders")
    >>> sql.splitlines()[2]
    'SET NAMES utf8mb4;'

    {arguments}

    Everything is read in one transaction, so that InnoDB tables are seen in one state. Use a client that prints one row
    per line, with tabs between values, as `mysql --batch` does.

    Raises UsageError if no table is chosen, SnapshotError for a missing or damaged file, SchemaError for a
    name that a client of another character set than UTF-8 could misread.
    """
    loaded = manifest.load(uri(snapshot))
    chosen = plan(loaded, table_filter(tables, ignore_tables), hash)
    return statements.file_of(statements.sums(chosen))


@public(VERIFY)
def verify(
    snapshot: PathLike | Snapshot,
    against: Paths | None = None,
    *,
    server: str | Server | None = None,
    defaults_file: PathLike | None = None,
    binlogs: Paths | None = None,
    hash: Literal["crc32", "sha2"] = "crc32",
    rows: int = 20,
    for_repair: bool = False,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> ServerComparison:
    """Compare a snapshot with a server's tables: query the server, or compare the output of a client that ran the
    statements of `verify_sql`.

    {arguments}

    A server's tables are read in one consistent state while others write: MySQL blocks commits while that state is
    taken (FLUSH TABLES WITH READ LOCK, which needs RELOAD), MariaDB blocks nothing.

    Values are compared byte for byte, as UTF-8 where they are text. VIRTUAL columns and definitions are not compared,
    nor tables and columns that only the server has.

    Raises UsageError for an answer that is incomplete or belongs to other statements, for a server that cannot be
    reached, or if the snapshot cannot reach its position; ServerAnswerError for a server that violates the
    protocol; SnapshotError for a missing or damaged file of the snapshot, and the errors of `replay`.
    """
    from applier.engine import compiling
    from applier.jobs.verify.comparing import compare_with_answers

    if (against is None) == (server is None) or (server is None and (binlogs is not None or defaults_file is not None)):
        raise UsageError("a snapshot is compared either with a server or with its answers",
                         hint="give either --server or --against; --binlogs and --defaults-file belong to --server")
    if for_repair and server is None:
        raise UsageError("a repair needs the server's values, and sums do not contain them",
                         hint="give --server")
    if against is not None and not paths(against):
        raise UsageError("--against names no file", hint="give the file with the answers that a client printed")
    loaded, watch, filter = manifest.load(uri(snapshot)), watcher(progress), table_filter(tables, ignore_tables)
    compiling.ensure("verify against a server", watch)
    if against is not None:
        return compare_with_answers(plan(loaded, filter, hash), paths(against), rows, watch)
    from applier.jobs.verify.live import compare_live
    from applier.jobs.verify.server import Server as AskedServer

    assert server is not None
    archive = None if binlogs is None else logs(locals())
    address = address_of(server, defaults_file)
    with TemporaryDirectory(prefix="applier-verify-") as folder, AskedServer(address) as asked:
        lead = None if archive is None else partial(_lead, archive, folder, watch, filter)
        found = compare_live(loaded, asked, lead, filter, hash, rows, watch, for_repair=for_repair)
    return found if archive is None else replace(found, different=tuple(
        _with_last_changes(archive, loaded.uri, table, found.server_position) for table in found.different))


def _lead(binlogs: tuple[str, ...], folder: str, progress: Watcher, filter: TableFilter, snapshot: manifest.Snapshot,
          position: ServerPosition) -> manifest.Snapshot:
    """Replay the compared tables up to the server's position, which the archive may not have reached yet.
    Raises UsageError if the archive does not lead there."""
    from applier.jobs.verify.live import ATTEMPTS, SECONDS_BETWEEN, is_at

    by_gtid = position.gtid_set and snapshot.position.gtid_set
    stop: Place = position.gtid_set if by_gtid else (position.file, position.offset)
    led, options = snapshot, _as_it_was_made(snapshot, filter)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(SECONDS_BETWEEN)
        try:
            made = replay(binlogs, f"{folder}/{attempt}", base=led.uri, stop=stop, progress=progress, **options)
        except StopNotReached as error:
            reason = error.message
            continue
        led = manifest.load(made.snapshot.uri)
        if is_at(led.position, position):
            return led
        reason = f"they lead to {led.position.gtid_set or led.position}"
    raise UsageError(f"the binlogs do not reach {position}, the server's position: {reason}",
                     file=binlogs[-1], hint="give the binlogs of this server or of its source, including the newest")


def _as_it_was_made(snapshot: manifest.Snapshot, filter: TableFilter) -> dict[str, Any]:
    """Return the options of `replay` that continue a snapshot as it was made, without ignored tables."""
    made: dict[str, Any] = snapshot.source.options
    compared: dict[str, Any] = filter.for_manifest()
    options = {name: made[name] for name in _KEPT_OPTIONS if name in made}
    options.setdefault("tables", compared.get("tables"))
    options["ignore_tables"] = options.get("ignore_tables", []) + compared.get("ignore_tables", [])
    if rewrites := made.get("rewrite_db"):
        options["rewrite_db"] = dict(parse_rewrites([*map(str, rewrites)]))
    return options


def _with_last_changes(binlogs: tuple[str, ...], base: str, table: DifferentTable, stop: str | None) -> DifferentTable:
    """Return the table's rows with the last transactions that changed them up to the server's position, or without
    these if the log does not show them."""
    from applier.jobs.verify.rows import FEED, keys_of, with_last_changes

    if not table.table.key or not table.rows:
        return table
    names = [table.columns[number].name for number in table.table.key]
    try:
        feed = changes(binlogs, table.full_name, columns=names, base=base, stop=stop,
                       key=keys_of(table), ignore_foreign_keys=True).to_arrow()
    except ApplierError:
        return table
    return with_last_changes(table, feed.select([*names, *FEED]))
