"""`show --table` prints what Python chooses event by event (EV-ANN), whatever the tables and wherever it is cut."""

import random

import pytest

from applier.binlog.archive.reader import file_events
from applier.binlog.events.contents import MappedTable
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile, map_file
from applier.jobs.show import shown_events, table_choice
from applier.jobs.show.table_choice import TableChoice
from applier.jobs.show.text import TextPrinter
from applier.jobs.show.text_walk import TextWalk
from applier.schema.table_filter import TableFilter, parse_table_list
from tests.support.folders import CASES

pytestmark = pytest.mark.slow

FILES = sorted(path for path in CASES.glob("*/binlog.0*") if path.stat().st_size < 100_000)
ReadRange = tuple[int, int, int]


def by_kernel(mapped: MappedFile, tables: TableFilter, read_range: ReadRange) -> tuple[bytes, ArchiveError | None]:
    parts: list[bytes] = []
    try:
        TableChoice(mapped, tables, TextWalk(mapped, parts.append)).print(*read_range)
    except ArchiveError as error:
        return b"".join(parts), error
    return b"".join(parts), None


def by_event(mapped: MappedFile, tables: TableFilter, read_range: ReadRange) -> tuple[bytes, ArchiveError | None]:
    printer, lines, error = TextPrinter(), [], None
    try:
        for shown in shown_events(mapped, [read_range], tables):
            lines += printer.lines(shown)
    except ArchiveError as reason:
        error = reason
    lines += printer.end()
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"), error


def tables_of(mapped: MappedFile) -> list[tuple[str, str]]:
    maps = [event.content for event in file_events(mapped) if event.name == "TABLE_MAP"]
    return sorted({(content.table.database, content.table.table) for content in maps
                   if isinstance(content, MappedTable)})


@pytest.mark.parametrize("room", [4, 4096])
def test_real_files_read_the_same(room, monkeypatch):
    """With room for few ranges, and for few bytes ahead, too."""
    monkeypatch.setattr(table_choice, "FIRST_RANGES", room)
    monkeypatch.setattr(table_choice, "CHUNK_BYTES", 700 if room == 4 else 1 << 20)
    random_, chosen = random.Random(room), 0
    for path in FILES[room == 4::3]:
        mapped = map_file(str(path))
        names = tables_of(mapped)
        for some in (random_.sample(names, min(len(names), 1)), random_.sample(names, min(len(names), 3))):
            tables = TableFilter(tuple(some) or parse_table_list(["*"]))
            text, error = by_kernel(mapped, tables, (4, mapped.size, 4))
            assert error is None and (text, None) == by_event(mapped, tables, (4, mapped.size, 4)), (path, some)
            chosen += b"\n### " in text
    assert chosen > 30


def test_the_middle_of_a_group_reads_the_same():
    """From a rows event on, whose table map comes before what is shown."""
    mapped = map_file(str(CASES / "mysql-types-json" / "binlog.000001"))
    positions = [event.position for event in file_events(mapped)]
    rows = [event.position for event in file_events(mapped) if "ROWS" in event.name and "QUERY" not in event.name]
    for position in rows[::7]:
        read_range = positions[1], positions[min(positions.index(position) + 20, len(positions) - 1)], position
        for tables in (parse_table_list(["*"]), *([name] for name in tables_of(mapped)[:2])):
            text, error = by_kernel(mapped, TableFilter(tuple(tables)), read_range)
            expected, _ = by_event(mapped, TableFilter(tuple(tables)), read_range)
            head = expected.index(b"\n# at ", 1) + 1 if expected.count(b"# at ") > 1 else len(expected)
            assert error is None and text == expected[head:]


def test_damage_reads_the_same(tmp_path):
    """Bytes turned behind the first event: the same events come before the same error, but that the kernel may have
    printed some rows of the event that is damaged."""
    random_, damaged, path = random.Random(7), 0, tmp_path / "binlog.000001"
    cases = ["key-moves-minimal", "transactions-mysql", "mariadb-row-image-full", "statement-mariadb"]
    sources = [(CASES / name / "binlog.000001").read_bytes() for name in cases]
    for mutant in range(32):
        data = bytearray(sources[mutant % len(sources)])
        path.write_bytes(data)
        mapped = map_file(str(path))
        names = tables_of(mapped)
        tables = TableFilter(tuple(random_.sample(names, min(len(names), 2))) or parse_table_list(["*"]))
        mapped.close()
        for _ in range(4):
            data[random_.randrange(300, len(data))] = random_.choice((0, 1, 127, 128, 255))
        path.write_bytes(data)
        mapped = map_file(str(path))
        (text, error), (expected, reason) = (by(mapped, tables, (4, mapped.size, 4)) for by in (by_kernel, by_event))
        assert (error and (error.position, error.message)) == (reason and (reason.position, reason.message))
        assert text.startswith(expected) if error else text == expected
        damaged += error is not None
        mapped.close()
    assert 5 < damaged < 32
