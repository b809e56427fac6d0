"""`verify` and `verify_sql`: whether a server holds what a snapshot holds."""

from __future__ import annotations

from applier.api.arguments import PathLike, Paths, Tables, Watcher, path, paths, table_filter, watcher
from applier.api.snapshots import Snapshot
from applier.jobs.verify import statements
from applier.jobs.verify.plan import Hash, plan
from applier.jobs.verify.result import ServerComparison
from applier.snapshot import manifest


def verify_sql(
    snapshot: PathLike | Snapshot,
    *,
    hash: Hash = "crc32",
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
) -> str:
    """Statements for a client of a server that holds the same tables: it answers with sums, a row for each range of
    about 100,000 rows, and `verify` compares them with the snapshot.

    >>> sql = applier.verify_sql("lake/now", tables="shop.orders")
    >>> sql.splitlines()[0]
    'SET NAMES utf8mb4;'

    snapshot: a snapshot.
    hash: what is summed up: CRC32, or 60 bits of SHA-256 ("sha2"), which takes several times as long here.
    tables: only these.
    ignore_tables: all but these.

    All is read in one transaction, so that tables of InnoDB are seen in one state. Have the client print a row a line,
    with tabs between values, as `mysql --batch` does.

    Raises UsageError where no table is chosen, SnapshotError for a file that is missing or damaged.
    """
    loaded = manifest.load(_uri(snapshot))
    chosen = plan(loaded, table_filter(tables, ignore_tables), hash)
    return "".join(f"{statement};\n" for statement in statements.sums(chosen))


def verify(
    snapshot: PathLike | Snapshot,
    against: Paths,
    *,
    hash: Hash = "crc32",
    rows: int = 20,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    progress: Watcher | None = None,
) -> ServerComparison:
    """Compare a snapshot with a server's tables, given what a client printed of the answers to `verify_sql`.

    snapshot: a snapshot.
    against: files with what the client printed; "-" is stdin. One with the rows of ranges that differ, which
        `ServerComparison.rows_sql` asks for, may follow the one with the sums.
    hash: as `verify_sql` had it.
    rows: how many rows of each table that differs are named, if their ranges' rows are there.
    tables: as `verify_sql` had it.
    ignore_tables: as `verify_sql` had it.
    progress: called with each Step.

    Values are compared byte for byte, as UTF-8 where they are text. VIRTUAL columns and definitions are not compared,
    nor tables and columns that only the server has.

    Raises UsageError for an answer that is incomplete or one to other statements, SnapshotError for a file of the
    snapshot that is missing or damaged.
    """
    from applier.engine import compiling
    from applier.jobs.verify.comparing import compare_with_answers

    loaded, watch = manifest.load(_uri(snapshot)), watcher(progress)
    compiling.ensure("verify against a server", watch)
    return compare_with_answers(plan(loaded, table_filter(tables, ignore_tables), hash), paths(against), rows, watch)


def _uri(snapshot: PathLike | Snapshot) -> str:
    return snapshot.uri if isinstance(snapshot, Snapshot) else path(snapshot)
