"""Both routes bring the same changes to the same units, with the same outcome, in one process."""

import dataclasses
import decimal
import tempfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.apply.routes import shuffle
from applier.apply.routes.packing import Unpacked
from applier.apply.routes.payload import column_types, key_types, together
from applier.apply.routes.shuffle import split_payloads
from applier.apply.spec import KeyRange, UnitSpec
from applier.apply.tasks import LogSegment, SplitTask
from applier.binlog.outline.outline_pass import outline_file
from applier.columns.table_key import table_key
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import units
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from keysearch.keybytes import encode_keys, find_ranges
from tests.support.examples import examples
from tests.support.histories import DATABASE, TABLES, write_history
from tests.support.small_logs import ITEM, commit, delete, held, insert, new_log, update


def outcome(files, output, route, unit_bytes=300, **options):
    """The tables afterwards, or the error in its parts."""
    with mock.patch.multiple(units, UNIT_BYTES=unit_bytes, LEAST_UNIT_BYTES=1):
        try:
            binlogs = tuple(map(str, files))
            result = replay_with(ThisProcess(2), ReplayOptions(binlogs, str(output), route=route, **options))
        except ApplierError as error:
            return type(error), error.message, error.where, error.hint, error.mysql_errno
    tables = {table.full_name: [(file.rows, file.min_key, file.max_key) for file in table.files]
              for table in manifest.load(str(output)).tables}
    return result.position, result.tables, tables


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from([100, 400, 1 << 27]), st.booleans())
def test_generated_histories(data, unit_bytes, broken):
    """The same files with the same rows and ranges, counts and position; where a change is refused, the same error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_history(data.draw, folder).files
        if broken:  # the second half on an empty table: rows are missing, or there twice
            files = files[len(files) // 2:]
            (folder / "schema.sql").write_text("".join(table.sql + ";" for table in _tables()))
        options = {"schema": str(folder / "schema.sql")} if broken else {}
        walked, shuffled = (outcome(files, folder / route, route, unit_bytes, **options)
                            for route in ("walk", "shuffle"))
        assert walked == shuffled


def _tables():
    """The tables with their database in their names, as a schema file has them."""
    return [dataclasses.replace(table, name=f"{DATABASE}.{table.name}") for table in TABLES]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_the_same_change_is_refused_by_both(tmp_path, route):
    """1062 in a later unit than 1032: the log's order decides, not the units'."""
    log = new_log(tmp_path)
    commit(log, insert([(n, n, "x") for n in range(50)]))
    commit(log, *[insert([(n, n, "x")]) for n in range(50, 100)])
    begin, _ = commit(log, insert([(90, 1, "twice")]))
    commit(log, delete([(1000, 1, "gone")]), delete([(-5, 1, "gone")]))
    log.close()
    _, _, where, hint, errno = outcome([log.path], tmp_path / "out", route)
    assert errno == 1062 and where["key"] == "PRIMARY (id) = 90" and f"binlog.000001:{begin}" in hint


def test_rows_that_move_between_units(tmp_path):
    """A move is a change of two units, and both see it once."""
    log = new_log(tmp_path)
    commit(log, *[insert([(n, n, "x" * 10)]) for n in range(100)])
    sevens = range(0, 100, 7)
    commit(log, update([(n, n, "x" * 10) for n in sevens], [(n + 1000, -n, "moved") for n in sevens]))
    commit(log, update([(1000, 0, "moved")], [(0, 0, "back")]), delete([(1007, -7, "moved")]))
    log.close()
    walked, shuffled = (outcome([log.path], tmp_path / route, route) for route in ("walk", "shuffle"))
    assert walked == shuffled and len(walked[2]["shop.item"]) > 3
    rows = {n: (n, n, "x" * 10) for n in range(100) if n % 7} | {
        n + 1000: (n + 1000, -n, "moved") for n in range(14, 100, 7)} | {0: (0, 0, "back")}
    assert held(tmp_path / "walk") == held(tmp_path / "shuffle") == [rows[n] for n in sorted(rows)]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_value_that_no_server_writes_is_named_by_its_place(tmp_path, route):
    """1610 from the depth of the gathering: file, position, table; not only that something is wrong."""
    log = new_log(tmp_path, checksum=False)
    log.query("CREATE TABLE paid (id INT PRIMARY KEY, d DECIMAL(9,0))", "shop")
    for number in range(30):
        begin, end = commit(log, _paid(number, 123_456_789 if number == 17 else number))
        if number == 17:
            place = begin, end
    log.close()
    data = Path(log.path).read_bytes()
    good = (123_456_789 | 1 << 31).to_bytes(4, "big")
    assert data.count(good) == 1
    Path(log.path).write_bytes(data.replace(good, b"\xff" * 4))
    _, _, where, _, errno = outcome([log.path], tmp_path / "out", route, 1 << 27)
    assert (errno, where["table"], where["file"]) == (1610, "shop.paid", str(log.path))
    assert place[0] < where["position"] < place[1]


def _paid(number, amount):
    [change] = parse_statement("CREATE TABLE paid (id INT PRIMARY KEY, d DECIMAL(9,0))", default_database="shop",
                               flavour="mysql")
    return RowChanges(change.definition, after={
        "id": pa.array([number], pa.int32()), "d": pa.array([decimal.Decimal(amount)], pa.decimal128(9, 0))})


@given(st.lists(st.binary(max_size=3), max_size=20), st.sets(st.binary(max_size=3), max_size=5))
def test_the_range_of_a_byte_key(keys, bounds):
    """memcmp order: a bound belongs to the range that it begins."""
    keys, bounds = (encode_keys([pa.array(values, pa.binary())]) for values in (keys, sorted(bounds)))
    found = find_ranges(keys, bounds).tolist()
    assert found == [sum(bounds[b] <= keys[i] for b in range(len(bounds))) for i in range(len(keys))]


def test_a_large_transaction_is_sent_in_parts(tmp_path, monkeypatch):
    """What a split holds back is bounded, though a transaction is never cut between splits; and the order stays."""
    monkeypatch.setattr(shuffle, "BATCH_ROWS", 10)
    monkeypatch.setattr(shuffle, "PAYLOAD_BYTES", 300)
    monkeypatch.setattr(shuffle, "HELD_BYTES", 3000)
    log = new_log(tmp_path)
    start, end = commit(log, *[insert([(n * 7 % 400, n, "x" * 20)]) for n in range(400)])
    log.close()
    cuts = [None, 100, 300, None]
    key = table_key(ITEM)
    specs = tuple(UnitSpec(number=n, version=0, definition=ITEM, target=None,
                           search=KeyRange(key, cuts[n], cuts[n + 1])) for n in range(3))
    [split] = outline_file(str(log.path), start=start).splits
    assert (split.start, split.end) == (start, end)
    segment = LogSegment(0, str(log.path), True, start, end, {("shop", "item"): 0}, split.outlined)
    sent = [(unit, payload.as_buffer())
            for units, payloads in split_payloads(SplitTask((segment,), {0: specs}))
            for unit, payload in zip(units.tolist(), payloads, strict=True)]
    assert len(sent) > 15 and max(payload.size for _, payload in sent) < 1000
    types = column_types(key_types(key, ITEM), before_images=False)
    for number, low, high in ((0, 0, 100), (1, 100, 300), (2, 300, 400)):
        keys = [after for header, payloads, counts in together([buffer for unit, buffer in sent if unit == number], 1)
                for after in Unpacked(types, payloads, counts, len(header)).columns[-1].to_pylist()]
        assert keys == [n * 7 % 400 for n in range(400) if low <= n * 7 % 400 < high]
