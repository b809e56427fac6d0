"""What mysqlbinlog 9.7 and mariadb-binlog 11.8 print of recorded files, byte for byte, as digests.

    python -m tests.recorded.show.tool_texts --mysqlbinlog mysqlbinlog --mariadb-binlog mariadb-binlog

records anew; both programs read a file from standard input, with TZ=UTC. Files are left out of which `show` prints
something else for a reason: mysqlbinlog gives up on GEOMETRY, where it prints the value; mariadb-binlog counts rows by
definitions that it has not; of LOAD DATA the programs make up names of files; and what they add around a transaction
that a file has in part only.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import shlex
import subprocess

from applier.binlog.events.events import read_format
from applier.io.mapping import map_file
from applier.jobs.show import show
from applier.jobs.show.style import Style
from tests.support.folders import CASES

RECORDED = pathlib.Path(__file__).parent / "tool_texts.json.gz"
STYLES = {"-v --base64-output=decode-rows": Style(verbosity=1), "-vv --base64-output=decode-rows": Style(verbosity=2),
          "": Style("auto"), "-vv": Style("auto", 2), "-s": Style("auto", short=True)}
"""What is printed with these options of the programs."""


def shown(path: str, options: str) -> str:
    """The digest of what `show` prints of a file, as a program does with these options."""
    out = io.TextIOWrapper(io.BytesIO())
    show([path], "text", out, style=STYLES[options])
    return digest(out.buffer.getvalue())


def digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def recorded() -> dict[str, dict[str, str]]:
    """Digests by file and options."""
    with gzip.open(RECORDED, "rt") as file:
        return json.load(file)


def main() -> None:
    """Record what the programs print where `show` prints the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mysqlbinlog", required=True)
    parser.add_argument("--mariadb-binlog", required=True)
    given, found = parser.parse_args(), {}
    for path in sorted(CASES.glob("*/binlog.0*")):
        tool = given.mysqlbinlog if read_format(map_file(str(path))).flavour == "mysql" else given.mariadb_binlog
        for options in STYLES:
            with open(path, "rb") as file:
                ran = subprocess.run([*shlex.split(tool), *shlex.split(options), "-"], stdin=file, capture_output=True,
                                     env=os.environ | {"TZ": "UTC"}, check=False)
            if ran.returncode == 0 and digest(ran.stdout) == shown(str(path), options):
                found.setdefault(str(path.relative_to(CASES)), {})[options] = digest(ran.stdout)
            else:
                print(f"{path}: differs with {options or 'no options'}")
    with gzip.open(RECORDED, "wt") as file:
        json.dump(found, file, indent=0, sort_keys=True)


if __name__ == "__main__":
    main()
