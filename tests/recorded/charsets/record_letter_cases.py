"""Records what servers make of letters by UPPER and LOWER.

    python -m tests.recorded.charsets.record_letter_cases PORT…

The script writes letter_cases.jsonl.gz beside this file, a line for each server and character set or collation:
{"server": its version, "collations": those that are alike, "upper": …, "lower": pairs of a character and what it
becomes, as one string; a "\\0" for nothing}. It has all characters below U+3000 and those that Python knows in two
cases.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path

import pymysql

RECORDED = Path(__file__).parent / "letter_cases.jsonl.gz"
CODES = [code for code in range(1, 0x20000) if not 0xD800 <= code < 0xE000 and (
    code < 0x3000 or chr(code).upper() != chr(code) or chr(code).lower() != chr(code))]
OF_UNICODE = ("bin", "general_ci", "unicode_ci", "unicode_520_ci", "turkish_ci", "0900_ai_ci", "0900_bin",
              "tr_0900_ai_ci", "uca1400_ai_ci", "uca1400_turkish_ai_ci", "myanmar_ci", "thai_520_w2", "nopad_bin")


def main(ports: list[str]) -> None:
    lines = [line for port in ports for line in _record(int(port))]
    with gzip.GzipFile(RECORDED, "wb", mtime=0) as file:
        file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())


def _record(port: int) -> list[dict]:
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
    with connection, connection.cursor() as cursor:
        def run(statement: str) -> list[tuple]:
            cursor.execute(statement)
            return list(cursor.fetchall())

        for statement in ("SET sql_log_bin = 0", "SET sql_mode = ''", "DROP DATABASE IF EXISTS letters",
                          "CREATE DATABASE letters", "USE letters",
                          "CREATE TABLE l (n INT, c VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)"):
            run(statement)
        for start in range(0, len(CODES), 2000):
            run("INSERT INTO l VALUES " + ", ".join(
                f"({code}, CONVERT(_utf32 x'{code:08X}' USING utf8mb4))" for code in CODES[start:start + 2000]))
        [[version]] = run("SELECT VERSION()")
        charsets = dict(run("SELECT CHARACTER_SET_NAME, DEFAULT_COLLATE_NAME FROM information_schema.CHARACTER_SETS"))
        alike = defaultdict(list)
        for charset, default in sorted(charsets.items()):
            names = {f"{charset}_{rest}" for rest in OF_UNICODE} if charset.startswith(("utf", "ucs")) else \
                {default, f"{charset}_czech_cs"}
            for collation in sorted(names if charset != "binary" else ()):
                try:
                    cased = [_pairs(run, charset, collation, function) for function in ("UPPER", "LOWER")]
                except pymysql.MySQLError:
                    continue
                alike[charset if charset != "utf8" else "utf8mb3", *cased].append(collation)
        run("DROP DATABASE letters")
    return [{"server": version, "charset": charset, "collations": collations, "upper": upper, "lower": lower}
            for (charset, upper, lower), collations in alike.items()]


def _pairs(run, charset: str, collation: str, function: str) -> str:
    there = f"CONVERT(c USING {charset})"
    found = run(f"SELECT n, HEX(CONVERT({function}({there} COLLATE {collation}) USING utf32)) AS made FROM l "
                f"WHERE CONVERT({there} USING utf32) = CONVERT(c USING utf32) COLLATE utf32_bin "
                "HAVING made <> LPAD(HEX(n), 8, '0') ORDER BY n")
    return "".join(chr(code) + chr(int(made or "0", 16)) for code, made in found)


if __name__ == "__main__":
    main(sys.argv[1:])
