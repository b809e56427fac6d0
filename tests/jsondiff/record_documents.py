"""Records server_documents.jsonl.gz: binary JSON out of a real server's binlog, and the text that it prints for it.

    record_documents.py PORT BINLOG SOURCE.sql

PORT is a fresh MySQL server (row format, CRC32 checksums) whose first binlog file is BINLOG; SOURCE.sql makes a table
`docs` (id, what, j, k), as the case mysql-types-json does. To these come random and boundary doubles, random documents,
and what SQL types leave in a document. Writes one [hex, text] a line beside this file.
"""

import decimal
import gzip
import json
import pathlib
import random
import struct
import sys

import pymysql

RANDOM = random.Random(7)
INT, VARCHAR, JSON = 3, 15, 245
TABLE_MAP, ROWS = 19, (30, 31, 32)


def doubles() -> list[float]:
    values = [struct.unpack("<d", RANDOM.randbytes(8))[0] for _ in range(3000)]
    values = [v for v in values if v == v and abs(v) != float("inf")]
    values += [m * 10.0**e for e in range(-30, 31) for m in (1, -1, 1.5, -9.999999999999999, 7.25)]
    values += [2.0**e for e in range(-1074, 1024)] + [float(f"1e{e}") for e in range(-323, 309)]
    values += [float(text) for n in range(1, 18) for text in ("1" * n, "9" * n, "1" * n + ".5", "0." + "0" * n + "17")]
    return values + [v for k in range(53) for v in (2.0**k + 1, 1 + 2.0**-k, 2.0**53 - 2**k)]


def random_text(size: int) -> str:
    return "".join(RANDOM.choice('aé日😀"\\\n\x01\x1f\x7f/ z') for _ in range(size))


def random_document(depth: int = 0):
    match RANDOM.randrange(9 if depth < 6 else 7):
        case 0:
            return RANDOM.choice([None, True, False])
        case 1:
            return RANDOM.randrange(-100, 100)
        case 2:
            return RANDOM.choice([-1, 1]) * RANDOM.getrandbits(RANDOM.randrange(1, 64))
        case 3:
            return RANDOM.getrandbits(64)
        case 4:
            return RANDOM.uniform(-1e6, 1e6)
        case 7:
            return [random_document(depth + 1) for _ in range(RANDOM.randrange(6))]
        case 8:
            return {random_text(RANDOM.randrange(6)): random_document(depth + 1) for _ in range(RANDOM.randrange(6))}
    return random_text(RANDOM.randrange(20))


def sql_values() -> list[str]:
    """SQL expressions whose values JSON has no type for."""
    out = []
    for size in "1,0 1,1 5,2 9,0 9,9 10,1 18,9 19,10 27,4 65,30 65,0 30,30 40,22".split():
        precision, scale = map(int, size.split(","))
        for turn in range(6):
            digits = str(RANDOM.getrandbits(300))[: RANDOM.randrange(1, precision + 1)] if turn else "9" * precision
            value = decimal.Decimal(0 if turn == 1 else digits).scaleb(-scale, decimal.Context(prec=70))
            out.append(f"CAST('{-value if turn > 3 else value:f}' AS DECIMAL({precision},{scale}))")
    out += [f"DATE'{d}'" for d in ("0001-01-01", "9999-12-31", "2024-02-29", "1970-01-01")]
    times = "00:00:00 -00:00:01 838:59:59 -838:59:59 99:00:00.000001 -12:34:56.999999".split()
    out += [f"TIME'{t}'" for t in times]
    moments = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2024-02-29 12:34:56.000001")
    out += [f"TIMESTAMP'{t}'" for t in moments]
    out += ["CAST('0000-00-00' AS DATE)", "CAST('0000-00-00 00:00:00' AS DATETIME)", "b'1'", "x'ff'"]
    lengths = [*range(12), *range(54, 61), *range(113, 117), 171, 1000]
    out += [f"CAST(x'{RANDOM.randbytes(n).hex()}' AS BINARY)" for n in lengths]
    return out


def documents() -> list[str]:
    """SQL expressions of JSON documents."""
    numbers, values = doubles(), sql_values()
    out = ["'" + json.dumps(numbers[i : i + 200]) + "'" for i in range(0, len(numbers), 200)]
    random_ones = [json.dumps([random_document(), random_document()]) for _ in range(300)]
    out += ["'" + pymysql.converters.escape_string(text) + "'" for text in random_ones]
    out += ["JSON_ARRAY(" + ",".join(values[i : i + 7]) + ")" for i in range(0, len(values), 7)]
    out += [f"JSON_OBJECT('k', {value})" for value in values[::5]]
    out += ["'" + "[" * 100 + "]" * 100 + "'"]
    inside = "1,70000,-70000,4000000000,5000000000,1.5,true,null,JSON_OBJECT('a',70000),JSON_ARRAY()"
    out += [f"JSON_ARRAY(REPEAT('q',70000),{inside})"]
    out += ["""JSON_OBJECT('l',REPEAT('é"',33000),'b',JSON_ARRAY(-2147483648,4294967295))"""]
    return out


def full_images(log: bytes):
    """Yields (table, values of the row) of every image of tables that have INT, VARCHAR and JSON columns only."""
    tables, at = {}, 4
    while at < len(log):
        kind, size = log[at + 4], int.from_bytes(log[at + 9 : at + 13], "little")
        body, at = log[at + 19 : at + size - 4], at + size
        if kind == TABLE_MAP:
            p = 8
            p += body[p] + 2
            name, p = body[p + 1 : p + 1 + body[p]].decode(), p + body[p] + 2
            types, p = body[p + 1 : p + 1 + body[p]], p + body[p] + 2
            metadata = iter(body[p:])
            if set(types) <= {INT, VARCHAR, JSON}:
                take = {INT: 0, VARCHAR: 2, JSON: 1}
                widths = [int.from_bytes([next(metadata) for _ in range(take[t])], "little") for t in types]
                tables[body[:6]] = name, types, [{INT: 4, JSON: w}.get(t, 1 + (w > 255)) for t, w in zip(types, widths)]
        elif kind in ROWS and body[:6] in tables:
            name, types, widths = tables[body[:6]]
            bitmap = (len(types) + 7) // 8
            p = 8 + int.from_bytes(body[8:10], "little") + 1 + bitmap * (2 if kind == 31 else 1)
            while p < len(body):
                nulls, p = int.from_bytes(body[p : p + bitmap], "little"), p + bitmap
                row = []
                for i, width in enumerate(widths):
                    value = None
                    if not nulls >> i & 1:
                        value, p = int.from_bytes(body[p : p + width], "little"), p + width
                        if types[i] != INT:
                            value, p = body[p : p + value], p + value
                    row.append(value)
                yield name, row


def main(port: int, binlog: str, source: str) -> None:
    connection = pymysql.connect(
        host="127.0.0.1", port=port, user="root", autocommit=True, client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS
    )
    cursor = connection.cursor()
    cursor.execute(pathlib.Path(source).read_text())
    while cursor.nextset():
        pass
    cursor.execute("SET sql_mode = 'NO_ENGINE_SUBSTITUTION'")
    cursor.execute("CREATE TABLE extra (id INT PRIMARY KEY AUTO_INCREMENT, j JSON)")
    for document in documents():
        cursor.execute(f"INSERT INTO extra (j) VALUES ({document})")
    texts = {}
    for table, columns in (("docs", "j, k"), ("extra", "j")):
        cursor.execute(f"SELECT id, {columns} FROM {table}")
        texts |= {(table, row[0]): row[1:] for row in cursor.fetchall()}
    last = {(table, row[0]): row for table, row in full_images(pathlib.Path(binlog).read_bytes())}
    pairs = {}
    for key, row in texts.items():
        pairs |= {document: text for document, text in zip(last[key][-len(row) :], row) if text is not None}
    with gzip.GzipFile(pathlib.Path(__file__).parent / "server_documents.jsonl.gz", "wb", 9, mtime=0) as out:
        for document, text in pairs.items():
            out.write((json.dumps([document.hex(), text]) + "\n").encode())
    print(f"{len(pairs)} documents")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
