"""`show --table` prints what a reader of all events would choose (EV-ANN), whatever the tables, wherever it is cut."""

import json
import random

import pytest

from applier.binlog.archive.reader import file_events
from applier.binlog.events.contents import MappedTable
from applier.binlog.events.query import Query
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile, map_file
from applier.jobs.show import choice
from applier.jobs.show.choice import TableChoice
from applier.jobs.show.kernels.choice_kernel import Role
from applier.jobs.show.printing import EventPrinter
from applier.jobs.show.tables import statement_role
from applier.schema.table_filter import TableFilter, parse_table_list
from tests.recorded.show.tool_output import rows_of_json, rows_of_text
from tests.support.compressing import compress_transactions
from tests.support.folders import CASES

pytestmark = pytest.mark.slow

FILES = sorted(path for path in CASES.glob("*/binlog.0*") if path.stat().st_size < 100_000)
ReadRange = tuple[int, int, int]
BEGINS = ("GTID", "ANONYMOUS_GTID", "GTID_TAGGED", "MARIADB_GTID")
OF_FILE = ("FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "GTID_LIST", "ROTATE", "STOP", "BINLOG_CHECKPOINT")


def chosen(mapped: MappedFile, tables: TableFilter, read_range: ReadRange, form: str = "json"
           ) -> tuple[bytes, ArchiveError | None]:
    parts: list[bytes] = []
    try:
        TableChoice(mapped, tables, EventPrinter(mapped, form, parts.append)).print(*read_range)
    except ArchiveError as error:
        return b"".join(parts), error
    return b"".join(parts), None


def all_events(mapped: MappedFile) -> list[dict]:
    parts: list[bytes] = []
    EventPrinter(mapped, "json", parts.append).print(4, mapped.size, 4)
    return [json.loads(line) for line in b"".join(parts).splitlines()]


def by_event(events: list[dict], tables: TableFilter, flavour: str) -> list[dict]:
    """What is about the tables, one event after another: a transaction's first events wait until one is, a statement's
    text until its table maps say so."""
    out, frame, statement, is_shown, ids = [], [], [], False, {}
    for event in events:
        kind, fields = event["type"], event.get("fields", {})
        if kind in OF_FILE or kind in BEGINS:
            out += [event] if kind == "FORMAT_DESCRIPTION" else []
            frame, statement, is_shown = [event] if kind in BEGINS else [], [], False
            continue
        if kind in ("ROWS_QUERY", "ANNOTATE_ROWS"):
            statement = [event]
            continue
        sql = fields.get("sql", "").upper()
        is_frame = kind in ("XID", "XA_PREPARE", "TRANSACTION_PAYLOAD") or sql.startswith(
            ("BEGIN", "COMMIT", "ROLLBACK", "XA ", "SAVEPOINT"))
        if kind == "TABLE_MAP":
            ids[fields["table_id"]] = wanted = tables.wanted(*fields["table"].split(".", 1))
        elif "op" in event:
            wanted = tables.wanted(*event["table"].split(".", 1))
        elif "ROWS" in kind:
            wanted = ids.get(fields["table_id"], False)
        else:
            wanted = "sql" in fields and not is_frame and names(event, tables, flavour)
        if wanted:
            out += [*frame, *statement, event]
            frame, statement, is_shown = [], [], True
        elif is_frame:
            out, frame = (([*out, event], frame) if is_shown else (out, [*frame, event]))
            if kind in ("XID", "XA_PREPARE") or (sql.startswith(("COMMIT", "ROLLBACK")) and sql[:11] != "ROLLBACK TO"):
                frame, statement, is_shown = [], [], False
        elif "ROWS" in kind:
            statement = []
    return out


def names(event: dict, tables: TableFilter, flavour: str) -> bool:
    """Return whether a statement names one of the tables."""
    fields = event["fields"]
    query = Query(0, 0, 0, fields["database"], fields["sql"].encode("utf-8", "surrogateescape"), fields["context"])
    return statement_role(query, tables, flavour) == Role.CHOSEN


def tables_of(mapped: MappedFile) -> list[tuple[str, str]]:
    maps = [event.content for event in file_events(mapped) if event.name == "TABLE_MAP"]
    return sorted({(content.table.database, content.table.table) for content in maps
                   if isinstance(content, MappedTable)})


@pytest.mark.by_turns("room")
@pytest.mark.parametrize("room", [4, 4096])
def test_real_files_read_the_same(room, monkeypatch, tmp_path):
    """With room for few ranges, and for few bytes ahead, too; and in payloads."""
    monkeypatch.setattr(choice, "FIRST_RANGES", room)
    monkeypatch.setattr(choice, "CHUNK_BYTES", 700 if room == 4 else 1 << 20)
    random_, found, files = random.Random(room), 0, FILES[room == 4::3]
    for name in ("key-moves-minimal", "transactions-mysql", "ddl-mysql"):
        compress_transactions(CASES / name / "binlog.000001", tmp_path / name, 0)
        files.append(tmp_path / name)
    for path in files:
        mapped = map_file(str(path))
        events, flavour = all_events(mapped), next(file_events(mapped)).format.flavour
        tables_there = sorted({tuple(event["fields"]["table"].split(".", 1)) for event in events
                               if event["type"] == "TABLE_MAP"})
        for count in (1, 3):
            some = random_.sample(tables_there, min(len(tables_there), count))
            tables = TableFilter(tuple(some) or parse_table_list(["*"]))
            lines, error = chosen(mapped, tables, (4, mapped.size, 4))
            objects = [json.loads(line) for line in lines.splitlines()]
            assert error is None and objects == by_event(events, tables, flavour), (path, some)
            text, error = chosen(mapped, tables, (4, mapped.size, 4), "text")
            assert error is None and text.count(b"\n### INSERT") == sum(o.get("op") == "insert" for o in objects)
            found += b"\n### " in text
    assert found > 30


def test_the_middle_of_a_group_reads_the_same():
    """From a rows event on, whose table map comes before what is shown; the group's GTID comes first (EV-START)."""
    mapped = map_file(str(CASES / "mysql-types-json" / "binlog.000001"))
    positions = [event.position for event in file_events(mapped)]
    rows = [event.position for event in file_events(mapped) if "ROWS" in event.name and "QUERY" not in event.name]
    events = all_events(mapped)
    for position in rows[::7]:
        end = positions[min(positions.index(position) + 20, len(positions) - 1)]
        for tables in (parse_table_list(["*"]), *([name] for name in tables_of(mapped)[:2])):
            lines, error = chosen(mapped, TableFilter(tuple(tables)), (positions[1], end, position))
            expected = [event for event in by_event(events, TableFilter(tuple(tables)), "mysql")
                        if position <= event["pos"] < end]
            gtids = [event for event in events if event["type"] == "GTID"]
            own = [event for event in gtids if event["pos"] < position][-1:]
            following = next((event["pos"] for event in gtids if event["pos"] > position), mapped.size)
            if any(event["pos"] < following for event in expected):
                expected = own + expected
            assert error is None and [json.loads(line) for line in lines.splitlines()] == expected


def test_damage_reads_the_same(tmp_path):
    """Bytes turned behind the first event: in both forms the same error comes after the same rows."""
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
        (text, error), (lines, reason) = (chosen(mapped, tables, (4, mapped.size, 4), form)
                                          for form in ("text", "json"))
        assert (error and (error.position, error.message)) == (reason and (reason.position, reason.message))
        assert rows_of_text(text) == rows_of_json(lines)
        damaged += error is not None
        mapped.close()
    assert 5 < damaged < 32
