"""Plans of archives that are larger than this machine: outlines of files of 1 GB, as they would be, and what a plan
makes of them."""

import dataclasses
import pickle
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from applier.binlog.outline.outline import Outline, Split, Statement, TableUse
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.packed import Packed
from applier.binlog.outline.samples import sample_bytes
from applier.plan.cascades import cascades_of
from applier.plan.log import read_history
from applier.plan.planned import PlannedVersion
from applier.plan.span import span_of
from applier.plan.tasks import log_segments, prefers_shuffle, split_tasks, walking_tasks
from applier.plan.units import changed_versions, divide
from applier.plan.used_tables import used_tables
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot.publish import begin
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from benchmarks.awkward_files import of_awkward_files
from benchmarks.manifests import of_many_files
from benchmarks.measure import in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_FILE_BYTES, _SPLITS = 1 << 30, 16
_TABLES, _ROWS = 20, 30  # rows of a table in a file that is outlined
_DISTINCT = 600  # files at most that are written and outlined; those of the archive are as these, but larger
_CORES = 1600
_COLUMNS = "id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL"


def scale(bench: Bench) -> list[Table]:
    """The plan in the driver, for 100 to 10,000 files of a log; and manifests of 100,000 files of rows."""
    table = Table(
        "Plans of large archives",
        f"Files of 1 GB with changes of {_TABLES} tables in each, planned as one pass for {_CORES:,} cores: outlines "
        "as a replay keeps them, CPU seconds and memory of the driver (outlines and all), and what goes to tasks on "
        "either route: the largest one's own part, and what all have in common, which goes to each machine once.",
        ["files", "outline KB a file", "plan CPU s", "driver MB", "units", "walking tasks", "largest KB",
         "in common MB", "splitting tasks", "largest KB ", "in common MB "],
    )
    for count in (100, 1_000, 10_000):
        table.rows.append([f"{count:,}", *map(number, in_child(planned, bench.folder, count))])
    return [table, of_awkward_files(bench.folder), of_many_files(bench.folder)]


def planned(folder: str, count: int) -> list[float]:
    """The figures of the table for an archive of this many files."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        outlines = _outlines(Path(place), count)
        started = time.process_time()
        span = span_of(outlines)
        history = read_history(span, _everything, None, None)
        used = used_tables(span, history, _everything)
        cascades = cascades_of(history, used, idempotent=False, compressed=False)
        versions = changed_versions(used, history, cascades)
        with begin(f"{place}/out") as staging:
            divide(versions, None, staging, _CORES, idempotent=False, cascades=cascades)
        segments = log_segments(span, versions)
        walks = walking_tasks(segments, versions, _CORES)
        prefers_shuffle(span, walks, versions, on_one_disk=False)
        splits = split_tasks(segments, versions)
        seconds = time.process_time() - started
        return [_kilobytes(outlines[-1]), seconds, _resident_megabytes(), _units(versions),
                len(walks), max(map(_kilobytes, walks.shares)), _kilobytes(walks.segments) / 1e3,
                len(splits), max(map(_kilobytes, splits.parts)), _kilobytes(splits.units) / 1e3]


def _everything(database: str, _: str) -> bool:
    return database == "d"


def _units(versions: list[PlannedVersion]) -> int:
    return sum(len(item.units) for item in versions)


def _kilobytes(what: object) -> float:
    return len(pickle.dumps(what, pickle.HIGHEST_PROTOCOL)) / 1e3


def _resident_megabytes() -> float:
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1e3


def _outlines(folder: Path, count: int) -> list[Outline]:
    files = _written(folder, min(count, _DISTINCT))
    distinct = [outline_file(str(file), sample_bytes=sample_bytes(_FILE_BYTES, count * _FILE_BYTES)) for file in files]
    return [_as_large(distinct[number % len(distinct)], number) for number in range(count)]


def _as_large(found: Outline, number: int) -> Outline:
    """The outline of a file of 1 GB with the same tables."""
    outline: Outline = pickle.loads(pickle.dumps(found))
    times, part = _FILE_BYTES // found.size, _FILE_BYTES // _SPLITS
    outline.name = f"binlog.{number + 1:06d}"
    outline.uri, outline.size, outline.end = f"/backup/{outline.name}", _FILE_BYTES, _FILE_BYTES
    outline.tables = Packed(TableUse, [dataclasses.replace(use, n_events=use.n_events * times,
                                                           n_bytes=use.n_bytes * times) for use in outline.tables])
    [split] = outline.splits
    outline.splits = Packed(Split, [dataclasses.replace(split, start=place * part, end=(place + 1) * part,
                                                        digest=number * 2**40 + place) for place in range(_SPLITS)])
    outline.row_bytes *= times
    if number:
        outline.statements = Packed(Statement)
    return outline


def _written(folder: Path, count: int) -> list[Path]:
    """Small files with rows of random keys, so that samples of tables are what they are in large ones."""
    random = np.random.default_rng(1)
    tables = [parse_statement(f"CREATE TABLE d.t{number} ({_COLUMNS})", server_charset="utf8mb4")[0].definition
              for number in range(_TABLES)]
    files = [folder / f"binlog.{number + 1:06d}" for number in range(count)]
    log = BinlogWriter(files[0])
    log.query("CREATE DATABASE d")
    for table in tables:
        log.query(table.to_sql())
    for place, file in enumerate(files):
        if place:
            log = log.rotate(file)
        for table in tables:
            log.transactions([RowChanges(table, after={
                "id": pa.array(random.integers(0, 2**60, _ROWS)), "k": pa.array(range(_ROWS), pa.int32()),
                "c": pa.array(["c" * 120] * _ROWS), "pad": pa.array(["p" * 60] * _ROWS)})])
    log.close()
    return files
