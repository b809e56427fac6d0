"""Values on the terminal: those that differ are seen to differ, of every family of types and wherever they differ."""

import re
import struct
from datetime import timedelta

import pytest

import applier.binlog
from applier import cli
from applier.cli.output.value_texts import ValueText

LONG = "x" * 80
POINT = struct.pack("<IBI2d", 0, 1, 1, 1.0, 2.0)
LINE = struct.pack("<IBII", 0, 1, 2, 4) + struct.pack("<8d", *range(8))
BOTH = {
    "INT": (1, 2), "BIGINT UNSIGNED": (2**64 - 1, 2**64 - 2), "BIT(64)": (2**63, 2**63 + 1),
    "DECIMAL(65,30)": (f"{'9' * 35}.{'1' * 30}", f"{'9' * 35}.{'1' * 29}2"), "FLOAT": (0.1, 0.10000001),
    "DOUBLE": (0.1, 0.10000000000000002), "VARCHAR(200)": (LONG + "a", LONG + "b"), "LONGTEXT": (LONG, LONG + " "),
    "TEXT": (LONG * 2 + "a" + LONG, LONG * 2 + "b" + LONG), "CHAR(100)": ("é" * 90, "é" * 89 + "e"),
    "VARBINARY(90)": (b"\0" * 29 + b"\1", b"\0" * 29 + b"\2"), "LONGBLOB": (bytes(70) + b"\1", bytes(70) + b"\2"),
    "BINARY(40)": (bytes(39) + b"\1", bytes(38) + b"\1\1"), "DATE": ("2026-03-14", "2026-03-15"),
    "DATETIME(6)": ("2026-03-14 10:30:00.000001", "2026-03-14 10:30:00.000002"),
    "TIMESTAMP(6) NULL": ("2026-03-14 10:30:00.000001Z", "2026-03-14 10:30:00.000002Z"),
    "TIME(6)": (timedelta(days=-1, microseconds=1), timedelta(days=-1, microseconds=2)), "YEAR": (2026, 2027),
    "ENUM('x','y')": ("x", "y"),
    f"SET('a','b','{LONG}c','{LONG}d')": (f"a,{LONG}c", f"a,{LONG}d")}
OF_FLAVOUR = {
    "mysql": {"JSON": (f'{{"a": "{LONG}", "b": 1}}', f'{{"a": "{LONG}", "b": 2}}'),
              "GEOMETRY": (LINE, LINE[:-1] + b"\1"), "POINT": (POINT, POINT[:-1] + b"\1"),
              "VECTOR(40)": ([0.1] * 40, [0.1] * 39 + [0.25])},
    "mariadb": {"JSON": (f'{{"a": "{LONG}", "b": 1}}', f'{{"a": "{LONG}", "b": 2}}'),
                "GEOMETRY": (LINE, LINE[:-1] + b"\1"), "INET6": ("::1", "::2"), "INET4": ("10.0.0.1", "10.0.0.2"),
                "UUID": ("123e4567-e89b-12d3-a456-426655440000", "123e4567-e89b-12d3-a456-426655440001")}}


@pytest.mark.slow
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_each_type_shows_what_differs(tmp_path, capsys, flavour):
    """In `history --key` and in `diff`; NULL, too. What did not change is not shown, and is said to be unchanged."""
    types = BOTH | OF_FLAVOUR[flavour]
    names = [f"c{number}" for number in range(len(types))]
    columns = ", ".join(f"{name} {type}" for name, type in zip(names, types, strict=True))
    path = str(tmp_path / "binlog.000001")
    log = applier.binlog.Writer(path, flavour=flavour)
    log.query("CREATE DATABASE d")
    log.query(f"CREATE TABLE t (id INT PRIMARY KEY, {columns}) CHARACTER SET utf8mb4", "d")
    with log.transaction():
        log.insert("d.t", {"id": [1], **{name: [pair[0]] for name, pair in zip(names, types.values(), strict=True)}})
    start = log.position[1]
    for side in (1, 1, None):
        with log.transaction():
            log.update("d.t", {"id": [1]}, {name: [None if side is None else pair[side]]
                                            for name, pair in zip(names, types.values(), strict=True)})
        if side is not None:
            end = log.position[1]
    log.close()
    assert cli.main(["history", "--binlogs", path, "--table", "d.t", "--key", "1"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if re.search(r" (insert|update) ", line)]
    assert len(lines) == 4 and lines[2].endswith(" unchanged")
    for place, stop in (("before", start), ("after", end)):
        applier.replay(path, tmp_path / place, stop=("binlog.000001", stop))
    assert cli.main(["diff", str(tmp_path / "before"), str(tmp_path / "after")]) == 0
    [changed] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("~ id=1  ")]
    assert changed.removeprefix("~ id=1  ") == lines[1].split(" update ")[1].strip()
    for text, of in ((changed, "value"), (lines[3], "NULL")):
        parts = re.split(r"(?:, |  )(?=c\d+: )", text)[1:] if of == "value" else \
            re.split(r"(?:, |\s)(?=c\d+: )", text)[1:]
        assert [part.split(": ")[0] for part in parts] == names
        for part in parts:
            old, new = part.split(": ", 1)[1].split(" → ")
            assert old != new and max(len(old), len(new)) < 70 and (of == "value" or new == "NULL")


def test_values_are_cut_around_their_first_difference():
    """With what is before it, so that people find the place; a value that ends there is seen to end."""
    old, new = ValueText(f"{LONG}old{LONG}").beside(ValueText(f"{LONG}new{LONG}"))
    assert old == f"'…{'x' * 20}old{'x' * 36}…'" and new == f"'…{'x' * 20}new{'x' * 36}…'"
    assert ValueText(LONG).beside(ValueText(LONG + "y")) == (f"'…{'x' * 20}'", f"'…{'x' * 20}y'")
    assert ValueText("short").beside(ValueText("s" + LONG)) == ("'short'", f"'s{'x' * 58}…'")
    assert ValueText("x" * 60).beside(ValueText("x" * 61)) == (f"'{'x' * 60}'", f"'…{'x' * 21}'")
    assert ValueText(bytes(40)).beside(ValueText(bytes(39) + b"\1")) == (
        f"x'…{'00' * 11}'", f"x'…{'00' * 10}01'")
    assert ValueText(bytes(31)).beside(ValueText(None)) == (f"x'{'00' * 29}…'", "NULL")
    assert ValueText("1" * 70, True).beside(ValueText("1" * 69 + "2", True)) == (f"…{'1' * 21}", f"…{'1' * 20}2")
    assert ValueText("NULL") != ValueText(None) and ValueText("1") != ValueText("1", True)
    assert (ValueText(LONG).whole, ValueText(b"\0" * 40).whole) == (f"'{LONG}'", f"x'{'00' * 40}'")
