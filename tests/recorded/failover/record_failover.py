"""Records what a MariaDB source answers to a replica at any place: which groups of its log it sends, or error 1236.

    python -m tests.recorded.failover.record_failover SOURCE REPLICA FOLDER

The servers are URLs as real_replicas takes them; what they hold and replicate is gone afterwards. For each history the
source writes groups with the domains, server ids and numbers that HISTORIES says, and the replica (with
gtid_strict_mode=OFF) asks for what comes after each place, with gtid_slave_pos.

A folder has a folder for each history: binlog.NNNNNN of SOURCE, and case.json {"server", "places": {GTIDs: the numbers
of the groups that came, by their order in the log; or the message}}.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

from tests.recorded.differential.real_replicas import Server

FLUSH = "flush"
PURGE = "purge"
HISTORIES = {
    "diverged": "0-1-3 0-2-4 0-2-5 flush 0-2-6",
    "back": "0-1-3 0-1-4 flush 0-2-5 0-2-6 0-1-7 flush 0-1-8 0-2-9",
    "returned": "0-1-3 0-2-4 0-2-5 flush 0-2-6 0-1-7 flush 0-1-8",
    "down": "0-1-100 0-2-50 flush 0-2-51 0-1-101",
    "domains": "0-1-3 1-1-1 0-2-4 flush 1-2-2 0-1-5 1-1-3",
    "purged": "0-1-3 0-2-4 flush purge 0-2-5 0-1-6",
    "hole": "0-1-3 0-1-6 flush 0-1-9",
}
"""Groups after 0-1-1 and 0-1-2, which make the table."""
PLACES = ["0-1-3", "0-1-4", "0-2-4", "0-1-5", "0-2-5", "0-2-6", "0-1-6", "0-1-7", "0-2-7", "0-1-8", "0-2-9", "0-1-99",
          "0-1-100", "0-2-50", "0-2-49", "0-2-51", "0-1-101", "0-1-102", "0-3-4", "0-1-3,1-1-1", "0-2-4,1-1-1",
          "0-2-4,1-2-2", "0-1-5,1-1-3", "0-1-3,1-2-9", "0-1-3,2-1-1", "0-1-4,1-1-1"]
SECONDS = 30


def write(source: Server, history: str) -> list[str]:
    """Write a history; the names of its files."""
    run = source.run
    run("SET sql_log_bin = 0")
    run("DROP DATABASE IF EXISTS d")
    run("SET sql_log_bin = 1")
    run("RESET MASTER")
    run("SET gtid_domain_id = 0, server_id = 1")
    run("CREATE DATABASE d")
    run("CREATE TABLE d.t (id INT PRIMARY KEY, gtid VARCHAR(30))")
    number = 0
    for step in history.split():
        if step == FLUSH:
            run("FLUSH BINARY LOGS")
        elif step == PURGE:
            run(f"PURGE BINARY LOGS TO '{run('SHOW MASTER STATUS')[0][0]}'")
        else:
            domain, server, sequence = map(int, step.split("-"))
            run(f"SET gtid_domain_id = {domain}, server_id = {server}, gtid_seq_no = {sequence}")
            number += 1
            run(f"INSERT INTO d.t VALUES ({number}, '{step}')")
    run("SET gtid_domain_id = 0")
    return [str(row[0]) for row in run("SHOW BINARY LOGS")]


def slave_status(replica: Server) -> dict[str, str]:
    """SHOW SLAVE STATUS."""
    with replica.connection.cursor() as cursor:
        cursor.execute("SHOW SLAVE STATUS")
        return dict(zip((column[0] for column in cursor.description), cursor.fetchone(), strict=True))


def answer(source: Server, replica: Server, place: str) -> list[int] | str:
    """The numbers of the groups that come after a place, or the message."""
    run = replica.run
    for statement in ("STOP SLAVE", "RESET SLAVE ALL", "SET sql_log_bin = 0", "DROP DATABASE IF EXISTS d",
                      "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, gtid VARCHAR(30))", "RESET MASTER",
                      f"SET GLOBAL gtid_slave_pos = '{place}'"):
        run(statement)
    run(f"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {source.place.port}, MASTER_USER = 'root', "
        "MASTER_USE_GTID = slave_pos")
    run("START SLAVE")
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        status = slave_status(replica)
        if status["Last_IO_Error"]:
            return str(status["Last_IO_Error"])
        if status["Last_SQL_Error"]:
            raise RuntimeError(status["Last_SQL_Error"])
        if (status["Relay_Master_Log_File"], status["Exec_Master_Log_Pos"]) == source.run("SHOW MASTER STATUS")[0][:2]:
            return [int(row[0]) for row in run("SELECT id FROM d.t ORDER BY id")]
        time.sleep(0.05)
    raise RuntimeError(f"nothing came for {place}: {status}")


def main(source_url: str, replica_url: str, folder: str) -> None:
    source, replica = Server(source_url), Server(replica_url)
    source.run("SET GLOBAL gtid_strict_mode = OFF")
    replica.run("SET GLOBAL gtid_strict_mode = OFF")
    version = source.run("SELECT VERSION()")[0][0]
    data = Path(source.root + source.run("SELECT @@datadir")[0][0])
    for name, history in HISTORIES.items():
        names = write(source, history)
        target = Path(folder) / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        places = {place: answer(source, replica, place) for place in PLACES}
        for file in names:
            shutil.copy(data / file, target / file)
        (target / "case.json").write_text(json.dumps({"server": version, "places": places}, indent=1) + "\n")
        print(name, {place: found if isinstance(found, list) else found[:60] for place, found in places.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
