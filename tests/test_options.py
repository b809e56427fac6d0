import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.errors import UsageError
from applier.options import (
    ReplayOptions,
    TableFilter,
    parse_conversions,
    parse_datetime,
    parse_rewrites,
    parse_stop_position,
    parse_table_list,
)


@pytest.mark.parametrize("texts, entries", [
    (["shop.orders"], (("shop", "orders"),)),
    (["shop.orders, crm", "a.b"], (("shop", "orders"), ("crm", None), ("a", "b"))),
    (["`odd.name`.`a,``b`"], (("odd.name", "a,`b"),)),
    ([], ()),
])
def test_table_lists(texts, entries):
    assert parse_table_list(texts) == entries


@pytest.mark.parametrize("text", ["a.b.c", ",", "a..b", "`open", ".t", "a b"])
def test_no_table_list(text):
    with pytest.raises(UsageError, match="no list of tables"):
        parse_table_list([text])


@given(st.lists(st.tuples(st.text(min_size=1), st.none() | st.text(min_size=1)), min_size=1))
def test_any_names_survive_in_backticks(entries):
    def quoted(name):
        return "`" + name.replace("`", "``") + "`"

    text = ",".join(quoted(db) if table is None else f"{quoted(db)}.{quoted(table)}" for db, table in entries)
    assert parse_table_list([text]) == tuple(entries)


def test_filter_takes_all_but_the_servers_own_databases():
    everything = TableFilter()
    assert everything.wanted("shop", "orders")
    assert not everything.wanted("mysql", "user") and not everything.wanted("SYS", "x")
    assert TableFilter(tables=(("mysql", None),)).wanted("mysql", "user")


def test_filter_by_table_and_database_with_exceptions():
    """AP-FILT; what is to be ignored wins, as --replicate-ignore-table does over --replicate-do-db."""
    some = TableFilter(tables=(("shop", None), ("crm", "people")), ignored=(("shop", "logs"),))
    assert [some.wanted(*name) for name in (("shop", "orders"), ("shop", "logs"), ("crm", "people"), ("crm", "x"))] == [
        True, False, True, False]


@pytest.mark.parametrize(("text", "names", "others"), [
    ("shop.log*", ["shop.log", "shop.log_1", "shop.logs"], ["shop.alog", "shops.log"]),
    ("sh?p", ["shop.a", "ship.b"], ["shp.a", "shoop.a"]),
    ("shop.%", ["shop.a", "shop.b_c"], ["shop2.a"]),
    ("my_db.t_%", ["my_db.t_1", "myxdb.tx1"], ["my_db.t", "my_db.a"]),  # replicate-wild-do-table
    (r"my\_db.t\_%", ["my_db.t_1", "my_db.t_"], ["myxdb.t_1", "my_db.tx1"]),
    ("shop.order_items", ["shop.order_items"], ["shop.orderxitems"]),  # no %: a name is what it says
    (r"shop.order\_items", ["shop.order_items"], ["shop.orderxitems"]),
    ("shop.log_*", ["shop.log_1"], ["shop.logs1"]),
    ("`shop`.`a%*`", ["shop.a%*"], ["shop.ab", "shop.a%b"]),
    (r"shop.a\%", ["shop.a%"], ["shop.ab"]),
    ("*.orders", ["shop.orders", "x.orders"], ["mysql.orders", "shop.order"]),
    ("mysql.u*", ["mysql.user"], ["mysql.db"]),
])
def test_wildcards(text, names, others):
    """AP-FILT; MySQL manual, --replicate-wild-do-table. The server's own databases have to be named."""
    chosen, left = TableFilter(tables=parse_table_list([text])), TableFilter(ignored=parse_table_list([text]))
    assert all(chosen.wanted(*name.split(".")) for name in names)
    assert not any(chosen.wanted(*name.split(".")) for name in others)
    assert not any(left.wanted(*name.split(".")) for name in names)


def test_patterns_in_the_manifest_are_as_they_were_written():
    chosen = TableFilter(tables=parse_table_list([r"shop.log\_%, `a%`.t"]))
    assert chosen.for_manifest() == {"tables": [r"shop.log\_%", "a%.t"]}


def test_databases_with_other_names():
    assert parse_rewrites(["a=b, c = `d,=`", "`x.y`=z"]) == (("a", "b"), ("c", "d,="), ("x.y", "z"))
    options = ReplayOptions(("f",), "out", rewrites=(("a", "b"),))
    assert options.for_manifest()["rewrite_db"] == ["a=b"]
    for text, why in (("a", "no two databases"), ("a=", "no two"), ("a=b=c", "no two"), ("a=b,a=c", "a second name")):
        with pytest.raises(UsageError, match=why):
            parse_rewrites([text])


def test_names_of_type_conversions():
    assert parse_conversions(["ALL_LOSSY, all_signed", "all_non_lossy"]) == {"all_lossy", "all_signed", "all_non_lossy"}
    with pytest.raises(UsageError, match="'some' is no type conversion"):
        parse_conversions(["all_lossy,some"])


def test_stop_position_keeps_the_base_name():
    assert parse_stop_position("/data/mysql:3306/binlog.000003:1234") == ("binlog.000003", 1234)


@pytest.mark.parametrize("text", ["binlog.000003", "binlog.000003:", ":12", "binlog.000003:-1", "binlog.000003:²"])
def test_no_stop_position(text):
    with pytest.raises(UsageError, match="no position"):
        parse_stop_position(text)


def test_datetime_with_and_without_offset(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "Europe/Lisbon")
    time.tzset()
    try:
        assert parse_datetime("2026-03-14 10:30:00") == parse_datetime("2026-03-14T10:30:00Z") == 1773484200
        assert parse_datetime("2026-07-14 10:30:00") == parse_datetime("2026-07-14T10:30:00+01:00")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01 00:00:00"])
def test_no_datetime(text):
    with pytest.raises(UsageError, match="no date and time"):
        parse_datetime(text)


def test_options_that_exclude_each_other():
    with pytest.raises(UsageError, match="more than one stop point"):
        ReplayOptions(("a",), "out", stop_gtid="u:1", stop_datetime=1.0)
    with pytest.raises(UsageError, match="no binlogs"):
        ReplayOptions((), "out")
    with pytest.raises(UsageError, match="--route"):
        ReplayOptions(("a",), "out", route="fly")


def test_manifest_names_what_decides_the_outcome():
    options = ReplayOptions(("a",), "out", stop_position=("binlog.000002", 4), master="local[2]", route="walk",
                            filter=TableFilter(tables=(("shop", None), ("a", "b"))))
    assert options.for_manifest() == {
        "zero_dates": "null", "stop_position": "binlog.000002:4", "tables": ["shop", "a.b"]}
