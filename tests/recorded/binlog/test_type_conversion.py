"""Columns of the log as other types, judged by what replicas made of them (record_type_conversions.py)."""

import gzip
import json
import re
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from applier.apply.tables.logged_table import logged_columns
from applier.binlog.events.table_map import parse_table_map
from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.columns.agreement import definition_check
from applier.columns.type_conversions import TypeConversions
from applier.columns.values import finish_column
from applier.io.mapping import MappedFile
from applier.option_texts import parse_conversions
from applier.schema.ddl.ddl import parse_statement
from keysearch.addresses import address_of
from tests.recorded.binlog.record_type_conversions import RECORDED

OVERFULL = {("mariadb", "VARCHAR(20) CHARACTER SET latin1", "VARCHAR(10)"), ("mariadb", "VARBINARY(10)", "VARCHAR(5)")}
"""Where MariaDB leaves more characters in a VARCHAR than it may have, as their bytes have room: here they are cut."""
ALL = TypeConversions(non_lossy=True, lossy=True)


@cache
def recorded(flavour):
    """[(source type, events, [(target type, {setting: values})])]"""
    found = []
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "type" in line:
                targets, of = [], line["flavour"]
                if of == flavour:
                    found.append((line["type"], [bytes.fromhex(event) for event in line["events"]], targets))
            else:
                targets.append((line["target"], line["held"]))
    return found


@cache
def table(kind, flavour):
    sql = f"CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY, v {kind})"
    [change] = parse_statement(sql, server_charset="utf8mb4", flavour=flavour)
    return change.definition


def logged_values(events, plans):
    """The second column of the rows that events insert, as the log has them."""
    found = []

    def take(batch):
        assert (np.diff(np.asarray(batch.after.columns[0].arrow(batch.n_after))) == 1).all()
        found.append(pa.concat_arrays([batch.after.columns[1].arrow(batch.n_after)] * 2).slice(0, batch.n_after))

    binding = TableBinding(plans, plans, plans, take)
    data = np.frombuffer(b"".join(events) + bytes(64), np.uint8)
    file = MappedFile("events", len(data) - 64, data, address_of(data))
    reader = ChangeReader(file, lambda _: binding, checksum=True)
    reader.walk(0, file.size)
    reader.flush()
    return pa.concat_arrays(found)


def shown(values, kind):
    """Values of a snapshot as the recorder's statement shows them."""
    base, digits = kind.split("(")[0].split()[0], int(kind[-2]) if kind[-2].isdigit() else 0
    if base in ("FLOAT", "DOUBLE"):
        return values.to_pylist()
    if base in ("CHAR", "VARCHAR") or base.endswith("TEXT"):
        return [None if value is None else value.encode().hex().upper() for value in values.to_pylist()]
    if base.endswith(("BINARY", "BLOB")):
        return [None if value is None else value.hex().upper() for value in values.to_pylist()]
    if base == "TIME":
        return [None if value is None else clock(value, digits) for value in values.cast(pa.int64()).to_pylist()]
    write = str
    if base in ("DATETIME", "TIMESTAMP"):
        def write(value):
            return f"{value:%Y-%m-%d %H:%M:%S.%f}"[:20 + digits if digits else 19]
    elif base == "DECIMAL" and not pa.types.is_string(values.type):
        write = "{:f}".format
    return [None if value is None else write(value) for value in values.to_pylist()]


def clock(micros, digits):
    seconds, rest = divmod(abs(micros), 1_000_000)
    text = f"{'-' * (micros < 0)}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text + (f".{rest:06d}"[:1 + digits] if digits else "")


def comparable(held, got, logged, target):
    """(held, got) as they are compared. Left out: bytes that are not text of the column's character set, which stay in
    a server's column in some ways and are cut off in others; all else of text is in UTF-8."""
    if not re.match("(VAR)?CHAR|.*TEXT", target):
        return held, got
    charset = "cp1252" if "latin1" in target else "utf-8"
    pairs = []
    for theirs, own, raw in zip(held, got, logged.to_pylist(), strict=True):
        try:
            if theirs is not None:
                raw.decode(charset)
                theirs = bytes.fromhex(theirs).decode(charset).encode().hex().upper()
        except UnicodeDecodeError:
            continue
        pairs.append((theirs, own))
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_every_pair_of_types_as_a_replica_takes_it(flavour):
    """AP-POS: what is refused without being allowed, and all values of what is allowed, for some 3500 pairs of types.

    Two things differ on purpose. Where nothing is allowed, other signs, character sets and digits of a second are
    refused, which servers do not look at. And servers fail (1062, 1610, 1030), or read what is not there, where the log
    has other digits of a second, in other bytes, than the column: here that is error 1677.
    """
    wrong, taken = [], 0
    for source, events, targets in recorded(flavour):
        table_map, raw = parse_table_map(events[0][25:-4]), {}
        for target, held in targets:
            definition, told = table(target, flavour), {}
            for setting, values in held.items():
                allowed = TypeConversions.of(parse_conversions([setting]))
                refused = definition_check(table_map, definition, allowed) is not None
                if not isinstance(values, list):
                    if not refused:
                        wrong.append((source, target, setting, "is taken"))
                    continue
                if refused:
                    if setting or definition_check(table_map, definition, ALL) is not None:
                        wrong.append((source, target, setting, "is refused"))
                    continue
                plans = logged_columns(table_map, definition, allowed)
                if plans[1] not in raw:
                    raw[plans[1]] = logged_values(events, plans)
                logged = raw[plans[1]]
                if plans[1] not in told:
                    got = finish_column(logged, definition.columns[1], table_map.types[1], table_map.metadata[1],
                                        flavour)
                    told[plans[1]] = shown(got, target)
                theirs, own = comparable(values, told[plans[1]], logged, target)
                taken += 1
                if theirs != own and not looks_other(source, target) and (flavour, source, target) not in OVERFULL:
                    wrong.append((source, target, setting, *next((a, b) for a, b in zip(theirs, own) if a != b)))
    assert wrong == []
    assert taken > 2500


def looks_other(source, target):
    """Where a SELECT shows less than the recorder saw: a column of the same bytes with fewer digits, or spaces."""
    if source.startswith("BINARY") and target.startswith("CHAR"):
        return True
    return target in ("DOUBLE(10,3)", "FLOAT(7,2)") and re.match(r"\w+", source)[0] == re.match(r"\w+", target)[0]


def test_signed_wins():
    """MySQL manual, replica_type_conversions: integers are taken as signed unless ALL_UNSIGNED stands alone."""
    assert TypeConversions.of(frozenset(["all_unsigned", "all_signed"])) == TypeConversions()
    assert TypeConversions.of(frozenset(["all_unsigned"])).unsigned
