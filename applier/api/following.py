"""`follow`: the changes of a growing archive, each exactly once."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from typing import Any, Literal, Unpack

from applier.api.calls.arguments import (
    KeyNames,
    PathLike,
    Paths,
    Place,
    Server,
    Size,
    Tables,
    Time,
    Watcher,
    address_of,
    watcher,
)
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.changes import TableChanges
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError
from applier.io.encryption.keys import Keys
from applier.io.ending import Ending
from applier.io.progress import Progress
from applier.jobs.changes.follow import following
from applier.options import ChangesOptions
from applier.options.option import Verb
from applier.options.verbs import FOLLOW
from applier.snapshot.manifest import BinlogPosition


class Batch(TableChanges):
    """The changes in a part of the log, by name of the tables with changes, as "shop.orders".

    Its number, its beginning and its end stay the same when it comes again after a crash: a sink that already has a
    batch of this number skips it.
    """

    def __init__(self, batch: following.Batch, *, statements: bool = False) -> None:
        super().__init__(batch.log, batch.tables, statements=statements)
        self._batch = batch

    @property
    def number(self) -> int:
        """Its number, counted from 1."""
        return self._batch.number

    @property
    def position(self) -> BinlogPosition:
        """The position where it ends, as `after` takes it."""
        return self._batch.position

    def acknowledge(self) -> None:
        """Record in the state that this batch and all earlier ones are done, so that they do not come again."""
        self._batch.acknowledge()

    def __repr__(self) -> str:
        return f"<Batch {self.number} up to {self.position}: {', '.join(self)}>"


@public(FOLLOW)
def follow(
    binlogs: Paths,
    tables: Tables | None = None,
    *,
    ignore_tables: Tables | None = None,
    state: PathLike | None = None,
    after: Place | Time | None = None,
    every: float = 1.0,
    until_now: bool = False,
    batch_bytes: Size = "256M",
    source: str | Server | None = None,
    defaults_file: PathLike | None = None,
    ending: Ending | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    exclude_gtids: str | GtidSet | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    define_from_log: bool = False,
    ignore_foreign_keys: bool = False,
    statements: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] = "decimal",
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Generator[Batch]:
    """Follow the changes of a growing archive: yield a batch for each part of the log that has changes, in log order.

    >>> for batch in applier.follow("backup", "shop.orders,shop.stock", state="orders.state", until_now=True):
    ...     print(batch.number, batch.position, {name: changes.to_arrow().num_rows for name, changes in batch.items()})
    ...     batch.acknowledge()
    1 binlog.000003:176495 {'shop.orders': 5172, 'shop.stock': 11506}

    {arguments}

    Each change is in one batch, and comes with its transaction, that of an XA transaction with its XA COMMIT.
    Acknowledge a batch when its results are safe. After a crash, batches that were handed out and not acknowledged come
    again, with the same numbers, changes and ends. So each change arrives exactly once in a sink that stores, in one
    transaction with the changes, either the batch's number, and skips a batch that it has, or the batch's
    position, which it passes as `after` on a restart (with the state, which then needs no earlier log).

    The archive may be a directory, an object store, or a directory into which a `source` is copied meanwhile. Old files
    may be deleted once the batches that end in them were acknowledged, except those with prepared XA transactions.

    Raises ApplierError as `changes` does; ArchiveError if the archive could not be read eight times in a row, and
    as `archive` does for a source; AnotherRun if another process uses the state.
    """
    return _batches(follow_options(FOLLOW, locals()), ending or Ending(), watcher(progress), statements=statements)


def _batches(options: following.FollowOptions, ending: Ending, progress: Progress, *,
             statements: bool) -> Generator[Batch]:
    with closing(following.follow(options, ending, progress)) as batches:
        for batch in batches:
            yield Batch(batch, statements=statements)


def follow_options(verb: Verb, given: Mapping[str, Any], **others: Any) -> following.FollowOptions:
    """Return what to follow, from a verb's arguments and fields of the result. Raises UsageError."""
    from applier.jobs.archive.job import ArchiveOptions

    asked, source = options_of(ChangesOptions, verb, given), None
    if given["source"] is not None:
        if len(asked.binlogs) != 1:
            raise UsageError("a server's log is copied into one directory, and --binlogs names several places",
                             hint="give one directory, which may be empty")
        address = address_of(given["source"], given["defaults_file"])
        source = ArchiveOptions(address, asked.binlogs[0], waits=not given["until_now"])
    elif given["defaults_file"] is not None:
        raise UsageError("--defaults-file is of a server", hint="also give --source")
    return options_of(following.FollowOptions, verb, given, changes=asked, source=source, **others)
