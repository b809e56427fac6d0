"""Assigns work: units grouped into tasks of about the same weight, and the log segments that each task walks.

`log_segments` divides the log once for a whole plan. Tasks of some of its versions choose from these: their units may
need changes of tables that other tasks apply.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heapreplace
from itertools import pairwise

import numpy as np
from sortedcontainers import SortedDict, SortedSet

from applier.apply.spec import ExchangeGroup, FromBase, GroupMembership, NothingElse, Parents, UnitSpec
from applier.apply.tasks import ApplyTasks, LogSegment, SegmentTables, SplitTasks, TaskShare, needed
from applier.io.encryption.keys import keys_of
from applier.io.mapping import KEPT_BYTES
from applier.io.packing import is_packed
from applier.io.resolver import is_far
from applier.plan.planned import PlannedVersion
from applier.plan.span import LogSpan
from applier.plan.used_tables import UsedTable
from applier.schema.ddl.schema_changes import TableName
from applier.schema.engines import is_transactional
from applier.schema.history.table_versions import Position, TableVersion

TASK_BYTES, BASE_ROWS = 512 << 20, 3
"""The most bytes that one task applies, of rows events and of a base's rows, by plan: it bounds a worker's memory. And
how many bytes of rows there are for one of a base's files."""

SPLIT_TASKS, SPLIT_TASK_BYTES = 1024, 512 << 20
"""For a long log, the number of tasks that decode it for the shuffle, until each has this many bytes of it: each task
sends a payload to each unit, and so there are tasks times units payloads."""
SKIP_NANOSECONDS = 0.2
"""CPU per byte of rows events that another task applies: to skip them, or, where they are of a table that this
task has units of, to decode their keys (0.24)."""
SHUFFLE_NANOSECONDS, SHUFFLE_ON_ONE_DISK_NANOSECONDS = 5.0, 2.0
"""CPU per byte of rows events that go through a shuffle: sent through Spark, and left in files that all tasks see. More
than measured (4.4; 1.7 by Spark's tasks, 0.9 in one process): a network or a disk takes part."""
APPLY_NANOSECONDS, BASE_NANOSECONDS = 2.5, 4.0
"""CPU per byte of rows events that are applied, and of a base's files that are read and written again."""


def log_segments(span: LogSpan, versions: list[PlannedVersion]) -> list[LogSegment]:
    """The log's segments: the outlines' splits, divided where a version begins or ends and at ranges that were rolled
    back, which affect only tables of engines without transactions. `versions` are all planned ones. Segments with the
    same tables share them."""
    segments: list[LogSegment] = []
    uses = _entries(versions)
    used_in = _used_in([used for used, _ in uses], span)
    edges: SortedSet[Position] = SortedSet(edge for item in versions for edge in (item.version.start, item.version.end)
                                           if edge is not None)
    shared: dict[tuple[bytes, int, bool], SegmentTables] = {}
    for number, outline in enumerate(span.outlines):
        if number not in used_in:
            continue
        known: dict[bytes, bytes] = {}
        left_out = outline.left_out.ranges if outline.left_out is not None else b""
        for split in outline.splits:
            if split.used not in known:
                found = np.unique(used_in[number][np.array(split.tables, np.intp)])
                known[split.used] = found[found >= 0].tobytes()
            first, last = max(split.start, outline.start), min(split.end, outline.end)
            cuts = [offset for _, offset in edges.irange((number, first), (number, last), inclusive=(False, False))]
            for start, end, is_rolled_back in _parts(first, last, cuts, outline.rolled_back):
                alike = known[split.used], edges.bisect_right((number, start)), is_rolled_back
                if alike not in shared:
                    shared[alike] = {
                        name: version.id for use in np.frombuffer(alike[0], np.int32)
                        for name, version in _held(uses[use][1], (number, start))
                        if not (is_rolled_back and is_transactional(version.definition))}
                if tables := shared[alike]:
                    segments.append(LogSegment(number, outline.uri, outline.format.checksum, start, end, tables,
                                          split.outlined, outline.format.header_length, left_out,
                                          outline.format.computes_omitted))
    return segments


def _entries(versions: list[PlannedVersion]) -> list[tuple[UsedTable, list[tuple[TableName, TableVersion]]]]:
    """The table maps that the versions are used by: the table's name in the log, and the versions that it may be."""
    found: dict[int, tuple[UsedTable, list[tuple[TableName, TableVersion]]]] = {}
    for item in versions:
        for used in item.uses:
            name = used.table_map.database, used.table_map.table
            found.setdefault(id(used), (used, []))[1].append((name, item.version))
    for _, versions_of in found.values():
        versions_of.sort(key=_start)
    return list(found.values())


def _used_in(uses: list[UsedTable], span: LogSpan) -> dict[int, np.ndarray]:
    """Return, by file, the index in `uses` of each of its tables, -1 for none (int32[tables]). Files without any are
    omitted."""
    if not uses:
        return {}
    files, numbers = (np.concatenate([np.frombuffer(use_numbers, np.uint32) for use_numbers in of_all])
                      for of_all in ([used.files for used in uses], [used.numbers for used in uses]))
    use_numbers = np.repeat(np.arange(len(uses), dtype=np.int32), [len(used.files) for used in uses])
    order = np.argsort(files, kind="stable")
    found: dict[int, np.ndarray] = {}
    for part in np.split(order, np.flatnonzero(np.diff(files[order])) + 1):
        file = int(files[part[0]])
        found[file] = np.full(len(span.outlines[file].tables), -1, np.int32)
        found[file][numbers[part]] = use_numbers[part]
    return found


def _start(entry: tuple[TableName, TableVersion]) -> Position:
    return entry[1].start


def _held(versions: list[tuple[TableName, TableVersion]], position: Position) -> list[tuple[TableName, TableVersion]]:
    """Of a table's versions, by their starts, the one that applies at a position, if there is one."""
    number = bisect_right(versions, position, key=_start)
    before = versions[max(number - 1, 0):number]
    return [entry for entry in before if entry[1].end is None or position < entry[1].end]


def _parts(start: int, end: int, cuts: list[int],
           rolled_back: list[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """[start, end) divided at `cuts`, which are in it, and at the edges of rolled-back ranges; each part says whether
    it was rolled back."""
    if not cuts and not rolled_back:
        yield start, end, False
        return
    depths: SortedDict[int, int] = SortedDict.fromkeys([start, *cuts, end], 0)
    for first, last in rolled_back:
        if first < end and last > start:
            for edge, step in ((max(first, start), 1), (min(last, end), -1)):
                depths[edge] = depths.get(edge, 0) + step
    depth = 0
    for part_start, part_end in pairwise(depths):
        depth += depths[part_start]
        yield part_start, part_end, depth > 0


def walking_tasks(segments: Sequence[LogSegment], versions: list[PlannedVersion], cores: int) -> ApplyTasks:
    """Return tasks for these versions of a plan, given the plan's ranges: of about equal weight, enough for all cores
    and so many that none holds more than TASK_BYTES."""
    weights: Counter[int] = Counter()
    for item in versions:
        of_log = item.bytes_a_unit
        of_base = Counter[int]() if item.succeeded else _base_bytes(item.units)
        weights.update({unit.number: of_log + BASE_ROWS * of_base[unit.number] for unit in item.units})
    together = _together([unit for item in versions if not item.succeeded for unit in item.units])
    loads_of = [sum(weights[unit.number] for unit in units) for units in together]
    order = sorted(range(len(together)), key=lambda number: (-loads_of[number], together[number][0].number))
    total = weights.total()
    n_tasks = min(len(together), max(cores, -int(-total // TASK_BYTES)))
    loads: list[tuple[float, int]] = [(0.0, number) for number in range(n_tasks)]
    parts: list[dict[int, dict[int, UnitSpec]]] = [{} for _ in range(n_tasks)]
    for number in order:
        load, lightest = loads[0]
        heapreplace(loads, (load + loads_of[number], lightest))
        for link in (link for unit in together[number] for link in unit.chain):
            parts[lightest].setdefault(link.version, {})[id(link)] = link
    shares = tuple(TaskShare(units, _read(units)) for units in (
        {version: tuple(links.values()) for version, links in part.items()} for part in parts))
    return ApplyTasks(shares, needed(segments, frozenset().union(*(share.reads for share in shares))))


def _base_bytes(units: Sequence[UnitSpec]) -> Counter[int]:
    """By unit, the bytes of the base's files that have its rows, or of its part of them."""
    shared = Counter(file.path for unit in units for file in unit.base_files)
    return Counter({unit.number: sum(file.bytes_of_range // shared[file.path] for file in unit.base_files)
                    for unit in units})


def _read(part: dict[int, tuple[UnitSpec, ...]]) -> frozenset[int]:
    """The versions whose changes a task reads: those of its units, and the parents of those whose rows foreign keys
    change."""
    return frozenset({*part, *(link.version for units in part.values()
                               if isinstance(parents := units[0].needs, Parents) for link in parents.links)})


def _together(units: list[UnitSpec]) -> list[list[UnitSpec]]:
    """The units that one task has to apply because of foreign keys or exchanged rows; all others by themselves."""
    groups: dict[tuple[str, int], list[UnitSpec]] = {}
    for unit in units:
        match unit.needs:
            case GroupMembership(group=group):
                key = "foreign keys", group
            case ExchangeGroup(group=group):
                key = "group", group
            case NothingElse() | Parents():
                key = "unit", unit.number
        groups.setdefault(key, []).append(unit)
    return list(groups.values())


def split_tasks(segments: Sequence[LogSegment], versions: list[PlannedVersion]) -> SplitTasks:
    """For the shuffle route: every range of a plan that has tables of these versions once, with all units that these
    may have changes for."""
    units = {item.version.id: tuple(item.units) for item in versions}
    return SplitTasks(_parts_of(needed(segments, frozenset(units))), units)


def _parts_of(segments: Sequence[LogSegment]) -> tuple[tuple[LogSegment, ...], ...]:
    """The segments in their order, in as many parts as there are tasks: each has one, or a SPLIT_TASKS-th of all
    bytes, but not more than SPLIT_TASK_BYTES."""
    sizes = [segment.end - segment.start for segment in segments]
    most, left = min(SPLIT_TASK_BYTES, sum(sizes) // SPLIT_TASKS), 0
    parts: list[list[LogSegment]] = []
    for segment, size in zip(segments, sizes, strict=True):
        left -= size
        if left < 0:
            parts.append([])
            left = most - size
        parts[-1].append(segment)
    return tuple(map(tuple, parts))


def by_route(versions: list[PlannedVersion]) -> tuple[list[PlannedVersion], list[PlannedVersion]]:
    """The versions for the shuffle route, and those that are walked for. All versions of a table take one route."""
    walked = {unit.number for item in versions for unit in item.units if unit.is_walked_for}
    parts: tuple[list[PlannedVersion], list[PlannedVersion]] = [], []
    for item in versions:
        parts[any(unit.number in walked for unit in item.units)].append(item)
    return parts


def prefers_shuffle(span: LogSpan, tasks: ApplyTasks, versions: list[PlannedVersion], on_one_disk: bool) -> bool:
    """True if decoding once and moving the changes costs less than every task walking the log that it needs.

    Tasks that walk a remote archive fetch what they walk, so it is decoded once; and so is one of packed or encrypted
    files whose copies a process does not keep. So is a compressed one if a task would
    keep more of it in memory than TASK_BYTES: it keeps all rows of its tables, not only those of its own keys.
    """
    far = any(is_far(outline.uri) for outline in span.outlines)
    copied = [outline.size for outline in span.outlines if is_packed(outline.uri) or keys_of(outline.uri) is not None]
    if (far or sum(copied) > KEPT_BYTES) and len(tasks) > 1:
        return True
    kept = {item.version.id: item.bytes * _compressed_part(span) for item in versions}
    if len(tasks) > 1 and any(sum(kept[version] for version in share.units) > TASK_BYTES for share in tasks.shares):
        return True
    return _read_seconds(tasks, versions, "walk", on_one_disk) > _read_seconds(tasks, versions, "shuffle", on_one_disk)


def core_seconds(tasks: ApplyTasks, versions: list[PlannedVersion], route: str, on_one_disk: bool) -> float:
    """About how much CPU it takes to apply a plan by a route; `tasks` are those that would walk."""
    base = sum(_base_bytes([unit for unit in item.units if isinstance(unit.origin, FromBase)]).total()
               for item in versions)
    applied = (_own(versions) * APPLY_NANOSECONDS + base * BASE_NANOSECONDS) / 1e9
    return applied + _read_seconds(tasks, versions, route, on_one_disk)


def _read_seconds(tasks: ApplyTasks, versions: list[PlannedVersion], route: str, on_one_disk: bool) -> float:
    """About how much CPU a route takes until changes are with their units."""
    if route == "walk":
        return _skipped(tasks, versions) * SKIP_NANOSECONDS / 1e9
    return _own(versions) * (SHUFFLE_ON_ONE_DISK_NANOSECONDS if on_one_disk else SHUFFLE_NANOSECONDS) / 1e9


def _own(versions: list[PlannedVersion]) -> int:
    """The bytes of rows events that are applied."""
    return sum(item.bytes for item in versions)


def _skipped(tasks: ApplyTasks, versions: list[PlannedVersion]) -> int:
    """The bytes that walking tasks would skip."""
    by_versions: Counter[frozenset[int]] = Counter()
    for segment in tasks.segments:
        by_versions[frozenset(segment.tables.values())] += segment.end - segment.start
    read = sum(times * sum(n_bytes for there, n_bytes in by_versions.items() if not there.isdisjoint(reads))
               for reads, times in Counter(share.reads for share in tasks.shares).items())
    return max(0, read - _own(versions))


def _compressed_part(span: LogSpan) -> float:
    """The fraction of rows events' bytes that is in compressed ones, 0 to 1."""
    rows = sum(outline.row_bytes for outline in span.outlines)
    return min(1.0, sum(outline.inflated_bytes for outline in span.outlines) / rows) if rows else 0.0
