"""Finds which of several states in log order is the one as of a position: the last one at or before it.

The position is a set of transactions, a file and offset, or a time. Ambiguity is an error, never a guess: a position
before the first state, GTIDs or times that states do not record, positions if file numbers start again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pyarrow import fs

from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.place import Place
from applier.errors import SnapshotError, UsageError, reason
from applier.io.typed_json import Mismatch, build, loads
from applier.snapshot import lakes
from applier.snapshot.files import location
from applier.snapshot.manifest import MANIFEST, BinlogPosition

_THREADS = 16


def last_of(states: Sequence[BinlogPosition], asked: Place, where: str) -> int:
    """Return the number of the last state at or before a position, given all of them in log order.

    Times are those of a log: if its clock was set back, the states from the first one after the time on do not count.
    Raises SnapshotError, which names the first state, if no state is known to be at or before it; UsageError for a GTID
    set of another kind of server.
    """
    if asked.gtid_set is not None:
        for flavour in {state.flavour for state in states}:
            asked.gtid_set.check_flavour(flavour)
        found = _executed_by(states, asked.gtid_set)
        known, lacking = [state for state in states if state.gtid_set], "is known by GTIDs"
    elif asked.position is not None:
        known = [state for state in states if _stem(state.file) == _stem(asked.position[0])]
        found = [number for number, state in enumerate(states) if state in known and _at(state) <= _of(asked.position)]
        lacking = f"is in a log of the name {_stem(asked.position[0])!r}"
        if [_at(state) for state in known] != sorted(map(_at, known)):
            raise SnapshotError(f"the log's files were renumbered, so {asked.text} may name more than one place",
                                file=where, hint="give a GTID set or a time")
    else:
        found, known, lacking = [], [state for state in states if state.timestamp is not None], "has a time"
        for number, state in enumerate(states):
            if asked.time is not None and state.timestamp is not None:
                if state.timestamp > asked.time:
                    break
                found.append(number)
    if found:
        return found[-1]
    if not known:
        raise SnapshotError(f"no version {lacking}, so its state as of {asked.text} is unknown", file=where,
                            hint="give a place of another kind: a GTID set, FILE:POS, or a time")
    raise SnapshotError(f"{asked.text} precedes the oldest version, which is at {told(known[0])}",
                        file=where, hint="give a later place, or replay the archive up to this one")


def _executed_by(states: Sequence[BinlogPosition], asked: GtidSet) -> list[int]:
    """Return the numbers of the states whose transactions are in a set. In a MariaDB domain with several servers,
    sequence numbers may decrease: no state counts after the first one that contains the position's group, or a later
    one of its server."""
    found: list[int] = []
    reached = set[int]()
    for number, state in enumerate(states):
        stands = GtidSet.parse(state.gtid_set)
        if any(domain in reached and stands.domains.get(domain) != entry for domain, entry in asked.domains.items()):
            break
        reached |= {domain for domain, (server, last) in asked.domains.items()
                    if domain in stands.domains and stands.domains[domain][0] == server
                    and stands.domains[domain][1] >= last}
        if stands and asked.contains(stands):
            found.append(number)
    return found


def version_as_of(uri: str, asked: Place) -> str:
    """Return the path or URI of a lake's version as of a position. Raises UsageError if there is no lake; SnapshotError
    as `last_of` does, and if a version cannot be read."""
    filesystem, root = location.resolve(uri)
    try:
        if lakes.id_of(filesystem, root) is None:
            raise UsageError("--as-of chooses a version of a lake, and this is not a lake", file=uri,
                             hint="name the folder that `applier replay --lake` made; a snapshot has one position")
        numbers = lakes.complete(filesystem, root)
    except OSError as error:
        raise SnapshotError(f"the lake cannot be read: {reason(error)}", file=uri) from error

    def stands(number: int) -> BinlogPosition:
        return _position_of(filesystem, f"{root}/{lakes.VERSIONS}/{lakes.version_name(number)}/{MANIFEST}")

    with ThreadPoolExecutor(_THREADS) as pool:
        states = list(pool.map(stands, numbers))
    if not states:
        raise SnapshotError("the lake has no version yet", file=uri, hint="a replay with --lake makes one")
    return lakes.version_uri(uri, numbers[last_of(states, asked, uri)])


def in_order(states: Sequence[BinlogPosition]) -> list[BinlogPosition]:
    """Sort different states in log order: by their GTIDs, or by their positions in files of one name. They are given in
    the order of their publication, which may have returned to an earlier state. States whose order is unknown keep the
    given order."""
    found, known = list[BinlogPosition](), set[BinlogPosition]()
    for state in states:
        if state in known:
            continue
        known.add(state)
        if not found or is_reached(found[-1], state):
            found.append(state)
        else:
            later = (number for number, other in enumerate(found) if is_reached(state, other))
            found.insert(next(later, len(found)), state)
    return found


def is_reached(state: BinlogPosition, by: BinlogPosition) -> bool:
    """Return whether a state is known to stand at or before another one of the same log."""
    if state.gtid_set and by.gtid_set and state.gtid_set != by.gtid_set:
        return GtidSet.parse(by.gtid_set).contains(GtidSet.parse(state.gtid_set))
    return _stem(state.file) == _stem(by.file) and _at(state) <= _at(by)


def told(state: BinlogPosition) -> str:
    """Describe a state in a message: its position, with its GTIDs and its time."""
    from applier.mysql.values.time_zones import shown_time

    gtids = state.gtid_set.replace("\n", "")
    return ", ".join([str(state), *([gtids] if gtids else []),
                      *([shown_time(state.timestamp)] if state.timestamp is not None else [])])


def _position_of(filesystem: fs.FileSystem, path: str) -> BinlogPosition:
    """Read only the position of a manifest."""
    try:
        with filesystem.open_input_stream(path, compression=None) as stream:
            document = loads(stream.read())
        return build(BinlogPosition, document.get("position") if isinstance(document, dict) else None)
    except OSError as error:
        raise SnapshotError(f"a version of the lake cannot be read: {reason(error)}", file=path,
                            hint="if the version has just expired, try again") from error
    except (Mismatch, UsageError) as error:
        what = error if isinstance(error, Mismatch) else error.message
        raise SnapshotError(f"{MANIFEST} is damaged: {what}", file=path, hint="`applier fsck` "
                                                                              "reports details") from error


def _stem(file: str) -> str:
    return file.rpartition(".")[0]


def _at(state: BinlogPosition) -> tuple[int, int]:
    return _of((state.file, state.offset))


def _of(position: tuple[str, int]) -> tuple[int, int]:
    """Return a sortable position among files of one name: binlog.1000000 comes after binlog.999999."""
    digits = position[0].rpartition(".")[2]
    return int(digits) if digits.isascii() and digits.isdigit() else -1, position[1]
