"""`versions`, `compact`, `expire` and `fsck`: lakes, whose versions replays make."""

from __future__ import annotations

from datetime import timedelta

from applier.api.calls.arguments import PathLike, Size, Watcher, path, size, watcher
from applier.api.calls.public import public
from applier.jobs.lake import compacting, expiring
from applier.jobs.lake import versions as listing
from applier.jobs.lake.checking import CheckedLake
from applier.jobs.lake.compacting import Compacted
from applier.jobs.lake.expiring import Expired
from applier.jobs.lake.versions import LakeVersion
from applier.jobs.publish.job import fsck as check
from applier.options.verbs import COMPACT, EXPIRE, FSCK, VERSIONS


@public(VERSIONS)
def versions(
    lake: PathLike,
) -> tuple[LakeVersion, ...]:
    """Return the versions of a lake, the oldest first.

    >>> made = applier.replay("backup", lake="lake/shop", snapshot_at=["binlog.000002:745606", "binlog.000003:176495"])
    >>> [(version.number, str(version.position)) for version in applier.versions("lake/shop")]
    [(1, 'binlog.000002:745606'), (2, 'binlog.000003:176495')]

    {arguments}

    Raises SnapshotError if there is no lake, or a version cannot be read.
    """
    return listing.versions(path(lake))


@public(COMPACT)
def compact(
    lake: PathLike,
    *,
    compact_budget: Size | None = None,
    target_file_size: Size = "64M",
) -> Compacted:
    """Rewrite the files with changes of a lake that merges on read, in a new version at the same position.

    >>> made = applier.replay("backup", lake="lake/merging", merge_on_read=True, stop="binlog.000003:23594")
    >>> made = applier.replay("backup", lake="lake/merging")
    >>> applier.compact("lake/merging").version
    3

    {arguments}

    Without changes, no version is made.

    Raises SnapshotError if the latest version cannot be read, UsageError if there is no lake or it has whole files,
    AnotherRun if another run has published a version in the meantime.
    """
    return compacting.compact(path(lake), None if compact_budget is None else size(compact_budget),
                              size(target_file_size))


@public(EXPIRE)
def expire(
    lake: PathLike,
    keep: int | timedelta | str,
    *,
    dry_run: bool = False,
) -> Expired:
    """Remove versions of a lake, the files that only they need, and files of runs that were killed or lost.

    >>> applier.expire("lake/shop", keep=1).versions
    (1,)

    {arguments}

    The latest version stays, and so do versions with a reader's lease and versions that a published table uses.

    Raises SnapshotError, without removing anything, if there is no lake, or a version or a document that is needed
    cannot be read.
    """
    return expiring.expire(path(lake), expiring.checked_keep(keep), dry_run=dry_run)


@public(FSCK)
def fsck(
    lake: PathLike,
    *,
    iceberg: str | None = None,
    remove_orphans: bool = False,
    quick: bool = False,
    progress: Watcher | None = None,
) -> CheckedLake:
    """Check a lake: whether all files that its versions name exist and are unchanged; and tables that were published
    from it, whether all files that they name exist.

    >>> applier.fsck("lake/shop").damaged
    ()

    {arguments}

    Raises SnapshotError if there is no lake. Damage is reported in the result, not raised.
    """
    return check(path(lake), iceberg, remove_orphans=remove_orphans, quick=quick, progress=watcher(progress))
