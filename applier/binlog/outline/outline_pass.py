"""One pass over a file: runs the kernel with its inputs, and interprets the result for the whole file: where it ends,
whether it is truncated or corrupt there, and which GTIDs it contains."""

from dataclasses import dataclass

import numpy as np

from applier.binlog.events.compression.compressed import Inflater
from applier.binlog.events.format import HEADER_LENGTH, SERVER_ID_AT, event_name
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.group_ids import NO_GROUP_ID, late_group
from applier.binlog.outline.kernels.outline_kernel import walk
from applier.binlog.outline.kernels.outline_recording import OUTSIDE, Recording, Status
from applier.binlog.outline.left_out import LeavingOut, LeftOut
from applier.binlog.outline.outline import (
    SPLIT_BYTES,
    KnownStart,
    Outline,
    Relevance,
    check_that_they_are_old,
)
from applier.binlog.outline.outline_notes import add_recorded
from applier.binlog.outline.outlined_file import OutlinedFile
from applier.binlog.outline.stop import StopCondition, StopNotReached
from applier.errors import CORRUPT_EVENT, LOG_GAP, ArchiveError
from applier.io.relayed import begins_late, relayed_in

_FIRST_ROOM = 256
GROUP_BYTES = 128
"""An estimate of a group's size, for the first allocation; groups are rarely smaller."""


@dataclass
class _Result:
    """The result of one run of the kernel: its status and its recording."""

    code: int
    recording: Recording

    def __getitem__(self, field: str) -> int:
        return int(self.recording.state[field])

    @property
    def within_group(self) -> bool:
        return self["group_state"] != OUTSIDE


def outline_file(
    uri: str,
    *,
    start: int | None = None,
    stop: StopCondition | None = None,
    split_bytes: int = SPLIT_BYTES,
    sample_bytes: int | None = None,
    relevance: Relevance | None = None,
    known: KnownStart | None = None,
    leaving_out: LeavingOut | None = None,
) -> Outline:
    """Outline one file in one pass.

    `start`: a position between two groups; only groups from there on count, since earlier ones are executed already. If
    the file matches `known` up to there, the part before is not read. `sample_bytes` limits the samples; `relevance`
    says which statements are kept, `leaving_out` which groups are excluded. A file that ends within an event or a group
    is `torn`; the caller decides whether that is allowed. Raises ArchiveError with file and position for corrupt events
    (1610), and if no group starts at `start` or the file is not the known one (1236); EncryptedBinlog; StopNotReached
    for a stop position past the file's end.
    """
    try:
        outlining = OutlinePass(uri, stop or StopCondition(), split_bytes, sample_bytes=sample_bytes,
                                relevance=relevance, leaving_out=leaving_out)
        try:
            return outlining.outline(start, known)
        finally:
            outlining.mapped.check_whole()
    except ArchiveError as error:
        error.file = error.file or uri
        raise


class OutlinePass(OutlinedFile):
    """A pass over one file, for one `outline`."""

    def __init__(self, uri: str, stop: StopCondition, split_bytes: int, verify: bool = True, *,
                 sample_bytes: int | None = None, relevance: Relevance | None = None,
                 leaving_out: LeavingOut | None = None) -> None:
        super().__init__(uri, verify)
        self.stop, self.split_bytes = stop, max(int(split_bytes), 1)
        self.sample_bytes, self.relevance, self.leaving_out = sample_bytes, relevance, leaving_out

    def outline(self, start: int | None, known: KnownStart | None = None) -> Outline:
        """Return the file's outline; see outline_file."""
        begin, before, size = self.head_end, GtidSet(), self.mapped.size
        if start is not None and start < begin and begins_late(self.uri):
            raise ArchiveError(f"the relay logs begin at {self.name}:{begin}, after {start}, where the replay has to "
                               "continue",
                               file=self.uri, errno=LOG_GAP,
                               hint="also give the earlier relay logs, or a newer base")
        if start is not None and start > begin:
            before, begin = self._before(start, known), start
        offset = self.stop.offset_in(self.name)
        if offset is not None and offset > size:
            raise StopNotReached(f"the stop position {offset} is past the end of {self.name}, which has {size} bytes")
        limit = size if offset is None else max(offset, begin)
        missing = self.stop.gtid_set.subtract(self.previous_gtids.union(before)) if self.stop.gtid_set else None
        if missing is not None and not missing:
            limit, offset = begin, begin
        n_groups = 0 if self.format.header_length == HEADER_LENGTH else 1 + (limit - begin) // GROUP_BYTES
        result = self._walk(begin, limit, missing or GtidSet(), self.stop.datetime, n_groups)
        stopped = result.code == Status.STOPPED or offset is not None
        torn_at, torn_what = None, None
        if limit == size and (result.code == Status.CUT_SHORT or result.within_group) and result.code != Status.STOPPED:
            torn_at, torn_what = self._tear(result)
        if result.within_group:  # the open group does not count
            result = self._walk(begin, result["last_end"], GtidSet(), None, n_groups)
        gtids = before.followed_by(self._executed(result))
        outline = Outline(
            self.uri, self.name, size, self.format, None, self.ends_with_stop(), self.previous_gtids, gtids,
            start=result["first_start"] if result["first_start"] >= 0 else result["last_end"], end=result["last_end"],
            torn=torn_at is not None, torn_at=torn_at, torn_what=torn_what, stopped=stopped,
            n_groups=result["n_groups"], n_events=result["n_events"] + self.head_events,
            n_row_events=result["n_row_events"], row_bytes=result["n_row_bytes"],
            inflated_bytes=result["n_inflated"], begun=self.begun, gtids_before=before,
            tail=self.tail(result["last_end"]),
            has_row_statements=result["n_row_statements"] > 0,
        )  # fmt: skip
        if outline.n_groups:
            outline.first_timestamp, outline.last_timestamp = result["first_time"], result["last_time"]
            outline.last_gtid = self.gtid_at(result["last_gtid"])
            outline.first_group_id, outline.last_group_id = self._grown_ids(result)
        if result["n_left_out"] or result["n_executed"]:
            outline.left_out = LeftOut(result["n_left_out"], result["n_left_out_rows"],
                                       *result.recording.groups_left_out(self.format.flavour == "mariadb"),
                                       result["n_executed"])
        add_recorded(outline, self, result.recording, self.sample_bytes, self.relevance)
        return outline

    # ---- the kernel

    def _walk(self, begin: int, end: int, stop_gtids: GtidSet, stop_time: float | None, n_groups: int = 0,
              n_row_statements: int = 0) -> _Result:
        """Walk [begin, end), or up to the stop condition. Raises ArchiveError for corrupt bytes."""
        self.mapped.fetch(begin, end)
        n_splits = (end - begin) // self.split_bytes + 2
        n_left_out = 0 if self.leaving_out is None else 1 + (end - begin) // GROUP_BYTES
        room = _FIRST_ROOM
        while True:
            recording = Recording(room, n_splits, stop_gtids, n_groups * room // _FIRST_ROOM,
                                  n_row_statements * room // _FIRST_ROOM,
                                  self.leaving_out, n_left_out * room // _FIRST_ROOM)
            recording.set_limits(self.mapped.address, begin, end, self.format, self.verify, self.split_bytes, stop_time)
            result = self._run(recording, end)
            if result.code != Status.NEED_ROOM:
                break
            room *= 4
        if result.code in (Status.DONE, Status.STOPPED, Status.CUT_SHORT):
            return result
        raise self._corrupt(result)

    def _run(self, recording: Recording, end: int) -> _Result:
        """Run the kernel, and inflate compressed events for it."""
        inflater = Inflater(self.mapped, self.format.header_length, self.format.checksum_length)
        while True:
            result = _Result(walk(recording.address), recording)
            if result.code == Status.NEED_CONTENTS:
                inflater.advance(result["position"], end, within=result["within"] != 0)
                recording.set_contents(inflater.contents)
            elif result.code == Status.NEED_MEMORY:
                recording.add_memory()
            else:
                return result

    def _before(self, start: int, known: KnownStart | None) -> GtidSet:
        """Return the file's transactions before `start`, which must be a position between two groups. They are not read
        if the file is the known one. If it is not, its transactions must be the known ones; without GTIDs it is
        refused."""
        if known is None or known.tail is None or relayed_in(self.uri) is not None or self._needs_states(known):
            return self._skip_to(start)[0]
        if self.tail(start) == known.tail:
            return known.executed.since(self.previous_gtids)
        before, last = self._skip_to(start)
        if known.executed:
            check_that_they_are_old(known.timestamp, self.begun, last, self.uri, start)
        else:
            raise ArchiveError("the replay cannot continue from here: the log before this position is not the one "
                               "that the base was replayed from",
                               file=self.uri, position=start, errno=LOG_GAP,
                               hint="are these logs of the base's own server? To continue anyway: --start-position "
                                    f"{self.name}:{start}")
        return before

    def _needs_states(self, known: KnownStart) -> bool:
        """Return True if the stop set has transactions of other servers than the positions of MariaDB's domains: only
        the log shows whether they came before the start."""
        wanted = self.stop.gtid_set.domains if self.stop.gtid_set is not None else {}
        return any(server != known.executed.domains.get(domain, (server, 0))[0]
                   for domain, (server, _) in wanted.items())

    def _skip_to(self, start: int) -> tuple[GtidSet, int]:
        """Return the transactions before `start`, and the time of the last one, after reading them."""
        result = self._walk(self.head_end, min(start, self.mapped.size), GtidSet(), stop_time=None)
        if result.code != Status.DONE or result.within_group or start > self.mapped.size:
            raise ArchiveError(
                "the replay cannot continue from here: no event group starts at this position",
                file=self.uri,
                position=start,
                errno=LOG_GAP,
                hint="is the base snapshot of this archive, and is this the file that it was made from?",
            )
        return self._executed(result), result["last_time"] if result["n_groups"] else 0

    def group_ids(self, starts: np.ndarray) -> np.ndarray | None:
        """Return the ids of the groups that start at these positions (GRP-3); None if headers have no ids."""
        if self.format.header_length == HEADER_LENGTH:
            return None
        fields = starts[:, None] + np.arange(HEADER_LENGTH, HEADER_LENGTH + 8)
        return np.ascontiguousarray(self.mapped.array[fields]).view("<u8")[:, 0]

    def servers(self, starts: np.ndarray) -> np.ndarray:
        """Return the originating servers of the groups that start at these positions (GRP-6), by the headers of their
        first events."""
        fields = starts[:, None] + np.arange(SERVER_ID_AT, SERVER_ID_AT + 4)
        return np.ascontiguousarray(self.mapped.array[fields]).view("<u4")[:, 0]

    def _grown_ids(self, result: _Result) -> tuple[int | None, int | None]:
        """Return the first and the last group id. Raises ReplayStopped unless ids grow."""
        starts = result.recording.used("groups")["start"]
        ids = self.group_ids(starts)
        if ids is None:
            return None, None
        known = ids != NO_GROUP_ID
        ids, starts = ids[known], starts[known]
        late = np.flatnonzero(ids[1:] <= ids[:-1])
        if len(late):
            raise late_group(int(ids[late[0] + 1]), int(ids[late[0]]), self.uri, int(starts[late[0] + 1]))
        return (int(ids[0]), int(ids[-1])) if len(ids) else (None, None)

    def _executed(self, result: _Result) -> GtidSet:
        return result.recording.executed(self.format.flavour == "mariadb")

    def _corrupt(self, result: _Result) -> ArchiveError:
        position = result["position"]
        event = self.mapped.array[position : position + HEADER_LENGTH].tobytes()
        name, size = event_name(event[4]), int.from_bytes(event[9:13], "little")
        messages: dict[int, str] = {
            Status.BAD_LENGTH: f"a {name} event of {size} bytes is impossible",
            Status.BAD_CHECKSUM: f"the checksum of a {name} event does not match",
            Status.UNMAPPED_TABLE: f"a {name} event is for a table that no table map in its group names",
        }
        return ArchiveError(
            messages.get(result.code, f"a {name} event lacks required fields"),
            file=self.uri,
            position=position,
            errno=CORRUPT_EVENT,
            hint=f"copy the file again from the server, or stop before it: --stop-position "
            f"{self.name}:{result['last_end']}",
        )

    def _tear(self, result: _Result) -> tuple[int, str]:
        """Return where and how the file was truncated. Raises ArchiveError if it is not truncated but corrupt."""
        position = result["position"]
        if result.code != Status.CUT_SHORT:
            return result["group_start"], "the last event group has no end"
        header = self.mapped.array[position : position + HEADER_LENGTH].tobytes()
        if len(header) < HEADER_LENGTH:
            return position, "the file ends within an event's header"
        size, end_log_pos = (int.from_bytes(header[at : at + 4], "little") for at in (9, 13))
        if end_log_pos and end_log_pos != (position + size) & 0xFFFFFFFF:
            raise ArchiveError(
                f"a {event_name(header[4])} event claims {size} bytes, which would extend past the end of the file, "
                f"but its end position {end_log_pos} does not",
                file=self.uri,
                position=position,
                errno=CORRUPT_EVENT,
                hint=f"to stop before it: --stop-position {self.name}:{result['last_end']}",
            )
        return position, f"the file ends within a {event_name(header[4])} event"
