"""Selects the part of a log for a feed: by GTID, by server, and by start time."""

from __future__ import annotations

import numpy as np

from applier.binlog.locating.group_choice import LeftOutGroups, notes_on_threads
from applier.binlog.locating.groups import GroupPass
from applier.binlog.locating.gtid_choice import GtidChoice, count_of, shortened
from applier.errors import UsageError
from applier.jobs.changes.event_groups.groups import WantedGroups, version_at
from applier.jobs.changes.log import FeedLog
from applier.options import ChangesOptions
from applier.plan.span import LogSpan


def wanted_groups(span: LogSpan, options: ChangesOptions) -> WantedGroups:
    """Return the event groups that the options choose in a part of a log."""
    left_out = LeftOutGroups(None if options.exclude_gtids is None else GtidChoice(options.exclude_gtids),
                             options.server_ids, options.ignore_server_ids)
    gtids = options.gtids if options.gtids is not None else options.maybe_gtids
    return WantedGroups(None if gtids is None else GtidChoice(gtids),
                        -1 if options.start_datetime is None else _version_before(span, options.start_datetime),
                        options.commits, left_out, options.thread_ids)


def notes_on_choice(span: LogSpan, options: ChangesOptions) -> list[str]:
    """Return notes for the user about chosen transactions that this part of the log does not have. Raises UsageError if
    it has none of the wanted ones."""
    notes = []
    if options.gtids is not None and (missing := _missing(span, GtidChoice(options.gtids))):
        if missing == GtidChoice(options.gtids).count:
            raise UsageError(f"these binlogs contain none of the transactions {shortened(options.gtids)}",
                             hint="`applier locate --gtid … --binlogs …` finds where a transaction is")
        notes.append(f"{missing:,} of the transactions of --gtids are not in these binlogs")
    if options.exclude_gtids is not None and (missing := _missing(span, GtidChoice(options.exclude_gtids))):
        notes.append(f"{missing:,} of the transactions of --exclude-gtids are not in these binlogs")
    if options.thread_ids:
        groups = [GroupPass(outline.uri).groups(outline.start, outline.end) for outline in span.outlines]
        notes += notes_on_threads(options.thread_ids,
                                  sum(int(one.of_threads(options.thread_ids).sum()) for one in groups),
                                  sum(int(one.are_without_thread.sum()) for one in groups))
    return notes


def _missing(span: LogSpan, choice: GtidChoice) -> int:
    """Return how many of the transactions a part of a log does not have."""
    n_left = choice.count
    for outline in span.outlines:
        if not outline.gtids.domains:
            n_left -= count_of(choice.transactions) - count_of(choice.transactions.subtract(outline.gtids))
        elif choice.may_be_in(outline.gtids):
            groups = GroupPass(outline.uri).groups(outline.start, outline.end)
            n_left -= int(choice.chosen(groups.names, groups.sources, groups.numbers).sum())
        if n_left <= 0:
            break
    return max(0, n_left)


def index_in(span: LogSpan, number: int) -> int:
    """Return the number of an outline's file among the span's files, from 0; for a group before them, that of the
    first."""
    return max(0, number - span.n_before)


def _version_before(span: LogSpan, time: float) -> int:
    """Return the commit version after which the first event group of a time or later comes."""
    for number, outline in enumerate(span.outlines[span.n_before:], span.n_before):
        groups = GroupPass(outline.uri).groups(outline.start, outline.end)
        if (late := groups.times >= time).any():
            return version_at(outline.name, index_in(span, number), int(groups.starts[np.argmax(late)]))
    return int(np.iinfo(np.int64).max)


def may_be_wanted(log: FeedLog, span: LogSpan, file: int) -> bool:
    """Return whether a file may have wanted groups, as far as its outline says it."""
    wanted, outline, index = log.wanted, span.outlines[file], index_in(span, file)
    first = max(wanted.after + 1, wanted.within.first_version)
    return (wanted.gtids is None or file in log.commits or wanted.gtids.may_be_in(outline.gtids)) and (
        file in log.commits or version_at(outline.name, index, outline.end) >= first) and (
        version_at(outline.name, index, outline.start) < wanted.within.last_version)
