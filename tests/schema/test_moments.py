"""Defaults that are the current time: which they are, and their values in columns of each type."""

import numpy as np
import pytest

from applier.schema.definition import Default
from applier.schema.moments import Moment, moment_of, varies
from applier.schema.types import ColumnType

NOON = np.array([1_700_000_000], np.uint32)  # 2023-11-14 22:13:20


@pytest.mark.parametrize(("default", "moment"), [
    (Default("now", "CURRENT_TIMESTAMP(3)"), Moment("datetime")),
    (Default("expression", "now(6)"), Moment("datetime")),
    (Default("expression", "(utc_timestamp())"), Moment("datetime")),
    (Default("expression", "curdate()"), Moment("date")),
    (Default("expression", "unix_timestamp()"), Moment("number")),
    (Default("expression", "(now() + interval 2 hour) - interval 1 minute"), Moment("datetime", 7140)),
    (Default("expression", "curdate() + interval 1 week"), Moment("date", 604800)),
    (Default("expression", "curdate() + interval 1 hour"), None),
    (Default("expression", "now() + interval 1 month"), None),
    (Default("expression", "now() + interval a day"), None),
    (Default("expression", "unix_timestamp(a)"), None),
    (Default("expression", "1 + 1"), None),
    (Default("string", "now()"), None),
])
def test_what_a_default_is(default, moment):
    assert moment_of(default) == moment


@pytest.mark.parametrize(("sql", "expected"), [
    ("1 + 1", False), ("concat('a', 'b')", False), ("a + 1", True), ("year(now())", True), ("uuid()", True),
    ("rand()", True),
])
def test_what_varies(sql, expected):
    assert varies(sql) == expected


@pytest.mark.parametrize(("moment", "kind", "text"), [
    (Moment("datetime"), ColumnType("datetime", fsp=3), "2023-11-14 22:13:20"),
    (Moment("datetime"), ColumnType("timestamp", fsp=0), "2023-11-14 22:13:20+00:00"),
    (Moment("datetime", 2 * 3600), ColumnType("date"), "2023-11-15"),
    (Moment("date", 86400), ColumnType("datetime", fsp=0), "2023-11-15 00:00:00"),
    (Moment("date"), ColumnType("date"), "2023-11-14"),
    (Moment("number"), ColumnType("bigint"), "1700000000"),
])
def test_values(moment, kind, text):
    [value] = moment.values(NOON, kind)
    assert str(value) == text


def test_what_is_made_of_no_time():
    with pytest.raises(ValueError, match="time as varchar"):
        Moment("datetime").values(NOON, ColumnType("varchar", length=20, charset="utf8mb4"))
