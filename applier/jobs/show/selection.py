"""Selects the part of the binlogs to show: by position, time, GTID, server and table.

Positions and times, GTIDs, servers: ranges of a file, found by its groups without reading rows. Tables: see `tables`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from applier.binlog.archive.reader import file_events
from applier.binlog.locating.group_choice import NONE_LEFT_OUT, LeftOutGroups
from applier.binlog.locating.gtid_choice import GtidChoice
from applier.errors import UsageError
from applier.io.mapping import MappedFile
from applier.io.packing import log_name
from applier.mysql.values.time_zones import parse_datetime
from applier.schema.table_filter import TableFilter

_POSITION = re.compile(r"(?:(?P<file>.+\.\d{6,}(?:\.\w+)?):)?(?P<offset>\d+)\Z")


ReadRange = tuple[int, int, int]
"""Where to read from (a group, or the file's first event), up to where, and from which position on to show."""


@dataclass(frozen=True)
class Bound:
    """Where to start or to stop: an `offset` in the file of this name (in every file without one), or a `time` in
    seconds since 1970."""

    offset: int | None = None
    file: str | None = None
    time: float | None = None

    def option(self, end: str) -> str:
        """Return the option that gives it; `end` is "start" or "stop"."""
        return f"--{end}-position" if self.time is None else f"--{end}-datetime"


def parse_bound(text: str) -> Bound:
    """Read FILE:POS, POS, or a date and time (local where it names no offset). Raises UsageError."""
    return parse_position(text, None) if _POSITION.match(text.strip()) else Bound(time=parse_datetime(text))


def parse_position(text: str, file: str | None) -> Bound:
    """Read FILE:POS, or POS in this file (None: in every one). Raises UsageError."""
    if (match := _POSITION.match(text.strip())) is None:
        raise UsageError(f"{text!r} is not a position", hint="write an offset, or FILE:POS such as binlog.000001:157")
    return Bound(int(match["offset"]), log_name(match["file"]) if match["file"] else file)


def one_bound(name: str, place: str | None, position: str | None, time: str | None, file: str) -> Bound:
    """Return the bound that one of these options gives: --start or --stop, by `name`, and those of mysqlbinlog, whose
    position is in this file. Raises UsageError for several."""
    given = [option for option, text in ((f"--{name}", place), (f"--{name}-position", position),
                                         (f"--{name}-datetime", time)) if text]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} cannot both be given", hint="leave one of them out")
    if position:
        return parse_position(position, log_name(file))
    if time:
        return Bound(time=parse_datetime(time))
    return parse_bound(place) if place else Bound()


@dataclass(frozen=True)
class Selection:
    """What to show. Between positions single events count; by time and GTID whole groups, from the first of the time
    `start` or later on, to before the first of the time `stop` or later, and those in `gtids`, or all, of `threads`, if
    there are any, but no excluded ones; `passed_over` events of all files are not shown."""

    start: Bound = Bound()
    stop: Bound = Bound()
    gtids: GtidChoice | None = None
    left_out: LeftOutGroups = NONE_LEFT_OUT
    threads: tuple[int, ...] = ()
    tables: TableFilter | None = None
    passed_over: int = 0

    def ranges(self, mapped: MappedFile, name: str, files: list[str]) -> Iterator[ReadRange]:
        """Yield the ranges of one of the files, whose base names are `files`. Raises ArchiveError where the file cannot
        be told into groups."""
        first, last = self._offset(self.start, name, files, 4), self._offset(self.stop, name, files, mapped.size)
        last = min(last, mapped.size)
        if first >= last:
            return
        by_groups = bool(self.threads) or not self.left_out.none or any(
            chosen is not None for chosen in (self.gtids, self.start.time, self.stop.time))
        if first <= 4 and not by_groups:
            yield 4, last, 4
            return
        from applier.binlog.locating.groups import GroupPass

        file = GroupPass(mapped.uri)
        groups = file.groups(end=last)
        if not by_groups:
            before = groups.starts[groups.starts <= first]
            yield (int(before[-1]) if len(before) else file.head_end), last, first
            return
        chosen = (groups.ends > first) & self._by_time(groups.times)
        if self.gtids is not None:
            chosen &= self.gtids.chosen(groups.names, groups.sources, groups.numbers)
        chosen &= ~self.left_out.mask(groups) & groups.of_threads(self.threads)
        for start, end in _joined(groups.starts[chosen].tolist(), groups.ends[chosen].tolist()):
            yield start, end, max(start, first)

    def thread_counts(self, mapped: MappedFile, name: str, files: list[str]) -> tuple[int, int]:
        """Return how many event groups of one of the files, between the positions, the threads ran, and for how many
        the log names no thread. Raises as `ranges`."""
        from applier.binlog.locating.groups import GroupPass

        first, last = self._offset(self.start, name, files, 4), self._offset(self.stop, name, files, mapped.size)
        groups = GroupPass(mapped.uri).groups(end=min(last, mapped.size))
        inside = groups.ends > first
        return int((groups.of_threads(self.threads) & inside).sum()), int((groups.are_without_thread & inside).sum())

    def notes_on_nothing(self) -> list[str]:
        """Return lines that say why there is no range in any file."""
        given = [option for option, value in ((self.start.option("start"), self.start),
                                              (self.stop.option("stop"), self.stop), ("--gtids", self.gtids),
                                              ("--exclude-gtids", self.left_out.gtids),
                                              ("--server-ids", self.left_out.servers),
                                              ("--ignore-server-ids", self.left_out.ignored_servers),
                                              ("--thread", self.threads))
                 if value not in (None, Bound(), ())]
        return [f"{' and '.join(given)}: there is no such event in these files"] if given else []

    def _by_time(self, times: np.ndarray) -> np.ndarray:
        """From the first group of the time to start at or later, to before the first of the time to stop at."""
        order = np.arange(len(times))
        chosen = np.ones(len(times), bool)
        if self.start.time is not None:
            late = np.flatnonzero(times >= self.start.time)
            chosen &= order >= (late[0] if len(late) else len(times))
        if self.stop.time is not None:
            late = np.flatnonzero(times >= self.stop.time)
            chosen &= order < (late[0] if len(late) else len(times))
        return chosen

    def _offset(self, bound: Bound, name: str, files: list[str], default: int) -> int:
        """Return the offset of a bound in a file: the file's start or end if the bound is in another file."""
        if bound.offset is None:
            return default
        if bound.file is None or bound.file == name:
            return bound.offset
        if bound.file not in files:
            raise UsageError(f"{bound.file} is not one of the files to show")
        is_later = files.index(name) > files.index(bound.file)
        return (4 if is_later else 1 << 62) if bound is self.start else (0 if is_later else 1 << 62)


def event_after(mapped: MappedFile, count: int) -> tuple[int, int]:
    """Return where the event after the first `count` of a file begins, or where the file ends, and how many events are
    missing. Raises ArchiveError for a damaged file."""
    for number, event in enumerate(file_events(mapped, 4, mapped.size)):
        if number == count:
            return event.position, 0
    return mapped.size, max(count - number - 1, 0)


def _joined(starts: list[int], ends: list[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups that follow one another directly."""
    begun: int | None = None
    for number, (start, end) in enumerate(zip(starts, ends)):
        begun = start if begun is None else begun
        if number + 1 == len(starts) or starts[number + 1] != end:
            yield begun, end
            begun = None
