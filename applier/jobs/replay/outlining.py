"""Outlines the part of the log that a replay, or one pass of it, applies, and checks that it is complete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from applier.binlog.archive.archive import Archive, ArchiveFile
from applier.binlog.archive.continuity import check_continuity, notes_on_ends
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.heads import read_head
from applier.binlog.outline.group_ids import check_group_ids
from applier.binlog.outline.left_out import LeavingOut
from applier.binlog.outline.outline import SPLIT_BYTES, OutlineTask
from applier.binlog.outline.samples import sample_bytes
from applier.binlog.outline.stop import StopCondition
from applier.engine.executor import Executor
from applier.errors import ArchiveError, UsageError
from applier.io.printable import shown_size
from applier.io.progress import Progress
from applier.option_texts import parse_gtid_set
from applier.options import LogBounds
from applier.plan.log import check_base, files_after, known_start
from applier.plan.passes import bytes_left, end_of_pass
from applier.plan.prepared import resolve_prepared_transactions, with_prepared_transactions
from applier.plan.span import LogSpan, span_of
from applier.plan.stops.base_position import (
    could_be_another_servers,
    have_all_domains,
    lacks_file_position,
    position_by_group_id,
    position_by_gtid,
    tasks_by_gtid,
    tasks_of_served_domains,
)
from applier.plan.stops.start_position import (
    check_start,
    continuity,
    executed_after,
    files_from,
    nothing_left,
    task_before,
)
from applier.plan.stops.stop_position import (
    check_not_past,
    check_reached,
    files_up_to,
    notes_on_stop,
    outlines_up_to_stop,
)
from applier.schema.history.relevance import Relevance
from applier.snapshot.manifest import BinlogPosition, Snapshot


@dataclass(frozen=True)
class Pass:
    """A pass: its base, with its position in the archive, and the span after it; whether it is the last one."""

    base: Snapshot | None
    span: LogSpan
    is_last: bool


class Outlining:
    """Outlines an archive pass by pass. `relevance` tells which statements the plan needs, None: all. `note` is called
    with each note for the user. `leaving_out` tells which groups are left out. Without `reapply`, groups after a start
    that the base has executed are skipped. With `may_be_empty`, the log may begin where it is to stop."""

    def __init__(self, executor: Executor, options: LogBounds, relevance: Relevance | None, pass_bytes: int,
                 progress: Progress, note: Callable[[str], None], leaving_out: LeavingOut | None = None, *,
                 reapply: bool = False, may_be_empty: bool = False):
        self._executor, self._options, self._pass_bytes = executor, options, pass_bytes
        self._relevance, self._leaving_out = relevance, leaving_out
        self._may_be_empty = may_be_empty
        self._reapply, self._n_groups, self._n_executed, self._executed_until = reapply, 0, 0, ("", 0)
        self._progress, self._note = progress, note
        self.n_passes, self._told = 0, -1
        self._start_position = options.start_position
        self._group_id: int | None = None  # the last one before the start

    def stop_condition(self) -> StopCondition:
        """Return where people want the replay to stop."""
        options = self._options
        gtids = parse_gtid_set(options.stop_gtid) if options.stop_gtid is not None else None
        return StopCondition(options.stop_position, gtids, options.stop_datetime)

    def next_pass(self, archive: Archive, base: Snapshot | None) -> Pass:
        """Outline the next pass, which begins where `base` stands: the user's base in the first pass, then the
        previous pass's snapshot. An event group that is larger than a pass makes that pass larger."""
        n_bytes = self._pass_bytes
        while True:
            found = self._first(archive, base, n_bytes) if self.n_passes == 0 else self._outline(archive, base, n_bytes)
            if found.is_last or any(outline.n_groups for outline in found.span.files):
                self.n_passes += 1
                return found
            n_bytes *= 2

    def _first(self, archive: Archive, base: Snapshot | None, n_bytes: int) -> Pass:
        """Return the first pass, after a base that is found by its transactions if the archive does not have the
        position that it names, or they do not end there."""
        if base is None or self._start_position is not None:
            return self._outline(archive, base, n_bytes)
        if not lacks_file_position(base.position):
            try:
                return self._outline(archive, base, n_bytes)
            except ArchiveError as error:
                if not could_be_another_servers(error, base.position):
                    raise
        if not base.position.gtid_set:
            return self._after(archive, base, position_by_group_id(archive, base.position), "group id", n_bytes)
        outlines = self._executor.outline(tasks_by_gtid(archive, base.position), lambda *_: None)
        if served := tasks_of_served_domains(base.position, outlines):
            outlines = self._executor.outline(served, lambda *_: None)
        try:
            position = position_by_gtid(base.position, outlines)
        except ArchiveError:
            if not have_all_domains(base.position, outlines):
                raise
            return self._by_domains(archive, base, n_bytes)
        return self._after(archive, base, position, "GTIDs", n_bytes)

    def _after(self, archive: Archive, base: Snapshot, position: BinlogPosition, by: str, n_bytes: int) -> Pass:
        """Return the first pass after a position that was found in other logs than those that the base names, if it
        names any."""
        if base.position.file:
            self._note(f"the base stands at {base.position}, which is not in these logs: by its {by} they continue "
                       f"from {position}")
        return self._outline(archive, replace(base, position=position), n_bytes, is_located=True)

    def _by_domains(self, archive: Archive, base: Snapshot, n_bytes: int) -> Pass:
        """Return the first pass if no position in the log matches the base in all of MariaDB's domains: it begins with
        the log, and skips the groups of each domain that the base has, as a source does."""
        first = archive.files[0].name
        self._note(f"the base stands at {base.position.gtid_set}, whose domains are at different places in these logs: "
                   f"each is applied from there on, from {first} on")
        self._start_position = (first, 4)
        return self._outline(archive, base, n_bytes)

    def _outline(self, archive: Archive, base: Snapshot | None, n_bytes: int, *, is_located: bool = False) -> Pass:
        """Outline the files that count, and check that nothing is missing between them, or between them and the base,
        unless it `is_located` by its transactions."""
        stop = self.stop_condition()
        if stop.gtid_set is not None:
            stop.gtid_set.check_flavour(read_head(archive.files[0]).format.flavour)
        files, start = self._files(archive, base, stop)
        until = end_of_pass(files, start, stop.position, n_bytes)
        if until is not None or self.n_passes:
            self._tell(files, start, n_bytes)
        if until is not None:
            stop = replace(stop, position=until)
            files = files_up_to(stop, archive, files, start)
        if archive.relay_logs is not None:
            self._note(f"relay logs ({archive.relay_logs}) are read as the logs of the source that they have events "
                       f"of: positions are the source's, from {archive.files[0].name} on")
        self._progress.phase("outline", len(files), f"files of {shown_size(sum(file.size for file in files))}")
        known = known_start(base) if self._start_position is None else None
        total = sum(file.about_bytes for file in files)
        tasks = [OutlineTask(file.uri, None, stop, sample_bytes(file.about_bytes, total), self._relevance,
                             leaving_out=self._leaving_out, split_bytes=SPLIT_BYTES, size=file.about_bytes)
                 for file in files]
        tasks[0] = replace(tasks[0], start=start, known=known, size=tasks[0].size - (start or 0))
        outlines = outlines_up_to_stop(
            lambda some: self._executor.outline(some, lambda done, _: self._progress.update(done)), tasks)
        if archive.gap is not None and stop.position is None and not any(found.stopped for found in outlines):
            raise archive.gap
        check_continuity(outlines)
        goes_on = base is not None and self._start is None
        if goes_on and base is not None and base.position.file and not (is_located or self._start_position):
            check_base(base, outlines[0])
        if base is None and self._start is None and (earlier := outlines[0].previous_gtids):
            self._note(f"the binlogs begin with {outlines[0].name}: transactions {earlier} came before it, and their "
                       "changes are not here")
        check_group_ids(outlines, self._group_id if self._start is not None else
                        base.position.group_id if base is not None else None)
        if self.n_passes == 0:
            check_not_past(stop, outlines[0], GtidSet.parse(base.position.gtid_set) if base is not None else GtidSet(),
                           archive, lambda tasks: self._executor.outline(tasks, lambda *_: None))
        is_empty = until is None and outlines[-1].stopped and not any(outline.n_groups for outline in outlines)
        if is_empty and base is None and self._start is None and not self._may_be_empty:
            raise UsageError("these binlogs contain nothing before the place to stop", file=outlines[0].uri,
                             position=outlines[0].start, hint="stop later, or give binlogs that begin earlier")
        span = span_of(outlines)
        is_last = until is None or span.outlines[-1].name != until[0]
        self._count_executed(archive, span, is_last)
        notes = [f"{outline.name} ends within an event group at {outline.torn_at}; replayed up to {outline.end}"
                 for outline in outlines if outline.torn and not outline.stopped]
        if is_last:
            check_reached(stop, outlines[-1])
            notes += notes_on_stop(self._options.stop_position, outlines[-1])
        notes += notes_on_ends(outlines)
        span, groups = resolve_prepared_transactions(span, base.prepared if base is not None else ())
        if groups:
            span = with_prepared_transactions(span, groups, archive,
                                              lambda tasks: self._executor.outline(tasks, lambda *_: None))
        if is_last:
            notes += [f"XA transaction {entry.xid} was prepared at {entry.file}:{entry.start} and is neither "
                      "committed nor rolled back: its rows are not in the snapshot" for entry in span.pending]
        for note in notes:
            self._note(note)
        return Pass(base, span, is_last)

    @property
    def _start(self) -> tuple[str, int] | None:
        """Where people want it to start, for the first pass."""
        return self._start_position if self.n_passes == 0 else None

    def _files(self, archive: Archive, base: Snapshot | None,
               stop: StopCondition) -> tuple[tuple[ArchiveFile, ...], int | None]:
        """Return the files from the beginning of the pass to the stop position, and the offset in the first of them."""
        at = self._start[0] if self._start is not None else base.position.file if base is not None else ""
        for name in filter(None, (at, stop.position and stop.position[0])):
            archive.check_has(name)
        start: int | None
        if self._start is not None:
            files, start = files_from(archive, self._start)
            [before] = self._executor.outline([task_before(files[0], start)], lambda *_: None)
            check_start(before, start)
            self._group_id = before.last_group_id
            if base is not None and not self._reapply:
                self._group_id = max(
                    filter(None, (self._group_id, base.position.group_id)), default=None)
            for note in continuity(before, start, base, reapply=self._reapply):
                self._note(note)
            if base is not None and not self._reapply:
                executed = executed_after((files[0].name, start), before.previous_gtids.followed_by(before.gtids),
                                          base.position, files)
                files, start = files_from(archive, executed.start)
                self._executed_until = executed.until or self._executed_until
                self._leaving_out = replace(self._leaving_out or LeavingOut(), executed=executed.transactions)
        else:
            files, start = files_after(archive, base.position) if base is not None else (archive.files, None)
        return files_up_to(stop, archive, files, start), start

    def _count_executed(self, archive: Archive, span: LogSpan, is_last: bool) -> None:
        """Count the groups that the base has executed, and report how many they are. Raises UsageError for a log that
        has no others, and if it stops before the base's position in a MariaDB domain."""
        self._n_groups += sum(outline.n_groups for outline in span.files)
        self._n_executed += sum(outline.left_out.executed for outline in span.files if outline.left_out is not None)
        if not is_last or not self._n_executed or self._start_position is None:
            return
        name, offset = self._executed_until
        last = span.files[-1]
        if self._n_executed == self._n_groups or (name and (archive.index_of(last.name), last.end) < (
                archive.index_of(name), offset)):
            raise nothing_left(self._start_position)
        self._note(f"the base has {self._n_executed:,} of the transactions after --start-position: they are skipped")

    def _tell(self, files: tuple[ArchiveFile, ...], start: int | None, n_bytes: int) -> None:
        """Say that the archive takes several passes, and where this one begins."""
        if self._told == self.n_passes:
            return  # it was too small
        self._told, left = self.n_passes, bytes_left(files, start)
        self._progress.note(f"pass {self.n_passes + 1}, from {files[0].name}:{start or 4}: "
                            f"{min(left, n_bytes) / 1e9:,.1f} of {left / 1e9:,.1f} GB that are left")

