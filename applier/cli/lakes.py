"""`applier versions`, `expire`, `fsck`: lakes, whose versions `replay --lake` makes."""

from __future__ import annotations

from typing import Annotated

import typer

from applier.cli.application import verb
from applier.options.verbs import EXPIRE, FSCK, VERSIONS

Lake = Annotated[str, typer.Argument(metavar="LAKE", help="What `replay --lake` made.")]


@verb(VERSIONS)
def versions(*, lake: str, json: bool) -> None:
    """Print the versions of a lake: where each stands, what it holds, and how much of it is new.

        applier versions /lake/shop
    """
    from applier.cli.output import lakes as output
    from applier.jobs.lake.versions import versions as found

    output.VERSIONS.print(json, found(lake))


@verb(EXPIRE)
def expire(*, lake: str, keep: str, dry_run: bool, json: bool) -> None:
    """Remove versions of a lake, the files that nothing else needs, and what dead runs left.

    Versions that a reader has a lease for, or a published table stands at, stay, with their files. Files that no
    version names go when they are a day old.

        applier expire /lake/shop --keep 7d --dry-run
        applier expire /lake/shop --keep 7d
    """
    from applier.cli.output import lakes as output
    from applier.jobs.lake import expiring

    done = expiring.expire(lake, expiring.checked_keep(keep), dry_run=dry_run)
    output.EXPIRED.print(json, done, dry_run)


@verb(FSCK)
def fsck(*, lake: str, quick: bool, json: bool) -> None:
    """Check a lake: whether all files that its versions name are there, and as they were written.

    Prints a line for each thing that is wrong, and exits with 1 if there is one. Strays, which no version names, are no
    damage: `expire` removes them.

        applier fsck /lake/shop
    """
    from applier.cli.output import lakes as output
    from applier.cli.terminal import progress
    from applier.jobs.lake.checking import fsck as check

    with progress() as watcher:
        found = check(lake, quick=quick, progress=watcher)
    output.CHECKED.print(json, found)
    if found.damaged:
        raise typer.Exit(1)
