"""Expires versions of a lake, and removes the files that are no longer needed.

    kept       the latest version; as many as requested, or all that were published within a time; those with a
               valid lease, and those that a published table uses
    removed    the others: their manifests first, so that a version is complete or absent; then files that no kept
               version and no published table names
    strays     files that no version names, of runs that were killed or lost: once they are older than a grace period,
               and no run is active in a local lake

Files are listed before the versions are read: files that a run writes meanwhile are not in the list. A file is in
consecutive versions, since a version takes unchanged files from the previous one, and names are never reused. So the
kept versions next to removed ones show which files are still needed; all versions are read only to find strays.
"""

from __future__ import annotations

import os
import re
import time
from bisect import bisect
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from applier.errors import SnapshotError, UsageError, reason
from applier.jobs.lake.contents import Contents, folder_of_version, read_contents, sizes_of
from applier.snapshot import lakes
from applier.snapshot.files import location
from applier.snapshot.lake.lake_needs import leases, needs
from applier.snapshot.lake.lake_staging import lives, remove_dead, write_latest
from applier.snapshot.manifest import MANIFEST

GRACE = timedelta(days=1)
"""How old a file must be that no version names, to be a stray: older than any run takes."""
_THREADS = 16
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

Keep = int | timedelta
"""How many versions, or those published since so long ago."""


@dataclass(frozen=True)
class Expired:
    """The result of an expiry, or of a dry run: the numbers of the removed versions, the files that only they needed,
    with their bytes, and likewise strays. `kept` are the numbers of the versions that stay. `waits`: strays were left
    because another run is active."""

    versions: tuple[int, ...]
    kept: tuple[int, ...]
    files: int
    bytes: int
    strays: int
    stray_bytes: int
    waits: bool
    dry_run: bool


def checked_keep(given: Keep | str) -> Keep:
    """Return what to keep; a text is like "10" (versions) or "7d" (also s, m, h, w). Raises UsageError for an invalid
    one."""
    if isinstance(given, str):
        given = age(given) or (int(given) if re.fullmatch("[0-9]{1,5}", given) else given)
    if isinstance(given, str) or not (given > timedelta() if isinstance(given, timedelta) else given > 0):
        raise UsageError(f"--keep {given} is neither a number nor a time",
                         hint="a number of versions, as 10, or a time, as 90s, 30m, 12h, 7d, 4w")
    return given


def age(text: str) -> timedelta | None:
    """Return the time that a text like "7d" (also s, m, h, w) says; None for another text."""
    found = re.fullmatch(r"([0-9]{1,5})([smhdw])", text)
    return None if found is None else timedelta(**{_UNITS[found[2]]: int(found[1])})


def expire(uri: str, keep: Keep, *, dry_run: bool = False, grace: timedelta = GRACE, strays: bool = True) -> Expired:
    """Expire versions of the lake at a path or uri, and look for strays, which takes longer the more versions stay.
    Raises SnapshotError, and removes nothing then, if there is no lake, or if a version or its leases cannot be read;
    and if a file cannot be removed: run it again."""
    contents = read_contents(uri)
    waits = location.is_local(contents.filesystem) and lives(contents.root)
    kept = _kept(contents, keep)
    going = sorted(set(contents.numbers) - set(kept))
    needed = {path for table in needs(contents.filesystem, contents.root) for path in table.files}
    for number in kept if strays else _beside(kept, going):
        needed |= sizes_of(contents.version(number)).keys()
    named = {path for number in going for path in sizes_of(contents.version(number))}
    folders = {folder_of_version(number) for number in going}
    named |= {path for path in contents.files if "/".join(path.split("/", 2)[:2]) in folders}
    freed = sorted(path for path in named - needed if path in contents.files)
    found = _strays(contents, needed | named, grace) if strays and not waits else []
    if not dry_run:
        try:
            _remove(contents, going, freed, found)
        except OSError as error:
            raise SnapshotError(f"a file cannot be removed: {reason(error)}", file=error.filename or uri,
                                hint="run it again when the cause is fixed") from error
    return Expired(tuple(going), tuple(kept), len(freed), _bytes(contents, freed), len(found),
                   _bytes(contents, found), waits, dry_run)


def _beside(kept: list[int], going: list[int]) -> set[int]:
    """Of versions that stay, the nearest before and after each that goes."""
    gaps = {bisect(kept, number) for number in going}
    return {kept[number] for after in gaps for number in (after - 1, after) if 0 <= number < len(kept)}


def _kept(contents: Contents, keep: Keep) -> list[int]:
    """Return the versions that stay, ascending."""
    filesystem, root, numbers = contents.filesystem, contents.root, contents.numbers
    kept = set(numbers[-1:])
    if isinstance(keep, int):
        kept.update(numbers[-keep:])
    else:
        since = datetime.now(UTC) - keep
        kept.update(number for number in numbers if (when := contents.published(number)) is None or when >= since)
    now = time.time()
    kept.update(lease.version for lease in leases(filesystem, root) if lease.expires > now)
    kept.update(table.version for table in needs(filesystem, root) if table.version is not None)
    return sorted(kept & set(numbers))


def _strays(contents: Contents, known: set[str], grace: timedelta) -> list[str]:
    """Return old files that no version names: tables' files, files of dead runs, versions without a manifest."""
    complete = {folder_of_version(number) for number in contents.numbers}
    candidates = [*contents.of_tables(), *(
        path for path in contents.files if path.startswith(f"{lakes.STAGING}/") or (
            (found := re.match(rf"{lakes.VERSIONS}/[0-9]+(?=/)", path)) and found[0] not in complete))]
    before = datetime.now(UTC) - grace
    return sorted(path for path in candidates if path not in known and contents.files[path].written < before)


def _remove(contents: Contents, going: list[int], freed: list[str], strays: list[str]) -> None:
    """Manifests first, and before them the pointer to the latest version, by which that is found. Errors: OSError."""
    if going:
        write_latest(contents.filesystem, contents.root)
    manifests = [f"{folder_of_version(number)}/{MANIFEST}" for number in going]
    _delete(contents, manifests)
    _delete(contents, [path for path in [*freed, *strays] if path not in set(manifests)])
    if location.is_local(contents.filesystem) and contents.numbers:
        remove_dead(contents.root)
        for number in lakes.numbers(contents.filesystem, contents.root):
            if number < contents.numbers[-1]:
                _drop_empty(f"{contents.root}/{folder_of_version(number)}")


def _drop_empty(folder: str) -> None:
    """Remove a folder and those below it, as far as they are empty."""
    for inner, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            os.rmdir(inner)


def _delete(contents: Contents, paths: Iterable[str]) -> None:
    def delete(path: str) -> None:
        with suppress(FileNotFoundError):  # another run of this has
            contents.filesystem.delete_file(f"{contents.root}/{path}")

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(delete, paths))


def _bytes(contents: Contents, paths: Iterable[str]) -> int:
    return sum(contents.files[path].bytes for path in paths)
