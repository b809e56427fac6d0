"""Record what a real MySQL and MariaDB make of text in all their character sets, for test_charsets.py.

    python -m tests.recorded.binlog.record_charsets FLAVOUR PORT BINLOG_DIR "MYSQLBINLOG --skip-gtids" "MYSQL"

on an empty server with --log-bin. BINLOG_DIR, and the two commands to run mysqlbinlog and mysql, are as seen from where
the commands run. A server refuses bytes that are not text in a column's set, but it replays them: so the bytes go into
VARBINARY columns, and their events into text columns of the same size.
"""

import gzip
import hashlib
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys

import pymysql

MULTI_BYTE = ["big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis"]
TRUTHS = {flavour: pathlib.Path(__file__).with_name(f"charsets_of_{flavour}.json.gz")
          for flavour in ("mysql", "mariadb")}


def samples() -> list[bytes]:
    """Every byte alone, then short values of bytes that mean something in many sets, and of any bytes."""
    choose = random.Random(5)
    hard = bytes.fromhex("00105c30394180818e8fa0a1b0c3d8dbdcdfe3f0feff")
    values = [bytes([byte]) for byte in range(256)]
    for number in range(700):
        some = hard if number % 2 else range(256)
        values.append(bytes(choose.choice(some) for _ in range(choose.randrange(13))))
    characters = "Aé€あ\U0001f600\u07ff\u0800\uffff"
    return values + ["".join(choose.choices(characters, k=6)).encode()[:choose.randrange(1, 24)] for _ in range(100)]


def all_codes(charset: str) -> list[bytes]:
    """Every code of two bytes, of three after 8F, and GB 18030's of four, each before "@A", which shows its length."""
    codes = [code.to_bytes(2) for code in range(65536)]
    if charset in ("eucjpms", "ujis"):
        codes += [b"\x8f" + code for code in codes]
    if charset == "gb18030":
        codes += [bytes([0x81 + n // 12600, 0x30 + n // 1260 % 10, 0x81 + n // 10 % 126, 0x30 + n % 10])
                  for n in range(50400)]
    return [code + b"@A" for code in codes]


def digest(texts: list[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def ask(connection, values, charsets, directory, mysqlbinlog, mysql) -> dict[str, list[str]]:
    """What the server shows for `values` in each of `charsets`."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW CHARACTER SET")
        width = {name: 30 * int(longest) for name, _, _, longest in cursor.fetchall()}
        cursor.execute("DROP DATABASE IF EXISTS charsets")
        cursor.execute("CREATE DATABASE charsets")
        cursor.execute("USE charsets")
        columns = ", ".join(f"c_{name} VARBINARY({width[name]})" for name in charsets)
        cursor.execute(f"CREATE TABLE t (id INT PRIMARY KEY, {columns})")
        cursor.execute("FLUSH BINARY LOGS")
        cursor.execute("SHOW BINARY LOGS")
        log = f"{directory}/{cursor.fetchall()[-1][0]}"
        cursor.executemany(f"INSERT INTO t VALUES (%s{', %s' * len(charsets)})",
                           [(row, *[value] * len(charsets)) for row, value in enumerate(values)])
        cursor.execute("DROP TABLE t")
        columns = ", ".join(f"c_{name} VARCHAR(30) CHARACTER SET {name}" for name in charsets)
        cursor.execute(f"CREATE TABLE t (id INT PRIMARY KEY, {columns})")
        events = subprocess.run([*shlex.split(mysqlbinlog), "--disable-log-bin", log],
                                check=True, capture_output=True).stdout
        events = re.sub(rb"(?ms)^(DROP|CREATE) TABLE.*?/\*!\*/;\n", b"", events)
        subprocess.run(shlex.split(mysql), input=events, check=True)
        shown = {}
        for name in charsets:
            # utf8mb4 and ascii go to a client as they are, so ask for another Unicode there
            encoding = "utf32" if name in ("utf8mb4", "ascii") else "utf8mb4"
            cursor.execute(f"SELECT HEX(CONVERT(c_{name} USING {encoding})) FROM t ORDER BY id")
            shown[name] = [bytes.fromhex(text).decode("utf-32-be" if encoding == "utf32" else "utf-8", "surrogatepass")
                           for text, in cursor.fetchall()]
        return shown


def record(flavour: str, port: str, *place: str) -> None:
    connection = pymysql.connect(host="127.0.0.1", port=int(port), user="root", charset="utf8mb4", autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("SHOW CHARACTER SET")
        charsets = [row[0] for row in cursor.fetchall() if row[0] != "binary"]
        cursor.execute("SET SESSION sql_mode=''")
    values = samples()
    truth = {"values": [value.hex() for value in values], "shown": ask(connection, values, charsets, *place),
             "all_codes": {name: digest(ask(connection, all_codes(name), [name], *place)[name])
                           for name in MULTI_BYTE if name in charsets}}
    TRUTHS[flavour].write_bytes(gzip.compress(json.dumps(truth).encode(), mtime=0))


if __name__ == "__main__":
    record(*sys.argv[1:])
