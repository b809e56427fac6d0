"""A unit that turns out larger than its task should hold is applied in parts, with the same rows, in bounded memory."""

import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
from applier.apply.routes import parts
from applier.apply.routes.shuffle import split_payloads
from applier.columns.table_key import table_key
from applier.plan import units
from applier.plan.tasks import log_segments, split_tasks
from applier.snapshot.writer import TableTarget
from applier.writer.row_encoder import RowChanges
from tests.support.folders import ROOT
from tests.support.planning import Log, plan, table

N, ROOM = 40_000, 32 << 20
TABLES = {"int": table("t", "id int PRIMARY KEY, a int"),
          "bytes": table("t", "id varchar(20) CHARACTER SET latin1 COLLATE latin1_bin PRIMARY KEY, a int")}


def keys(kind, numbers):
    return pa.array(numbers, pa.int32()) if kind == "int" else pa.array([b"%08d" % n for n in numbers])


def rows(kind, numbers, values):
    return {"id": keys(kind, numbers), "a": pa.array(values, pa.int32())}


@pytest.fixture
def log(tmp_path, request):
    """Rows in any order, half of them changed, some moved to other keys and some deleted, in two files."""
    kind = request.param
    definition, order = TABLES[kind], np.random.default_rng(1).permutation(N)
    with Log(tmp_path / "b.000001") as log:
        log.create(definition)
        with log.transaction():
            log.rows(RowChanges(definition, after=rows(kind, order, order)))
        second = log.rotate(tmp_path / "b.000002")
    with second:
        with second.transaction():
            some = order[:N // 2]
            second.rows(RowChanges(definition, before=rows(kind, some, some), after=rows(kind, some, some + 1)))
            moved = order[N // 2:N // 2 + 1000]
            second.rows(RowChanges(definition, before=rows(kind, moved, moved), after=rows(kind, moved + N, moved)))
            gone = order[-1000:]
            second.rows(RowChanges(definition, before=rows(kind, gone, gone)))
    return kind, [str(tmp_path / f"b.00000{number}") for number in (1, 2)]


def replayed(binlogs, out, *, base=None):
    made = applier.replay(binlogs, str(out), base=base, engine="local", route="shuffle", witness="stop")
    [found] = made.snapshot.tables.values()
    files = [pq.read_table(file, partitioning=None) for file in found.files]
    counts = [(of_table.inserts, of_table.updates, of_table.deletes) for of_table in made.report.tables]
    return pa.concat_tables(files), [file.num_rows for file in files], counts


@pytest.mark.parametrize("log", TABLES, indirect=True)
@pytest.mark.parametrize("onto_base", [False, True])
def test_parts_have_the_rows_of_the_whole(log, tmp_path, monkeypatch, onto_base):
    """In the order of their keys, also where a part begins within a file of the base."""
    kind, binlogs = log
    base = None
    if onto_base:
        base, binlogs = str(tmp_path / "base"), binlogs
        applier.replay(binlogs[:1], base, engine="local")
    whole, _, counts = replayed(binlogs, tmp_path / "whole", base=base)
    monkeypatch.setattr(parts, "LARGE_BYTES", 1000)
    monkeypatch.setattr(parts, "PART_BYTES", 200_000)
    divided, files, counts_of_parts = replayed(binlogs, tmp_path / "parts", base=base)
    assert divided.equals(whole) and counts_of_parts == counts and len(files) >= 4
    definition = TABLES[kind]
    ascending = table_key(definition).keys([divided.column("id")])
    assert ascending == sorted(ascending) and max(files) < 2 * N / len(files)


LIMITED = """
import mmap, pickle, resource, sys
import pyarrow as pa
from applier.apply.routes import parts
from applier.apply.routes.shuffle import split_payloads
from applier.apply.routes.shuffle import apply_payloads
pa.set_memory_pool(pa.system_memory_pool())
room, parts.LARGE_BYTES, parts.PART_BYTES = (int(text) for text in sys.argv[1:4])
def applied(place):
    with open(f"{place}/payloads", "rb") as file:
        whole = pa.py_buffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    with open(f"{place}/unit", "rb") as file:
        unit, edges = pickle.load(file)
    [result] = apply_payloads(unit, [whole.slice(at, size) for at, size in edges]).results
    return sum(file.rows for file in result.files)
applied(sys.argv[4])  # what is needed whatever comes
held = int(open("/proc/self/status").read().split("VmData:")[1].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (held + room,) * 2)
print(applied(sys.argv[5]))
"""


def put(place, n):
    """A unit of n inserts, and the payloads that come to it, in files."""
    (place / "written" / "d.t").mkdir(parents=True)
    definition, order = TABLES["int"], np.random.default_rng(1).permutation(n)
    with Log(place / "b.000001") as log:
        log.create(definition)
        for numbers in np.array_split(order, 1 + n // 50_000):
            with log.transaction():
                log.rows(RowChanges(definition, after=rows("int", numbers, numbers)))
    span, _, versions = plan(place, [log.path])
    [spec] = versions[0].units
    edges = []
    with open(place / "payloads", "wb") as file:
        for task in split_tasks(log_segments(span, versions), versions):
            for _, payloads in split_payloads(task):
                for payload in payloads:
                    edges.append((file.tell(), payload.as_buffer().size))
                    file.write(payload.as_buffer())
    target = TableTarget(str(place / "written"), "d.t")
    (place / "unit").write_bytes(pickle.dumps((dataclasses.replace(spec, target=target), edges)))
    return sum(size for _, size in edges)


@pytest.mark.slow
def test_a_large_unit_takes_the_memory_of_a_part(tmp_path, monkeypatch):
    """Of a unit ten times as large as a part, in a process whose memory is limited; whole it does not fit."""
    monkeypatch.setattr(units, "UNIT_BYTES", 1 << 40)
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1 << 40)
    put(tmp_path / "small", 10)
    n_bytes = put(tmp_path / "large", 1_000_000)

    def run(part_bytes):
        return subprocess.run([sys.executable, "-c", LIMITED, str(ROOM), str(part_bytes), str(part_bytes),
                               str(tmp_path / "small"), str(tmp_path / "large")], capture_output=True, text=True,
                              cwd=ROOT)

    whole, divided = run(1 << 40), run(n_bytes // 10)
    assert divided.stdout == "1000000\n", divided.stderr
    assert whole.returncode and "emory" in whole.stderr
