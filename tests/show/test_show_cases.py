"""Files of real servers, against what the servers' own tools print for them."""

import json
import re
import time

import pytest
from tool_output import binlogs, headers, recorded, row_changes

from applier.show import show

CASES = [
    "checksum-changes",
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


class Output:
    """A text stream whose bytes can be had."""

    def __init__(self):
        self.parts = []
        self.buffer = self

    def write(self, data: bytes) -> None:
        self.parts.append(data)

    def flush(self) -> None:
        pass

    @property
    def text(self) -> str:
        return b"".join(self.parts).decode("utf-8", "surrogateescape")


def shown(files: list[str], format: str) -> str:
    out = Output()
    show(files, format, out)
    return out.text


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("format", ["text", "json"])
def test_row_changes_are_those_that_the_servers_tool_prints(case, format):
    text = shown(binlogs(case), format)
    if format == "text":
        changes = row_changes(text)
    else:
        keys = ("op", "table", "before", "after")
        objects = [json.loads(line) for line in text.split("\n")[:-1]]
        changes = [{key: thing[key] for key in keys} for thing in objects if "op" in thing]
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
    assert sorted(headers(shown(binlogs(case), "text"))) == sorted(headers(recorded(case)))


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
