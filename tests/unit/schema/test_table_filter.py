import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.errors import UsageError
from applier.schema.table_filter import TableFilter, parse_table_list


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
    with pytest.raises(UsageError, match="not a list of tables"):
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
    """AP-FILT; MySQL manual, --replicate-wild-do-table. The server's own databases must be named."""
    chosen, left = TableFilter(tables=parse_table_list([text])), TableFilter(ignored=parse_table_list([text]))
    assert all(chosen.wanted(*name.split(".")) for name in names)
    assert not any(chosen.wanted(*name.split(".")) for name in others)
    assert not any(left.wanted(*name.split(".")) for name in names)


def test_patterns_in_the_manifest_are_as_they_were_written():
    chosen = TableFilter(tables=parse_table_list([r"shop.log\_%, `a%`.t"]))
    assert chosen.for_manifest() == {"tables": [r"shop.log\_%", "a%.t"]}


def test_entries_that_name_no_table():
    chosen = TableFilter(parse_table_list(["shop,shop.items,crm.*,`%`.a"]))
    assert chosen.without_match([("shop", "item"), ("x", "a")]) == ["shop.items", "crm.*", "%.a"]
    assert TableFilter(ignored=parse_table_list(["shop"])).without_match([]) == []
