"""Records what a real MySQL server logs for partial updates of JSON, and what its replication makes of diffs.

    record_diffs.py mysql://root[:PASSWORD]@HOST:PORT

The server is one that record_documents.py takes; a database is made and left there. Written are, beside this file, a
JSON array a line:

    server_updates.jsonl.gz         [hex, text, diffs, text]: a document, what an UPDATE with JSON_SET, JSON_REPLACE and
                                    JSON_REMOVE logged for it in hex, and the text of the document after it
    server_replica.jsonl.gz         [text, diffs, text or error number]: any diffs, sent to the server in a BINLOG
                                    statement, onto a document or NULL
    server_array_inserts.jsonl.gz   [text, path, hex, text]: JSON_ARRAY_INSERT of a document
"""

import base64
import json
import random
import struct
import sys
from collections.abc import Iterator

import pymysql

from jsondiff import wire
from jsondiff.diff import Diff, DiffError, Operation
from jsondiff.encode import encode
from jsondiff.path import Cell, Member, Path
from tests.recorded.jsondiff.record_documents import Server, write

RANDOM = random.Random(11)
FORMAT_DESCRIPTION, TABLE_MAP, PARTIAL_UPDATE = 15, 19, 39
NAMES = ["a", "b", "c", "log", "k1", "é", "a b", "", "$", 'q"uo\\te', "new\nline", "日本"]
SQL_VALUES = [
    "NULL", "TRUE", "FALSE", "0", "-7", "70000", "18446744073709551615", "1.5", "1.10", "2e0", "-1.5e300", "''",
    "'it''s'", "'é日😀'", "JSON_ARRAY()", "JSON_OBJECT()", "CAST('[1, {\"x\": null}, \"y\"]' AS JSON)",
    "DATE'2020-02-29'", "TIME'-12:00:01.5'", "TIMESTAMP'2020-02-29 12:34:56.789'", "x'00ff'", "b'101'",
    "JSON_OBJECT('k', JSON_ARRAY(1, 'v'))", "CAST(123456789.987654321 AS DECIMAL(30,9))", "REPEAT('long', 70)",
    "CAST('{\"a\": {\"b\": [0]}}' AS JSON)",
]  # fmt: skip


def document(depth: int = 0):
    if depth == 0 or (depth < 5 and RANDOM.random() < 0.35):
        if RANDOM.random() < 0.4:
            return [document(depth + 1) for _ in range(RANDOM.randrange(6))]
        return {name: document(depth + 1) for name in RANDOM.sample(NAMES, RANDOM.randrange(7))}
    return RANDOM.choice([None, True, False, 0, -5, 70000, 2**40, 1.0, 0.1, -1e20, "", "é\"\\\n", "x" * 60])


def path(value) -> Path:
    """Somewhere in a document, more or less."""
    legs = []
    while len(legs) < 6:
        if isinstance(value, dict) and value and RANDOM.random() < 0.85:
            legs.append(Member(RANDOM.choice(list(value) if RANDOM.random() < 0.85 else NAMES)))
            value = value.get(legs[-1].name)
        elif isinstance(value, list) and RANDOM.random() < 0.85:
            legs.append(Cell(RANDOM.randrange(len(value) + 2), RANDOM.random() < 0.3))
            value = value[legs[-1].position(len(value))] if legs[-1].index < len(value) else None
        else:
            if RANDOM.random() < 0.15:
                legs.append(RANDOM.choice([Member("a"), Cell(RANDOM.randrange(3), RANDOM.random() < 0.5)]))
            break
        if RANDOM.random() < 0.25:
            break
    return Path(tuple(legs))


def expression(value) -> tuple[str, list[str]]:
    """A partial update of the column j, and its parameters."""
    sql, parameters = "j", []
    for _ in range(RANDOM.choice([1, 1, 2, 3])):
        function = RANDOM.choice(["JSON_SET", "JSON_SET", "JSON_REPLACE", "JSON_REMOVE"])
        for _ in range(RANDOM.choice([1, 1, 2, 4])):
            put = "" if function == "JSON_REMOVE" else f", {RANDOM.choice(SQL_VALUES)}"
            sql += ", %s" + put
            parameters.append(str(path(value)))
        sql = f"{function}({sql})"
    return sql, parameters


def partial_updates(events: Iterator[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """(step, document, diffs) of the rows of a table (id INT, j JSON, step INT) that were partly updated; events of one
    row with full images."""
    for event in events:
        if event[4] == PARTIAL_UPDATE:
            row = event[19 + 8 + int.from_bytes(event[27:29], "little") + 3 :]
            size = int.from_bytes(row[5:9], "little")
            before, rest = row[9 : 9 + size], row[9 + size + 4 :]
            if rest[0] == 1:
                yield int.from_bytes(row[-4:], "little"), before, rest[11:-4]


def record_updates(server: Server) -> None:
    server.run("CREATE TABLE updates (id INT PRIMARY KEY, j JSON, step INT)")
    steps, here = {}, server.rows("SHOW BINARY LOG STATUS")[0]
    for number in range(900):
        server.cursor.execute("INSERT INTO updates VALUES (%s, %s, 0)", (number, json.dumps(document())))
        for _ in range(4):
            ((before,),) = server.rows(f"SELECT j FROM updates WHERE id = {number}")
            sql, parameters = expression(json.loads(before))
            try:
                statement = f"UPDATE updates SET j = {sql}, step = {len(steps)} WHERE id = {number}"
                server.cursor.execute(statement, parameters)
            except pymysql.Error as error:
                assert error.args[0] == 3153, error  # the path $, where a function takes none
            else:
                ((after,),) = server.rows(f"SELECT j FROM updates WHERE id = {number}")
                steps[len(steps)] = before, after
    server.file, server.position = here[:2]
    lines = []
    for step, image, diffs in partial_updates(server.events()):
        before, after = steps[step]
        lines.append([image.hex(), before, diffs.hex(), after])
    print(f"{len(lines)} of {len(steps)} updates were partial")
    write("server_updates", lines)


def any_diffs(value) -> bytes:
    diffs = []
    for _ in range(RANDOM.choice([0, 1, 1, 1, 2, 3])):
        operation = RANDOM.choice(list(Operation))
        diffs.append(Diff(operation, path(value), None if operation == Operation.REMOVE else document(2)))
    data = bytearray(wire.encode(diffs))
    match RANDOM.randrange(12) if data else None:
        case 0:
            del data[RANDOM.randrange(len(data)) :]
        case 1:
            data[0] = RANDOM.choice([0, 1, 2, 3, 255])
        case 2:
            data[RANDOM.randrange(2, 2 + data[1])] = RANDOM.choice(b'0a$."[] l')
    try:
        unfit = any(not diff.path.legs for diff in wire.decode(bytes(data)))
    except DiffError as error:
        unfit = any(words in error.what for words in ("UTF-8", "many places", "no document"))
    # What can end a server: a path without legs or with wildcards, a broken document. Text that is no UTF-8 it takes,
    # and then has a document that none can read.
    return any_diffs(value) if unfit else bytes(data)


def record_replica(server: Server) -> None:
    server.run("CREATE TABLE replica (id INT PRIMARY KEY, j JSON)")
    server.run("INSERT INTO replica VALUES (1, '{\"a\": 1, \"pad\": \"......................................\"}')")
    server.run("UPDATE replica SET j = JSON_SET(j, '$.a', 2)")
    events = {event[4]: event for event in server.events()}
    described = base64.b64encode(events[FORMAT_DESCRIPTION]).decode()
    server.run(f"BINLOG '{described}'; SET gtid_next = 'AUTOMATIC'")
    head = events[PARTIAL_UPDATE][: 19 + 8 + 2 + 1 + 2]
    lines = []
    for number in range(3000):
        value = None if number % 40 == 0 else document()
        before = None if value is None else json.dumps(value)
        diffs = any_diffs(value)
        server.cursor.execute("REPLACE INTO replica VALUES (1, %s)", (before,))
        ((before,),) = server.rows("SELECT j FROM replica")
        image = b"\0" + struct.pack("<i", 1)
        after = image + struct.pack("<I", len(diffs)) + diffs
        before_image = image + struct.pack("<I", 2) + b"\x04\0"
        event = bytearray(head + before_image + b"\1\1" + after)
        event[9:13] = struct.pack("<I", len(event))
        text = base64.b64encode(events[TABLE_MAP]).decode() + "\n" + base64.b64encode(event).decode()
        try:
            server.cursor.execute(f"BINLOG '{text}'")
        except pymysql.Error as error:
            result = error.args[0]
            server.cursor.execute("ROLLBACK")
        else:
            ((result,),) = server.rows("SELECT j FROM replica")
        server.cursor.execute("SET gtid_next = 'AUTOMATIC'")
        lines.append([before, diffs.hex(), result])
    write("server_replica", lines)


def record_array_inserts(server: Server) -> None:
    lines = []
    for _ in range(3000):
        value, put = document(), document(3)
        place = path(value)
        if place.legs and isinstance(place.legs[-1], Cell):
            text, query = json.dumps(value), "SELECT CAST(%s AS JSON), JSON_ARRAY_INSERT(%s, %s, CAST(%s AS JSON))"
            server.cursor.execute(query, (text, text, str(place), json.dumps(put)))
            before, after = server.cursor.fetchone()
            lines.append([before, str(place), encode(put).hex(), after])
    write("server_array_inserts", lines)


def main(url: str) -> None:
    server = Server(url)
    server.run("DROP DATABASE IF EXISTS diffs; CREATE DATABASE diffs; USE diffs; SET binlog_row_image = FULL")
    server.run("SET binlog_row_value_options = PARTIAL_JSON")
    record_replica(server)
    record_updates(server)
    record_array_inserts(server)


if __name__ == "__main__":
    main(*sys.argv[1:])
