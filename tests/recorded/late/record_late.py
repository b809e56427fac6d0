"""Records logs that begin after their table was made, with full images and with minimal ones.

    python -m tests.recorded.late.record_late mysql://root@127.0.0.1:3306 DATADIR FOLDER

Writes FOLDER/full and FOLDER/minimal, a binlog each: rows of d.t are updated and deleted. The log's metadata are
complete.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pymysql

MADE = ("DROP DATABASE IF EXISTS d", "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, v VARCHAR(20))",
        "INSERT INTO d.t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')", "SET GLOBAL binlog_row_metadata = FULL",
        "FLUSH BINARY LOGS")
CHANGES = "UPDATE d.t SET v = 'x'", "DELETE FROM d.t WHERE id = 2"


def main(server: str, datadir: str, folder: str) -> None:
    """Run the statements, and copy the log that has the changes."""
    place = urlsplit(server)
    connection = pymysql.connect(host=place.hostname, port=place.port or 3306, user=place.username or "root",
                                 autocommit=True)
    for image in ("full", "minimal"):
        with connection.cursor() as cursor:
            for statement in (*MADE, f"SET binlog_row_image = {image}", *CHANGES):
                cursor.execute(statement)
            cursor.execute("SHOW BINARY LOGS")
            [*_, (name, *_)] = cursor.fetchall()
        made = Path(folder) / image
        made.mkdir(parents=True)
        shutil.copyfile(Path(datadir) / name, made / "binlog.000001")


if __name__ == "__main__":
    main(*sys.argv[1:])
