"""`rewrite`: an archive again, smaller, with full images, or filtered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from applier.api.arguments import (
    PathLike,
    Paths,
    Tables,
    Watcher,
    database_names,
    logs,
    path,
    table_filter,
    watcher,
)
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.jobs.rewrite.result import Rewritten
from applier.options import RewriteOptions


@checked
def rewrite(
    binlogs: Paths,
    output: PathLike,
    *,
    image: Literal["minimal", "noblob", "full"] | None = None,
    partial_json: bool = False,
    full_json: bool = False,
    compress: bool = False,
    base: PathLike | Snapshot | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    rewrite_db: Mapping[str, str] | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Rewritten:
    """Write an archive again: with less in row images or all of it, compressed, or filtered. Names of files, GTIDs,
    servers, times, statements and their order stay; positions change.

    >>> rewritten = applier.rewrite("backup", "smaller", image="minimal", compress=True)
    >>> rewritten.ratio < 0.6
    True
    >>> rewritten.proof.tables, rewritten.proof.gtid_set
    (6, '20810cc3-e548-11f1-a5e4-02fc00000001:1-2462')

    binlogs: the archive, from its beginning or from `base` on.
    output: the directory to make, on this machine: the files and an index of them.
    image: what images of updates and deletes have then. minimal: before, the key equivalent, and after, what changed;
        noblob: besides, all columns but TEXT, BLOB and JSON. Images that have less stay as they are. full: images of
        inserts, too, get all columns, as the log had them last, or as `base` has them; notes name those that are not
        known to the byte, and stay away.
    partial_json: whether JSON documents that updates change become diffs (MySQL), where these are less. Documents are
        compared one by one, which takes its time.
    full_json: whether JSON diffs in updates become whole documents. A diff whose document neither the log nor `base`
        tells to the byte stays, and notes name its column.
    compress: whether transactions (MySQL) and rows events (MariaDB) are compressed, as servers do it.
    base: a snapshot with which the archive begins.
    tables: only these.
    ignore_tables: all but these.
    rewrite_db: other names for databases, by their names in the archive: in rows and in statements.
    server_ids: only transactions that come from these servers.
    ignore_server_ids: none that come from these.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    Packed and encrypted binlogs become plain files. Both archives are replayed, the first one with the filters, and
    their rows and all changes compared, before the output is there. A transaction that loses all its changes becomes
    empty if it has a GTID of MySQL, and goes from other logs, as a replica with these filters writes them.

    Raises what `replay` raises: what cannot be replayed is not rewritten; UsageError if the output exists.
    """
    from applier.jobs.rewrite import job

    start = base.uri if isinstance(base, Snapshot) else None if base is None else path(base)
    return job.rewrite(RewriteOptions(
        logs(binlogs, keyring, key_file, key_file_secret), path(output), image, compress, partial_json, start,
        full_json, table_filter(tables, ignore_tables), database_names(rewrite_db), tuple(server_ids),
        tuple(ignore_server_ids)), watcher(progress))
