"""Which events mysqlbinlog and mariadb-binlog find in a file: (type, end position) of each, and what `show` finds.

As `python -m tests.recorded.show.tool_events`:

    FILE...                                 compares, and says where they differ
    --record tool_events.json.gz FILE...    keeps what the tools find

`--mysqlbinlog` and `--mariadb-binlog` are the commands to take for the tools; both read a file from standard input.
"""

import argparse
import gzip
import json
import pathlib
import re
import shlex
import subprocess
import sys
from collections import Counter

from applier.binlog.events.events import read_format
from applier.io.mapping import map_file
from applier.jobs.show import show

RECORDED = pathlib.Path(__file__).parent / "tool_events.json.gz"
_HEADER = re.compile(r"(?m)^#\d{6} [ \d:]{8} server id \d+  end_log_pos (\d+)(?: CRC32 0x[0-9a-f]+)?\s*(.*)$")
_TITLES = {
    "Start": "FORMAT_DESCRIPTION", "Previous-GTIDs": "PREVIOUS_GTIDS", "Gtid": "GTID_LIST", "XA": "XA_PREPARE",
    "XID": "XA_PREPARE", "Binlog": "BINLOG_CHECKPOINT", "Update_rows_partial": "PARTIAL_UPDATE_ROWS",
    "#Begin_load_query": "BEGIN_LOAD_QUERY",
}  # fmt: skip
"""First words of what a header line ends with, where they are not the type's name."""

Found = Counter[tuple[str, int]]
"""How many events there are of a type that end at a position (those within a compressed one end where it does)."""


def of_text(text: str) -> Found:
    """The events in what a tool, or `show`, prints."""
    found = Counter()
    for end, title in _HEADER.findall(text):
        word = re.split(r"[\s:]", title)[0]
        found[_TITLES.get(word, word.upper()), int(end)] += 1
    return found


def of_json(text: str) -> Found:
    """The events in what `show --format json` prints; a row change has a line of its own."""
    found, before = Counter(), None
    for line in text.split("\n")[:-1]:
        event = json.loads(line)
        place = event["pos"], event["type"], event.get("within")
        if "op" not in event or place != before:
            found[_tool_name(event["type"]), event["end"]] += 1
        before = place
    return found


def _tool_name(name: str) -> str:
    """The name that the tools know no version or flavour of."""
    name = {"GTID_TAGGED": "GTID", "MARIADB_GTID": "GTID"}.get(name, name.removesuffix("_V1"))
    return re.sub(r"(\w+)_ROWS_COMPRESSED$", r"\1_COMPRESSED_ROWS", name)


def shown(file: str, format: str) -> str:
    """What `show` prints of a file."""
    out = _Output()
    show([file], format, out)
    return b"".join(out.parts).decode("utf-8", "surrogateescape")


class _Output:
    """A text stream whose bytes can be had."""

    def __init__(self):
        self.parts = []
        self.buffer = self

    def write(self, data: bytes) -> None:
        self.parts.append(data)

    def flush(self) -> None:
        pass


def recorded() -> dict[str, Found]:
    """What the tools found in the files of recorded/cases, by "case/file"."""
    with gzip.open(RECORDED, "rt") as file:
        return {name: Counter({(kind, end): count for kind, end, count in events})
                for name, events in json.load(file).items()}


def of_tool(file: str, tools: dict[str, list[str]]) -> Found | None:
    """What the server's tool finds; None where it gives up on the file."""
    options = ["--no-defaults", "-vv", "--base64-output=DECODE-ROWS", "-"]
    with open(file, "rb") as log:
        done = subprocess.run([*tools[read_format(map_file(file)).flavour], *options], stdin=log, capture_output=True,
                              check=False)
    return None if done.returncode else of_text(done.stdout.decode("utf-8", "surrogateescape"))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--mysqlbinlog", default="mysqlbinlog")
    parser.add_argument("--mariadb-binlog", default="mariadb-binlog")
    options = parser.parse_args(arguments)
    tools = {"mysql": shlex.split(options.mysqlbinlog), "mariadb": shlex.split(options.mariadb_binlog)}
    kept, differ, events = {}, 0, 0
    for file in options.files:
        expected = of_tool(file, tools)
        if expected is None:
            print(f"{file}: the server's tool gives up on it")
            continue
        kept["/".join(pathlib.Path(file).parts[-2:])] = [[*event, count] for event, count in sorted(expected.items())]
        events += expected.total()
        for format, found in (("json", of_json(shown(file, "json"))), ("text", of_text(shown(file, "text")))):
            if found != expected:
                differ += 1
                print(f"{file}: {format} lacks {dict(expected - found)}, and has {dict(found - expected)}")
    print(f"{events} events of {len(kept)} files, {differ} files differ")
    if options.record:
        pathlib.Path(options.record).write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
