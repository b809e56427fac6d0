"""Outlines of files that have of one kind by the thousand: tables, statements, words of a statement."""

import pickle
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa

from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.samples import sample_bytes
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.relevance import Relevance
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from benchmarks.measure import in_child
from benchmarks.report import Table, number

_SPLITS = 16
_COLUMNS = "id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL"


def of_awkward_files(folder: str) -> Table:
    """What the outline of such a file weighs."""
    table = Table(
        "Outlines of awkward files",
        "What is of one kind by the thousand, in one of 10,000 files: the outline as it is sent, the same as "
        "plain records, and CPU seconds to make it. The 20,000 statements that stay are a database's that is left out.",
        ["a file with", "MB", "outline KB", "as records KB", "outline CPU s"],
    )
    for kind in _KINDS:
        table.rows.append([kind, *map(number, in_child(_outlined, folder, kind))])
    return table


def _outlined(folder: str, kind: str) -> list[float]:
    """The figures of the table."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "binlog.000001"
        _KINDS[kind](path)
        size, wanted = path.stat().st_size, TableFilter(ignored=parse_table_list(["other"])).wanted
        started = time.process_time()
        found = outline_file(str(path), split_bytes=size // _SPLITS, sample_bytes=sample_bytes(0, 1 << 40),
                             relevance=Relevance(wanted))
        seconds = time.process_time() - started
        whole = outline_file(str(path), split_bytes=size // _SPLITS)
        records = [*whole.tables], [[*split.tables] for split in whole.splits], [*whole.statements], whole.samples
        return [size / 1e6, _kilobytes(found), _kilobytes(records), seconds]


def _many_tables(path: Path) -> None:
    [table] = parse_statement(f"CREATE TABLE d.tenant_00000 ({_COLUMNS})", server_charset="utf8mb4")
    rows = RowChanges(table.definition, after={
        "id": pa.array([1, 2]), "k": pa.array([1, 2], pa.int32()), "c": pa.array(["c" * 90] * 2),
        "pad": pa.array(["p" * 30] * 2)})

    def write(log: BinlogWriter) -> None:
        with log.transaction():
            log.rows(rows)

    _repeated(path, write, [*range(10_000)] * _SPLITS)


def _many_statements(path: Path) -> None:
    def write(log: BinlogWriter) -> None:
        for sql in ("INSERT INTO other.log_00000 (id, what, at) VALUES (00000, 'something', NOW())",
                    "CREATE TEMPORARY TABLE tmp_00000 (a INT, b VARCHAR(20))", "FLUSH PRIVILEGES",
                    "GRANT SELECT ON shop.* TO 'user00000'@'%'", "DROP TABLE IF EXISTS other.stage_00000"):
            log.query(sql, "other")

    _repeated(path, write, range(20_000))


def _long_statement(path: Path) -> None:
    with BinlogWriter(path) as log:
        log.query("INSERT INTO shop.t VALUES " + ", ".join(f"({n * 7919 % 99991}, 'row {n}')" for n in range(500_000)))


def _repeated(path: Path, write: Callable[[BinlogWriter], None], numbers: Iterable[int]) -> None:
    """A file of copies of what is written once, each with another number instead of 00000."""
    with BinlogWriter(path, checksum=False) as log:
        start = log.position
        write(log)
    data = path.read_bytes()
    with path.open("wb") as file:
        file.write(data[:start])
        file.writelines(data[start:].replace(b"00000", b"%05d" % number) for number in numbers)


_KINDS = {"10,000 tables, all in each of 16 splits": _many_tables, "100,000 statements": _many_statements,
            "a statement of 10 MB": _long_statement}


def _kilobytes(what: object) -> float:
    return len(pickle.dumps(what, pickle.HIGHEST_PROTOCOL)) / 1e3
