"""Files of SQL with hostile rows, given to real clients of every character set.

As `python -m tests.recorded.exporting.client_charsets`:

    URL CLIENT…    writes undo.sql, `diff --format sql`, `verify --sql` and an export of hostile rows, in tables and
                   columns whose names could be misread, and gives each to each client in each character set, with and
                   without --force, as it is and without its head: the server then has exactly these rows, another
                   table is as it was, and no command of the client has run

A URL is as round_trip.py has it; a CLIENT is a command line, such as "mariadb --skip-ssl" or "chroot /opt/sid mysql".
"""

from __future__ import annotations

import itertools
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import applier
import applier.binlog
from applier import cli
from applier.mysql.client_sql import HEAD
from applier.mysql.types import quote_name
from tests.recorded.exporting.bad_names import NAMES as BAD_NAMES
from tests.support.client_scanner import CHARSETS

SHELL = "縗'縗\\! touch PWNED # "
SQL = "縗'; COMMIT; DELETE FROM app.victim; COMMIT; -- "
NAMES = ["本", "2024年", "größé", "売_上", "e"]
SEEDS = 60
PARTS = ["縗", "本", "é", "ß", "ソ", "表", "한", "\u0080", "\u3000", "😀", "\\", "'", '"', "`", "\n", "\r", "\x1a",
         "\0", ";", "\n\\! touch PWNED\n", "\\! touch PWNED # ", "; DELETE FROM app.victim; -- ",
         "\nDELIMITER x\n", "n", " "]


def hostile() -> list[str]:
    """Texts in which every byte from 0x80 on comes before a backslash, a quote and the end."""
    choose = random.Random(1)
    ends = [f"{chr(code)}{end}" for code in (*range(0x80, 0xC0), 0x672C, 0x7E17, 0x30BD, 0x1F600)
            for end in ("\\! touch PWNED # ", "'; DELETE FROM app.victim; -- ", "\\", "")]
    mixed = ["".join(choose.choices(PARTS, k=8)) for _ in range(SEEDS)]
    return [SHELL, SQL, *ends, *mixed, *BAD_NAMES]


class Files:
    """The files, in a folder, and the rows of each table before and after each is loaded."""

    def __init__(self, folder: Path, flavour: str) -> None:
        self.folder, texts = folder, hostile()
        rows = {"id": list(range(len(texts))), "x年": texts, "2024年": texts[::-1]}
        self.rows = sorted(zip(*rows.values(), strict=True))
        self.definitions = [
            f"CREATE TABLE app.{quote_name(name)} (id INT PRIMARY KEY, x年 TEXT COMMENT '状態\n1', "
            "`2024年` TEXT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4" for name in NAMES]
        log, earlier = folder / "x.000001", folder / "y.000001"
        for path, deletes in ((earlier, False), (log, True)):
            with applier.binlog.Writer(str(path), flavour=flavour) as writer:
                writer.query("CREATE DATABASE app")
                for definition in self.definitions:
                    writer.query(definition)
                with writer.transaction():
                    for name in NAMES:
                        writer.insert(f"app.{name}", rows)
                if deletes:
                    with writer.transaction():
                        for name in NAMES:
                            writer.delete(f"app.{name}", rows)
        now, after, number = str(folder / "now"), str(folder / "after"), len(NAMES) + 3
        applier.replay(str(earlier), now)
        applier.replay(str(log), after)
        gtid = f"00000000-0000-4000-8000-000000000001:{number}" if flavour == "mysql" else f"0-1-{number}"
        applier.undo(str(log), folder / "undo.sql", gtids=gtid)
        if cli.main(["-q", "diff", after, now, "--format", "sql", "--output", str(folder / "diff.sql")]) or \
                cli.main(["-q", "export", now, "--output", str(folder / "export")]):
            raise RuntimeError("the files cannot be made")
        (folder / "verify.sql").write_text(applier.verify_sql(now))
        self.now = now

    def read(self, name: str) -> bytes:
        """What is given to a client."""
        if name == "export":
            paths = [self.folder / "export/_schema.sql", *sorted((self.folder / "export").rglob("0*.sql"))]
            return b"".join(path.read_bytes() for path in paths)
        return (self.folder / f"{name}.sql").read_bytes()


def judge(server, clients: list[str], folder: Path) -> list[str]:
    """Lines about what a client did that it should not."""
    files, wrong = Files(folder, server.flavour), []
    for client, charset, forced, head, name in itertools.product(
            clients, CHARSETS, ((), ("--force",)), (HEAD, ""), ("undo", "diff", "export", "verify")):
        server.run("DROP DATABASE IF EXISTS app")
        server.run("CREATE DATABASE app CHARACTER SET utf8mb4")
        server.run("CREATE TABLE app.victim (id INT PRIMARY KEY)")
        server.run("INSERT INTO app.victim VALUES (1), (2)")
        for definition, table in zip(files.definitions, NAMES, strict=True):
            if name != "export":
                server.run(definition)
            if name == "verify":
                server.run(f"INSERT INTO app.{quote_name(table)} VALUES "
                           + ", ".join(f"({number}, {_hex(one)}, {_hex(other)})" for number, one, other in files.rows))
        program = shlex.split(client)
        first = next((place for place, word in enumerate(program) if word.startswith("-")), len(program))
        words = [*program[:first], *server.address, *program[first:], f"--default-character-set={charset}", *forced]
        text = files.read(name).replace(HEAD.encode(), head.encode())
        done = subprocess.run(words, input=text, capture_output=True, cwd=folder)
        said = f"{name}{'' if head else ' without its head'} by {client} in {charset} {' '.join(forced)}".strip()
        if b"character set" in done.stderr and done.returncode:
            continue  # the client does not know it
        if done.returncode or b"ERROR" in done.stderr:
            wrong.append(f"{said}: {done.stderr.decode(errors='replace')[:300]}")
        if any(place.exists() for place in _made(words, folder)):
            wrong.append(f"{said}: a shell ran")
        if server.run("SELECT id FROM app.victim ORDER BY id") != [("1",), ("2",)]:
            wrong.append(f"{said}: another table has changed")
        wrong += [f"{said}: {table} has other rows" for table in NAMES if not _has(server, table, files.rows)]
        if name == "verify":
            (folder / "answer.tsv").write_bytes(done.stdout)
            try:
                same = applier.verify(files.now, str(folder / "answer.tsv")).same
            except applier.ApplierError as error:
                same = False
                wrong.append(f"{said}: {error}")
            if not same:
                wrong.append(f"{said}: the server is not said to be equal")
    return wrong


def _has(server, table: str, rows: list[tuple]) -> bool:
    """True if a table is there, with these rows."""
    if (table,) not in server.run("SHOW TABLES FROM app"):
        return False
    held = server.run(f"SELECT id, x年, `2024年` FROM app.{quote_name(table)}")
    return sorted((int(number), one, other) for number, one, other in held) == rows


def _made(words: list[str], folder: Path) -> list[Path]:
    """Where a command that ran would have made its file."""
    return [folder / "PWNED", *([Path(words[1]) / "PWNED"] if words[0] == "chroot" else [])]


def _hex(text: str) -> str:
    return f"_utf8mb4 x'{text.encode().hex()}'"


def main(url: str, *clients: str) -> bool:
    """See above; true where something is wrong."""
    from tests.recorded.differential.real_replicas import Server

    with tempfile.TemporaryDirectory() as place:
        wrong = judge(Server(url), list(clients), Path(place))
    print(url, "equal" if not wrong else "\n  ".join(["differs", *wrong]), flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
