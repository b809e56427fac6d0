"""Records relay logs of real replicas, with the source's own logs and the rows that the replica has.

    python -m tests.recorded.relay_logs.record_relay_logs NAME SOURCE_PORT SOURCE_DATADIR PORT DATADIR

Both servers are new, and of the kind that NAME begins with. The replica has relay_log=relay-bin, relay_log_purge=0 and
max_relay_log_size=4096: MySQL begins a new file between event groups, MariaDB within them, too. The connection ends and
begins again in the middle. Of NAME ending with -positions, the servers have no GTIDs (MySQL) or do not use them, and
the source has no checksums. Of NAME ending with -restarted, the replica is shut down, and killed, in between, for which
RESTART_PROGRAM is called with TERM or KILL, and the source begins new logs while it is away. ROWS_PROGRAM is called
with the replica's port and a folder. Of mariadb-positions-encrypted the replica has encrypt_binlog=ON.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pymysql

FIRST = ["CREATE DATABASE shop", "CREATE TABLE shop.item (id INT PRIMARY KEY, name VARCHAR(200), price DECIMAL(10,2))",
         "CREATE TABLE shop.log (at DATETIME, what VARCHAR(100))",
         *(f"INSERT INTO shop.item VALUES ({n}, REPEAT('a', {n}), {n}.5)" for n in range(5)),
         "INSERT INTO shop.log VALUES ('2026-03-14 10:30:00', 'new'), ('2026-03-14 10:30:01', 'other')",
         "BEGIN", *(f"INSERT INTO shop.item VALUES ({n}, REPEAT('b', 150), 1)" for n in range(100, 140)), "COMMIT"]
SECOND = ["DELETE FROM shop.item WHERE id BETWEEN 110 AND 120"]
THIRD = ["FLUSH BINARY LOGS", "INSERT INTO shop.item VALUES (1000, 'after the flush', 2)",
         "ALTER TABLE shop.item ADD COLUMN stock INT DEFAULT 3", "UPDATE shop.item SET stock = id WHERE id > 130",
         "DELETE FROM shop.log LIMIT 1"]


def main(name: str, source_port: str, source_datadir: str, port: str, datadir: str) -> None:
    """Record one."""
    source, replica = _connect(source_port), _connect(port)
    is_mariadb, by_positions = name.startswith("mariadb"), "-positions" in name
    word = "SLAVE" if is_mariadb else "REPLICA"
    if by_positions:
        _run(source, "SET GLOBAL binlog_checksum = NONE")
    if is_mariadb:
        _run(replica, f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source_port}, MASTER_USER='root', "
                      f"MASTER_USE_GTID={'no' if by_positions else 'slave_pos'}")
    else:
        _run(replica, f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source_port}, "
                      "SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1, "
                      f"SOURCE_AUTO_POSITION={int(not by_positions)}")
    _run(replica, f"START {word}")
    _run(source, *FIRST)
    _wait(source, replica, is_mariadb)
    _run(replica, "FLUSH RELAY LOGS")
    if name.endswith("-restarted"):
        replica = _restart(port, "TERM")
        _run(replica, f"START {word}")
        _run(source, "INSERT INTO shop.item VALUES (500, 'between restarts', 1)", "FLUSH BINARY LOGS",
             "UPDATE shop.item SET price = 7 WHERE id = 500")
        _wait(source, replica, is_mariadb)
        replica = _restart(port, "TERM" if is_mariadb else "KILL")  # MariaDB's master.info does not survive that
        _run(replica, "FLUSH RELAY LOGS")
        _run(source, "FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
        _run(replica, f"START {word}")
    _run(replica, f"STOP {word} IO_THREAD")
    _run(source, *SECOND)
    _run(replica, f"START {word} IO_THREAD")
    _run(source, *THIRD)
    _wait(source, replica, is_mariadb)
    _run(replica, f"STOP {word}")
    made = Path(__file__).parent / name
    shutil.rmtree(made, ignore_errors=True)
    for folder, place, pattern in (("relay", datadir, "relay-bin.0*"), ("source", source_datadir, "binlog.0*")):
        (made / folder).mkdir(parents=True)
        for log in sorted(Path(place).glob(pattern)):
            shutil.copyfile(log, made / folder / log.name)
    subprocess.run([*shlex.split(os.environ["ROWS_PROGRAM"]), port, str(made / "expected")], check=True)


def _restart(port: str, signal: str) -> pymysql.Connection:
    subprocess.run([*shlex.split(os.environ["RESTART_PROGRAM"]), signal], check=True)
    return _connect(port)


def _connect(port: str) -> pymysql.Connection:
    return pymysql.connect(port=int(port), user="root", host="127.0.0.1", autocommit=True)


def _run(server: pymysql.Connection, *statements: str) -> tuple[tuple[object, ...], ...]:
    with server.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall()


def _wait(source: pymysql.Connection, replica: pymysql.Connection, is_mariadb: bool) -> None:
    """Until the replica has done all that the source has."""
    file, position, *_ = _run(source, "SHOW MASTER STATUS" if is_mariadb else "SHOW BINARY LOG STATUS")[0]
    function = "MASTER_POS_WAIT" if is_mariadb else "SOURCE_POS_WAIT"
    _run(replica, f"SELECT {function}('{file}', {position}, 20)")
    time.sleep(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
