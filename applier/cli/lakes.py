"""`applier versions`, `compact`, `expire`, `fsck`: lakes, whose versions `replay --lake` makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from applier.cli.application import verb
from applier.cli.output.documents import print_json
from applier.options.verbs import COMPACT, EXPIRE, FSCK, VERSIONS

if TYPE_CHECKING:
    from applier.jobs.lake.versions import LakeVersion

Lake = Annotated[str, typer.Argument(metavar="LAKE", help="What `replay --lake` made.")]


@verb(VERSIONS)
def versions(*, lake: str, json: bool) -> None:
    """Print the versions of a lake: position, size, and how much of each is new.

        applier versions /lake/shop
    """
    from applier.jobs.lake.versions import versions as found

    if json:
        print_json([_document(version) for version in found(lake)])
        return
    from applier.binlog.locating.gtid_choice import shortened
    from applier.cli.output.grids import new_grid, result_console
    from applier.mysql.values.time_zones import shown_with_local

    grid = new_grid("version", "position", "GTID set", "time", "tables", "rows", "MB", "files", "new", "MB new",
                    less=("time", "tables", "files", "new"), names=("position", "GTID set"))
    for version in found(lake):
        at = version.position
        grid.add(version.number, str(at), shortened(at.gtid_set.replace("\n", "")),
                "" if at.timestamp is None else shown_with_local(at.timestamp), version.tables, version.rows,
                version.bytes / 1e6, version.files, version.new_files, version.new_bytes / 1e6)
    grid.print(result_console())


@verb(COMPACT)
def compact(*, lake: str, compact_budget: str | None, target_file_size: str, json: bool) -> None:
    """Rewrite the files with changes of a lake that merges on read.

    The lake gets a new version at the same position. Rounds of `replay` and `sync` rewrite files with many changes.

        applier compact /lake/shop
        applier compact /lake/shop --compact-budget 10G
    """
    import dataclasses

    from applier.api.lakes import compact as compacted
    from applier.jobs.summary.words import counted

    done = compacted(lake, compact_budget=compact_budget, target_file_size=target_file_size)
    if json:
        print_json(dataclasses.asdict(done))
        return
    print(f"version {done.version}: {counted(done.files, 'file')} with {done.bytes / 1e6:,.1f} MB rewritten, "
          f"{done.left:,} left")


@verb(EXPIRE)
def expire(*, lake: str, keep: str, dry_run: bool, json: bool) -> None:
    """Remove versions of a lake, the files that only they need, and leftovers of dead runs.

    Versions with a reader's lease, and versions that a published table uses, are kept with their files. Files that no
    version names are removed when they are a day old.

        applier expire /lake/shop --keep 7d --dry-run
        applier expire /lake/shop --keep 7d
    """
    import dataclasses

    from applier.cli.terminal import print_note
    from applier.jobs.lake import expiring
    from applier.jobs.summary.words import counted

    done = expiring.expire(lake, expiring.checked_keep(keep), dry_run=dry_run)
    if json:
        print_json(dataclasses.asdict(done))
        return
    would = "would go" if dry_run else "went"
    print(f"{counted(len(done.versions), 'version')} {would}, {len(done.kept):,} kept; "
          f"{counted(done.files, 'file')} with {done.bytes / 1e6:,.1f} MB {would}, "
          f"and {counted(done.strays, 'stray')} with {done.stray_bytes / 1e6:,.1f} MB")
    if done.waits:
        print_note("a run is at work there: files that no version names are left for the next time")


@verb(FSCK)
def fsck(*, lake: str, quick: bool, json: bool) -> None:
    """Check a lake: whether all files that its versions name exist and are unchanged.

    Prints a line for each problem, and exits with 1 if there is one. Strays, which no version names, are not
    damage: `expire` removes them.

        applier fsck /lake/shop
    """
    import dataclasses

    from applier.cli.terminal import progress
    from applier.jobs.lake.checking import fsck as check

    with progress() as watcher:
        found = check(lake, quick=quick, progress=watcher)
    if json:
        print_json(dataclasses.asdict(found))
    else:
        from applier.cli.output.grids import result_console
        from applier.cli.terminal import words
        from applier.jobs.summary.words import counted

        console = result_console()
        for line in (*found.damaged, *(f"{path}: a stray, which no version names" for path in found.strays)):
            console.print(words(line))
        state = f"{counted(len(found.damaged), 'file')} damaged" if found.damaged else "nothing is wrong"
        console.print(words(f"{counted(found.versions, 'version')}, {counted(found.files, 'file')}, "
                            f"{found.bytes / 1e6:,.1f} MB: {state}; {counted(len(found.strays), 'stray')}, "
                            f"{found.stray_bytes / 1e6:,.1f} MB"))
    if found.damaged:
        raise typer.Exit(1)


def _document(version: LakeVersion) -> dict[str, object]:
    at = version.position
    return {"version": version.number, "uri": version.uri, "file": at.file, "offset": at.offset,
            "gtid_set": at.gtid_set, "timestamp": at.timestamp, "published": version.published,
            "tables": version.tables, "rows": version.rows, "bytes": version.bytes, "files": version.files,
            "new_files": version.new_files, "new_bytes": version.new_bytes}
