"""Records rows whose text does not tell their bytes: codes without a character, and several codes of one.

    python -m tests.recorded.charsets.record_lossy NAME PORT DATADIR

The server has to be empty, with binlogs in DATADIR. The script writes NAME below `lossy`, beside this file: both packed
binlogs, and a line for each table (`expected.jsonl`): its name, and the number, the text that a SELECT shows and the
bytes of each row.
"""

import gzip
import json
import sys
from pathlib import Path

import pymysql

CODES = {"ascii": "E9 EA FF", "swe7": "E9 EA 7F", "greek": "FF AA A4", "armscii8": "27 FF 28",
         "cp932": "ED40 FA5C 81AD",
         "sjis": "5C 815F 81AD", "gbk": "A140 A141 FEFE", "ujis": "5C A1C0 A9FE", "euckr": "A2E8 A2E9 C9A1"}
"""Three codes of each set; one that the server does not keep is left out."""
TABLES = {"p": "a VARCHAR(9) {0} PRIMARY KEY, n INT", "k": "n INT PRIMARY KEY, a CHAR(9) {0}, UNIQUE (a)",
          "b": "a VARCHAR(9) {0} COLLATE {1}_bin PRIMARY KEY, n INT", "u": "a TEXT {0}, n INT"}


def record(name, port, datadir):
    folder = Path(__file__).parent / "lossy" / name
    folder.mkdir(parents=True, exist_ok=True)
    server = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
    cursor = server.cursor()
    cursor.execute("SET sql_mode = ''")
    cursor.execute("CREATE DATABASE d")
    names = []
    for charset, codes in CODES.items():
        for kind, columns in TABLES.items():
            names.append(table := f"{charset}_{kind}")
            cursor.execute(f"CREATE TABLE d.{table} ({columns.format('CHARACTER SET ' + charset, charset)})")
            for number, code in enumerate(["3F", *codes.split()]):
                cursor.execute(f"INSERT IGNORE INTO d.{table} (n, a) VALUES ({number}, x'{code}')")
            cursor.execute(f"DELETE FROM d.{table} WHERE n > 0 AND BINARY a IN ('', '?')")  # what it does not keep
    cursor.execute("FLUSH BINARY LOGS")
    for table in names:
        cursor.execute(f"UPDATE d.{table} SET n = n * 10 WHERE n = 2")
        cursor.execute(f"UPDATE d.{table} SET a = CONCAT(a, 'x') WHERE n = 3")
        cursor.execute(f"DELETE FROM d.{table} WHERE n = 1")
        cursor.execute(f"INSERT IGNORE INTO d.{table} (n, a) VALUES (9, x'{CODES[table[:-2]].split()[0]}')")
        cursor.execute(f"DELETE FROM d.{table} WHERE n = 9 AND BINARY a = ''")
        if table.endswith("k"):
            cursor.execute(f"ALTER TABLE d.{table} MODIFY a VARBINARY(20)")
    with open(folder / "expected.jsonl", "w", encoding="utf-8") as out:
        for table in names:
            cursor.execute(f"SELECT n, a, HEX(a) FROM d.{table} ORDER BY n")
            rows = [[n, a if isinstance(a, str) else None, code] for n, a, code in cursor.fetchall()]
            out.write(json.dumps([f"d.{table}", rows]) + "\n")
    for number in (1, 2):
        log = f"binlog.{number:06d}"
        with gzip.GzipFile(folder / f"{log}.gz", "wb", mtime=0) as packed:
            packed.write((Path(datadir) / log).read_bytes())


if __name__ == "__main__":
    record(sys.argv[1], int(sys.argv[2]), sys.argv[3])
