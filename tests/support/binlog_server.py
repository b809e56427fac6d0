"""A server that sends the binlogs of a folder by MySQL's protocol, as much of it as a replica needs.

It does what real ones were seen to do (tests/recorded/archiving/real_servers.py): an artificial ROTATE names each file,
a format description comes before events from within a file, heartbeats while there is nothing, 1236 for a file that
it has not. Source: MySQL Source Documentation, "Client/Server Protocol".
"""

import hashlib
import socket
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import pack, unpack_from

from applier.binlog.events.gtid import GtidSet

PASSWORD = "se cret#1"
UUID = "2fd3e025-e51c-11f1-9d4f-02fc00000001"
_MAGIC, _HEADER, _LARGEST = 4, 19, 0xFFFFFF
_ROTATE, _FORMAT, _HEARTBEAT, _PREVIOUS_GTIDS = 4, 15, 27, 35
_ARTIFICIAL, _IN_USE, _NOT_WAITING = 0x20, 1, 1
_SALT = b"saltsaltsaltsaltsalt"
_CAPABILITIES = 0x1 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000


@dataclass(frozen=True)
class Fault:
    """A fault at a position, in the dump with this number, counted from 0: "close" before the event, "cut" within it,
    "end" of the log before it, "damage" one of its bytes, "heartbeat" before it, or an error."""

    dump: int
    file: str
    position: int
    what: str | tuple[int, str]


@dataclass
class BinlogServer:
    """The server, in threads; a context manager. `dumps` has the requests: (file, position), or the GTID set, and
    `statements` the clients' statements.

    A hostile or broken server sends packets of the test: `greeting` instead of the greeting, `login` instead of the
    answer to the password, `answers` to the statements with a word, `events` instead of the log. `got` has the client's
    packets after a request for a file.
    """

    folder: Path
    flavour: str = "mysql"
    uuid: str = UUID
    faults: tuple[Fault, ...] = ()
    greeting: bytes | None = None
    login: bytes | None = None
    answers: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    events: Iterable[bytes] | None = None
    got: list[bytes] = field(default_factory=list)
    dumps: list[object] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)

    def __enter__(self) -> "BinlogServer":
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    @property
    def url(self) -> str:
        return f"mysql://repl@127.0.0.1:{self._listening.getsockname()[1]}"

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.0*"))

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, EOFError):
            _Conversation(self, connection).run()


class _Conversation:
    def __init__(self, server: BinlogServer, connection: socket.socket) -> None:
        self.server, self.connection, self.number = server, connection, 0
        self.received = connection.makefile("rb")

    def run(self) -> None:
        if self.server.greeting is not None:
            self.send(self.server.greeting)
            return
        version = b"11.4.2-MariaDB-log" if self.server.flavour == "mariadb" else b"9.7.4-2"
        self.send(b"\x0a" + version + b"\0" + pack("<I", 7) + _SALT[:8] + b"\0" + pack("<H", _CAPABILITIES & 0xFFFF)
                  + b"\x2d\x02\x00" + pack("<H", _CAPABILITIES >> 16) + bytes((21,)) + bytes(10) + _SALT[8:] + b"\0"
                  + b"mysql_native_password\0")
        response = self.packet()
        if not self._knows(response):
            self.error(1045, "Access denied for user 'repl'@'localhost' (using password: YES)")
            return
        self.send(_OK if self.server.login is None else self.server.login)
        while True:
            command = self.packet()
            match command[0]:
                case 3:
                    self._query(command[1:].decode())
                case 0x12:
                    position, flags, _ = unpack_from("<IHI", command, 1)
                    name = command[11:].decode()
                    self.server.dumps.append((name, position))
                    self._dump(name or self.server.files()[0].name, position, flags)
                case 0x1E:
                    flags, _, length = unpack_from("<HII", command, 1)
                    [size] = unpack_from("<I", command, 19 + length)
                    gtids = GtidSet.from_previous_gtids_event(command[23 + length:])
                    assert size == len(command) - 23 - length
                    self.server.dumps.append(gtids)
                    self._dump(self._file_after(gtids), _MAGIC, flags)
                case _:
                    return

    def _knows(self, response: bytes) -> bool:
        """The answer to mysql_native_password."""
        at = response.index(b"\0", 32) + 1
        answer = response[at + 1:at + 1 + response[at]]
        once = hashlib.sha1(PASSWORD.encode()).digest()
        mask = hashlib.sha1(_SALT + hashlib.sha1(once).digest()).digest()
        return response[32:at - 1] == b"repl" and answer == bytes(a ^ b for a, b in zip(once, mask, strict=True))

    def _query(self, sql: str) -> None:
        self.server.statements.append(sql)
        for packet in next((packets for word, packets in self.server.answers.items() if word in sql), ()):
            self.send(packet)
            if packet == FILE_REQUEST:
                self.server.got.append(self.packet())
        if any(word in sql for word in self.server.answers):
            return
        match sql:
            case "SELECT VERSION()":
                self._rows([["11.4.2-MariaDB-log" if self.server.flavour == "mariadb" else "9.7.4-2"]])
            case "SELECT @@GLOBAL.server_uuid":
                self._rows([[self.server.uuid]])
            case "SHOW BINARY LOGS":
                self._rows([[file.name, str(file.stat().st_size)] for file in self.server.files()])
            case _:
                self.send(_OK)

    def _rows(self, rows: list[list[str]]) -> None:
        for packet in answer(len(rows[0]), *([cell.encode() for cell in row] for row in rows)):
            self.send(packet)

    def _file_after(self, gtids: GtidSet) -> str:
        """The last file before which no transaction is missing in the set."""
        for file in reversed(self.server.files()):
            event = _event(file.read_bytes(), _second(file.read_bytes()))
            if gtids.contains(GtidSet.from_previous_gtids_event(event[_HEADER:-4])):
                return file.name
        raise AssertionError("the files begin later")

    def _dump(self, name: str, position: int, flags: int) -> None:
        if self.server.events is not None:
            for packet in self.server.events:
                self.send(packet)
            self.send(_END)
            return
        faults = {(fault.file, fault.position): fault.what for fault in self.server.faults
                  if fault.dump == len(self.server.dumps) - 1}
        while (path := self.server.folder / name).exists():
            self.send(b"\0" + _artificial(_ROTATE, pack("<Q", position) + name.encode()))
            data = path.read_bytes()
            if position > _MAGIC:
                description = bytearray(_event(data, _MAGIC))
                description[13:17] = bytes(4)
                self.send(b"\0" + _with_checksum(description))
            while position < len(data):
                if position + int.from_bytes(data[position + 9:position + 13], "little") > len(data):
                    self.error(1236, "binlog truncated in the middle of event; consider out of disk space on master")
                    return
                if not self._send_event(_event(data, position), faults.get((name, position))):
                    return
                position += len(_event(data, position))
            following = [file.name for file in self.server.files() if file.name > name]
            if not following:
                break
            name, position = following[0], _MAGIC
        else:
            self.error(1236, "Could not find first log file name in binary log index file")
            return
        if flags & _NOT_WAITING:
            self.send(_END)
            return
        self.send(b"\0" + _artificial(_HEARTBEAT, name.encode(), position))
        self.received.read(1)  # until the other side ends it
        raise EOFError

    def _send_event(self, event: bytes, fault: str | tuple[int, str] | None) -> bool:
        match fault:
            case "close":
                self.connection.shutdown(socket.SHUT_RDWR)
                return False
            case "cut":
                self.connection.sendall((pack("<I", len(event) + 1 | self.number << 24) + b"\0" + event)[:len(event)])
                self.connection.shutdown(socket.SHUT_RDWR)
                return False
            case "end":
                self.send(_END)
                return False
            case "heartbeat":
                self.send(b"\0" + _artificial(_HEARTBEAT, b"binlog.000001", 4))
            case "damage":
                event = event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:]
            case (int(number), str(text)):
                self.error(number, text)
                return False
        if event[4] == _FORMAT:
            event = event[:17] + bytes((event[17] & ~_IN_USE,)) + event[18:]
        self.send(b"\0" + event)
        return True

    def packet(self) -> bytes:
        head = self.received.read(4)
        if len(head) < 4:
            raise EOFError
        self.number = head[3] + 1
        return self.received.read(int.from_bytes(head[:3], "little"))

    def send(self, payload: bytes) -> None:
        """Send one packet, or several, the last of which is not full."""
        for at in range(0, len(payload) + 1, _LARGEST):
            part = payload[at:at + _LARGEST]
            self.connection.sendall(pack("<I", len(part) | (self.number & 255) << 24) + part)
            self.number += 1

    def error(self, number: int, text: str) -> None:
        self.send(failure(number, text.encode()))


_OK = b"\0\0\0\2\0\0\0"
_END = b"\xfe\0\0\2\0"
FILE_REQUEST = b"\xfb/etc/passwd"


def answer(columns: int, *rows: Sequence[bytes | None]) -> list[bytes]:
    """The packets of an answer with rows of texts, each of 250 bytes at most, or NULL."""
    column = b"\3def\0\0\0\1c\0\x0c" + pack("<HIBHB", 45, 255, 253, 0, 0) + b"\0\0"
    return [bytes((columns,)), *[column] * columns, _END,
            *(b"".join(b"\xfb" if cell is None else bytes((len(cell),)) + cell for cell in row) for row in rows), _END]


def failure(number: int, text: bytes) -> bytes:
    """The packet of an error."""
    return b"\xff" + pack("<H", number) + b"#HY000" + text


def rotation(name: bytes, position: int = 4) -> bytes:
    """The packet that says which file's events follow."""
    return b"\0" + _artificial(_ROTATE, pack("<Q", position) + name)


def event(kind: int, body: bytes, begins: int, flags: int = 0) -> bytes:
    """The packet of an event that begins there in its file."""
    size = _HEADER + len(body) + 4
    return b"\0" + _with_checksum(bytearray(pack("<IBIIIH", 0, kind, 1, size, begins + size, flags) + body + bytes(4)))


def first_events(path: Path, count: int = 2) -> list[bytes]:
    """The packets of a file's first events."""
    data, at, packets = path.read_bytes(), _MAGIC, []
    for _ in range(count):
        packets.append(b"\0" + _event(data, at))
        at += len(_event(data, at))
    return packets


def _event(data: bytes, position: int) -> bytes:
    return data[position:position + int.from_bytes(data[position + 9:position + 13], "little")]


def _second(data: bytes) -> int:
    return _MAGIC + len(_event(data, _MAGIC))


def _artificial(kind: int, body: bytes, end: int = 0) -> bytes:
    size = _HEADER + len(body) + 4
    flags = _ARTIFICIAL if kind == _ROTATE else 0
    return _with_checksum(bytearray(pack("<IBIIIH", 0, kind, 1, size, end, flags) + body + bytes(4)))


def _with_checksum(event: bytearray) -> bytes:
    return bytes(event[:-4]) + pack("<I", zlib.crc32(event[:-4]))
