"""Transactions that a replay leaves out on request (AP-SKIP): count them, check them against the request, report them.

A snapshot counts them as executed, as a replica does that has the GTIDs of empty transactions: its
position is after them. The manifest records them, also when later replays continue from the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.gtid_choice import GtidChoice, choice_text, count_of, shortened
from applier.binlog.outline.left_out import LeavingOut
from applier.binlog.outline.outline import Outline
from applier.errors import ReplayStopped, SchemaError, UsageError
from applier.options import ReplayOptions
from applier.snapshot.manifest import BinlogPosition, LeftOutEntry, Snapshot


def leaving_out(options: ReplayOptions) -> LeavingOut | None:
    """Return which event groups the options leave out; None if they leave out none. Raises UsageError."""
    if options.exclude_gtids is None and not options.server_ids and not options.ignore_server_ids:
        return None
    gtids = GtidSet() if options.exclude_gtids is None else GtidChoice(options.exclude_gtids).transactions
    if options.server_ids:
        return LeavingOut(gtids, tuple({*options.server_ids} - {*options.ignore_server_ids}), others=True)
    return LeavingOut(gtids, options.ignore_server_ids)


def left_out_of(outlines: Iterable[Outline], options: ReplayOptions) -> tuple[LeftOutEntry, ...]:
    """Return the exclusions of a replay with these options in some files: one entry, or none."""
    parts = [outline.left_out for outline in outlines if outline.left_out is not None]
    if not any(part.groups for part in parts):
        return ()
    chosen = GtidSet()
    for part in parts:
        chosen = chosen.union(GtidSet.from_intervals(part.transactions))
    return (LeftOutEntry(sum(part.groups for part in parts), sum(part.row_events for part in parts),
                         choice_text(chosen), options.server_ids, options.ignore_server_ids),)


def together(before: Iterable[LeftOutEntry], later: Iterable[LeftOutEntry]) -> tuple[LeftOutEntry, ...]:
    """Return the exclusions of several replays, one after another: an entry for each choice of servers."""
    found: dict[tuple[object, ...], LeftOutEntry] = {}
    for entry in (*before, *later):
        servers = entry.server_ids, entry.ignore_server_ids
        known = found.get(servers)
        found[servers] = entry if known is None else LeftOutEntry(
            known.groups + entry.groups, known.row_events + entry.row_events,
            choice_text(transactions(known).union(transactions(entry))), *servers)
    return tuple(found.values())


def transactions(entry: LeftOutEntry) -> GtidSet:
    """Return those that were chosen by GTID, as GtidChoice has them."""
    return GtidChoice(entry.gtids).transactions if entry.gtids else GtidSet()


def notes_on_base(base: Snapshot | None) -> list[str]:
    """Return notes for the user about a base that leaves something out."""
    return [] if base is None else [f"the base leaves out {entry}: they are not replayed now, either"
                                    for entry in base.left_out]


def check_left_out(options: ReplayOptions, here: tuple[LeftOutEntry, ...], n_groups: int,
                   base: Snapshot | None) -> list[str]:
    """Return notes for the user about the excluded ones of `n_groups` groups, and about options that match nothing in
    the log. Raises UsageError if these choose nothing: a typing error would otherwise let everything in, or nothing."""
    notes, chosen = [f"left out: {entry}" for entry in here], GtidSet()
    for entry in here:
        chosen = chosen.union(transactions(entry))
    if options.exclude_gtids is not None:
        notes += _check_gtids(GtidChoice(options.exclude_gtids).transactions, chosen, base)
    by_server = sum(entry.groups for entry in here) - count_of(chosen)
    if options.server_ids and by_server + count_of(chosen) == n_groups:
        notes.append(_nothing("--server-ids", options.server_ids, base))
    elif options.ignore_server_ids and not options.server_ids and not by_server:
        notes.append(_nothing("--ignore-server-ids", options.ignore_server_ids, base))
    return notes


def _nothing(option: str, servers: tuple[int, ...], base: Snapshot | None) -> str:
    """Return the line that says that no transaction is of these servers; it is an error if nothing is known of the log
    before. An increment may have none of them."""
    what = f"no transaction of these binlogs is of {option} {','.join(map(str, servers))}"
    if base is None:
        raise UsageError(what, hint="`applier show` prints the server id of each event")
    return what


def _check_gtids(wanted: GtidSet, found: GtidSet, base: Snapshot | None) -> Iterator[str]:
    """Yield lines about transactions that are `wanted` to be left out; those `found` were."""
    missing, held = wanted.subtract(found), GtidSet()
    if base is not None:
        for entry in base.left_out:
            missing = missing.subtract(transactions(entry))
        held = _executed(missing, base.position)
    absent = missing.subtract(held)
    if wanted.subtract(missing):
        if held:
            yield f"--exclude-gtids: the base has transactions {shortened(choice_text(held))}, and so has the snapshot"
        if absent:
            yield f"--exclude-gtids: transactions {shortened(choice_text(absent))} are not in these binlogs"
    elif held:
        raise UsageError("--exclude-gtids names transactions that the base already contains: "
                         f"{shortened(choice_text(held))}",
                         hint="start from a snapshot from before them")
    else:
        raise UsageError("these binlogs contain none of the transactions of --exclude-gtids "
                         f"{shortened(choice_text(wanted))}",
                         hint="`applier locate --gtid … --binlogs …` finds where a transaction is")


def _executed(wanted: GtidSet, position: BinlogPosition) -> GtidSet:
    """Return those of the transactions that are executed at a position; of MariaDB's other servers, those with lower
    numbers."""
    executed = GtidSet.parse(position.gtid_set)
    if not executed.domains:
        return wanted.subtract(wanted.subtract(executed))
    held = {}
    for source, numbers in wanted.intervals.items():
        domain, server = map(int, source.split("-")) if source.count("-") == 1 else (-1, -1)
        if domain in executed.domains:
            own, number = executed.domains[domain]
            held[source] = [(first, min(last, number - (server != own))) for first, last in numbers]
    return GtidSet.from_intervals(held)


@contextmanager
def told_of_left_out(options: ReplayOptions, base: Snapshot | None) -> Iterator[None]:
    """Say of a change or definition that does not fit that something is left out, if it is."""
    try:
        yield
    except (ReplayStopped, SchemaError) as error:
        given = [f"{option} {value}" for option, value in (
            ("--exclude-gtids", options.exclude_gtids), ("--server-ids", _listed(options.server_ids)),
            ("--ignore-server-ids", _listed(options.ignore_server_ids))) if value]
        given += [] if base is None else [f"of the base: {entry}" for entry in base.left_out]
        if error.mysql_errno is not None and given:
            error.hint = (f"{error.hint}; " if error.hint else "") + (
                f"transactions are left out ({shortened('; '.join(given))}), and this may need what they did: leave "
                "out what depends on them, too, or give --exec-mode idempotent")
        raise


def _listed(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))
