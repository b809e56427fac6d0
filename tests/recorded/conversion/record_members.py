"""Records which members real servers make of text: `python -m tests.recorded.conversion.record_members URL…` with
mysql://USER@HOST:PORT.

members.jsonl.gz holds a line for each pair of types: {"flavour", "before", "after", "found": [a member's or several
members' labels for each of TEXTS]} of `ALTER TABLE t MODIFY v AFTER`, outside of strict mode.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.recorded.conversion.record_defaults import Server, write

MEMBERS = Path(__file__).parent / "members.jsonl.gz"
TEXTS = ["-1", "-3", "-4", "3", "7", "8", "12", "100", "-9", "-100", "-0", "+2", "02", " 2", "2 ", "\t2", "2\t", " -1",
         "-1 ", "1.5", "1e0", "0x1", "- 1", "--1", "+-1", "-", "", "3,1", "x,-1", "-1,x", "1,", "x", "Y,x", "é", "-1a",
         "18446744073709551615", "18446744073709551616", "-18446744073709551615", "-18446744073709551616",
         "9223372036854775809", "-9223372036854775809", "-9223372036854775807", "-9223372036854775805",
         "99999999999999999999", "000000000000000000002", "00000000000000000002", "0000000000000000000002",
         "0000000002", "00000000002"]
WIDE = ["ucs2", "utf16", "utf32"]
_BEFORE = [*(f"{kind} CHARACTER SET {charset}" for kind in ("VARCHAR(30)", "TEXT", "CHAR(30)")
             for charset in ("latin1", "utf8mb4", "cp1251")), "VARBINARY(30)", "BLOB",
           *(f"VARCHAR(30) CHARACTER SET {charset}" for charset in WIDE)]
_LONG = ", ".join(f"'m{number}'" for number in range(64))
_AFTER = [f"{kind} CHARACTER SET {charset}" for charset in ("latin1", "utf8mb4", "cp1251", *WIDE)
          for kind in ("SET('x','y','z')", "ENUM('x','y','z')", f"SET({_LONG})")]


def _lines(server: Server) -> Iterator[dict]:
    server.begin("")
    for before in _BEFORE:
        for after in _AFTER:
            server.table(f"CREATE TABLE t (k INT PRIMARY KEY, v {before})",
                         [f"{number}, '{text}'" for number, text in enumerate(TEXTS)])
            server.run(f"ALTER TABLE t MODIFY v {after}")
            found = [label for label, in server.run("SELECT v FROM t ORDER BY k")]
            yield {"flavour": server.flavour, "before": before, "after": after, "found": found}


if __name__ == "__main__":
    write(MEMBERS, [line for url in sys.argv[1:] for line in _lines(Server(url))])
