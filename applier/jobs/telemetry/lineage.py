"""OpenLineage events of a run: START, and COMPLETE or FAIL.

Datasets have the names that OpenLineage's naming rules give them, so that they meet those of other programs: a local
path is in the namespace `file`, `s3://bucket/key` is `key` in `s3://bucket`, a server's log is in `mysql://host:port`.
A table of a snapshot or a lake is the dataset OUTPUT/DB/TABLE. Run facets have the position and the error, output
facets rows, bytes and files. The job's namespace is OPENLINEAGE_NAMESPACE, or `applier`.

Events are sent by the openlineage-python package, with OPENLINEAGE_API_KEY if that is set, and its own configuration
for filters, tags and facets. An event that cannot be sent is a TelemetryWarning.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

import attr
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, RunEvent, RunState
from openlineage.client.event_v2 import Run as RunId
from openlineage.client.facet_v2 import (
    RunFacet,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
)
from openlineage.client.uuid import generate_new_uuid

from applier.errors import TelemetryWarning
from applier.io.resolver import absolute, divided, is_uri
from applier.jobs.telemetry.figures import Outcome, Output
from applier.version import __version__

PRODUCER = "https://pypi.org/project/mysql-binlog-applier/"
_WEB = "http://", "https://"


@attr.define
class PositionRunFacet(RunFacet):
    """Where the outputs are in the log."""

    position: str
    gtidSet: str  # OpenLineage's way to write names
    timestamp: int | None


class Lineage:
    """Sends the events of one run to a URL, or adds them to a file, one line each."""

    def __init__(self, job: str, inputs: Sequence[str], output: str, place: str) -> None:
        self._place = place
        self._client = OpenLineageClient(config={"transport": _transport(place)})
        self._run_id = str(generate_new_uuid())
        name = dataset_of(output)
        self._job = Job(os.environ.get("OPENLINEAGE_NAMESPACE") or "applier", f"{job}.{name[0]}.{name[1]}", {
            "jobType": job_type_job.JobTypeJobFacet("BATCH", "APPLIER", job.upper(), producer=PRODUCER)})
        self._inputs = inputs

    def started(self) -> None:
        """Send START."""
        self._send(RunState.START, Outcome())

    def completed(self, outcome: Outcome) -> None:
        """Send COMPLETE, with what the run wrote."""
        self._send(RunState.COMPLETE, outcome)

    def failed(self, outcome: Outcome, error: BaseException) -> None:
        """Send FAIL, with the error."""
        message = error_message_run.ErrorMessageRunFacet(str(error) or type(error).__name__, "Python",
                                                         producer=PRODUCER)
        self._send(RunState.FAIL, outcome, {"errorMessage": message})

    def _send(self, state: RunState, outcome: Outcome, facets: Mapping[str, Any] | None = None) -> None:
        engine = processing_engine_run.ProcessingEngineRunFacet(__version__, "applier", producer=PRODUCER)
        event = RunEvent(eventTime=datetime.now(UTC).isoformat(), producer=PRODUCER, eventType=state, job=self._job,
                         run=RunId(self._run_id, {"processing_engine": engine, **_position(outcome),
                                                  **(facets or {})}),
                         inputs=[InputDataset(*dataset_of(uri)) for uri in (*self._inputs, *outcome.inputs)],
                         outputs=[*map(_written, outcome.outputs)])
        try:
            self._client.emit(event)
        except Exception as error:  # of whatever transport
            warnings.warn(f"cannot send the lineage to {self._place}: {error}", TelemetryWarning, stacklevel=2)


def dataset_of(uri: str, table: str = "") -> tuple[str, str]:
    """Return the namespace and the name of a dataset, given its path or URI, or the catalog that has it as `table`, by
    OpenLineage's naming rules. Neither has a password or a store's options."""
    if not is_uri(uri):
        return (uri, table) if table else ("file", absolute(uri))
    parts = urlsplit(divided(uri)[0])
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme == "file":
        return "file", unquote(parts.path)
    if parts.scheme in ("abfss", "abfs"):  # CONTAINER@SERVICE, which is no user
        host = parts.netloc
    if table:
        return f"{parts.scheme}://{host}{parts.path}", table
    path = parts.path if parts.scheme == "hdfs" else parts.path.lstrip("/")
    return f"{parts.scheme}://{host}", unquote(path) or "/"


def _transport(place: str) -> dict[str, Any]:
    if not place.startswith(_WEB):
        return {"type": "file", "log_file_path": place, "append": True}
    key = os.environ.get("OPENLINEAGE_API_KEY")
    return {"type": "http", "url": place, "retry": {"total": 2},
            **({"auth": {"type": "api_key", "apiKey": key}} if key else {})}


def _position(outcome: Outcome) -> dict[str, Any]:
    if not outcome.position:
        return {}
    return {"applier_position": PositionRunFacet(outcome.position, outcome.gtid_set, outcome.timestamp,
                                                 producer=PRODUCER)}


def _written(output: Output) -> OutputDataset:
    facet = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        output.rows, output.bytes, output.files, producer=PRODUCER)
    return OutputDataset(*dataset_of(output.uri, output.table), outputFacets={"outputStatistics": facet})
