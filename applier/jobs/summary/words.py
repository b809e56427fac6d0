"""Words of a summary: times, lengths of time, statements on one line."""

from __future__ import annotations

from datetime import UTC, datetime

from applier.jobs.pages.diff_totals import DiffCounts
from applier.mysql.values.time_zones import shown_with_local


def when(time: int | None) -> str:
    """Return a time, given in epoch seconds."""
    return "not known" if time is None else shown_with_local(time)


def label(time: int, seconds: int) -> str:
    """Return the label of a step of this many seconds that begins at a time."""
    return f"{datetime.fromtimestamp(time, UTC):{'%m-%d %H:%M' if seconds < 86400 else '%Y-%m-%d'}}"


def counted(number: int, what: str) -> str:
    """Return a number and a noun, as "1 transaction", "2,455 transactions"."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def diff_text(totals: DiffCounts) -> str:
    """Return the totals as a sentence."""
    saved = f", {totals.bytes_saved:,} bytes less than the documents before" if totals.bytes_saved > 0 else ""
    return f"{counted(totals.partial_updates, 'partial update')} with diffs of " \
        f"{counted(totals.documents, 'JSON document')}{saved}"


def length(seconds: int) -> str:
    """Return a length of time."""
    unit, name = next(pair for pair in ((86400, "day"), (3600, "hour"), (60, "minute")) if seconds % pair[0] == 0)
    return counted(seconds // unit, name)


def short(text: str, most: int = 200) -> str:
    """Return a statement on one line, or its beginning: at most `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]}…"


def span(files: tuple[str, ...]) -> str:
    """Return the first and the last file."""
    return ", ".join(files) if len(files) < 3 else f"{files[0]} to {files[-1]} ({len(files):,} files)"
