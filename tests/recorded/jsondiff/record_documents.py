"""Records what a real server makes of JSON: its binary documents out of its binlog, what it prints, what it refuses.

    record_documents.py mysql://root[:PASSWORD]@HOST:PORT

A MySQL server with a binary log in row format that can be thrown away: databases are made and left there.
json_sources.py says what is asked. Written are, beside this file, a JSON array a line:

    server_documents.jsonl.gz   [hex, text]: a binary document and what the server prints for it; of expressions and of
                                the case mysql-types-json
    server_texts.jsonl.gz       [text, hex, printed], or [text, error number, message, offset or null]: texts put into a
                                column
    server_equal.jsonl.gz       [hex, [indices of the documents before it that = takes for equal]]
"""

import functools
import gzip
import json
import pathlib
import re
import struct
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pymysql

from tests.recorded.jsondiff import json_sources

FOLDER = pathlib.Path(__file__).parent
CASE = FOLDER.parent / "cases" / "mysql-types-json" / "source.sql"
INT, VARCHAR, JSON = 3, 15, 245
TABLE_MAP, ROWS = 19, (30, 31, 32)
DUMP, NON_BLOCKING, SERVER_ID = 0x12, 1, 424242
INVALID = re.compile(r'Invalid JSON text: "(.*)" at position (\d+)', re.DOTALL)


class Server:
    """A connection, and what the binlog has got since it was made."""

    def __init__(self, url: str):
        parts = urlsplit(url)
        self._connect = functools.partial(
            pymysql.connect,
            host=parts.hostname,
            port=parts.port or 3306,
            user=parts.username,
            password=parts.password or "",
            autocommit=True,
            client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS,
        )
        self.cursor = self._connect().cursor()
        self.run("SET GLOBAL binlog_checksum = NONE")  # begins a new file
        self.file, self.position = self.rows("SHOW BINARY LOG STATUS")[0][:2]

    def run(self, script: str) -> None:
        self.cursor.execute(script)
        while self.cursor.nextset():
            pass

    def rows(self, statement: str) -> list[tuple]:
        self.cursor.execute(statement)
        return self.cursor.fetchall()

    def events(self) -> Iterator[bytes]:
        """The events since the connection was made, as a replica gets them."""
        replica = self._connect()
        replica._execute_command(DUMP, struct.pack("<IHI", self.position, NON_BLOCKING, SERVER_ID) + self.file.encode())
        while not (packet := replica._read_packet()).is_eof_packet():
            yield packet.get_all_data()[1:]

    def documents(self, table: str) -> dict[int, tuple[bytes, ...]]:
        """The last image of each row of a table (id INT, …), by its id: without its id."""
        return {row[0]: row[1:] for name, row in full_images(self.events()) if name == table}


def full_images(events: Iterator[bytes]) -> Iterator[tuple[str, list]]:
    """Yields (table, values of the row) of every image of tables that have INT, VARCHAR and JSON columns only."""
    tables = {}
    for event in events:
        kind, body = event[4], event[19:]
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


def write(name: str, lines: list) -> None:
    with gzip.GzipFile(FOLDER / f"{name}.jsonl.gz", "wb", 9, mtime=0) as out:
        out.writelines((json.dumps(line) + "\n").encode() for line in lines)
    print(f"{name}: {len(lines)}")


def record_documents(server: Server) -> None:
    server.run(CASE.read_text())
    server.run("SET sql_mode = 'NO_ENGINE_SUBSTITUTION'")
    server.run("CREATE TABLE extra (id INT PRIMARY KEY AUTO_INCREMENT, j JSON)")
    for document in json_sources.documents():
        server.run(f"INSERT INTO extra (j) VALUES ({document})")
    pairs = {}
    for table, columns in (("docs", "j, k"), ("extra", "j")):
        images = server.documents(table)
        for number, *texts in server.rows(f"SELECT id, {columns} FROM {table}"):
            pairs |= {image: text for image, text in zip(images[number][-len(texts) :], texts) if text is not None}
    write("server_documents", [[document.hex(), text] for document, text in pairs.items()])


def record_texts(server: Server) -> None:
    server.run("CREATE TABLE texts (id INT PRIMARY KEY, j JSON)")
    texts, refused = json_sources.texts(), {}
    for number, text in enumerate(texts):
        try:
            server.cursor.execute("INSERT INTO texts VALUES (%s, %s)", (number, text))
        except pymysql.Error as error:
            found = INVALID.search(error.args[1])
            refused[number] = [error.args[0], found[1] if found else error.args[1], found and int(found[2])]
    printed, images = dict(server.rows("SELECT id, j FROM texts")), server.documents("texts")
    made = {number: [images[number][0].hex(), text] for number, text in printed.items()}
    write("server_texts", [[text, *(made.get(number) or refused[number])] for number, text in enumerate(texts)])


def record_equal(server: Server) -> None:
    server.run("CREATE TABLE equal (id INT PRIMARY KEY, j JSON)")
    server.run("CREATE TABLE typed (ts TIMESTAMP(1), dt DATETIME(1), dt0 DATETIME, d DATE, t TIME, bl BLOB,"
               " vb VARBINARY(9), bi BINARY(2), b BIT(1), y YEAR)")
    server.run("INSERT INTO typed VALUES ('2024-02-29 12:00:00.5', '2024-02-29 12:00:00.5', '2024-02-29 00:00:00',"
               " '2024-02-29', '12:00:00', 'ab', 'ab', 'ab', 1, 2024)")
    for number, document in enumerate(json_sources.comparable()):
        server.run(f"INSERT INTO equal VALUES ({number}, {document})")
    same = {number: [] for number, in server.rows("SELECT id FROM equal")}
    for first, second in server.rows("SELECT a.id, b.id FROM equal a JOIN equal b ON a.id < b.id AND a.j = b.j"):
        same[second].append(first)
    write("server_equal", [[images[0].hex(), same[n]] for n, images in sorted(server.documents("equal").items())])


def main(url: str) -> None:
    server = Server(url)
    record_documents(server)
    record_texts(server)
    record_equal(server)


if __name__ == "__main__":
    main(*sys.argv[1:])
