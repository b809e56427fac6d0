"""A run that publishes a snapshot, for tests that kill it: `publish_once`, and `kill_before_line` and `kill_after`,
which do that in a forked process and stop it dead. Run as a script: python publishing_run.py lines|times
beside|in-place FOLDER prints how many runs were killed, and fails where one left an output that is neither absent nor
complete."""

import os
import pathlib
import random
import signal
import sys
import time

import pyarrow as pa

from applier.errors import SnapshotError
from applier.io.disk import durable
from applier.mysql.types import ColumnType
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Key, KeyPart
from applier.snapshot import publish, staging
from applier.snapshot.manifest import MANIFEST, BinlogPosition, Snapshot, load
from applier.snapshot.reader import read_unit
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableWriter

ROWS = pa.table({"id": [1, 2, 3], "text": ["a", "b", None]})
_WATCHED = {publish.__file__, staging.__file__, durable.__file__}


def definition(name: str, database: str = "shop") -> TableDefinition:
    """Of a table with the columns of ROWS."""
    columns = (Column("id", ColumnType("bigint"), nullable=False),
               Column("text", ColumnType("text", charset="utf8mb4", collation="utf8mb4_bin")))
    key = Key("PRIMARY", "primary", (KeyPart("id"),))
    return TableDefinition(database, name, columns, (key,))


def publish_once(output: str, base: Snapshot | None = None) -> Snapshot:
    """A snapshot of a table written again, and one carried over if there is a base; with a stray file of a dead
    attempt."""
    with publish.begin(output) as begun:
        target = begun.target("shop", "orders")
        written = []
        for unit in range(2):
            with TableWriter(target, unit, ROWS.schema, key=["id"], key_kind="int") as writer:
                writer.write(ROWS.set_column(0, "id", pa.array([unit * 10 + n for n in range(3)])))
                written += writer.close()
        with TableWriter(target, 1, ROWS.schema, key=["id"], key_kind="int") as stray:
            stray.write(ROWS)
            stray.close()
        tables = [TableEntry("shop", "orders", definition("orders"), ("id",), "int", tuple(written))]
        if base is not None:
            carried = begun.carry_over(base, base.table("shop", "orders").files, "shop", "copies")
            tables.append(TableEntry("shop", "copies", definition("copies"), ("id",), "int", tuple(carried)))
        snapshot = Snapshot(BinlogPosition("binlog.000001", 4, "", None, "mysql"), tuple(tables))
        return begun.commit(snapshot, "CREATE TABLE orders (id INT);\n", {"seconds": {}}, b"PAR1")


def check_complete(output: str) -> None:
    """Everything that the manifest names can be read, and nothing else is there."""
    snapshot = load(output)
    named = set()
    for table in snapshot.tables:
        assert read_unit(snapshot.uri, table.files, ROWS.schema).num_rows == table.rows == 6
        named |= {file.path for file in table.files}
    assert {str(path.relative_to(output)) for path in pathlib.Path(output).rglob("*.parquet")} == \
        named | {staging.CONFLICTS}
    assert (pathlib.Path(output) / "_schema.sql").read_text().startswith("CREATE")


def killed(stop, output: str, base: Snapshot) -> bool:
    """Publish in a forked process that `stop(pid)` may kill; whether it was killed before its end."""
    pid = os.fork()
    if pid == 0:
        if stop.__name__ == "kill_before_line":
            stop(None)
        try:
            publish_once(output, base)
        finally:
            os._exit(0)
    if stop.__name__ == "kill_after":
        stop(pid)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def _at_line(number: int):
    """Dies before the n-th line that runs in the modules which publish."""
    left = number

    def kill_before_line(_pid):
        def trace(frame, event, _argument):
            nonlocal left
            if frame.f_code.co_filename not in _WATCHED:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace
        sys.settrace(trace)
    return kill_before_line


def _at_time(seconds: float):
    def kill_after(pid):
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    return kill_after


def main(points: str, where: str, folder: str) -> None:
    if where == "in-place":
        os.path.ismount = lambda path: True
    base = publish_once(f"{folder}/base")
    start = time.monotonic()
    publish_once(f"{folder}/timed", base)
    took = time.monotonic() - start
    chance = random.Random(1)
    kills = absent = number = 0
    while True:
        number += 1
        output = f"{folder}/out{number % 5}"            # outputs come again, with what the dead left there
        stop = _at_line(number) if points == "lines" else _at_time(chance.uniform(0, 1.5 * took))
        was_killed = killed(stop, output, base)
        kills += was_killed
        try:
            check_complete(output)
        except SnapshotError:
            assert was_killed, "a run that was not killed left no snapshot"
            assert not os.path.exists(f"{output}/{MANIFEST}")
            assert where == "in-place" or not os.path.exists(output)
            absent += 1
        else:
            durable.shutil.rmtree(output)
        if (points == "lines" and not was_killed) or (points == "times" and number == 80):
            break
    for again in range(5):
        output = f"{folder}/out{again}"
        publish_once(output, base)
        check_complete(output)
    names = sorted(os.listdir(folder))
    assert names == ["base", *(f"out{n}" for n in range(5)), "timed"], names
    print(kills, absent)


if __name__ == "__main__":
    main(*sys.argv[1:])
