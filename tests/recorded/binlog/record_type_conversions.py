"""Records what replicas make of columns of other types.

`python -m tests.recorded.binlog.record_type_conversions URL…` with
mysql://USER@HOST:PORT of servers whose data is nobody's.

For each type a table is filled, whose row events are then applied, by BINLOG statements, to tables of every other type
of its family (and some of other families), with four settings of replica_type_conversions. type_conversions.jsonl.gz
holds a line for each source type, {"flavour", "type", "events": [table map, rows events… in hexadecimal]}, followed by
one for each target, {"target", "held": {setting: values as texts, or null where the replica stopped with 1677, or the
number of the error with which it failed}}. For a server in a chroot, its root comes after the URL and a "+".
MySQL takes BINLOG statements with gtid_mode=OFF_PERMISSIVE only.
"""

import base64
import gzip
import itertools
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

RECORDED = Path(__file__).parent / "type_conversions.jsonl.gz"
SETTINGS = {"mysql": ["", "ALL_NON_LOSSY", "ALL_LOSSY", "ALL_NON_LOSSY,ALL_LOSSY,ALL_UNSIGNED"],
            "mariadb": ["", "ALL_NON_LOSSY", "ALL_LOSSY", "ALL_NON_LOSSY,ALL_LOSSY"]}

_BITS = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIGINT": 64}
_NUMBERS = ["0", "1", "-1", "0.5", "-0.5", "1.25", "-1.255", "2.675", "9.99", "99.995", "999.5", "-999.99", "99999.99",
            "1e9", "12345678901234567890", "0.0000012345", "123456789.123456789"]
_WIDE = [*_NUMBERS, "1e20", "-1e25", "1e38", "3.4e38", "1e39", "1e-30", "1e-45", "1e-300", "1.7976931348623157e308",
         "16777217", "0.1", "0.30000000000000004", "3.14159265358979"]
_TEXTS = ["''", "'a'", "'ab  '", "'  a'", "'abcde'", "'abcdefghij'", "'é'", "'日本語日本語日本語日本'", "'ééééééé'",
          "'😀😀😀'", "REPEAT('v', 20)", "REPEAT('w', 300)", "REPEAT('日', 70)", "REPEAT('x', 70000)", "'a\\0'"]
_BYTES = ["''", "x'00'", "x'0100'", "x'20'", "x'41422020'", "x'ff00ff00'", "'abcdefghij'", "REPEAT(x'ab', 255)",
          "REPEAT(x'cd', 70000)", "x'4100000000'"]
_TIMES = ["'00:00:00'", "'12:34:56.123456'", "'-01:02:03.9'", "'838:59:59'", "'-838:59:59'", "'00:00:00.5'"]
_DATETIMES = ["'2024-02-29 12:34:56.987654'", "'1999-12-31 23:59:59.9'", "'2000-01-01 00:00:00'",
            "'2038-01-01 00:00:00.1'"]


def integers():
    for name, bits in _BITS.items():
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        yield name, [str(n) for n in (low, high, 0, 1, -1, 100, -100)]
        yield name + " UNSIGNED", [str(n) for n in (2 * high + 1, high + 1, high, 0, 1, 100, 200)]


def members(n):
    return ",".join(f"'m{i}'" for i in range(1, n + 1))


FAMILIES = {
    "integers": dict(integers()),
    "numbers": {
        **dict.fromkeys(["DECIMAL(3,0)", "DECIMAL(5,0)", "DECIMAL(4,2)", "DECIMAL(5,2)", "DECIMAL(10,2)",
                         "DECIMAL(10,4)", "DECIMAL(20,0)", "DECIMAL(30,10)", "DECIMAL(38,30)", "DECIMAL(65,30)",
                         "DECIMAL(65,0)", "DECIMAL(10,4) UNSIGNED"], _NUMBERS),
        **dict.fromkeys(["FLOAT", "DOUBLE", "DOUBLE(10,3)", "FLOAT(7,2)", "DOUBLE UNSIGNED", "FLOAT UNSIGNED"], _WIDE)},
    "bits": {f"BIT({n})": [str(i) for i in sorted({0, 1, (1 << n) - 1, 1 << n - 1, (1 << n) // 3})]
             for n in (1, 5, 8, 9, 12, 64)},
    "strings": {
        **dict.fromkeys(["CHAR(1)", "CHAR(5)", "CHAR(20)", "CHAR(70)", "CHAR(5) CHARACTER SET latin1",
                         "CHAR(20) CHARACTER SET latin1", "VARCHAR(5)", "VARCHAR(10)", "VARCHAR(63)", "VARCHAR(64)",
                         "VARCHAR(300)", "VARCHAR(20) CHARACTER SET latin1", "TINYTEXT", "TEXT", "MEDIUMTEXT",
                         "LONGTEXT", "TEXT CHARACTER SET latin1"], _TEXTS),
        **dict.fromkeys(["BINARY(4)", "BINARY(8)", "BINARY(80)", "VARBINARY(10)", "VARBINARY(80)", "VARBINARY(300)",
                         "TINYBLOB", "BLOB", "LONGBLOB"], _BYTES)},
    "members": {
        **{f"ENUM({members(n)})": ["1", str(n), "0", str((n + 1) // 2)] for n in (2, 3, 257, 300)},
        "ENUM('b','a','c')": ["1", "2", "3"],
        **{f"SET({members(n)})": ["0", "1", str((1 << n) - 1), str(1 << n - 1)] for n in (2, 9, 20, 64)}},
    "temporals": {
        **{f"{name}{digits}": _TIMES if name == "TIME" else _DATETIMES
           for name in ("TIME", "DATETIME", "TIMESTAMP") for digits in ("", "(1)", "(2)", "(3)", "(6)")},
        "DATE": _DATETIMES, "YEAR": ["2024", "1999", "1901"]},
    "documents": {"JSON": ["'{\"a\": [1, 2]}'", "'1'"]},
}
ONLY_MARIADB = {"VARCHAR(20) COMPRESSED": _TEXTS, "TEXT COMPRESSED": _TEXTS}
ACROSS = ["INT", "BIGINT", "DECIMAL(10,2)", "DOUBLE", "BIT(8)", "VARCHAR(300)", "BLOB", "CHAR(20)", "ENUM('b','a','c')",
          "SET(" + members(9) + ")", "DATETIME", "DATE", "YEAR", "TIME", "TIMESTAMP", "JSON"]


def pairs(families):
    for family in families.values():
        yield from itertools.product(family, repeat=2)
    home = {kind: name for name, family in families.items() for kind in family}
    yield from ((a, b) for a, b in itertools.product(ACROSS, repeat=2) if home[a] != home[b])


class Server:
    """A connection, and the events that it logs."""

    def __init__(self, url):
        import pymysql

        place = urlsplit(url)
        self.flavour = place.scheme
        self.connection = pymysql.connect(host=place.hostname, port=place.port, user=place.username, charset="utf8mb4",
                                          autocommit=True)
        self.run("SET sql_mode = '', time_zone = '+00:00', sql_log_bin = 0")
        self.run("DROP DATABASE IF EXISTS d")
        self.run("CREATE DATABASE d CHARACTER SET utf8mb4")
        self.run("USE d")

    def run(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def log_file(self):
        self.run("FLUSH BINARY LOGS")
        folder = self.run("SELECT @@log_bin_basename")[0][0]
        return folder, self.run("SHOW BINARY LOGS")[-1][0]

    def setting(self, conversions):
        name = "replica" if self.flavour == "mysql" else "slave"
        self.run(f"SET GLOBAL {name}_type_conversions = '{conversions}'")


def shown(kind):
    """The expression that shows a column's value as it is recorded."""
    base = kind.split("(")[0].split()[0]
    if base in ("FLOAT", "DOUBLE"):
        return "v + 0e0"
    if base == "BIT":
        return "CAST(v + 0 AS CHAR)"
    if any(word in base for word in ("CHAR", "TEXT", "BLOB", "BINARY")):
        return "HEX(v)"
    return "CAST(v AS CHAR)"


def record(server, out, read_log):
    families = {name: dict(family) for name, family in FAMILIES.items()}
    if server.flavour == "mariadb":
        families["strings"] |= ONLY_MARIADB
        del families["documents"]
    values = {kind: told for family in families.values() for kind, told in family.items()}
    by_source = {}
    for source, target in pairs(families) if server.flavour == "mysql" else \
            (pair for pair in pairs(families | {"documents": {"JSON": []}}) if "JSON" not in pair):
        by_source.setdefault(source, []).append(target)
    tables = {}
    folder, log = server.log_file()
    for number, source in enumerate(by_source):
        server.run(f"CREATE TABLE t{number} (id INT NOT NULL PRIMARY KEY, v {source})")
        server.run("SET sql_log_bin = 1")
        told = ", ".join(f"({row}, {value})" for row, value in enumerate([*values[source], "NULL"]))
        server.run(f"INSERT IGNORE INTO t{number} VALUES {told}")
        server.run("SET sql_log_bin = 0")
        tables[f"t{number}"] = source
    server.run("FLUSH BINARY LOGS")
    head, groups = read_log(folder, log)
    server.run(f"BINLOG '{base64.b64encode(head).decode()}'")
    for name, source in tables.items():
        events = groups[name]
        print(server.flavour, source, len(by_source[source]), flush=True)
        out.write(json.dumps({"flavour": server.flavour, "type": source, "events": [e.hex() for e in events]}) + "\n")
        text = base64.b64encode(b"".join(events)).decode()
        for target in by_source[source]:
            server.run(f"DROP TABLE {name}")
            server.run(f"CREATE TABLE {name} (id INT NOT NULL PRIMARY KEY, v {target})")
            held = {}
            for setting in SETTINGS[server.flavour]:
                server.setting(setting)
                try:
                    server.run(f"BINLOG '{text}'")
                    rows = server.run(f"SELECT {shown(target)} FROM {name} ORDER BY id")
                    held[setting] = [value for value, in rows]
                except Exception as error:
                    held[setting] = None if error.args[0] in (1105, 1677) else error.args[0]
                server.run("ROLLBACK")
                server.run(f"DELETE FROM {name}")
            out.write(json.dumps({"target": target, "held": held}) + "\n")


def events_of(path):
    """(the format description, {table: [table map, rows events…]}) of a file, without checksums."""
    data = path.read_bytes()
    at, head, groups, name = 4, b"", {}, None
    while at < len(data):
        kind, size = data[at + 4], int.from_bytes(data[at + 9:at + 13], "little")
        event = data[at:at + size]
        if kind == 15:
            head = event
        elif kind == 19:
            start = 19 + 8 + 1 + event[27] + 1
            name = event[start + 1:start + 1 + event[start]].decode()
            groups[name] = [event]
        elif kind in (23, 30):
            groups[name].append(event)
        at += size
    return head, groups


def main():
    with gzip.open(RECORDED, "wt", encoding="utf-8") as out:
        for url in sys.argv[1:]:
            url, _, root = url.partition("+")
            record(Server(url), out, lambda base, log, root=root: events_of(Path(root + base).parent / log))


if __name__ == "__main__":
    main()
