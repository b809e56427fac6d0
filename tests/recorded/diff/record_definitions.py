"""Records how servers log table definitions, and how their dump programs write the same tables.

    python -m tests.recorded.diff.record_definitions NAME URL DATADIR DUMP…

NAME is that of the recording, URL is mysql://USER@HOST:PORT or mariadb://… of a server whose data is nobody's, DATADIR
its data directory, DUMP the command that dumps the database `d` of it. Writes NAME.binlog.gz and NAME.sql.gz into
`definitions` beside this file.
"""

import gzip
import subprocess
import sys
from pathlib import Path

from tests.recorded.diff.written_definitions import BOTH, MARIADB, MYSQL
from tests.recorded.differential.real_replicas import Server

HERE = Path(__file__).parent / "definitions"


def main(name: str, url: str, datadir: str, *dump: str) -> int:
    """See above."""
    server = Server(url)
    names_file, own = ("binlog.", MYSQL) if server.flavour == "mysql" else ("binlog.", [
        "CREATE SEQUENCE seq", *MARIADB])
    server.run("SET sql_log_bin = 1")
    server.run("SET sql_mode = DEFAULT")
    server.run("DROP DATABASE IF EXISTS d")
    server.run("FLUSH BINARY LOGS")
    server.run("CREATE DATABASE d CHARACTER SET utf8mb4")
    server.run("USE d")
    server.run("CREATE TABLE PARENT2 (ID INT PRIMARY KEY)")
    for statement in [*BOTH, *own]:
        try:
            server.run(statement)
        except Exception as error:
            print(f"{error}: {statement[:300]}")
    logs = [row[0] for row in server.run("SHOW BINARY LOGS")]
    log = max(logs).decode() if isinstance(logs[0], bytes) else max(logs)
    server.run("FLUSH BINARY LOGS")
    assert log.startswith(names_file)
    shown = subprocess.run(dump, check=True, stdout=subprocess.PIPE).stdout
    for ending, data in ((".binlog.gz", (Path(datadir) / log).read_bytes()), (".sql.gz", shown)):
        with gzip.GzipFile(HERE / f"{name}{ending}", "wb", mtime=0) as file:
            file.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
