"""The job: SQL that creates views over files, one statement after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyarrow.fs import FileType

from applier.errors import UsageError
from applier.io.printable import printable
from applier.io.resolver import resolve
from applier.jobs.change_files.described import MANIFEST
from applier.jobs.history import listing as history
from applier.jobs.views.dialects import DIALECTS, Dialect
from applier.jobs.views.sources import View, of_changes, of_file, of_history, of_snapshot
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import manifest
from applier.snapshot.manifest import Snapshot


def views(location: str, dialect: str, filter: TableFilter = EVERYTHING) -> Iterator[str]:
    """Return the statements for a snapshot, for a directory of changes or a file of these, or for a history. Raises
    what `views_in` and `statements` raise."""
    what, found = views_in(location, filter)
    return _printed(what, found, dialect)


def views_in(location: str, filter: TableFilter = EVERYTHING) -> tuple[str, Iterable[View]]:
    """Return the contents of a location, for people, and its views. Raises UsageError for files of other kinds, and
    SnapshotError if it is empty."""
    filesystem, path = resolve(location)
    sources = {path: of_file, f"{path}/{MANIFEST}": of_changes, f"{path}/{history.MANIFEST}": of_history}
    for info, views_of_source in zip(filesystem.get_file_info([*sources]), sources.values(), strict=True):
        if info.type == FileType.File:
            return location, views_of_source(location, filter)
    snapshot = manifest.load(location)
    return f"{snapshot.uri} at {snapshot.position}", of_snapshot(snapshot, filter)


def views_of(snapshot: Snapshot, dialect: str, filter: TableFilter = EVERYTHING) -> Iterator[str]:
    """Return the statements for a snapshot. Raises UsageError for another dialect, for names that it does not take, and
    where it cannot tell two apart."""
    return _printed(f"{snapshot.uri} at {snapshot.position}", of_snapshot(snapshot, filter), dialect)


def _printed(what: str, views: Iterable[View], dialect: str) -> Iterator[str]:
    if dialect not in DIALECTS:
        raise UsageError(f"{dialect!r} is not a dialect", hint=f"it is one of {', '.join(DIALECTS)}")
    yield f"-- {printable(what)}\n"
    yield from statements(views, DIALECTS[dialect], dialect)


def statements(views: Iterable[View], writer: Dialect, dialect: str) -> Iterator[str]:
    """Yield the statements that make views. Raises UsageError for names that the dialect does not take, and where it
    cannot tell two apart."""
    found = list(views)
    known: dict[tuple[str, str], View] = {}
    for view in found:
        if refused := [name for name in (view.database, *view.names) if not writer.takes(name)]:
            name = view.name if refused[0] == view.database else refused[0]
            raise UsageError(f"{dialect} takes no view of this name: {view.database}.{name}",
                             hint="leave it out with --ignore-tables, and read its files")
        other = known.setdefault((view.database.lower(), view.name.lower()), view)
        if other is not view:
            both = f"{other.database}.{other.name} and {view.database}.{view.name}"
            raise UsageError(f"{dialect} takes {both} for one view",
                             hint="leave one of them out with `applier views --ignore-tables`, or read its files")
    yield from map(writer.database, dict.fromkeys(view.database for view in found))
    for view in found:
        yield writer.view(view)
        if view.as_of is not None:
            yield writer.as_of(view, view.as_of)
