"""Records in which partition real servers put rows.

`python -m tests.recorded.conversion.record_partitions FLAVOUR PORT …`

Writes partitions.jsonl beside this file: {flavour, columns, clause, rows, partitions} for each table, where
`partitions` are the numbers of the rows' partitions. Values of rows are as SQL takes them; TIMESTAMPs are at +02:00.
"""

import json
import sys
from pathlib import Path

import pymysql

INTS = [0, 1, -1, 5, -5, 7, 99, -99, 1000003, -1000003, 2**31 - 1, -2**31, 0x20000000, 0x20202020, 128, 255, 256, 65536]
DATES = ["2019-12-31", "2020-01-01", "1999-05-05", "1000-01-01", "9999-12-31", "2024-02-29"]
TEXTS = ["", "M", "m", "m ", "mm", "z", "\u00e9"]
DATETIMES = ["2019-12-31 23:59:59", "2020-01-01 00:00:00", "2020-01-01 01:00:00", "2030-01-01 00:00:00"]


def each(values):
    return [[value] for value in values]


DECIMALS = ["0", "1", "-1", "32", "-32", "8224", "97", "-98", "538976288", "999999999", "-1000000000",
            "12345678901", "-12345678901"]
LABELS = [f"v{number}" for number in range(1, 301)]
TABLES = [
    ("a INT", "RANGE (a) (PARTITION p0 VALUES LESS THAN (-5), PARTITION p1 VALUES LESS THAN (10), "
     "PARTITION p2 VALUES LESS THAN MAXVALUE)", each([*INTS, None])),
    ("a BIGINT UNSIGNED", "RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN "
     "(9223372036854775807), PARTITION p2 VALUES LESS THAN MAXVALUE)", each([0, 10, 2**63 - 2, 2**63 - 1, None])),
    ("a INT", "RANGE (a MOD 10 + 2*ABS(a) DIV 3) (PARTITION p0 VALUES LESS THAN (0), PARTITION p1 VALUES LESS THAN "
     "(10), PARTITION p2 VALUES LESS THAN MAXVALUE)", each([*INTS[:8], None])),
    ("d DATE", "RANGE (TO_DAYS(d)) (PARTITION p0 VALUES LESS THAN (TO_DAYS('2000-01-01')), PARTITION p1 VALUES LESS "
     "THAN (TO_DAYS('2020-01-01')), PARTITION p2 VALUES LESS THAN MAXVALUE)", each([*DATES, None])),
    ("d DATETIME NOT NULL", "RANGE (YEAR(d)) SUBPARTITION BY HASH (MONTH(d)) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS "
     "THAN (2000), PARTITION p1 VALUES LESS THAN (2020))", each(["1999-12-31 23:59:59", "2000-01-01 00:00:00"])),
    ("t TIMESTAMP NOT NULL", "RANGE (UNIX_TIMESTAMP(t)) (PARTITION p0 VALUES LESS THAN "
     "(UNIX_TIMESTAMP('2020-01-01 00:00:00')), PARTITION p1 VALUES LESS THAN MAXVALUE)", each(DATETIMES)),
    ("a INT", "LIST (a) (PARTITION p0 VALUES IN (0,1,NULL), PARTITION p1 VALUES IN (-1,5,7-12,99), "
     "PARTITION p2 VALUES IN (1000003))", each([0, 1, -1, 5, -5, 99, 1000003, None])),
    ("a INT", "HASH (a) PARTITIONS 5", each(INTS)),
    ("a BIGINT", "HASH (a) PARTITIONS 4", each([*INTS, -2**63, 2**63 - 1])),
    ("d DATE NOT NULL", "HASH (TO_DAYS(d)*10+DAYOFWEEK(d)) PARTITIONS 6", each(DATES)),
    ("a INT", "LINEAR HASH (a) PARTITIONS 6", each(INTS)), ("a INT", "LINEAR HASH (a) PARTITIONS 8", each(INTS)),
    ("a INT", "LINEAR HASH (a) PARTITIONS 1", each(INTS)),
    ("a INT NOT NULL", "KEY (a) PARTITIONS 7", each(INTS)),
    ("a INT NOT NULL", "KEY ALGORITHM=1 (a) PARTITIONS 7", each(INTS)),
    ("a BIGINT NOT NULL, b SMALLINT NOT NULL", "KEY (a,b) PARTITIONS 7", [[a, b] for a in INTS for b in (1, -1, 300)]),
    ("a INT UNSIGNED NOT NULL, b TINYINT NOT NULL", "KEY (b,a) PARTITIONS 3",
     [[abs(a), b] for a in INTS for b in (1, -1, 32)]),
    ("a BIGINT UNSIGNED NOT NULL", "KEY (a) PARTITIONS 5", each([0, 1, 2**63, 2**64 - 1, 0x2020202020202020])),
    ("a MEDIUMINT NOT NULL", "KEY (a) PARTITIONS 9", each([a for a in INTS if abs(a) < 2**23])),
    ("a INT NOT NULL PRIMARY KEY", "LINEAR KEY () PARTITIONS 6", each(INTS)),
    ("d DATE", "RANGE COLUMNS (d) (PARTITION p0 VALUES LESS THAN ('2000-01-01'), PARTITION p1 VALUES LESS THAN "
     "('2020-01-01'), PARTITION p2 VALUES LESS THAN (MAXVALUE))", each([*DATES, None])),
    ("a INT, b VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "RANGE COLUMNS (a,b) (PARTITION p0 VALUES LESS "
     "THAN (5,'m'), PARTITION p1 VALUES LESS THAN (5,MAXVALUE), PARTITION p2 VALUES LESS THAN (99,'a'), PARTITION p3 "
     "VALUES LESS THAN (MAXVALUE,MAXVALUE))", [[a, b] for a in (None, -5, 5, 6, 99, 100) for b in (None, *TEXTS)]),
    ("s VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "LIST COLUMNS (s) (PARTITION p0 VALUES IN "
     "('a','\u00e9'), PARTITION p1 VALUES IN ('b',NULL,'it''s'))", each(["A", "E", "e ", "B", None, "IT'S"])),
    ("a INT, s VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "LIST COLUMNS (a,s) (PARTITION p0 VALUES IN "
     "((1,'a'),(2,'b')), PARTITION p1 VALUES IN ((NULL,'x'),(-3,NULL)))",
     [[1, "a"], [2, "b"], [None, "x"], [-3, None]]),
    ("s VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, a INT", "KEY (s,a) PARTITIONS 7",
     [[s, a] for s in (None, *TEXTS) for a in (None, 1, 300)]),
    ("s CHAR(10) CHARACTER SET latin1 COLLATE latin1_bin", "LINEAR KEY (s) PARTITIONS 7", each([None, *TEXTS])),
    ("d DATETIME(4)", "KEY (d) PARTITIONS 7", each([None, *DATETIMES, "2024-02-29 12:34:56.7891"])),
    *((f"d {kind}", f"{how} (d) PARTITIONS 97", each([None, *DECIMALS]))
      for kind in ("DECIMAL(20,0)", "DECIMAL(20,9)", "DECIMAL(22,4)", "DECIMAL(38,17)")
      for how in ("KEY", "KEY ALGORITHM=1")),
    ("d DECIMAL(65,30)", "KEY (d) PARTITIONS 97", each([None, *(f"{text}.{'0' * 29}{text[-1]}" for text in DECIMALS)])),
    *((f"e {kind}({', '.join(map(repr, LABELS[:n]))})", f"{how} (e) PARTITIONS 97", each([None, *LABELS[30:n:32]]))
      for kind, n in (("ENUM", 200), ("ENUM", 300), ("SET", 31), ("SET", 64)) for how in ("KEY", "KEY ALGORITHM=1")),
    ("y YEAR", "KEY (y) PARTITIONS 7", each([None, 0, 1901, 1932, 1997, 2024, 2155])),
]
OF_MYSQL = [
    (f"s VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_{levels}, a INT", f"{kind} ({columns}) PARTITIONS 7",
     [[s, a] for s in (None, *TEXTS) for a in (None, 1, 300)])
    for levels, kind, columns in [("ai_ci", "KEY", "s"), ("as_ci", "KEY", "a,s"), ("as_cs", "LINEAR KEY", "s,a")]
]
OF_MARIADB = [
    ("a INT", "LIST (a) (PARTITION p0 VALUES IN (1,2), PARTITION pd DEFAULT)", each([1, 5, None])),
    ("a INT, s VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "LIST COLUMNS (a,s) (PARTITION p0 VALUES IN "
     "((1,'a')), PARTITION pd DEFAULT)", [[1, "a"], [2, "b"], [None, None]]),
]


def recorded(cursor, columns, clause, rows):
    cursor.execute("DROP TABLE IF EXISTS x")
    cursor.execute(f"CREATE TABLE x ({columns}, nr INT NOT NULL) PARTITION BY {clause}")
    for number, row in enumerate(rows):
        cursor.execute(f"INSERT INTO x VALUES ({', '.join(['%s'] * len(row))}, %s)", [*row, number])
    cursor.execute("SELECT partition_name FROM information_schema.partitions WHERE table_schema = 'partitions' "
                   "AND table_name = 'x' GROUP BY partition_name ORDER BY MIN(partition_ordinal_position)")
    found = {}
    for number, (name,) in enumerate(cursor.fetchall()):
        cursor.execute(f"SELECT nr FROM x PARTITION ({name})")
        found |= {row: number for row, in cursor.fetchall()}
    return [found[number] for number in range(len(rows))]


def main(servers):
    lines = []
    for flavour, port in servers:
        cursor = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True).cursor()
        for sql in ("DROP DATABASE IF EXISTS partitions", "CREATE DATABASE partitions", "USE partitions",
                    "SET time_zone = '+02:00'"):
            cursor.execute(sql)
        for columns, clause, rows in TABLES + (OF_MARIADB if flavour == "mariadb" else OF_MYSQL):
            lines.append(json.dumps({"flavour": flavour, "columns": columns, "clause": clause, "rows": rows,
                                     "partitions": recorded(cursor, columns, clause, rows)}))
        cursor.execute("DROP DATABASE partitions")
    (Path(__file__).parent / "partitions.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main([(flavour, int(port)) for flavour, port in zip(sys.argv[1::2], sys.argv[2::2], strict=True)])
