"""Calls every kernel as jobs call it: what the table of their types is recorded by.

    python -m tests.support.exercise     writes applier/kernels/signatures.txt again, after kernels have changed
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import keysearch.memory  # noqa: F401  it has Numba keep kernels where they are kept
from applier.kernels import catalogue, signatures
from applier.options import ChangesOptions, ReplayOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from applier.schema.definition import TableDefinition
    from applier.writer.writer import BinlogWriter

ROWS = 5000


def exercise() -> None:
    """Call every kernel as a replay calls it: a small log is replayed in this process, to a point and then from there;
    kinds of values that it does not hold are converted by themselves."""
    from applier.engine.executor import ThisProcess
    from applier.jobs.changes.job import ChangeLog
    from applier.jobs.history.job import row_history
    from applier.jobs.replay.job import replay_with

    exercise_documents()
    with tempfile.TemporaryDirectory() as folder:
        middle = _write_log(f"{folder}/binlog.000001")
        log, first = f"{folder}/binlog.000001", f"{folder}/first"
        replay_with(ThisProcess(), ReplayOptions((log,), first, stop_position=("binlog.000001", middle)))
        for route in ("walk", "shuffle"):
            replay_with(ThisProcess(), ReplayOptions((log,), f"{folder}/{route}", base=first, route=route))
        complete = ChangeLog(ChangesOptions((log,), base=first, complete=True))
        for _ in (*complete.feed(("d", "i")).batches(), *row_history(complete, ("d", "i")).batches()):
            pass
        exercise_changes(log)
    _convert_other_kinds()
    exercise_decrypting()
    exercise_relay_logs()
    exercise_dumps()
    exercise_diffs()
    exercise_sums()
    exercise_show()
    exercise_rewriting()


def exercise_documents() -> None:
    """The same for the kernels of JSON by themselves."""
    import numpy as np
    import pyarrow as pa

    from jsondiff.apply import apply_diffs
    from jsondiff.binary import to_text
    from jsondiff.normalize import normalize

    document, diffs = _document_and_diffs()
    texts = normalize(to_text(pa.array([document])))
    apply_diffs(texts, pa.array([diffs]), np.array([0, 1], np.int64))


def exercise_decrypting() -> None:
    """The same for the kernels that decrypt, with both ciphers."""
    import numpy as np

    from applier.io.encryption.mariadb_decrypting import EventCipher

    event = np.zeros(64, np.uint8)
    event[9] = len(event)
    for counts in (False, True):
        EventCipher(bytes(16), bytes(12), counts=counts).decrypt(event, len(event), 4)


def exercise_relay_logs() -> None:
    """The same for the kernels that assemble the events of relay logs: the parts of one, from copies, since another
    process may have assembled these ones already."""
    from applier.binlog.archive.archive import open_archive
    from applier.io.mapping import map_file

    logs = Path(__file__).parents[1] / "recorded" / "relay_logs" / "mysql" / "relay"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(logs, copies := f"{folder}/relay")
        for file in open_archive([copies]).files:
            map_file(file.uri)


def exercise_changes(log: str) -> None:
    """The same for the kernels that write changes, and find the statements behind them."""
    from applier.binlog.locating.groups import GroupPass
    from applier.jobs.change_files.job import write_changes
    from applier.options import ChangeFilesOptions, ChangesOptions
    from applier.schema.table_filter import TableFilter, parse_table_list

    groups = GroupPass(log)
    groups.row_statements(groups.head_end, groups.mapped.size)
    with open(os.devnull, "wb") as nowhere:
        write_changes(ChangeFilesOptions(ChangesOptions((log,)), "-", filter=TableFilter(parse_table_list(["d.w"]))),
                      nowhere)


def exercise_dumps() -> None:
    """The same for the kernels that read and write dumps: one with every kind of value becomes a snapshot, which is
    exported and imported again."""
    from applier.jobs.exporting.job import export_snapshot
    from applier.jobs.importing.job import import_dump
    from applier.options import ExportOptions, ImportOptions

    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/dump.sql").write_text(
            "CREATE DATABASE d;\nDELIMITER ;;\nCREATE TRIGGER x AFTER INSERT ON y FOR EACH ROW BEGIN END;;\n"
            "DELIMITER ;\nCREATE TABLE d.t (i INT PRIMARY KEY, p DECIMAL(9,2), n BIT(9), d DATE, m DATETIME, s TIME, "
            "t VARCHAR(9) CHARACTER SET latin1, b BLOB);\n"
            "INSERT INTO d.t VALUES (1, 1.5, b'1', '2000-01-01', '2000-01-01 00:00:00', '00:00:00', 'a', x'00'), "
            "(2, NULL, 'a', NULL, NULL, NULL, NULL, NULL);\n")
        import_dump(ImportOptions(f"{folder}/dump.sql", f"{folder}/first"))
        export_snapshot(ExportOptions(f"{folder}/first", f"{folder}/tsv", "tsv"))
        import_dump(ImportOptions(f"{folder}/tsv", f"{folder}/second"))


def exercise_sums() -> None:
    """The same for the kernels that sum up a snapshot's rows."""
    from applier.io.progress import Silent
    from applier.jobs.importing.job import import_dump
    from applier.jobs.verify.plan import plan
    from applier.jobs.verify.sums import sums_of
    from applier.options import ImportOptions
    from applier.snapshot import manifest

    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/dump.sql").write_text("CREATE DATABASE d;\nCREATE TABLE d.t (i INT PRIMARY KEY, s TIME);\n"
                                              "INSERT INTO d.t VALUES (1, '00:00:00');\n")
        import_dump(ImportOptions(f"{folder}/dump.sql", f"{folder}/snapshot"))
        sums_of(plan(manifest.load(f"{folder}/snapshot")), Silent())


def exercise_diffs() -> None:
    """The same for the kernels that find and write differences of tables without a key, too large for one part."""
    from unittest import mock

    from applier.jobs.diff import json_lines, multisets
    from applier.jobs.diff.job import diff
    from applier.jobs.guarded_sql.repair import Repair
    from applier.jobs.importing.job import import_dump
    from applier.options import DiffOptions, ImportOptions

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(multisets, "PART_BYTES", 1):
        for name in ("a", "b"):
            Path(f"{folder}/{name}.sql").write_text(
                f"CREATE DATABASE d;\nCREATE TABLE d.t (t VARCHAR(9));\nINSERT INTO d.t VALUES ('{name}');\n")
            import_dump(ImportOptions(f"{folder}/{name}.sql", f"{folder}/{name}"))
        found = diff(DiffOptions(f"{folder}/a", f"{folder}/b"))
        for _ in (*Repair(found).statements(), *json_lines.json_lines(found)):
            pass


def exercise_show() -> None:
    """The same for the kernels that print events, and those about some tables."""
    from applier.jobs.show import show
    from applier.jobs.show.selection import Selection
    from applier.schema.table_filter import EVERYTHING
    from applier.writer.writer import BinlogWriter

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        with BinlogWriter(f"{folder}/binlog.000001") as log:
            log.query("CREATE DATABASE d")
        show([f"{folder}/binlog.000001"], "text", nowhere, Selection(tables=EVERYTHING))


def exercise_rewriting() -> None:
    """The same for the kernels that write an archive again."""
    import pyarrow as pa

    from applier.jobs.rewrite.job import rewrite
    from applier.options import RewriteOptions
    from applier.writer.row_encoder import RowChanges
    from applier.writer.writer import BinlogWriter
    from jsondiff.encode import encode

    sql, key = "CREATE TABLE d.j (k INT PRIMARY KEY, j JSON)", pa.array([1], pa.int32())
    rows = [{"k": key, "j": pa.array([encode({"a": ["long" * 9], "b": value})])} for value in (1, 2)]
    with tempfile.TemporaryDirectory() as folder:
        with BinlogWriter(f"{folder}/binlog.000001") as log:
            for statement in ("CREATE DATABASE d", sql):
                log.query(statement)
            with log.transaction():
                log.rows(RowChanges(_definition(sql), after=rows[0]))
                log.rows(RowChanges(_definition(sql), before=rows[0], after=rows[1]))
        rewrite(RewriteOptions((f"{folder}/binlog.000001",), f"{folder}/out", compress=True, partial_json=True,
                               rewrites=(("d", "e"),)))
        with BinlogWriter(f"{folder}/binlog.000002") as log:
            for statement in ("CREATE DATABASE d", sql):
                log.query(statement)
            with log.transaction():
                log.rows(RowChanges(_definition(sql), after=rows[0]))
                diffs = pa.array([_document_and_diffs()[1]])
                log.rows(RowChanges(_definition(sql), before={"k": key}, after={"j": diffs}, diffs=("j",)))
                log.rows(RowChanges(_definition(sql), before={"k": key}))
        rewrite(RewriteOptions((f"{folder}/binlog.000002",), f"{folder}/full", "full"))


def _document_and_diffs() -> tuple[bytes, bytes]:
    from jsondiff import wire
    from jsondiff.diff import Diff, Operation
    from jsondiff.encode import encode
    from jsondiff.path import parse

    return encode({"a": [1]}), wire.encode([Diff(Operation.REPLACE, parse("$.a"), {})])


def _write_log(path: str) -> int:
    """Full and partial images of tables with an integer key, with a text key and without a key, enough for their
    indexes to grow, with JSON and its diffs; and rows that foreign keys delete. Returns a position in the middle."""
    import pyarrow as pa

    from applier.writer.row_encoder import RowChanges
    from applier.writer.writer import BinlogWriter

    rest = "v DECIMAL(50,2), s SET('a','b'), t VARCHAR(9) CHARACTER SET latin1, j JSON)"
    document, diffs = _document_and_diffs()
    statements = (f"CREATE TABLE d.i (k INT PRIMARY KEY, {rest}", f"CREATE TABLE d.b (k VARCHAR(9) PRIMARY KEY, {rest}",
                  f"CREATE TABLE d.n (k INT, {rest}")
    with BinlogWriter(path) as log:
        log.query("CREATE DATABASE d")
        families = _write_families(log)
        for sql in statements:
            log.query(sql)
        for part in range(2):
            middle = log.position
            for sql in statements:
                definition = _definition(sql)
                numbers = range(part * ROWS, (part + 1) * ROWS)
                keys = pa.array(numbers, pa.int32()) if "INT" in sql else pa.array([b"%d" % n for n in numbers])
                row = {"k": keys, "s": pa.array([3] * ROWS, pa.uint64()), "t": pa.array([b"\xe9"] * ROWS),
                       "j": pa.array([document] * ROWS)}
                with log.transaction():
                    log.rows(RowChanges(definition, after=row))
                    log.rows(RowChanges(definition, before={"k": keys}, after={"t": row["t"]}))
                    log.rows(RowChanges(definition, before={"k": keys}, after={"j": pa.array([diffs] * ROWS)},
                                        diffs=("j",)))
                for turn in range(3):  # keys that come and go: an index forgets the dead
                    numbers = range(-1 - turn * ROWS, -1 - (turn + 1) * ROWS, -1)
                    passing = pa.array(numbers, pa.int32()) if "INT" in sql else pa.array([b"%d" % n for n in numbers])
                    with log.transaction():
                        log.rows(RowChanges(definition, after=row | {"k": passing}))
                        log.rows(RowChanges(definition, before={"k": passing}))
            _write_whole_images(log, part)
        _write_part_of_a_key(log)
        _delete_parents(log, families)
    return middle


def _write_part_of_a_key(log: BinlogWriter) -> None:
    """An update that has some of the columns that a unique key depends on: the row has the rest."""
    import pyarrow as pa

    from applier.writer.row_encoder import RowChanges

    sql = "CREATE TABLE d.g (k INT PRIMARY KEY, a INT, b INT, g INT AS (a + b) STORED, UNIQUE KEY (g))"
    definition = _definition(sql)
    log.query(sql)
    one = pa.array([1], pa.int32())
    with log.transaction():
        log.rows(RowChanges(definition, after={"k": one, "a": one, "b": one}))
        log.rows(RowChanges(definition, before={"k": one}, after={"a": one}))


def _write_whole_images(log: BinlogWriter, part: int) -> None:
    """Images of all columns of a table without a key, in the second part about rows of the first, too; and at last one
    whose row has other bytes: bits behind those of NULLs say nothing."""
    import pyarrow as pa

    from applier.writer.row_encoder import RowChanges

    class OtherBits(RowChanges):
        def rows(self) -> pa.BinaryArray:
            [row] = super().rows().to_pylist()
            return pa.array([bytes([row[0] | 0xF0]) + row[1:]], pa.binary())

    sql = "CREATE TABLE d.w (n INT, r DOUBLE)"
    definition = _definition(sql)
    numbers = pa.array(range(ROWS), pa.int32())
    zeros, ones = ({"n": numbers, "r": pa.array([value] * ROWS)} for value in (0.0, 1.0))
    if not part:
        log.query(sql)
    changes = [RowChanges(definition, after=zeros)]
    if part:
        changes += [RowChanges(definition, before=zeros, after=ones)] * 2
        changes += [RowChanges(definition, before=ones), RowChanges(definition, after=zeros)]
        first = {name: values[:1] for name, values in zeros.items()}
        changes.append(OtherBits(definition, before=first))
    for change in changes:
        with log.transaction():
            log.rows(change)


def _definition(sql: str) -> TableDefinition:
    """The table that a CREATE TABLE in database d makes."""
    from applier.schema.ddl.ddl import parse_statement
    from applier.schema.ddl.schema_changes import CreateTable

    [created] = parse_statement(sql, default_database="d", server_charset="utf8mb4")
    assert isinstance(created, CreateTable)
    return created.definition


def _write_families(log: BinlogWriter) -> list[tuple[TableDefinition, TableDefinition, pa.Array, pa.Array]]:
    """Parents with a child each: two foreign keys do not change the child's key, so their effect is followed by value;
    the key of the parents' rows, and the keys of children to come."""
    import pyarrow as pa

    from applier.writer.row_encoder import RowChanges

    families, key = [], pa.array([1], pa.int32())
    for name, column, kind in (("a", "k", "INT"), ("b", "p", "INT"), ("c", "p", "VARBINARY(8)")):
        tables, keys = [], pa.array([1, 2], pa.int32()) if kind == "INT" else pa.array([b"1", b"2"])
        for sql in (f"CREATE TABLE d.{name}_parent (k INT PRIMARY KEY)",
                    f"CREATE TABLE d.{name}_child (k {kind} PRIMARY KEY, p INT, "
                    f"FOREIGN KEY ({column}) REFERENCES d.{name}_parent (k) ON DELETE CASCADE)"):
            log.query(sql)
            tables.append(_definition(sql))
        families.append((*tables, key, keys[1:]))
        with log.transaction():
            log.rows(RowChanges(tables[0], after={"k": key}))
            log.rows(RowChanges(tables[1], after={"k": keys[:1], "p": key}))
    return families


def _delete_parents(log: BinlogWriter,
                    families: list[tuple[TableDefinition, TableDefinition, pa.Array, pa.Array]]) -> None:
    """A child more, and the parents are deleted."""
    from applier.writer.row_encoder import RowChanges

    for parent, child, key, added in families:
        with log.transaction():
            log.rows(RowChanges(child, after={"k": added, "p": key}))
            log.rows(RowChanges(parent, before={"k": key}))


def _convert_other_kinds() -> None:
    import numpy as np
    import pyarrow as pa

    from applier.apply.output.ignored_rows_kernel import copy_rows
    from applier.binlog.events.compression.compressed_kernel import as_plain_events, find_compressed, whole_events
    from applier.mysql.character_sets.charsets import to_utf8
    from applier.mysql.types import NETWORK
    from applier.mysql.values.addresses import network_text
    from applier.plan.stops.gtid_kernel import find_gtids
    from keysearch.collation import equality_keys
    from keysearch.keybytes import encode_keys, find_ranges

    for charset in ("latin1", "sjis", "utf16"):
        to_utf8(pa.array(["é".encode("utf-16-be")]), charset)
    for kind in sorted(NETWORK):
        network_text(pa.array([bytes(4)]), kind)
    for collation in ("utf8mb4_0900_ai_ci", "utf8mb4_bin", "utf8mb4_ja_0900_as_cs", "tis620_thai_ci"):
        equality_keys(pa.array(["a "]), collation)
    find_compressed(0, 0, 0, 0, 0, 0, 0)
    as_plain_events(0, 0)
    whole_events(0, 0)
    none = np.empty(0, np.int64)
    find_gtids(0, 0, 0, none, none)
    keys = encode_keys([pa.array([1, 2]), pa.array(["a", "b"]), pa.array(["c", "d"])])
    find_ranges(keys, keys)
    copy_rows(np.zeros((1, 1), np.int64), np.zeros(1, np.uint8), np.full((1, 1), -1, np.int64), False,
              np.empty(1, np.bool_), np.empty(1, np.int64))


def called() -> list[str]:
    """The signatures of all kernels that this process has called so far, as the table has them: its kernels in its
    order, which has first what takes longest to compile, and new ones last."""
    lines = {str(signatures.Signature(kernel, tuple(types))) for kernel in catalogue.kernels()
             for types in kernel.signatures}
    known = [line.partition("(")[0] for line in signatures.TABLE.read_text().splitlines()]
    names = list(dict.fromkeys(known + sorted(line.partition("(")[0] for line in lines)))
    return sorted(lines, key=lambda line: (names.index(line.partition("(")[0]), line))


if __name__ == "__main__":
    exercise()
    signatures.TABLE.write_text("".join(f"{line}\n" for line in called()))
