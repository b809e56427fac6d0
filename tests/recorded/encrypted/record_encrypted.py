"""Records encrypted logs of real servers, whose keys are rotated in their middle, and the rows that they end with.

    python -m tests.recorded.encrypted.record_encrypted first|second PORT DATADIR KEYS FOLDER

`first` runs statements on a server whose binlogs are encrypted, and keeps its first log and its keys. Then its key is
rotated: on MySQL by ALTER INSTANCE ROTATE BINLOG MASTER KEY, which forgets the old one, on MariaDB by a restart with
another key file, for aes_ctr an encrypted one. `second` continues, and keeps the other logs, new keys and the rows, as
recorded cases have these (tests/support/real_server.py), for which ROWS_PROGRAM is called with the port and a folder.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pymysql

FIRST = ["CREATE DATABASE shop",
         "CREATE TABLE shop.item (id INT PRIMARY KEY, name VARCHAR(100), note TEXT, price DECIMAL(10,2))",
         "CREATE TABLE shop.log (at DATETIME(6), what VARCHAR(300))",
         *(f"INSERT INTO shop.item VALUES ({n}, REPEAT('n', {n}), NULL, {n}.25), ({n + 1000}, 'é', 'x', -{n})"
           for n in range(1, 60)),
         "INSERT INTO shop.item VALUES (5000, 'large', REPEAT('0123456789abcdef', 3000), 0)",
         "UPDATE shop.item SET price = price * 2 WHERE id BETWEEN 10 AND 30",
         *(f"INSERT INTO shop.log VALUES ('2026-03-14 10:30:00.{n:06d}', REPEAT('w', {n}))" for n in range(40))]
SECOND = ["DELETE FROM shop.item WHERE id % 7 = 0", "ALTER TABLE shop.item ADD COLUMN more BIGINT DEFAULT 7",
          "UPDATE shop.item SET note = 'after the rotation', more = id * 1000 WHERE id < 1020",
          "DELETE FROM shop.log WHERE LENGTH(what) < 9", "INSERT INTO shop.item VALUES (6000, 'last', 'one', 1, 2)"]


def main(part: str, port: str, datadir: str, keys: str, folder: str) -> None:
    """Run a part."""
    server, place, made = pymysql.connect(port=int(port), user="root", host="127.0.0.1"), Path(datadir), Path(folder)
    with server.cursor() as cursor:
        for statement in [*(FIRST if part == "first" else SECOND), "FLUSH BINARY LOGS"]:
            cursor.execute(statement)
            server.commit()
    made.mkdir(parents=True, exist_ok=True)
    logs = sorted(place.glob("binlog.[0-9]*"))[:-1]
    for log in logs[:1] if part == "first" else logs[1:]:
        shutil.copyfile(log, made / log.name)
    shutil.copyfile(keys, made / f"keys.{part}")
    if part == "second":
        subprocess.run([*shlex.split(os.environ["ROWS_PROGRAM"]), port, str(made / "expected")], check=True)
    print(made, [path.name for path in sorted(made.iterdir())])


if __name__ == "__main__":
    main(*sys.argv[1:])
