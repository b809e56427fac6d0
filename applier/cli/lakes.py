"""`applier versions`, `compact`, `expire`, `fsck`: lakes, whose versions `replay --lake` makes."""

from __future__ import annotations

from typing import Annotated

import typer

from applier.cli.application import verb
from applier.options.verbs import COMPACT, EXPIRE, FSCK, VERSIONS

Lake = Annotated[str, typer.Argument(metavar="LAKE", help="What `replay --lake` made.")]


@verb(VERSIONS)
def versions(*, lake: str, json: bool) -> None:
    """Print the versions of a lake: position, size, and how much of each is new.

        applier versions /lake/shop
    """
    from applier.cli.output import lakes as output
    from applier.jobs.lake.versions import versions as found

    output.VERSIONS.print(json, found(lake))


@verb(COMPACT)
def compact(*, lake: str, compact_budget: str | None, target_file_size: str, json: bool) -> None:
    """Rewrite the files with changes of a lake that merges on read.

    The lake gets a new version at the same position. Rounds of `replay` and `sync` rewrite files with many changes.

        applier compact /lake/shop
        applier compact /lake/shop --compact-budget 10G
    """
    from applier.api.lakes import compact as compacted
    from applier.cli.output import lakes as output

    output.COMPACTED.print(json, compacted(lake, compact_budget=compact_budget, target_file_size=target_file_size))


@verb(EXPIRE)
def expire(*, lake: str, keep: str, dry_run: bool, json: bool) -> None:
    """Remove versions of a lake, the files that only they need, and leftovers of dead runs.

    Versions with a reader's lease, and versions that a published table uses, are kept with their files. Files that no
    version names are removed when they are a day old.

        applier expire /lake/shop --keep 7d --dry-run
        applier expire /lake/shop --keep 7d
    """
    from applier.cli.output import lakes as output
    from applier.jobs.lake import expiring

    done = expiring.expire(lake, expiring.checked_keep(keep), dry_run=dry_run)
    output.EXPIRED.print(json, done, dry_run)


@verb(FSCK)
def fsck(*, lake: str, iceberg: str | None, remove_orphans: bool, quick: bool, json: bool) -> None:
    """Check a lake: whether all files that its versions name exist and are unchanged.

    Prints a line for each problem, and exits with 1 if there is one. Strays, which no version names, are not
    damage: `expire` removes them. Orphans are the same in the folders of published tables.

        applier fsck /lake/shop
        applier fsck /lake/shop --iceberg sqlite:////lake/catalog.db
                     --remove-orphans
    """
    from applier.cli.output import lakes as output
    from applier.cli.terminal import progress
    from applier.jobs.publish.job import fsck as check

    with progress() as watcher:
        found = check(lake, iceberg, remove_orphans=remove_orphans, quick=quick, progress=watcher)
    output.CHECKED.print(json, found)
    if found.damaged:
        raise typer.Exit(1)
