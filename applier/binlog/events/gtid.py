"""Sets of global transaction ids, of both flavours.

MySQL: for each source (a UUID, or UUID:tag) the intervals of transaction numbers that were executed. MariaDB: for each
domain the last group, as (server id, sequence number). All groups of that domain before it count as executed, so a
MariaDB set is a position. A set from a log also has the state of each domain there, which shows exactly which groups
came before the position. An empty set has no flavour. Sets are immutable values.

A position in a domain is the (server id, sequence number) of a domain's last group. After a failover the groups of one
domain come from several servers, so a sequence number alone does not name a group: 0-1-4 and 0-2-4 are different
groups. The state of a log has the last number of each server, as in MariaDB's Gtid_list events and @@gtid_binlog_state.
With it, a source decides whether its log has the position of a replica; so does this module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from struct import Struct, error, unpack_from
from uuid import UUID

from sortedcontainers import SortedDict

from applier.errors import ArchiveError, UsageError

Position = tuple[int, int]
"""Server id and sequence number."""
State = Mapping[int, int]
"""The last sequence number of each server id."""


def is_executed(group: Position, state_after_group: State | None, position: Position, state: State | None) -> bool:
    """Return True if a group was executed where a domain stands at `position`.

    `state` and `state_after_group` are the states of the log at both, None where they are unknown. If only the latter
    is known, a position that it does not have comes later, or in another history: the caller has to find it. If neither
    is known, sequence numbers decide, which grow within a domain unless gtid_strict_mode is OFF.
    """
    if group == position:
        return True
    if state is not None:
        return group[1] <= state.get(group[0], -1)
    if state_after_group is not None:
        return position[1] > state_after_group.get(position[0], -1)
    return group[1] <= position[1] if group[0] == position[0] else group[1] < position[1]


Interval = tuple[int, int]
"""First and last number, both included."""

_MARIADB = re.compile(r"([0-9]{1,10})-([0-9]{1,10})-([0-9]{1,20})\Z")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}\Z")
_INTERVAL = re.compile(r"([0-9]{1,20})(?:-([0-9]{1,20}))?\Z")
_DOMAIN_ENTRY = Struct("<IIQ")


@dataclass(frozen=True)
class GtidSet:
    """An immutable set of transactions; `str()` gives the server's own notation."""

    intervals: Mapping[str, tuple[Interval, ...]] = field(default_factory=dict)  # "uuid" or "uuid:tag"
    domains: Mapping[int, Interval] = field(default_factory=dict)  # domain -> (server id, sequence number)
    states: Mapping[int, State] = field(default_factory=dict, compare=False)  # of the domains whose log is known

    @classmethod
    def parse(cls, text: str) -> GtidSet:
        """Read "uuid:1-5:7:tag:1-3,uuid:…" (MySQL) or "0-1-5,1-1-7" (MariaDB). Raises UsageError.

        Of several GTIDs of a MariaDB domain the last one is the position, and all are its state, as MariaDB writes
        @@gtid_binlog_state; of several of one server the highest number counts.
        """
        if not isinstance(text, str):
            raise UsageError(f"a GTID set is given as text, not as {type(text).__name__}")
        intervals: dict[str, list[Interval]] = {}
        domains: dict[int, Interval] = {}
        states: dict[int, dict[int, int]] = {}
        for part in (entry.strip().lower() for entry in text.split(",")):
            if match := _MARIADB.match(part):
                domain, server, number = map(int, match.groups())
                state = states.setdefault(domain, {})
                state[server] = max(state.get(server, 0), number)
                domains[domain] = server, state[server]
            elif part:
                _parse_source(part, intervals)
        if intervals and domains:
            raise UsageError(f"a GTID set is of MySQL or of MariaDB, not both: {text!r}")
        return cls.from_intervals(intervals, domains, {domain: state for domain, state in states.items()
                                                       if len(state) > 1})

    @classmethod
    def from_intervals(
        cls, intervals: Mapping[str, Iterable[Interval]], domains: Mapping[int, Interval] | None = None,
        states: Mapping[int, State] | None = None,
    ) -> GtidSet:
        """Return a set of intervals in any order, overlapping or not; or of MariaDB's positions, with the known states.
        """
        merged = {source: _merge(numbers) for source, numbers in sorted(intervals.items())}
        return cls(
            {source: numbers for source, numbers in merged.items() if numbers}, dict(sorted((domains or {}).items())),
            dict(states or {}),
        )

    @classmethod
    def from_groups(cls, groups: Iterable[tuple[int, int, int]]) -> GtidSet:
        """Return the set after (domain, server id, number) groups of a MariaDB log, in log order, with their states."""
        domains: dict[int, Interval] = {}
        states: dict[int, dict[int, int]] = {}
        for domain, server, number in groups:
            domains[domain] = server, number
            states.setdefault(domain, {})[server] = number
        return cls.from_intervals({}, domains, states)

    def __str__(self) -> str:
        if self.domains:
            return ",".join(f"{domain}-{server}-{number}" for domain, (server, number) in self.domains.items())
        parts: dict[str, str] = {}
        for source, numbers in self.intervals.items():  # a tag's intervals follow its UUID's own
            uuid, _, tag = source.partition(":")
            text = ":".join(f"{first}-{last}" if last > first else str(first) for first, last in numbers)
            parts[uuid] = parts.get(uuid, uuid) + (f":{tag}" if tag else "") + f":{text}"
        return ",".join(parts.values())

    def __bool__(self) -> bool:
        return bool(self.intervals or self.domains)

    @property
    def count(self) -> int:
        """The number of MySQL transactions in it."""
        return sum(last - first + 1 for numbers in self.intervals.values() for first, last in numbers)

    def __hash__(self) -> int:
        return hash(str(self))

    def add(self, gtid: str) -> GtidSet:
        """Return the set with one more transaction (or several, in the notation of `parse`)."""
        return self.union(GtidSet.parse(gtid))

    def union(self, other: GtidSet) -> GtidSet:
        """Return the transactions of both. For MariaDB, the later position in each domain."""
        intervals = {
            source: self.intervals.get(source, ()) + other.intervals.get(source, ())
            for source in {**self.intervals, **other.intervals}
        }
        domains, states = dict(self.domains), dict(self.states)
        for domain, entry in other.domains.items():
            if other._reaches(domain, self):
                domains[domain] = entry
                if domain in other.states or self.domains.get(domain) != entry:
                    states.pop(domain, None)
                    states |= {domain: other.states[domain]} if domain in other.states else {}
        return GtidSet.from_intervals(intervals, domains, states)

    def followed_by(self, later: GtidSet) -> GtidSet:
        """Return the set after the transactions of `later`, all of which came after those here. For MariaDB, if `later`
        has a domain, its position counts, even with a lower number (gtid_strict_mode=OFF). Its state is known if it was
        known here, or the domain begins there."""
        states = {domain: state for domain, state in self.states.items() if domain not in later.domains}
        states |= {domain: {**self.states.get(domain, {}), **state} for domain, state in later.states.items()
                   if domain in self.states or domain not in self.domains}
        return GtidSet.from_intervals(self.union(later).intervals, {**self.domains, **later.domains}, states)

    def contains(self, other: GtidSet) -> bool:
        """Return whether this set includes all transactions of `other`."""
        return not other.subtract(self)

    def subtract(self, other: GtidSet) -> GtidSet:
        """Return the transactions here that `other` does not have. For MariaDB, the domains whose last group `other`
        does not have."""
        intervals = {
            source: _without(numbers, other.intervals.get(source, ())) for source, numbers in self.intervals.items()
        }
        domains = {
            domain: entry
            for domain, entry in self.domains.items()
            if domain not in other.domains or not other._reaches(domain, self)
        }
        return GtidSet.from_intervals(intervals, domains)

    def _reaches(self, domain: int, other: GtidSet) -> bool:
        """Return True if this set, which has the MariaDB domain, includes the other's last group there, or the other
        has none."""
        return domain not in other.domains or is_executed(other.domains[domain], other.states.get(domain),
                                                          self.domains[domain], self.states.get(domain))

    def check_flavour(self, flavour: str) -> None:
        """Raise UsageError if this set is not of a log's flavour: the log would never reach it."""
        if bool(self.domains) if flavour == "mysql" else flavour == "mariadb" and bool(self.intervals):
            own, other = ("MariaDB", "MySQL") if self.domains else ("MySQL", "MariaDB")
            raise UsageError(f"{self} is a GTID set of {own}, but the log is of {other}",
                             hint="give a set of this server, FILE:POS, or a time: '2026-01-31 10:29:59'")

    def of_sources(self, sources: Set[str]) -> GtidSet:
        """Return the transactions of some sources, and all MariaDB domains."""
        return GtidSet.from_intervals({source: numbers for source, numbers in self.intervals.items()
                                       if source in sources}, self.domains, self.states)

    def since(self, earlier: GtidSet) -> GtidSet:
        """Return the transactions from `earlier` to this set: `earlier.followed_by` it is this set, if this one
        contains it."""
        return GtidSet.from_intervals(self.subtract(earlier).intervals, self.domains, self.states)

    @classmethod
    def from_previous_gtids_event(cls, body: bytes) -> GtidSet:
        """Read a PREVIOUS_GTIDS body (no header, no checksum). Raises ArchiveError if it is malformed.

        n_sources u64, then for each: UUID 16 bytes, n_intervals u64, and (first u64, after the last u64) pairs. Since
        MySQL 8.3, if the first and last byte of n_sources are 1, the count is in the six bytes between, and a tag
        (length as a variable-length integer, bytes) follows each UUID.
        """
        try:
            count, at = int.from_bytes(body[:8], "little"), 8
            tagged = len(body) >= 8 and body[7] == 1
            if tagged:
                count = int.from_bytes(body[1:7], "little")
            intervals: dict[str, list[Interval]] = {}
            for _ in range(count):
                source, at = str(UUID(bytes=bytes(body[at : at + 16]))), at + 16
                if tagged:
                    length, at = body[at] >> 1, at + 1
                    tag, at = bytes(body[at : at + length]).decode("ascii"), at + length
                    source += f":{tag}" if tag else ""
                n_intervals, at = unpack_from("<Q", body, at)[0], at + 8
                if n_intervals * 16 > len(body) - at:
                    raise ValueError("more intervals than bytes")
                bounds, at = unpack_from(f"<{2 * n_intervals}Q", body, at), at + 16 * n_intervals
                intervals.setdefault(source, []).extend(
                    (a, b - 1) for a, b in zip(bounds[::2], bounds[1::2], strict=True)
                )
            return cls.from_intervals(intervals)
        except (ValueError, IndexError, error) as reason:
            raise ArchiveError("the PREVIOUS_GTIDS event is malformed", errno=1610) from reason

    @classmethod
    def from_gtid_list_event(cls, body: bytes) -> GtidSet:
        """Read a MariaDB GTID_LIST body: count u32 (28 bits, flags above), then (domain u32, server u32, number u64).

        A domain has an entry for each server id that it has seen; its last entry is the most recent group.
        """
        return cls.from_groups(read_gtid_list(body))


def read_gtid_list(body: bytes) -> list[tuple[int, int, int]]:
    """Return the (domain, server id, number) entries of a MariaDB GTID_LIST body. Raises ArchiveError."""
    count = int.from_bytes(body[:4], "little") & 0x0FFFFFFF
    if len(body) < 4 or count * _DOMAIN_ENTRY.size > len(body) - 4:
        raise ArchiveError("the GTID_LIST event is malformed", errno=1610)
    return [_DOMAIN_ENTRY.unpack_from(body, 4 + 16 * i) for i in range(count)]


def _parse_source(part: str, intervals: dict[str, list[Interval]]) -> None:
    """Add one part of a MySQL set: a UUID, then intervals and tags. A tag applies to the intervals after it."""
    uuid, *rest = (entry.strip() for entry in part.split(":"))
    if not _UUID.match(uuid) or not rest:
        raise UsageError(
            f"not a GTID set: {part!r}", hint="MySQL writes UUID:1-5, MariaDB domain-server-number (0-1-5)"
        )
    source = uuid
    for entry in rest:
        if match := _INTERVAL.match(entry):
            first = int(match[1])
            last = int(match[2] or first)
            if not 0 < first <= last:
                raise UsageError(f"not an interval of transaction numbers: {entry!r} in {part!r}")
            intervals.setdefault(source, []).append((first, last))
        elif _TAG.match(entry):
            source = f"{uuid}:{entry}"
        else:
            raise UsageError(f"neither an interval nor a tag: {entry!r} in {part!r}")


def _merge(numbers: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return sorted intervals that neither overlap nor touch."""
    merged: list[Interval] = []
    for first, last in sorted(numbers):
        if last < first:
            continue
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _without(numbers: Iterable[Interval], taken: Iterable[Interval]) -> list[Interval]:
    """Return the parts of `numbers` that are in none of `taken`. Neither has overlapping intervals."""
    lasts: SortedDict[int, int] = SortedDict(taken)  # the last number of an interval by its first
    left = []
    for first, last in numbers:
        for cut in lasts.islice(max(lasts.bisect_right(first) - 1, 0)):
            if cut > last:
                break
            if cut > first:
                left.append((first, cut - 1))
            first = max(first, lasts[cut] + 1)
        if first <= last:
            left.append((first, last))
    return left
