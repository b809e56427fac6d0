"""Loads the report of the run that made a snapshot."""

from __future__ import annotations

import dataclasses
from typing import TypedDict

from applier.errors import SnapshotError
from applier.io import resolver
from applier.io.typed_json import Mismatch, loads
from applier.jobs.replay.result import ReplayResult
from applier.snapshot import manifest
from applier.snapshot.manifest import Snapshot

LISTED = 100
"""How many conflicts are shown one by one; the snapshot's own list has all of them."""


class Conflict(TypedDict):
    """A row of plan.conflicts.LISTING."""

    table: str
    operation: str
    conflict: str
    key: str
    values: str
    gtid: str | None
    file: str
    position: int
    row: int


@dataclasses.dataclass(frozen=True)
class Report:
    """A snapshot, the run that made it, and the first conflicts of that run, in log order."""

    snapshot: Snapshot
    result: ReplayResult
    conflicts: tuple[Conflict, ...]

    @property
    def listing(self) -> str:
        """The location of the list of all conflicts."""
        from applier.snapshot.staging import CONFLICTS

        return f"{self.result.snapshot.rstrip('/')}/{CONFLICTS}"


def load_report(uri: str) -> Report:
    """Load the report of a snapshot. Raises SnapshotError if there is no complete snapshot, or its report is missing,
    damaged, or of another version of this program."""
    from applier.snapshot.staging import REPORT

    snapshot = manifest.load(uri)
    uri = snapshot.uri
    filesystem, root = resolver.resolve(uri)
    path = f"{root}/{REPORT}"
    try:
        with filesystem.open_input_stream(path, compression=None) as stream:
            result = ReplayResult.from_report(uri, loads(stream.read()))
    except OSError as error:
        raise SnapshotError(f"the report cannot be read: {error}", file=path) from error
    except Mismatch as error:
        raise SnapshotError(f"not a valid report: it {error}", file=path,
                            hint="it is damaged, or of another version") from error
    return Report(snapshot, result, tuple(_first_conflicts(uri)) if result.conflicts else ())


def _first_conflicts(uri: str) -> list[Conflict]:
    import pyarrow as pa

    from applier.io.parquet_reading import open_parquet
    from applier.plan.conflicts import LISTING
    from applier.snapshot.staging import CONFLICTS

    filesystem, root = resolver.resolve(uri)
    path = f"{root}/{CONFLICTS}"
    try:
        with filesystem.open_input_file(path) as file:
            listing = open_parquet(file)
            if not listing.schema_arrow.equals(LISTING):
                raise SnapshotError("the list of conflicts has unexpected columns", file=path)
            first: list[Conflict] = next(listing.iter_batches(LISTED)).to_pylist()
            return first
    except (OSError, pa.ArrowException, StopIteration) as error:
        raise SnapshotError(f"the list of conflicts cannot be read: {error}", file=path) from error
