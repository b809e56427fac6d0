import time

import pytest

from applier.errors import UsageError
from applier.mysql.values.time_zones import parse_datetime, shown_time
from applier.option_texts import (
    parse_conf,
    parse_conversions,
    parse_key,
    parse_rewrites,
    parse_size,
    parse_stop_position,
)
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter


def test_databases_with_other_names():
    assert parse_rewrites(["a=b, c = `d,=`", "`x.y`=z"]) == (("a", "b"), ("c", "d,="), ("x.y", "z"))
    options = ReplayOptions(("f",), "out", rewrites=(("a", "b"),))
    assert options.for_manifest()["rewrite_db"] == ["a=b"]
    for text, why in (("a", "not name two databases"), ("a=", "not name two"), ("a=b=c", "not name two"),
                      ("a=b,a=c", "a second name")):
        with pytest.raises(UsageError, match=why):
            parse_rewrites([text])


def test_names_of_type_conversions():
    assert parse_conversions(["ALL_LOSSY, all_signed", "all_non_lossy"]) == {"all_lossy", "all_signed", "all_non_lossy"}
    with pytest.raises(UsageError, match="'some' is not a type conversion"):
        parse_conversions(["all_lossy,some"])


@pytest.mark.parametrize("text, size", [("64M", 64 << 20), ("1g", 1 << 30), ("16 MiB", 16 << 20), ("2GB", 2 << 30)])
def test_sizes_have_a_unit(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "64", "64K", "0M", "-1M", "1.5G", "²M", "M"])
def test_no_size(text):
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)


def test_stop_position_keeps_the_base_name():
    assert parse_stop_position("/data/mysql:3306/binlog.000003:1234") == ("binlog.000003", 1234)


@pytest.mark.parametrize("text", ["binlog.000003", "binlog.000003:", ":12", "binlog.000003:-1", "binlog.000003:²"])
def test_no_stop_position(text):
    with pytest.raises(UsageError, match="not a position"):
        parse_stop_position(text)


def test_datetime_with_and_without_offset(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Lisbon")
    time.tzset()
    try:
        assert parse_datetime("2026-03-14 10:30:00") == parse_datetime("2026-03-14T10:30:00Z") == 1773484200
        assert parse_datetime("2026-07-14 10:30:00") == parse_datetime("2026-07-14T10:30:00+01:00")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_datetimes_as_they_are_printed():
    """By this program, by others, by mysqlbinlog, whose hours may have one digit; and in words."""
    for text in ("2026-03-14 10:30:00 UTC", "2026-03-14 10:30:00Z", "2026-03-14T10:30:00+00:00"):
        assert parse_datetime(text) == 1773484200
    assert parse_datetime("260314  9:30:00") == parse_datetime("2026-03-14 09:30:00")
    assert shown_time(1773484200) == "2026-03-14 10:30:00 UTC"
    now = time.time()
    for text, seconds in (("now", 0), ("-90s", 90), ("-5m", 300), ("-1h", 3600), ("-2d", 172800), ("-1w", 604800)):
        assert now <= parse_datetime(text) + seconds <= time.time()


@pytest.mark.parametrize("text", ["yesterday", "-1y", "-h", "-99999999w", "261332 10:30:00", "", "2026-13-01 00:00:00"])
def test_no_datetime(text):
    with pytest.raises(UsageError, match="not a date and time"):
        parse_datetime(text)


@pytest.mark.parametrize(("text", "values"), [
    ("", ("",)), (" 7 ", ("7",)), ('"a,b", 3', ("a,b", "3")), ('" a"', (" a",)), ("a,", ("a", "")),
    ("a\nb", ("a\nb",)), ("a\rb", ("a\rb",)), ('"a\nb"', ("a\nb",)), ('"""a"', ('"a',)), ('a"b', ('a"b',)),
    ("it's", ("it's",))])
def test_keys(text, values):
    assert parse_key(text) == values


@pytest.mark.parametrize("text", ['"a', '"a"b', '1, "', ' "'])
def test_no_key(text):
    with pytest.raises(UsageError, match="is not a key"):
        parse_key(text)


def test_options_that_exclude_each_other():
    with pytest.raises(UsageError, match="more than one place to stop"):
        ReplayOptions(("a",), "out", stop_gtid="u:1", stop_datetime=1.0)
    with pytest.raises(UsageError, match="no binlogs"):
        ReplayOptions((), "out")
    with pytest.raises(UsageError, match="--route"):
        ReplayOptions(("a",), "out", route="fly")
    with pytest.raises(UsageError, match="--system-time-zone Atlantis is not known"):
        ReplayOptions(("a",), "out", system_time_zone="Atlantis")


@pytest.mark.parametrize("zone", ["+02:00", "-05:30", "Europe/Rome", "UTC"])
def test_time_zones_of_a_server(zone):
    assert ReplayOptions(("a",), "out", system_time_zone=zone).for_manifest()["system_time_zone"] == zone


def test_manifest_names_what_decides_the_outcome():
    options = ReplayOptions(("a",), "out", stop_position=("binlog.000002", 4), master="local[2]", route="walk",
                            filter=TableFilter(tables=(("shop", None), ("a", "b"))))
    assert options.for_manifest() == {
        "zero_dates": "null", "stop_position": "binlog.000002:4", "tables": ["shop", "a.b"]}


def test_settings_of_spark():
    assert parse_conf(["spark.a=1", "spark.b=x=y,z", "spark.c=", "spark.a=2"]) == (
        ("spark.a", "2"), ("spark.b", "x=y,z"), ("spark.c", ""))
    for text in ("spark.a", "a=1", " spark.a=1", "=1"):
        with pytest.raises(UsageError, match="is not a setting of Spark"):
            parse_conf([text])
    with pytest.raises(UsageError, match=r"cannot set spark\.master"):
        parse_conf(["spark.master=yarn"])
    with pytest.raises(UsageError, match=r"--conf spark\.a is a setting of Spark"):
        ReplayOptions(("logs",), "out", engine="local", conf=(("spark.a", "1"),))
