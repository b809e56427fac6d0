"""Who does what: units put together into tasks of about the same weight, and the stretches of log that each walks."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

from applier.apply.work import ApplyTask, SplitTask, Stretch, UnitSpec
from applier.plan.log import LogSpan
from applier.plan.units import PlannedVersion
from applier.schema.history import TableVersion

TASK_BYTES = 512 << 20
"""Bytes of rows events that one task applies, at most by plan: what bounds a worker's memory."""

SKIP_NANOSECONDS, SHUFFLE_NANOSECONDS = 0.2, 8.0
"""CPU a byte of rows events: passing over what is another task's, and moving it through a shuffle."""


def stretches(span: LogSpan, versions: list[PlannedVersion]) -> list[Stretch]:
    """The log in pieces: the outlines' splits, cut where a version begins or ends, without what was rolled back."""
    pieces: list[Stretch] = []
    ids_in = _versions_by_table_map(versions)
    for number, outline in enumerate(span.outlines):
        cuts = {edge[1] for item in versions for edge in (item.version.start, item.version.end)
                if edge is not None and edge[0] == number}
        for split in outline.splits:
            used = [version for table in split.tables for version in ids_in.get((number, table), ())]
            first, last = max(split.start, outline.start), min(split.end, outline.end)
            for start, end in _pieces(first, last, cuts, outline.voids):
                tables = {(v.definition.database, v.definition.name): v.id for v in used if _holds(v, (number, start))}
                if tables:
                    pieces.append(Stretch(number, outline.uri, outline.format.checksum, start, end, tables))
    return pieces


def _versions_by_table_map(versions: list[PlannedVersion]) -> dict[tuple[int, int], list[TableVersion]]:
    found: dict[tuple[int, int], list[TableVersion]] = {}
    for item in versions:
        for used in item.uses:
            found.setdefault((used.file, used.number), []).append(item.version)
    return found


def _holds(version: TableVersion, position: tuple[int, int]) -> bool:
    return version.start <= position and (version.end is None or position < version.end)


def _pieces(start: int, end: int, cuts: set[int], voids: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """[start, end) without the voids, cut at `cuts`."""
    edges = sorted({start, end, *(cut for cut in cuts if start < cut < end),
                    *(edge for void in voids for edge in void if start < edge < end)})
    return [(a, b) for a, b in pairwise(edges)
            if not any(void[0] <= a and b <= void[1] for void in voids)]


def walking_tasks(span: LogSpan, versions: list[PlannedVersion], cores: int) -> list[ApplyTask]:
    """Tasks of about even weight, enough for all cores and so many that none holds more than TASK_BYTES."""
    units = sorted(((item.bytes_a_unit, item.version.id, unit) for item in versions for unit in item.units),
                   key=lambda entry: (-entry[0], entry[2].number))
    total = sum(entry[0] for entry in units)
    n_tasks = min(len(units), max(cores, -int(-total // TASK_BYTES)))
    loads: list[float] = [0.0] * n_tasks
    parts: list[dict[int, list[UnitSpec]]] = [{} for _ in range(n_tasks)]
    for weight, version, unit in units:
        lightest = loads.index(min(loads))
        loads[lightest] += weight
        parts[lightest].setdefault(version, []).append(unit)
    pieces = stretches(span, versions)
    return [ApplyTask({version: tuple(chosen) for version, chosen in part.items()}, _needed(pieces, set(part)))
            for part in parts]


def _needed(pieces: list[Stretch], ids: set[int]) -> tuple[Stretch, ...]:
    kept = (dataclasses.replace(piece, tables={name: number for name, number in piece.tables.items() if number in ids})
            for piece in pieces)
    return tuple(piece for piece in kept if piece.tables)


def split_tasks(span: LogSpan, versions: list[PlannedVersion]) -> list[SplitTask]:
    """For the shuffle route: every stretch of log once, with all units that its tables may have changes for."""
    units = {item.version.id: tuple(item.units) for item in versions}
    return [SplitTask(number, piece, {version: units[version] for version in piece.tables.values()})
            for number, piece in enumerate(stretches(span, versions))]


def prefers_shuffle(span: LogSpan, tasks: list[ApplyTask], versions: list[PlannedVersion]) -> bool:
    """Whether decoding once and moving the changes costs less than every task walking what it needs.

    A far archive is fetched by everyone who walks it, so it is decoded once.
    """
    far = any("://" in outline.uri and not outline.uri.startswith("file:") for outline in span.outlines)
    if far and len(tasks) > 1:
        return True
    own = sum(item.bytes for item in versions)
    walked = sum(piece.end - piece.start for task in tasks for piece in task.stretches)
    return max(0, walked - own) * SKIP_NANOSECONDS > own * SHUFFLE_NANOSECONDS
