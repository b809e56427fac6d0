"""Reads what `mysqlbinlog -v` and `mariadb-binlog -v` print, and what `applier show` prints in the same form."""

import gzip
import json
import re

from tests.support.folders import CASES

_VERB = re.compile(r"### (INSERT|UPDATE|DELETE)(?: INTO| FROM)? `(.*)`\.`(.*)`( VALUES \(\))?$")
_COLUMN = re.compile(r"###   (@\d+)=(.*)$")
_MORE = "###      "
_OTHERS = "### Extra row info for partitioning: ", "### ALTER TABLE "
"""Of a rows event, and the statement of a MariaDB ALTER that is logged as it begins and as it ends."""


def binlogs(case: str) -> list[str]:
    return sorted(str(path) for path in (CASES / case).glob("binlog.0*"))


def recorded(case: str) -> str:
    """What the server's own tool printed for a case's files, in order:
    `mysqlbinlog --no-defaults -v --base64-output=DECODE-ROWS FILE`, or mariadb-binlog of the same, with TZ=UTC."""
    with gzip.open(CASES / case / "mysqlbinlog-v.txt.gz") as file:
        return file.read().decode("utf-8", "surrogateescape")


def row_changes(text: str) -> list[dict]:
    """The row changes in order: op, table, before and after as in `applier show --format json`."""
    changes: list[dict] = []
    image: dict[str, str] = {}
    for line in text.split("\n"):
        if verb := _VERB.match(line):
            table = f"{verb[2]}.{verb[3]}".replace("``", "`")
            changes.append({"op": verb[1].lower(), "table": table, "before": None, "after": {} if verb[4] else None})
        elif line in ("### WHERE", "### SET", "### SET /* no columns */"):
            image = changes[-1]["before" if line == "### WHERE" else "after"] = {}
        elif column := _COLUMN.match(line):
            image[column[1]] = column[2]
        elif line.startswith(_MORE):  # of a JSON diff
            image[list(image)[-1]] += "\n" + line.removeprefix(_MORE)
        else:
            assert not line.startswith("###") or line.startswith(_OTHERS), line
    return changes


def rows_of_text(text: bytes) -> list[dict]:
    """The row changes in what `show` prints."""
    return row_changes(text.decode("utf-8", "surrogateescape"))


def rows_of_json(text: bytes) -> list[dict]:
    """The same in its JSON lines."""
    objects = map(json.loads, text.split(b"\n")[:-1])
    return [{key: thing[key] for key in ("op", "table", "before", "after")} for thing in objects if "op" in thing]


def headers(text: str) -> list[str]:
    """The start of each event's header line: time, server, end position, checksum."""
    return re.findall(r"(?m)^#(\d{6} [ \d:]{8} server id .*?)\s*\t(?!Rows_query)", text)
