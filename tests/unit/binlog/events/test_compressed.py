"""Compressed events: what a log holds is the same whether its server compressed it or not."""

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.events.compression import compressed, inflated
from applier.binlog.events.compression.compressed import events_within
from applier.binlog.events.events import read_events, read_format
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.stop import StopCondition
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, ArchiveError, ReplayStopped
from applier.io.mapping import map_file
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter
from tests.support.compressing import compress_events, compress_transactions, payload, plain_events, seal, zipped
from tests.support.examples import examples
from tests.support.folders import CASES, ROOT
from tests.support.real_server import Case, differences

WITHOUT_A_KEY = {"row-image-minimal": ("uk_null", "k", "nokey"), "mariadb-row-image-full": ("uk_null", "k", "nokey")}

MYSQL = ["row-image-minimal", "mysql-types-text"]
MARIADB = ["mariadb-row-image-full", "mariadb-types-text"]


def compressed_case(name, folder, algorithm=0):
    """The case's binlogs, compressed as its server would."""
    case, paths = Case(name), []
    for path in case.binlogs:
        paths.append(folder / path.name)
        if case.server == "mysql":
            compress_transactions(path, paths[-1], algorithm)
        else:
            compress_events(path, paths[-1])
    return case, paths


def replayed(paths, output, **options):
    replay_with(ThisProcess(), ReplayOptions(tuple(map(str, paths)), str(output), **options))


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", [*MYSQL, *MARIADB])
def test_a_compressed_log_replays_as_it_would_otherwise(name, route, tmp_path):
    """Both routes, with values of all lengths: images lie in memory that lives as long as their units."""
    case, paths = compressed_case(name, tmp_path)
    left_out = WITHOUT_A_KEY.get(name, ())
    replayed(paths, tmp_path / "out", route=route, filter=TableFilter(ignored=tuple(("img", t) for t in left_out)))
    assert differences(tmp_path / "out", case.expected(), tuple(f"img.{table}" for table in left_out)) == []


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_payloads_in_parts_and_many_buffers(route, tmp_path, monkeypatch):
    """A payload of many parts, several payloads at a time, rows events that hardly fit into a buffer."""
    monkeypatch.setattr(compressed, "AHEAD_BYTES", 1500)
    monkeypatch.setattr(inflated, "BUFFER_BYTES", 4000)
    case, paths = compressed_case("key-moves-minimal", tmp_path)
    replayed(paths, tmp_path / "out", route=route, filter=TableFilter(ignored=(("moves", "n"),)))
    assert differences(tmp_path / "out", case.expected(), ("moves.n",)) == []


@pytest.mark.by_turns("ahead")
@pytest.mark.parametrize("ahead", [1, 100, 9000, 1 << 20])
@pytest.mark.parametrize("name", [*MYSQL, *MARIADB])
def test_the_outline_of_a_compressed_log(name, ahead, tmp_path, monkeypatch):
    """Groups, tables, their columns and samples, statements: all but the positions is what it is uncompressed."""
    monkeypatch.setattr(compressed, "AHEAD_BYTES", ahead)
    case, paths = compressed_case(name, tmp_path)
    for plain, path in zip(case.binlogs, paths, strict=True):
        a, b = outline_file(str(plain)), outline_file(str(path))
        cut = a.format.checksum_length
        assert (a.n_groups, a.gtids, a.n_row_events) == (b.n_groups, b.gtids, b.n_row_events)
        assert [(t.body, t.n_events, t.n_bytes - t.n_events * cut) for t in a.tables] == \
            [(t.body, t.n_events, t.n_bytes) for t in b.tables]  # fmt: skip
        assert [(t.has_partial_images, t.after_columns, t.lacked_columns) for t in a.tables] == \
            [(t.has_partial_images, t.after_columns, t.lacked_columns) for t in b.tables]  # fmt: skip
        assert [[s[19:] for s in a.samples.of(t)] for t in range(len(a.tables))] == \
            [[s[19:] for s in b.samples.of(t)] for t in range(len(b.tables))]  # fmt: skip
        assert [(s.sql, s.gtid) for s in a.statements] == [(s.sql, s.gtid) for s in b.statements]
        assert b.inflated_bytes > 0 and b.unreplayable == []


def test_payloads_that_are_not_compressed(tmp_path):
    """Algorithm 255: none."""
    case, paths = compressed_case("key-moves-full", tmp_path, algorithm=255)
    replayed(paths, tmp_path / "out", filter=TableFilter(ignored=(("moves", "n"),)))
    assert differences(tmp_path / "out", case.expected(), ("moves.n",)) == []


def test_events_within(tmp_path):
    """For tools: the events that the server would have written, at the place of the one that holds them."""
    source = CASES / "key-moves-full/binlog.000001"
    for number, compress in enumerate((compress_transactions, compress_events)):
        path = tmp_path / f"binlog.00000{number + 1}"
        compress(source, path)
        mapped = map_file(str(path))
        description = read_format(mapped)
        found, within = [], 0
        for event in read_events(mapped):
            inner = list(events_within(mapped, event, description)) if event.type in (40, *range(165, 172)) else [event]
            assert all(one.position == event.position for one in inner)
            within += len(inner) if inner != [event] else 0
            found += [(one.type, bytes(one.body)) for one in inner]
        plain = [(event[4], event[19:]) for event in plain_events(source)]
        assert found[1:] == plain[1:] and within > 100


def test_a_row_that_is_refused_names_its_payload(tmp_path):
    """The place is that of the compressed event, as the server counts it; the hint is the position before the group."""
    _, [path] = compressed_case("key-moves-full", tmp_path)
    events = list(read_events(map_file(str(path))))
    [first, *_] = [event for event in events if event.type == 40]
    before = [event for event in events if event.position < first.position][-1]
    again = tmp_path / "binlog.000002"
    data = path.read_bytes()
    end = first.position + first.size
    again.write_bytes(data[:end] + data[before.position:end])
    with pytest.raises(ReplayStopped) as caught:
        replayed([again], tmp_path / "out")
    assert (caught.value.position, caught.value.mysql_errno) == (end + before.size, 1062)
    assert f"--stop-position binlog.000002:{end}" in caught.value.hint


# ---- hostile input --------------------------------------------------------------------------------------------------


def log_with(tmp_path, *events):
    """A log of MySQL's with these events in it, and the position of the first of them."""
    source = CASES / "many-files-mysql/binlog.000001"
    head = [seal(event) for event in plain_events(source)[:2]]
    path = tmp_path / "binlog.000001"
    path.write_bytes(b"\xfebin" + b"".join([*head, *events]))
    return str(path), 4 + sum(map(len, head))


def query(text: bytes) -> bytes:
    event = struct.pack("<IBIIIH", 7, 2, 1, 0, 0, 0) + struct.pack("<IIBHH", 1, 0, 1, 0, 0) + b"d\0" + text
    return event[:9] + struct.pack("<I", len(event)) + event[13:]


TRANSACTION = query(b"BEGIN") + query(b"COMMIT")


def with_field(kind, length):
    """A payload with a field more, which says that it has this length."""
    event = payload(TRANSACTION)
    field = b"".join(b"\xfe" + number.to_bytes(8, "little") for number in (kind, length))
    return seal(event[:19] + field + event[19:-4])


@pytest.mark.parametrize("what", [
    payload(TRANSACTION, claims=4 << 30), payload(TRANSACTION, claims=len(TRANSACTION) + 1),
    payload(TRANSACTION, claims=len(TRANSACTION) - 1), payload(TRANSACTION, claims=0),
    payload(TRANSACTION, algorithm=255, claims=3), payload(TRANSACTION, algorithm=7),
    payload(TRANSACTION, data=b"\x28\xb5\x2f\xfd no zstd"), payload(TRANSACTION[:-1]), payload(TRANSACTION + b"x" * 30),
    payload(b"\0" * 40), payload(TRANSACTION + query(b"BEGIN")), payload(payload(TRANSACTION)[:-4]),
    payload(TRANSACTION[:9] + b"\x05\0\0\0" + TRANSACTION[13:]), payload(b"", claims=4 << 30),
    seal(struct.pack("<IBIIIH", 7, 40, 1, 0, 0, 0) + b"\x03\xfe"), seal(struct.pack("<IBIIIH", 7, 40, 1, 0, 0, 0)),
    with_field(7, (1 << 63) - 2), with_field(7, (1 << 63) - 1), with_field(7, 1 << 63), with_field(7, (1 << 64) - 1),
    with_field((1 << 63) - 1, (1 << 62)), with_field(3, (1 << 63) - 2),
], ids=range(22))  # fmt: skip
def test_a_payload_that_lies(what, tmp_path):
    """1610 at the payload, without the memory that it claims; what comes before it is there."""
    good = payload(TRANSACTION)
    path, position = log_with(tmp_path, good, what)
    with pytest.raises(ArchiveError) as caught:
        outline_file(path)
    assert caught.value.position == position + len(good) and caught.value.file == path
    assert caught.value.mysql_errno in (1610, None)


@pytest.mark.parametrize("claims", [(5, -5), (-5, 5)])
def test_payloads_whose_lies_make_up_for_each_other(claims, tmp_path):
    """Small payloads are inflated by one stream: what they hold together is as much as they say together."""
    good, lies = payload(TRANSACTION), [payload(TRANSACTION, claims=len(TRANSACTION) + more) for more in claims]
    path, position = log_with(tmp_path, good, *lies)
    with pytest.raises(ArchiveError) as caught:
        outline_file(path)
    assert caught.value.position == position + len(good)


@pytest.mark.parametrize("data", [b"", b"\x81", b"\x84\xff\xff\xff\xff" + zipped(b"COMMIT")[2:], b"\x91\x06xx",
                                  zipped(b"COMMIT")[:-3]])  # fmt: skip
def test_a_compressed_statement_that_lies(data, tmp_path):
    event = query(b"")
    path, position = log_with(tmp_path, seal(event[:4] + b"\xa5" + event[5:] + data))
    with pytest.raises(ArchiveError) as caught:
        outline_file(path)
    assert (caught.value.position, caught.value.mysql_errno) == (position, 1610)


@pytest.mark.thorough
@pytest.mark.slow
def test_what_is_claimed_takes_no_memory(tmp_path):
    """Payloads and statements that say that they hold gigabytes, and one that holds 600 MB of an event that says 2 GB:
    with 400 MB more than the program has at its start they are refused as without a limit."""
    endless = pa.compress(query(b"")[:9] + struct.pack("<I", 1 << 31) + bytes(600 << 20), "zstd", asbytes=True)
    statement = query(b"")
    lies = [payload(TRANSACTION, claims=16 << 30), payload(b"", claims=1 << 62),
            payload(b"", data=endless, claims=16 << 30),
            seal(statement[:4] + b"\xa5" + statement[5:] + b"\x84\xff\xff\xff\xff" + zipped(b"COMMIT")[2:])]
    paths = []
    for number, lie in enumerate(lies):
        (tmp_path / str(number)).mkdir()
        paths.append(log_with(tmp_path / str(number), lie)[0])
    program = ("import resource, sys\n"
               "from applier.binlog.outline.outline_pass import outline_file; from applier.errors import ArchiveError\n"
               "outline_file(sys.argv[1])\n"
               "pages = int(open('/proc/self/statm').read().split()[0])\n"
               "most = pages * resource.getpagesize() + (400 << 20)\n"
               "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
               "for path in sys.argv[2:]:\n"
               "    try: outline_file(path)\n"
               "    except ArchiveError as error: print(error.mysql_errno)\n")
    good, _ = log_with(tmp_path, payload(TRANSACTION))
    done = subprocess.run([sys.executable, "-c", program, good, *paths], capture_output=True, text=True, timeout=300,
                          check=False, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.stdout.split() == ["1610"] * len(lies), done.stderr


def test_damage_after_the_stop_is_not_looked_at(tmp_path):
    """What is inflated ahead may lie behind the stop."""
    source = CASES / "many-files-mysql/binlog.000001"
    compress_transactions(source, tmp_path / "whole")
    mapped = map_file(str(tmp_path / "whole"))
    events = list(read_events(mapped))
    first, second, *_ = [event for event in events if event.type == 40]
    data = bytearray((tmp_path / "whole").read_bytes())
    at = second.position + second.size - 20
    data[at] ^= 0xFF
    event = bytes(data[second.position : second.position + second.size - 4])
    data[second.position : second.position + second.size] = seal(event)
    (tmp_path / "binlog.000001").write_bytes(data)
    before = outline_file(str(tmp_path / "whole"), stop=StopCondition(("whole", first.position + first.size)))
    stop = StopCondition(gtid_set=GtidSet.parse(before.last_gtid))
    stopped = outline_file(str(tmp_path / "binlog.000001"), stop=stop)
    assert stopped.stopped and stopped.end == first.position + first.size
    with pytest.raises(ArchiveError):
        outline_file(str(tmp_path / "binlog.000001"))


def test_an_incident_within_a_payload_blocks(tmp_path):
    """EV-INC: what a plan has to know is seen inside, too."""
    incident = struct.pack("<IBIIIH", 7, 26, 1, 22, 0, 0) + b"\1\0\0"
    path, position = log_with(tmp_path, payload(query(b"BEGIN") + incident + query(b"COMMIT")))
    [event] = outline_file(path).unreplayable
    assert (event.position, event.errno) == (position, 1590)


@pytest.mark.thorough
@pytest.mark.slow
@settings(max_examples=examples(150))
@given(st.data())
def test_bytes_that_were_changed(data):
    """Anything may be in a compressed event whose checksum fits: an error with its place, or other rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        name, kind = data.draw(st.sampled_from([("key-moves-minimal", 40), ("mariadb-row-image-full", 166)]))
        _, [path, *_] = compressed_case(name, folder)
        events = [event for event in read_events(map_file(str(path))) if event.type in (kind, kind + 1)]
        event = data.draw(st.sampled_from(events))
        raw, body = path.read_bytes(), bytearray(event.body)
        for _ in range(data.draw(st.integers(1, 3))):
            body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
        end = event.position + event.size
        changed = seal(raw[event.position : event.position + 19] + bytes(body))
        path.write_bytes(raw[: event.position] + changed + raw[end:])
        try:
            replayed([path], folder / "out")
        except ApplierError as error:
            assert error.file
