"""Columns that an ALTER makes NOT NULL, as MySQL 9.7 and MariaDB 10.11 did it outside of strict mode."""

import datetime

import pyarrow as pa
import pytest

from applier.columns.alter.rows import RowConverter
from applier.errors import SchemaError
from applier.mysql.values.zero_dates import to_python
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.conversion import RowConversion
from applier.schema.history.effects import changes_rows

NOW = 1_763_734_970_815_300


def altered(flavour, before, after, value=None, *, sql="ALTER TABLE t …", options="", checks=True):
    """The value that a NULL in a column `v` becomes."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t (k INT, {v}) {options}", flavour=flavour)
                    for v in (before, after))
    conversion = RowConversion(old.definition, new.definition, (0, 1), sql=sql, timestamp_us=NOW,
                               foreign_key_checks=checks)
    assert changes_rows(conversion)
    schema = RowConverter(RowConversion(new.definition, old.definition, (0, 1))).schema
    rows = pa.table({"k": [1], "v": [value]}, schema)
    return to_python(RowConverter(conversion).convert(rows).column("v").combine_chunks())[0]


@pytest.mark.parametrize(("flavour", "before", "after", "expected"), [
    ("mysql", "v INT DEFAULT 5", "v INT NOT NULL DEFAULT 5", 0),
    ("mysql", "v VARCHAR(9)", "v VARCHAR(9) NOT NULL DEFAULT 'b'", ""),
    ("mysql", "v ENUM('x','y')", "v ENUM('x','y') NOT NULL", ""),
    ("mysql", "v TIMESTAMP(2) NULL", "v TIMESTAMP(2) NOT NULL", "2025-11-21 14:22:50.810"),
    ("mysql", "v DATETIME", "v TIMESTAMP NOT NULL", "2025-11-21 14:22:50.000"),
    ("mariadb", "v INT DEFAULT 5", "v INT NOT NULL DEFAULT 5", 5),
    ("mariadb", "v INT", "v INT NOT NULL DEFAULT 9", 0),
    ("mariadb", "v INT DEFAULT 5", "v INT NOT NULL DEFAULT 9", 5),
    ("mariadb", "v INT DEFAULT 5", "v INT NOT NULL", 5),
    ("mariadb", "v INT DEFAULT (1+2)", "v INT NOT NULL DEFAULT 9", 3),
    ("mariadb", "v INT DEFAULT (k+2)", "v INT NOT NULL DEFAULT 9", 0),
    ("mariadb", "v INT DEFAULT 5", "v BIGINT NOT NULL DEFAULT 9", 0),
    ("mariadb", "v INT DEFAULT 5", "v INT UNSIGNED NOT NULL DEFAULT 9", 0),
    ("mariadb", "v VARCHAR(9) DEFAULT 'o'", "v VARCHAR(19) NOT NULL DEFAULT 'b'", "o"),
    ("mariadb", "v VARCHAR(9) DEFAULT 'o'", "v VARCHAR(5) NOT NULL DEFAULT 'b'", ""),
    ("mariadb", "v TEXT DEFAULT 'o'", "v TEXT NOT NULL DEFAULT 'b'", ""),
    ("mariadb", "v DATE DEFAULT '2020-01-01'", "v DATE NOT NULL DEFAULT '2021-01-01'", datetime.date(2020, 1, 1)),
    ("mariadb", "v DATETIME DEFAULT CURRENT_TIMESTAMP", "v DATETIME NOT NULL", "0000-00-00 00:00:00.000000"),
    ("mariadb", "v SET('x','y') DEFAULT 'y'", "v SET('x','y') NOT NULL DEFAULT 'x'", "y"),
    ("mariadb", "v ENUM('x','y') DEFAULT 'y'", "v ENUM('x','y') NOT NULL DEFAULT 'y'", "y"),
    ("mariadb", "v ENUM('x','y')", "v ENUM('x','y') NOT NULL", ""),
    ("mariadb", "v TIMESTAMP(3) NULL", "v TIMESTAMP(3) NOT NULL", "2025-11-21 14:22:50.815"),
])
def test_nulls_become_what_the_servers_make_of_them(flavour, before, after, expected):
    value = altered(flavour, before, after)
    if isinstance(value, datetime.datetime) and value.tzinfo:
        value = value.isoformat(" ", "milliseconds").removesuffix("+00:00")
    assert value == expected


@pytest.mark.parametrize(("sql", "options"), [
    ("ALTER TABLE t …", "ENGINE=MyISAM"), ("ALTER TABLE t MODIFY …, ALGORITHM=COPY", ""),
    ("ALTER TABLE t MODIFY …, ORDER BY k", ""), ("ALTER TABLE t MODIFY …, ADD CHECK (k > 0)", ""),
])
def test_in_a_copy_mariadb_takes_no_default(sql, options):
    assert altered("mariadb", "v INT DEFAULT 5", "v INT NOT NULL DEFAULT 9", sql=sql, options=options) == 0


@pytest.mark.parametrize("sql", [
    "ALTER TABLE t MODIFY … COMMENT 'the order by hand'", "ALTER TABLE t MODIFY … COMMENT 'check (it)'",
    "ALTER TABLE t MODIFY … /* ALGORITHM=COPY */", "ALTER TABLE t MODIFY …, CHANGE `order by` `references` INT",
])
def test_words_in_comments_and_names_make_no_copy(sql):
    assert altered("mariadb", "v INT DEFAULT 5", "v INT NOT NULL DEFAULT 9", sql=sql) == 5


def test_a_timestamp_that_may_not_be_null_any_longer_makes_mariadb_copy():
    [old], [new] = (parse_statement(f"CREATE TABLE d.t (v INT {null} DEFAULT 5, s TIMESTAMP {null})",
                                    flavour="mariadb") for null in ("NULL", "NOT NULL"))
    conversion = RowConversion(old.definition, new.definition, (0, 1), sql="ALTER TABLE t …", timestamp_us=NOW)
    rows = pa.table({"v": pa.array([None], pa.int32()), "s": pa.array([0], pa.timestamp("us", "UTC"))})
    assert RowConverter(conversion).convert(rows).column("v").to_pylist() == [0]


@pytest.mark.parametrize(("checks", "expected"), [(True, 0), (False, 5)])
def test_a_foreign_key_is_added_in_place_without_foreign_key_checks(checks, expected):
    sql = "ALTER TABLE t MODIFY …, ADD FOREIGN KEY (k) REFERENCES p (k)"
    assert altered("mariadb", "v INT DEFAULT 5", "v INT NOT NULL DEFAULT 9", sql=sql, checks=checks) == expected


def copied(seconds, time_zone):
    """A TIMESTAMP in a table that MySQL copies."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t (k INT, n {kind}, s TIMESTAMP NULL)")
                    for kind in ("INT", "BIGINT"))
    over = RowConversion(old.definition, new.definition, (0, 1, 2), time_zone=time_zone, sql="ALTER TABLE t …")
    rows = pa.table({"k": pa.array([1, 2], pa.int32()), "n": pa.array([1, 2], pa.int32()),
                     "s": pa.array([seconds * 1_000_000, None], pa.timestamp("us", "UTC"))})
    return RowConverter(over).convert(rows).column("s").cast(pa.int64()).to_pylist()[0] // 1_000_000


def test_a_copy_needs_the_servers_time_zone_for_hours_that_some_zone_repeats():
    first, second, other = 1478421000, 1478424600, 1478000000  # 01:30 in Los Angeles, in summer time and after it
    assert [copied(second, "America/Los_Angeles"), copied(second, "+00:00")] == [first, second]
    assert copied(other, "SYSTEM") == other
    with pytest.raises(SchemaError, match="--system-time-zone"):
        copied(second, "SYSTEM")


@pytest.mark.parametrize("kind", ["DATE", "DATETIME(2)"])
def test_a_null_becomes_the_zero_date(kind):
    """And that is no null in an ALTER that comes after it."""
    assert altered("mysql", f"v {kind}", f"v {kind} NOT NULL")[:10] == "0000-00-00"
