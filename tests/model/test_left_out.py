"""Replays that leave groups out, against replays of logs that have empty groups in their place (AP-SKIP).

Rules: AP-SKIP, GRP-1, GRP-6, IMG-MIX.
"""

import tempfile
import zlib
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.binlog.events.events import read_format
from applier.binlog.events.format import EventType
from applier.binlog.locating.groups import GroupPass
from applier.errors import ApplierError
from applier.io.mapping import map_file
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from applier.writer import event_encoder
from tests.support.examples import examples
from tests.support.histories import write_history
from tests.support.small_parts import rows_of, same, small_parts


def emptied(group, gtid, checksum, flavour):
    """A group's bytes without its changes: its GTID event, if it has one, and a COMMIT."""
    if gtid is None:
        return b""
    first = group[:int.from_bytes(group[9:13], "little")]
    body = event_encoder.query("COMMIT", "", flavour)
    size = 19 + len(body) + 4 * checksum
    event = group[:4] + bytes([EventType.QUERY]) + group[5:9] + size.to_bytes(4, "little") + bytes(6) + body
    return first + event + (zlib.crc32(event).to_bytes(4, "little") if checksum else b"")


def server_of(log, start):
    """The server id in the event at a position."""
    return int.from_bytes(log[start + 5:start + 9], "little")


def outcome(executor, binlogs, output, **options):
    """The rows that a replay ends with and the conflicts that it skipped, or the error that stopped it."""
    try:
        result = replay_with(executor, ReplayOptions(binlogs, str(output), **options))
    except ApplierError as error:
        return error.mysql_errno, error.message
    return rows_of(output), result.conflicts


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(st.data(), small_parts, st.sampled_from(["strict", "idempotent"]), st.sampled_from(["walk", "shuffle"]))
def test_a_group_that_is_left_out_is_as_if_it_were_empty(data, executor, exec_mode, route):
    """Of any history, in both flavours, with GTIDs and without, all images, several files, groups that are rolled back,
    and definitions that come and go."""
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        history = write_history(data.draw, folder, servers=(2, 3, 1))
        by_server = data.draw(st.booleans())
        ignored = data.draw(st.sampled_from([(2,), (1, 3)])) if by_server else ()
        cut, gtids, n_left = folder / "cut", [], 0
        cut.mkdir()
        for file in history.files:
            log, groups = file.read_bytes(), GroupPass(str(file)).groups()
            form = read_format(map_file(str(file)))
            kept, at = b"", 0
            for group in map(groups.__getitem__, range(len(groups))):
                left = server_of(log, group.start) in ignored
                if not by_server and group.gtid is not None and data.draw(st.integers(0, 3)) == 0:
                    gtids.append(group.gtid)
                    left = True
                if left:
                    empty = emptied(log[group.start:group.end], group.gtid, form.checksum, form.flavour)
                    kept, at, n_left = kept + log[at:group.start] + empty, group.end, n_left + 1
            (cut / file.name).write_bytes(kept + log[at:])
        if not n_left:
            return
        options = {"ignore_server_ids": ignored} if by_server else {"exclude_gtids": ",".join(gtids)}
        binlogs = tuple(map(str, history.files))
        found = outcome(executor, binlogs, folder / "left", exec_mode=exec_mode, route=route, **options)
        wanted = outcome(executor, tuple(str(cut / file.name) for file in history.files), folder / "lacks",
                         exec_mode=exec_mode, route=route)
        if isinstance(wanted[0], dict) and isinstance(found[0], dict):
            assert same(found[0], wanted[0]) and found[1] == wanted[1]
            made, whole = (manifest.load(str(folder / part)) for part in ("left", "lacks"))
            assert [entry.definition for entry in made.tables] == [entry.definition for entry in whole.tables]
            assert sum(entry.groups for entry in made.left_out) == n_left
        else:
            assert found == wanted
