"""Names that mean something to shells, clients, terminals, paths or pages, through a log, a replay and an export.

As `python -m tests.recorded.exporting.bad_names`:

    URL…    loads the exports into real servers, by each one's own client, and compares what is then there; nothing else
            may have happened

A URL is as round_trip.py has it; names of programs may follow in MYSQL.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from applier.engine.executor import ThisProcess
from applier.jobs.exporting.job import LOAD, export_snapshot
from applier.jobs.replay.job import replay_with
from applier.mysql.types import quote_name, quote_text
from applier.options import ExportOptions, ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

FORMATS = ("sql", "tsv")
NAMES = (
    "-rf", "--help", "-e", "$(touch PWNED)", "`touch PWNED`", "a;touch PWNED", "a'; touch PWNED; '",
    'a"; touch PWNED; "',
    "a\ntouch PWNED\nb", "a\r\ntouch PWNED", "\\! touch PWNED", "a\n\\! touch PWNED\nb", "a\\", "a\\`b", "\\'",
    "x */ y", "/* x",
    "/*!50000 x", "-- x", "#x", "..", ".", "../../up", "a/b", "/etc/x", "_snapshot.json", "_load.sh", "con", "nul.txt",
    "aux:",
    "%2F", "\x1b[2Jred", "\x1b]0;title\x07", "\x9b31m", "\u202egnp.exe", "\u2028line", "\ufeffbom", "tab\there", "\x7f",
    "\x01",
    "<script>alert(1)</script>", "&amp;", "{x}", "%s%n", "delimiter", "a\nDELIMITER //\nb", "\\0", "\\N", "x" * 64,
    "ü" * 30,
    "'", "''", '"', "`", "``", "A", "a", "~root", "!history", "a&b", "a|b", "*", "?", "[a]", "a=b", "+x", "@x", "名前",
    "a,b", "本", "2024年",
    "--defaults-file=x", "\x1a", "a\x08b",
)
"""All of them are names that both servers take, for databases, tables, columns, keys and partitions."""
NO_NAMES = ("nul\0", "", "x" * 65)
"""No server takes these."""
EVIL = ("InnoDB; DROP DATABASE PWNED", "InnoDB;\n\\! touch PWNED\n-- ", "utf8mb4 \\! touch PWNED", "utf8mb4_bin)(",
        "x'", "x/*", "-- ",
        "x\ny", "x y", "é")
"""What is a name of no engine, character set or collation."""


def table_sql(name: str, database: str) -> str:
    """A CREATE TABLE with the name in every place that has one, and as text in every place that has text."""
    column, text = quote_name(name[:60] + "_id"), quote_text(name)
    return (f"CREATE TABLE {quote_name(database)}.{quote_name(name)} ({column} INT NOT NULL COMMENT {text}, "
            f"{quote_name(name)} VARCHAR(200) DEFAULT {text} COMMENT {text}, e ENUM({text}, 'other'), "
            f"g VARCHAR(300) GENERATED ALWAYS AS (CONCAT({quote_name(name)}, {text})) VIRTUAL, "
            f"PRIMARY KEY ({column}), KEY {quote_name(name)} ({quote_name(name)})) COMMENT {text} "
            f"PARTITION BY RANGE ({column}) (PARTITION {quote_name(name)} VALUES LESS THAN MAXVALUE)")


def rows(name: str) -> list[tuple]:
    """What is in each table: the ids, the text, and what the ENUM has."""
    return [(1, name, name), (2, name + "\\", "other"), (3, None, None)]


def made_snapshot(folder: Path, flavour: str) -> Path:
    """A snapshot of a log with a table for each name, in a database of that name, and all tables in one database."""
    with BinlogWriter(folder / "binlog.000001", flavour=flavour) as log:
        for name in NAMES:
            log.query(f"CREATE DATABASE IF NOT EXISTS {quote_name(name)}")
            _write(log, name, name, flavour)
            if name != "one database":
                _write(log, name, "one database", flavour)
    output = folder / "snapshot"
    replay_with(ThisProcess(), ReplayOptions((str(folder / "binlog.000001"),), str(output)))
    return output


def _write(log: BinlogWriter, name: str, database: str, flavour: str) -> None:
    sql = table_sql(name, database)
    log.query(sql)
    [made] = parse_statement(sql, flavour=flavour)
    definition = made.definition
    ids, texts, labels = zip(*rows(name), strict=True)
    after = {definition.columns[0].name: pa.array(ids, pa.int32()), definition.columns[1].name: pa.array(texts),
             "e": pa.array([None if label is None else definition.column("e").type.members.index(label) + 1
                            for label in labels], pa.int64())}
    with log.transaction():
        log.rows(RowChanges(definition, after=after))


def exported(snapshot: Path, output: Path, form: str) -> Path:
    """The export of a snapshot."""
    export_snapshot(ExportOptions(str(snapshot), str(output), form))
    return output


def judge(server, folder: Path) -> list[str]:
    """Lines about what a real server does not hold after its client was given the exports."""
    wrong = []
    snapshot = made_snapshot(folder, server.flavour)
    for form in FORMATS:
        for name in (*NAMES, "one database"):
            server.run(f"DROP DATABASE IF EXISTS {quote_name(name)}")
        server.run("SET GLOBAL local_infile = 1")
        place = exported(snapshot, folder / form, form)
        before = sorted(str(path) for path in folder.rglob("*"))
        done = subprocess.run(["sh", str(place / LOAD), *server.address], capture_output=True, text=True, cwd=folder)
        if done.returncode or done.stderr:
            wrong.append(f"{form}: {done.stderr[:2000]}")
        if sorted(str(path) for path in folder.rglob("*")) != before:
            wrong.append(f"{form}: the client made files")
        for name in NAMES:
            for database in (name, "one database"):
                wrong += [f"{form}: {name!r} in {database!r}: {line}" for line in _differences(server, name, database)]
    return wrong


def _differences(server, name: str, database: str) -> list[str]:
    table = f"{quote_name(database)}.{quote_name(name)}"
    try:
        held = server.run(f"SELECT {quote_name(name[:60] + '_id')}, {quote_name(name)}, e FROM {table} ORDER BY 1")
        comment = server.run(
            f"SELECT column_comment FROM information_schema.columns WHERE table_schema = {quote_text(database)} "
                             f"AND table_name = {quote_text(name)} AND column_name = {quote_text(name)}")
    except Exception as error:
        return [str(error)]
    found = [] if [(int(number), text, label) for number, text, label in held] == rows(name) else [f"has rows {held!r}"]
    return found if comment == [(name,)] else [*found, f"has the comment {comment!r}"]


def main(urls: list[str]) -> int:
    """See above; 1 where something is wrong."""
    from tests.recorded.differential.real_replicas import Server

    failed = 0
    for url in urls:
        with tempfile.TemporaryDirectory() as place:
            wrong = judge(Server(url), Path(place))
        print(url, os.environ.get("MYSQL", ""), "equal" if not wrong else "\n  ".join(["differs", *wrong]), flush=True)
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
