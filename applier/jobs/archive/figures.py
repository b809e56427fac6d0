"""The figures of archiving, for monitoring."""

from __future__ import annotations

from dataclasses import asdict

from applier.jobs.archive.result import Archived
from applier.jobs.telemetry.figures import Figure, Outcome, Output


def outcome(archived: Archived, *, is_connected: bool) -> Outcome:
    """Return the figures of a run so far."""
    figures = (
        Figure("connected", "gauge", "1 while the server sends its log", int(is_connected)),
        Figure("received_bytes_total", "counter", "log that was received since the start", archived.bytes),
        Figure("received_events_total", "counter", "events that were received since the start", archived.events),
        Figure("complete_files_total", "counter", "files that were completed since the start", archived.complete))
    position = f"{archived.file}:{archived.offset}" if archived.file else ""
    return Outcome(figures, {"connected": is_connected, **asdict(archived)},
                   (Output(archived.output, "", None, archived.bytes, archived.files),), (), position)
