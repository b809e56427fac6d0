"""What a run did, as values: figures for Prometheus, a document for JSON, datasets for OpenLineage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from applier.errors import ApplierError


@dataclass(frozen=True)
class Figure:
    """A sample of a metric: `name` without the prefix `applier_JOB_`, with its unit; `value` None: unknown, not
    written."""

    name: str
    kind: Literal["gauge", "counter"]
    help: str
    value: float | None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Output:
    """A dataset that a run wrote: its path or URI, or that of a catalog and the `table` in it; how many rows it changed
    there, and how many bytes and files it wrote; None: unknown."""

    uri: str
    table: str = ""
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


@dataclass(frozen=True)
class Outcome:
    """The figures of a run so far. `document` is its part of the JSON; `inputs` are paths or URIs of datasets that are
    known only at the end; `position` is "FILE:OFFSET", "" if unknown; `timestamp` is in seconds since 1970."""

    figures: tuple[Figure, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()
    inputs: tuple[str, ...] = ()
    position: str = ""
    gtid_set: str = ""
    timestamp: int | None = None


def position_figures(position: str, timestamp: int | None) -> Iterable[Figure]:
    """Yield a position of a log as figures: the file's number, the offset in it, and the time."""
    file, _, offset = position.rpartition(":")
    number = file.rpartition(".")[2]
    if number.isdigit() and offset.isdigit():
        yield Figure("position_file_number", "gauge", "number of the binlog file of the position", int(number))
        yield Figure("position_offset_bytes", "gauge", "offset of the position in its file", int(offset))
    yield Figure("position_timestamp_seconds", "gauge", "time of the last event group, in seconds since 1970",
                 timestamp)


def error_document(error: BaseException) -> dict[str, Any]:
    """Return an error as JSON."""
    if isinstance(error, ApplierError):
        return {"message": str(error), "exit_code": error.exit_code, "errno": error.mysql_errno, **error.where}
    return {"message": str(error) or type(error).__name__}
