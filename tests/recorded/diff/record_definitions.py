"""Records how servers log table definitions, and how their dump programs write the same tables.

    python -m tests.recorded.diff.record_definitions NAME URL DATADIR DUMP…

NAME is that of the recording, URL is mysql://USER@HOST:PORT or mariadb://… of a server whose data is nobody's, DATADIR
its data directory, DUMP the command that dumps the database `d` of it. Runs the statements of `definitions/both.sql`
and of the server's own file, and writes NAME.binlog.gz and NAME.sql.gz beside them.
"""

import gzip
import subprocess
import sys
from pathlib import Path

from applier.sql.tokens import split_statements
from tests.recorded.differential.real_replicas import Server

HERE = Path(__file__).parent / "definitions"


def main(name: str, url: str, datadir: str, *dump: str) -> int:
    """See above."""
    server = Server(url)
    for statement in ("SET sql_log_bin = 1", "SET sql_mode = DEFAULT", "DROP DATABASE IF EXISTS d",
                      "FLUSH BINARY LOGS", "CREATE DATABASE d CHARACTER SET utf8mb4", "USE d"):
        server.run(statement)
    for file in ("both", server.flavour):
        for statement in split_statements((HERE / f"{file}.sql").read_text(encoding="utf-8")):
            server.run(statement)
    log = max(name for name, *_ in server.run("SHOW BINARY LOGS"))
    server.run("FLUSH BINARY LOGS")
    shown = subprocess.run(dump, check=True, stdout=subprocess.PIPE).stdout
    for ending, data in ((".binlog.gz", (Path(datadir) / log).read_bytes()), (".sql.gz", shown)):
        with gzip.GzipFile(HERE / f"{name}{ending}", "wb", mtime=0) as file:
            file.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
