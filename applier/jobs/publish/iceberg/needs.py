"""The files of a lake that a catalog needs: it registers the lake's own files, which `applier expire` must not remove.

The document is written before the catalog is changed: then it names the version to be published, and all
versions that the catalog may use until then; afterwards only the new version. If only some tables were published, the
others use older versions: these are kept until everything is published. A tag has a document of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from applier.errors import SnapshotError, reason
from applier.jobs.lake.contents import sizes_of
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import lakes, manifest
from applier.snapshot.files import location
from applier.snapshot.lake.lake_needs import Needed, needs, write_needs
from applier.snapshot.manifest import Snapshot

_TAG = " tag "
"""Between the names of a catalog and of a tag."""


@contextmanager
def needed(snapshot: Snapshot, catalog: str, filter: TableFilter, tag: str | None = None) -> Iterator[Snapshot | None]:
    """Keep, while a snapshot is published in a catalog, the files that the snapshot and its tag need, if it is a
    version of a lake. Yields the version that was published there last, if it is known and not a later one. Raises
    SnapshotError if the record of needs cannot be written."""
    if snapshot.lake is None:
        yield None
        return
    name, number = _name(catalog), lakes.number_of(snapshot.uri)
    names = [name, *([] if tag is None else [f"{name}{_TAG}{tag}"])]
    former, *_ = [_begin(snapshot.root, one, number) for one in names]
    yield None if former is None or lakes.number_of(former.uri) > number else former
    if filter == EVERYTHING:
        for one in names:
            _write(snapshot.root, Needed(one, number))


def forget_tags(snapshot: Snapshot, catalog: str, given: str | None, there: Callable[[], Collection[str]]) -> None:
    """Say that a catalog no longer needs what tags named that none of its tables has: other tags than the one that was
    just given. `there` returns all that tables have. Raises SnapshotError where that cannot be written."""
    start = f"{_name(catalog)}{_TAG}"
    known = set[str]() if snapshot.lake is None else {
        one.name for one in needs(*location.resolve(snapshot.root)) if one.name.startswith(start)
        and one.name != f"{start}{given}" and one != Needed(one.name)}
    for name in known - ({f"{start}{tag}" for tag in there()} if known else set()):
        _write(snapshot.root, Needed(name))


def _name(catalog: str) -> str:
    return f"iceberg-{_hashed(catalog)}"  # a uri may hold a password


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _begin(lake: str, name: str, number: int) -> Snapshot | None:
    """Record that a version is needed, in addition to those that were needed before. Return the version that was."""
    files, version = _known(lake, name)
    former = None if version is None else manifest.load(lakes.version_uri(lake, version))
    if former is not None:
        files |= sizes_of(former).keys()
    _write(lake, Needed(name, number, tuple(sorted(files))))
    return former


def _write(lake: str, of_catalog: Needed) -> None:
    catalog, of_tag, tag = of_catalog.name.partition(_TAG)
    try:
        write_needs(lake, f"{catalog}-{_hashed(tag)}" if of_tag else catalog, of_catalog)
    except OSError as error:
        raise SnapshotError(f"cannot write which versions of the lake the catalog needs: {reason(error)}",
                            file=lake) from error


def _known(lake: str, name: str) -> tuple[set[str], int | None]:
    """Return the recorded needs of the catalog: files, and a version."""
    files, version = set[str](), None
    for table in needs(*location.resolve(lake)):
        if table.name == name:
            files.update(table.files)
            version = table.version
    return files, version
