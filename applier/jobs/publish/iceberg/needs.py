"""The files of a lake that a catalog needs: it registers the lake's own files, which `applier expire` must not remove.

The document is written before the catalog is changed: then it names the version to be published, and all
versions that the catalog may use until then; afterwards only the new version. If only some tables were published, the
others use older versions: these are kept until everything is published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from applier.errors import SnapshotError, reason
from applier.jobs.lake.contents import sizes_of
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import lakes, manifest
from applier.snapshot.files import location
from applier.snapshot.lake.lake_needs import Needed, needs, write_needs
from applier.snapshot.manifest import Snapshot


@contextmanager
def needed(snapshot: Snapshot, catalog: str, filter: TableFilter) -> Iterator[None]:
    """Around the publication of a snapshot in a catalog: keep what it needs, if the snapshot is a version of a lake.
    Raises SnapshotError where that cannot be written."""
    if snapshot.lake is None:
        yield
        return
    name = f"iceberg-{hashlib.blake2b(catalog.encode(), digest_size=8).hexdigest()}"  # a uri may hold a password
    number = lakes.number_of(snapshot.uri)
    _write(snapshot.root, Needed(name, number, _files(snapshot.root, name)))
    yield
    if filter == EVERYTHING:
        _write(snapshot.root, Needed(name, number))


def _write(lake: str, of_catalog: Needed) -> None:
    try:
        write_needs(lake, of_catalog.name, of_catalog)
    except OSError as error:
        raise SnapshotError(f"cannot write which versions of the lake the catalog needs: {reason(error)}",
                            file=lake) from error


def _files(lake: str, name: str) -> tuple[str, ...]:
    """Return all files that the catalog may need, by its properties."""
    files = set[str]()
    for table in needs(*location.resolve(lake)):
        if table.name == name:
            files.update(table.files)
            if table.version is not None:
                files |= sizes_of(manifest.load(lakes.version_uri(lake, table.version))).keys()
    return tuple(sorted(files))
