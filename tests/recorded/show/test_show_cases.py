"""Files of real servers, against what the servers' own tools print for them."""

import json
import re
import time

import pytest

from tests.recorded.show import tool_events
from tests.recorded.show.tool_output import binlogs, headers, recorded, row_changes, rows_of_json, rows_of_text

CASES = [
    "checksum-changes",
    "compressed-mariadb",
    "compressed-mysql",
    "json-diverged",
    "json-error-idempotent",
    "json-error-insert",
    "json-error-insert-type",
    "json-error-null",
    "json-error-remove",
    "json-error-replace",
    "json-error-second",
    "json-partial-full",
    "json-partial-minimal",
    "json-partial-noblob",
    "json-partial-odd",
    "json-target-columns-full",
    "json-target-columns-minimal",
    "key-moves-full",
    "key-moves-minimal",
    "large-statements-checksum-none",
    "large-statements-mariadb",
    "mariadb-types",
    "mariadb-types-text",
    "mysql-charsets",
    "mysql-types-json",
    "mysql-types-number-time",
    "mysql-types-text",
    "wide-tables-mariadb",
    "wide-tables-mysql",
]


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Times are local ones; those in the recordings are UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def shown(files: list[str], format: str) -> str:
    return "".join(tool_events.shown(file, format) for file in files)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("format", ["text", "json"])
def test_row_changes_are_those_that_the_servers_tool_prints(case, format):
    text = shown(binlogs(case), format).encode("utf-8", "surrogateescape")
    changes = rows_of_text(text) if format == "text" else rows_of_json(text)
    expected = row_changes(recorded(case))
    if case == "mysql-types-text":  # mysqlbinlog gives up on geometry
        assert sum(change["table"] == "types.geometries" for change in changes) == 7
        changes, expected = ([c for c in part if c["table"] != "types.geometries"] for part in (changes, expected))
    assert len(changes) == len(expected) > 0
    for change, wanted in zip(changes, expected):
        assert change == wanted


@pytest.mark.parametrize("case", CASES)
def test_event_headers_are_those_of_the_servers_tool(case):
    """Time, server, end position and checksum of every event but ROWS_QUERY, which mysqlbinlog shows from -vv on; in
    another order, as the tool prints a statement's headers before its rows."""
    found, expected = headers(shown(binlogs(case), "text")), headers(recorded(case))
    if case == "compressed-mysql":  # events within others have no checksum; the tool makes one up
        found, expected = ([header.partition(" CRC32")[0] for header in part] for part in (found, expected))
    assert sorted(found) == sorted(expected)


def test_every_event_is_there_with_its_type_and_end():
    """EV-ALL: as mysqlbinlog and mariadb-binlog find them, in all files that the tests have but two that mariadb-binlog
    gives up on; those within compressed events, too."""
    files = tool_events.recorded()
    assert len(files) >= 130
    for name, expected in files.items():
        path = str(tool_events.RECORDED.parent.parent / "cases" / name)
        assert tool_events.of_json(tool_events.shown(path, "json")) == expected, name
        assert tool_events.of_text(tool_events.shown(path, "text")) == expected, name


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("json-")])
def test_partial_updates_read_as_the_servers_tool_prints_them(case):
    """JD-SHOW, line by line."""
    lines, expected = ([line for line in text.split("\n") if line.startswith("###")]
                       for text in (shown(binlogs(case), "text"), recorded(case)))
    assert lines == expected
    assert any(re.match(r"### {3}@\d+=JSON_\w+\(", line) for line in lines)


def test_rows_that_need_a_definition_are_noted_not_guessed():
    """mariadb-old-temporal: mariadb-binlog stops with an error at the first such event."""
    objects = [json.loads(line) for line in shown(binlogs("mariadb-old-temporal"), "json").split("\n")[:-1]]
    tables = {thing["table"] for thing in objects if "op" in thing}
    notes = [thing["note"] for thing in objects if "note" in thing]
    assert tables == {"old.really_new", "old.old_format"}
    assert all(set(thing["after"].values()) >= {"NULL"} for thing in objects if thing.get("table") == "old.old_format")
    assert len(notes) == 12 and all("old." in note for note in notes)
    assert objects[-1]["type"] == "ROTATE"
