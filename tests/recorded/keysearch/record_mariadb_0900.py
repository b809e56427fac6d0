"""Record which strings MariaDB 11.4 and newer take for equal by their aliases of MySQL's collations.

    python -m tests.recorded.keysearch.record_mariadb_0900 HOST PORT
"""

import gzip
import json
import sys
from itertools import groupby

import pymysql

from tests.recorded.keysearch.mariadb_0900 import STRINGS, TRUTH


def main(host: str, port: str) -> None:
    """Write, by collation, the group of equal strings that each string of STRINGS is in."""
    with pymysql.connect(host=host, port=int(port), user="root", charset="utf8mb4") as connection, \
            connection.cursor() as cursor:
        cursor.execute("SELECT collation_name FROM information_schema.collations WHERE collation_name LIKE "
                       "'utf8mb4%0900%' ORDER BY 1")
        names = [name for name, in cursor.fetchall()]
        cursor.execute("CREATE OR REPLACE DATABASE collations")
        cursor.execute("CREATE TABLE collations.t (n INT PRIMARY KEY, c VARCHAR(20) CHARACTER SET utf8mb4)")
        cursor.executemany("INSERT INTO collations.t VALUES (%s, %s)", list(enumerate(STRINGS)))
        found = {}
        for name in names:
            cursor.execute(f"SELECT DENSE_RANK() OVER (ORDER BY c COLLATE {name}) FROM collations.t ORDER BY n")
            found[name] = [rank for rank, in cursor.fetchall()]
        cursor.execute("DROP DATABASE collations")
    assert all(len(list(groupby(ranks))) > 1 for ranks in found.values())
    TRUTH.write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))
    print(f"{len(found)} collations, {len(STRINGS)} strings")


if __name__ == "__main__":
    main(*sys.argv[1:])
