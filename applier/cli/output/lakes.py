"""Prints the versions of a lake, and what `expire` and `fsck` did and found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from applier.binlog.locating.gtid_choice import shortened
from applier.cli.output.grids import Grid
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, print_note
from applier.jobs.lake.checking import CheckedLake
from applier.jobs.lake.compacting import Compacted
from applier.jobs.lake.expiring import Expired
from applier.jobs.lake.versions import LakeVersion
from applier.jobs.summary.words import counted
from applier.mysql.values.time_zones import shown_with_local


def _print_versions(console: ResultConsole, versions: Sequence[LakeVersion]) -> None:
    grid = Grid("version", "position", "GTID set", "time", "tables", "rows", "MB", "files", "new", "MB new",
                less=("time", "tables", "files", "new"), names=("position", "GTID set"))
    for version in versions:
        at = version.position
        grid.add(version.number, str(at), shortened(at.gtid_set.replace("\n", "")),
                 "" if at.timestamp is None else shown_with_local(at.timestamp), version.tables, version.rows,
                 version.bytes / 1e6, version.files, version.new_files, version.new_bytes / 1e6)
    grid.print(console)


def _version(version: LakeVersion) -> dict[str, object]:
    at = version.position
    return {"version": version.number, "uri": version.uri, "file": at.file, "offset": at.offset,
            "gtid_set": at.gtid_set, "timestamp": at.timestamp, "published": version.published,
            "tables": version.tables, "rows": version.rows, "bytes": version.bytes, "files": version.files,
            "new_files": version.new_files, "new_bytes": version.new_bytes}


VERSIONS = Result(_print_versions, lambda versions: [_version(version) for version in versions])


def _print_compacted(console: ResultConsole, done: Compacted) -> None:
    console.say(f"version {done.version}: {counted(done.files, 'file')} with {done.bytes / 1e6:,.1f} MB rewritten, "
                f"{done.left:,} left", soft_wrap=True)


COMPACTED = Result(_print_compacted, lambda done: asdict(done))


def _print_expired(console: ResultConsole, done: Expired, dry_run: bool) -> None:
    would = "would go" if dry_run else "went"
    console.say(f"{counted(len(done.versions), 'version')} {would}, {len(done.kept):,} kept; "
                f"{counted(done.files, 'file')} with {done.bytes / 1e6:,.1f} MB {would}, "
                f"and {counted(done.strays, 'stray')} with {done.stray_bytes / 1e6:,.1f} MB", soft_wrap=True)
    if done.waits:
        print_note("a run is at work there: files that no version names are left for the next time")


EXPIRED = Result(_print_expired, lambda done, dry_run: asdict(done))


def _print_checked(console: ResultConsole, found: CheckedLake) -> None:
    for line in (*found.damaged, *(f"{path}: a stray, which no version names" for path in found.strays),
                 *(f"{path}: an orphan, which no table names" for path in found.orphans),
                 *(f"{path}: an orphan, removed" for path in found.removed)):
        console.say(line)
    state = f"{counted(len(found.damaged), 'file')} damaged" if found.damaged else "nothing is wrong"
    orphans = f"; {counted(len(found.orphans), 'orphan')}, {found.orphan_bytes / 1e6:,.1f} MB" if found.orphans else ""
    orphans += f"; {len(found.removed):,} removed, {found.removed_bytes / 1e6:,.1f} MB" if found.removed else ""
    console.say(f"{counted(found.versions, 'version')}, {counted(found.files, 'file')}, {found.bytes / 1e6:,.1f} MB: "
                f"{state}; {counted(len(found.strays), 'stray')}, {found.stray_bytes / 1e6:,.1f} MB{orphans}")


CHECKED = Result(_print_checked, lambda found: asdict(found))
