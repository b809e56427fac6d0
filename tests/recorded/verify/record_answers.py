"""Records what servers answer to `applier verify --sql` in the states that recorded cases end with.

    python -m tests.recorded.verify.record_answers --mysql COMMAND --mysqlbinlog COMMAND --mariadb … --mariadb-binlog …

The commands are the clients of two empty servers, with all that they need to connect, and the tools that print a binlog
which they read from standard input. A case's log is applied by its server; then it is asked.
"""

import argparse
import json
import lzma
import shlex
import subprocess
import tempfile
from pathlib import Path
from unittest import mock

from applier.jobs.verify import plan as planning
from applier.jobs.verify import statements
from applier.snapshot import manifest
from tests.recorded.verify.answers import CASES, RANGED, RANGED_ROWS, TRUTH
from tests.support.real_server import Case, replayed


def _run(command: list[str], text: bytes) -> bytes:
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout


def _asked(name: str, tool: list[str], client: list[str]) -> dict[str, str]:
    case = Case(name)
    with tempfile.TemporaryDirectory() as folder:
        replayed(case, Path(folder) / "snapshot")
        snapshot = manifest.load(f"{folder}/snapshot")
        with mock.patch.object(planning, "RANGE_ROWS", RANGED_ROWS if name in RANGED else planning.RANGE_ROWS):
            plans = {hash: planning.plan(snapshot, hash=hash) for hash in ("crc32", "sha2")}
    for file in case.binlogs:
        _run([*client, "--binary-mode"], _run([*tool, "--disable-log-bin", "-"], file.read_bytes()))
    asked, every = {hash: statements.sums(plan) for hash, plan in plans.items()}, plans["crc32"]
    asked["rows"] = statements.rows(every, {table.full_name: range(table.ranges) for table in every.tables})
    found = {kind: _run([*client, "--batch"], "".join(f"{sql};\n" for sql in lines).encode()).decode()
             for kind, lines in asked.items()}
    drops = "".join(f"DROP DATABASE {database.name};\n" for database in snapshot.databases)
    _run(client, f"SET sql_log_bin = 0;\nSET foreign_key_checks = 0;\n{drops}".encode())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("mysql", "mysqlbinlog", "mariadb", "mariadb-binlog"):
        parser.add_argument(f"--{name}", required=True, type=shlex.split)
    options = parser.parse_args()
    by_server = {False: (options.mysqlbinlog, options.mysql), True: (options.mariadb_binlog, options.mariadb)}
    found = {case: _asked(case, *by_server["mariadb" in case]) for case in (*CASES, *RANGED)}
    TRUTH.write_bytes(lzma.compress(json.dumps(found).encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
