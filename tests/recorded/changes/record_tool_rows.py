"""Record which rows `mysqlbinlog -v` and `mariadb-binlog -v` print for the recorded cases, for test_lines_and_tools.py.

    python -m tests.recorded.changes.record_tool_rows [--mysqlbinlog COMMAND] [--mariadb-binlog COMMAND]

The commands read a file from standard input. Cases that have a mysqlbinlog-v.txt.gz need none here.
"""

import argparse
import json
import lzma
import os
import re
import shlex
import subprocess
from pathlib import Path

from applier.binlog.events.events import read_format
from applier.io.mapping import map_file
from tests.recorded.show.tool_output import recorded
from tests.support.folders import CASES

_OF_ROW = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `|### (SET|WHERE)$|###   ")
TRUTH = Path(__file__).with_name("tool_rows.json.xz")


def cases() -> list[str]:
    """The folders with recorded logs."""
    return sorted({str(path.parent.relative_to(CASES)) for path in CASES.glob("**/binlog.0*")})


def tool_rows() -> dict[str, str]:
    """What the tools print of rows, by case: the files' lines that begin with ###, in
    order."""
    with lzma.open(TRUTH, "rt", encoding="utf-8", errors="surrogateescape") as file:
        rows = dict(json.load(file))
    return {case: rows[case] if case in rows else recorded(case) for case in cases()}


def _printed(file: Path, tools: dict[str, list[str]]) -> str:
    tool = tools[read_format(map_file(str(file))).flavour]
    with open(file, "rb") as log:
        done = subprocess.run([tool[0], "--no-defaults", *tool[1:], "-v", "--base64-output=DECODE-ROWS", "-"],
                              stdin=log, capture_output=True, check=False, env={**os.environ, "TZ": "UTC"})
    if done.returncode:
        print(f"{file}: the server's tool gives up on it: {done.stderr.decode()}")
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\n")
    return "\n".join(line for line in lines if _OF_ROW.match(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mysqlbinlog", default="mysqlbinlog")
    parser.add_argument("--mariadb-binlog", default="mariadb-binlog --skip-gtid-strict-mode")
    options = parser.parse_args()
    tools = {"mysql": shlex.split(options.mysqlbinlog), "mariadb": shlex.split(options.mariadb_binlog)}
    rows = {case: "\n".join(_printed(file, tools) for file in sorted((CASES / case).glob("binlog.0*")))
            for case in cases() if not (CASES / case / "mysqlbinlog-v.txt.gz").exists()}
    TRUTH.write_bytes(lzma.compress(json.dumps(rows).encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
