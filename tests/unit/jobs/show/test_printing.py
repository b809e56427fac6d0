"""Events print the same however little room there is, in parts or whole, and their rows the same in both forms."""

import json
import random
import re
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier import cli
from applier.binlog.archive.reader import file_events
from applier.binlog.events.compression import compressed as inflating
from applier.binlog.events.format import EventType
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile, map_file
from applier.jobs.show import printed_tables, printing
from applier.jobs.show.json_lines import event_line
from applier.jobs.show.printing import EventPrinter
from applier.writer.writer import BinlogWriter
from tests.recorded.show.tool_output import rows_of_json, rows_of_text
from tests.support import row_model as m
from tests.support.compressing import compress_events, compress_transactions
from tests.support.examples import examples
from tests.support.folders import CASES
from tests.support.row_model import DELETE, INSERT, UPDATE

pytestmark = pytest.mark.slow

FILES = sorted(path for path in CASES.glob("*/binlog.0*") if path.stat().st_size < 200_000)
ROOM = printing.FIRST_BYTES


def printed(mapped: MappedFile, form: str = "text", room: int = ROOM) -> tuple[bytes, ArchiveError | None]:
    """What is printed of a file, with room for this many bytes at first; and the error at its end."""
    parts: list[bytes] = []
    before, printing.FIRST_BYTES = printing.FIRST_BYTES, room
    try:
        EventPrinter(mapped, form, parts.append).print(4, mapped.size, 4)
    except ArchiveError as error:
        return b"".join(parts), error
    finally:
        printing.FIRST_BYTES = before
    return b"".join(parts), None


def assert_the_same(mapped: MappedFile, room: int = 4096) -> bool:
    """Return whether the file is damaged: with little room and much, in both forms, in the same way, after the same
    rows."""
    (text, error), (lines, reason) = printed(mapped), printed(mapped, "json")
    for form, (whole, end) in (("text", (text, error)), ("json", (lines, reason))):
        cut, cut_end = printed(mapped, form, room)
        is_same = cut == whole  # no diff of this many bytes
        assert is_same and repr(cut_end) == repr(end)
    assert (error and (error.position, error.message)) == (reason and (reason.position, reason.message))
    assert rows_of_text(text) == rows_of_json(lines)
    return error is not None


@pytest.mark.by_turns("room")
@pytest.mark.parametrize("room", [4096, 1 << 16])
def test_real_files_read_the_same(room):
    """With room for an event or two a call, too: every file is cut at other places then."""
    for path in FILES[room > 4096::4]:
        assert not assert_the_same(map_file(str(path)), room), path


@pytest.fixture(scope="module")
def compressed(tmp_path_factory) -> list[MappedFile]:
    """Files of real servers as if the servers had compressed them: payloads (zstd, and as they are), or MariaDB's."""
    folder, files = tmp_path_factory.mktemp("compressed"), []
    for name in ("mysql-types-json", "mysql-types-number-time", "key-moves-minimal", "transactions-mysql",
                 "json-partial-full", "ddl-mysql", "mariadb-types", "mariadb-row-image-minimal",
                 "transactions-mariadb", "mariadb-old-temporal"):
        source = CASES / name / "binlog.000001"
        if "mariadb" in name:
            compress_events(source, folder / name)
            files.append(folder / name)
            continue
        for algorithm in (0, 255):
            compress_transactions(source, folder / f"{name}-{algorithm}", algorithm)
            files.append(folder / f"{name}-{algorithm}")
    return [map_file(str(path)) for path in files]


@pytest.mark.parametrize("room, ahead", [(4096, 4096), (1 << 20, 4096), (1 << 20, 4 << 20)])
def test_what_was_compressed_has_the_same_rows(compressed, room, ahead, monkeypatch):
    """As the events that were compressed; whole, and where payloads are inflated a part at a time."""
    monkeypatch.setattr(inflating, "AHEAD_BYTES", ahead)
    for mapped in compressed:
        source = mapped.uri.rpartition("/")[2].removesuffix("-0").removesuffix("-255")
        plain, _ = printed(map_file(str(CASES / source / "binlog.000001")))
        text, error = printed(mapped, "text", room)
        lines, reason = printed(mapped, "json", room)
        assert error is None and reason is None
        assert rows_of_text(text) == rows_of_json(lines) == rows_of_text(plain), mapped.uri
        assert b"# End of compressed events.\n" in text or b"_compressed_rows: " in text


def test_lines_of_events_are_those_that_python_makes(compressed):
    """Kernels write the lines of frequent kinds; also in payloads, and of MariaDB's compressed events."""
    for mapped in [*(map_file(str(path)) for path in FILES[::2]), *compressed]:
        lines, error = printed(mapped, "json")
        own = [line for line in lines.decode().split("\n")[:-1] if not _is_rows(json.loads(line)["type"])]
        assert error is None and own == list(_lines_of_python(mapped)), mapped.uri


def _lines_of_python(mapped: MappedFile) -> Iterator[str]:
    for event in file_events(mapped):
        numbered = enumerate(event.events(), 1) if event.type == EventType.TRANSACTION_PAYLOAD else ()
        for number, one in ((None, event), *numbered):
            if not _is_rows(one.name):
                yield event_line(one, number, None)


def _is_rows(name: str) -> bool:
    return "_ROWS" in name and name != "ANNOTATE_ROWS"


def test_damage_within_payloads_reads_the_same(compressed, tmp_path):
    """Bytes turned in payloads that are not compressed: the events before it, and the same error."""
    random_, damaged, path = random.Random(3), 0, tmp_path / "binlog.000001"
    names = "key-moves-minimal-255", "transactions-mysql-255", "json-partial-full-255", "ddl-mysql-255"
    for source in [mapped for mapped in compressed if mapped.uri.endswith(names)] * 10:
        data = bytearray(source.array.tobytes())
        for _ in range(2):
            data[random_.randrange(300, len(data))] = random_.choice((0, 1, 127, 128, 255))
        path.write_bytes(data)
        mapped = map_file(str(path))
        damaged += assert_the_same(mapped)
        mapped.close()
    assert 9 < damaged < 40


HEAD = (CASES / "many-files-mysql" / "binlog.000001").read_bytes()


def log_of(*events: bytes) -> MappedFile:
    """A file of a real server's head, without checksums, and these events."""
    head = bytearray(HEAD[4:4 + int.from_bytes(HEAD[13:17], "little")])
    head[-5] = 0
    return m.as_file(bytes(head), *events)


@st.composite
def rows(draw):
    kinds = draw(st.lists(st.sampled_from(m.KINDS), min_size=1, max_size=9))
    events = [m.table_map_event(7, m.table_map_body(kinds))]
    for _ in range(draw(st.integers(1, 3))):
        operation, version = draw(st.integers(0, 2)), draw(st.sampled_from((1, 2)))
        images = [draw(st.lists(st.integers(0, 1), min_size=len(kinds), max_size=len(kinds)).filter(any))
                  if operation != gone else None for gone in (INSERT, DELETE)]
        data = b""
        for _ in range(draw(st.integers(1, 4))):
            for bits in images:
                if bits is not None:
                    data += m.image(kinds, tuple(draw(st.none() | kind.values) if bit else m.ABSENT
                                                 for kind, bit in zip(kinds, bits)))
        events.append(m.rows_event(operation, 7, len(kinds), *images, data, version=version))
    return log_of(*events)


@settings(max_examples=examples(80))
@given(rows(), st.sampled_from((3000, 4096, 1 << 20)))
def test_any_rows_read_the_same(mapped, room):
    assert_the_same(mapped, room)


def test_a_row_longer_than_all_room_makes_more():
    kinds = [m.BY_NAME["int"], m.BY_NAME["varchar(60000)"]]
    table = m.table_map_event(7, m.table_map_body(kinds))
    for value in (b"x" * 60_000, b"'\0\n" * 20_000, b"", "é".encode() * 9):
        data = m.image(kinds, (1, value)) + m.image(kinds, (2, b"after"))
        mapped = log_of(table, m.rows_event(UPDATE, 7, 2, [1, 1], [1, 1], data))
        assert not assert_the_same(mapped) and b"@2='after'" in printed(mapped, room=4096)[0]


def test_a_table_without_columns_has_rows_without_values():
    """Which no server writes: an insert that takes no byte is a row, as in a table with columns."""
    table = m.table_map_event(7, m.table_map_body([]))
    insert = m.rows_event(INSERT, 7, 0, None, [], b"")
    mapped = log_of(table, insert, table, insert)
    assert not assert_the_same(mapped)
    assert printed(mapped)[0].count(b"### INSERT INTO") == 2 == printed(mapped, "json")[0].count(b'"after":{}')


@pytest.mark.parametrize("room", [2100, 4096])
def test_a_table_map_whose_names_take_more_than_all_room(room, monkeypatch):
    """Names are of 255 bytes at most, but what is printed of them may be longer."""
    monkeypatch.setattr(printed_tables, "quoted", lambda name: name * 900)
    kinds = [m.BY_NAME["int"]]
    row = m.rows_event(INSERT, 7, 1, None, [1], m.image(kinds, (1,)))
    mapped = log_of(m.table_map_event(7, m.table_map_body(kinds)), row)
    text, error = printed(mapped, room=room)
    assert error is None and len(text) > 2 * 900


def test_damage_reads_the_same(tmp_path):
    """Bytes turned behind the first event: the same events come before the same error."""
    random_, damaged, path = random.Random(5), 0, tmp_path / "binlog.000001"
    names = ["mysql-types-json", "mysql-types-number-time", "mariadb-types", "key-moves-minimal", "transactions-mysql",
             "compressed-mysql", "statement-mariadb"]
    sources = [(CASES / name / "binlog.000001").read_bytes() for name in names]
    for mutant in range(42):
        data = bytearray(sources[mutant % len(sources)])
        for _ in range(6):
            data[random_.randrange(300, len(data))] = random_.choice((0, 1, 127, 128, 255))
        path.write_bytes(data)
        mapped = map_file(str(path))
        damaged += assert_the_same(mapped)
        mapped.close()
    assert 9 < damaged < 42


def test_a_gtid_event_without_the_thread_that_its_flags_announce(tmp_path, capsys):
    """MariaDB's, at the very end of a file: what is behind the event is not read for it."""
    path = str(tmp_path / "binlog.000001")
    with BinlogWriter(path, flavour="mariadb", checksum=False) as log:
        log.event(162, struct.pack("<QIB", 5, 0, 0) + b"\x10")
    assert cli.main(["show", path]) == 0
    assert "thread_id" not in capsys.readouterr().out


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_use_is_printed_where_the_default_database_changes(flavour, tmp_path, capsys):
    """EV-CTX: also between statements whose other context is the same."""
    path = str(tmp_path / "binlog.000001")
    with BinlogWriter(path, flavour=flavour, checksum=False) as log, log.transaction():
        for database in ("a", "a", "b", "", "b", "a"):
            log.query("INSERT INTO t VALUES (1)", database)
    assert cli.main(["show", path]) == 0
    assert re.findall("^use `(.)`", capsys.readouterr().out, re.MULTILINE) == ["a", "b", "b", "a"]


@pytest.mark.parametrize("name, branch", [("78", "79"), ("78", ""), ("", "79")])
def test_a_gtid_event_of_a_prepared_transaction(name, branch, tmp_path, capsys):
    """MariaDB's: it begins the transaction under its XID."""
    path = str(tmp_path / "binlog.000001")
    with BinlogWriter(path, flavour="mariadb", checksum=False) as log:
        xid = struct.pack("<iBB", -7, len(name) // 2, len(branch) // 2) + bytes.fromhex(name + branch)
        log.event(162, struct.pack("<QIB", 5, 0, 64) + xid)
    assert cli.main(["show", path]) == 0
    assert f"\nXA START X'{name}',X'{branch}',-7/*!*/;\n" in capsys.readouterr().out


@pytest.mark.parametrize(("statements", "is_open"), [(["BEGIN", "INSERT INTO t VALUES (1)"], True),
                                                     (["BEGIN", "INSERT INTO t VALUES (1)", "COMMIT"], False)])
def test_a_transaction_that_the_file_cuts_off_is_rolled_back(statements, is_open, tmp_path, capsys):
    """As MySQL's tool does, for the client that reads its output."""
    path = str(tmp_path / "binlog.000001")
    with BinlogWriter(path, flavour="mysql", gtids="none", checksum=False) as log:
        for sql in statements:
            log.query(sql, "d")
    assert cli.main(["show", path]) == 0
    assert ("ROLLBACK /* added by mysqlbinlog */" in capsys.readouterr().out) is is_open
