"""`applier publish --iceberg http://…`: REST catalogs, with the request that commits to several tables and without."""

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.types import IntegerType

import applier
from applier import cli
from tests.support import iceberg_readers as readers
from tests.support.iceberg_server import Refused, serving
from tests.support.published import changes


@pytest.fixture(params=[True, False], ids=["with", "without"])
def server(tmp_path, request):
    with serving(tmp_path, transactions=request.param) as server:
        yield server


@pytest.fixture
def publish(replayed, server):
    return lambda: published(server, replayed())


def published(server, number, **options):
    return applier.publish(server.folder / f"out{number}", iceberg=server.uri, **options)


def opened(server):
    return load_catalog("reader", type="rest", uri=server.uri)


def rows(server, name):
    """As all readers have them; None without a table."""
    try:
        table = opened(server).load_table(("d", name))
    except NoSuchTableError:
        return None
    found = [readers.cells(reader(table)) for reader in readers.READERS]
    assert found[1:] == found[:1] * (len(found) - 1)
    return found[0]


def complete(server):
    return opened(server).load_namespace_properties("d").get("applier.complete")


def change_both(log):
    with log.transaction():
        log.insert("d.t", {"id": [3], "v": ["c"]})
        log.insert("d.u", {"id": [7]})


BEFORE, AFTER = (["(1, 'a')", "(2, 'b')"], []), (["(1, 'a')", "(2, 'b')", "(3, 'c')"], ["(7,)"])


def test_all_tables_change_by_one_request(server, log, publish):
    """Where the server has it. Tables that it does not have yet are made before, without rows."""
    first = publish()
    assert changes(first) == {"d.t": ("created", 1, 0), "d.u": ("created", 0, 0)}
    assert (first.together, first.rows_together) == (False, server.transactions)
    change_both(log)
    server.requests.clear()
    second = publish()
    assert changes(second) == {"d.t": ("changed", 1, 1), "d.u": ("changed", 1, 0)}
    assert (second.together, second.rows_together) == (server.transactions,) * 2
    between = ["transactions/commit"] if server.transactions else [f"namespaces/d/tables/{name}" for name in "tu"]
    marker = "namespaces/d/properties"
    assert [request for request in server.requests if request != "POST namespaces"] == [
        f"POST {path}" for path in (marker, *between, marker)]
    assert (rows(server, "t"), rows(server, "u")) == AFTER
    properties = opened(server).load_namespace_properties("d")
    assert (properties["mysql.position"], properties["applier.complete"]) == (second.position, "true")
    for name in "tu":
        assert opened(server).load_table(("d", name)).current_snapshot().summary["mysql.position"] == second.position
    server.requests.clear()
    assert {change for change, *_ in changes(published(server, 1)).values()} == {"unchanged"}
    assert [path for path in server.requests if "tables" in path or "transactions" in path] == []


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("stopped", range(4))
def test_a_server_that_fails_goes_on(server, log, publish, stopped):
    """At its n-th change: rows of all tables are at one position where the server has transactions, and where they are
    not, the namespace says so."""
    publish()
    change_both(log)
    left = [stopped]

    def unless_stopped(_):
        left[0] -= 1
        if left[0] < 0:
            raise Refused(503)

    server.before_request = unless_stopped
    with pytest.raises(applier.SnapshotError, match=r"the catalog returned an error.*it continues from what is there"):
        publish()
    server.before_request = lambda _: None
    found = rows(server, "t"), rows(server, "u")
    assert found in (BEFORE, AFTER) or (not server.transactions and complete(server) == "false")
    assert complete(server) == ("true" if stopped < 2 else "false")  # the namespace is asked for, and marked, first
    published(server, 1)
    assert (rows(server, "t"), rows(server, "u"), complete(server)) == (*AFTER, "true")


def test_a_table_that_moves_meanwhile(server, log, publish):
    """Between the look at it and the commit: somebody else's rows stay, and nothing comes at once with them."""
    publish()
    change_both(log)

    def moved(request):
        if request in ("POST transactions/commit", "POST namespaces/d/tables/u"):
            table = server.catalog.load_table(("d", "u"))
            table.append(pa.table({"id": pa.array([9], pa.int32())}, schema=table.schema().as_arrow()))

    server.before_request = moved
    with pytest.raises(applier.SnapshotError, match="the catalog has changed meanwhile"):
        publish()
    assert rows(server, "u") == ["(9,)"] and complete(server) == "false"
    assert rows(server, "t") == (BEFORE if server.transactions else AFTER)[0]


def test_columns_that_move_meanwhile(server, log, publish):
    """Also where only columns change: no column that somebody else made is lost."""
    publish()
    log.query("ALTER TABLE u COMMENT 'new', MODIFY id INT COMMENT 'new'", "d")

    def moved(request):
        if request in ("POST transactions/commit", "POST namespaces/d/tables/u"):
            with server.catalog.load_table(("d", "u")).update_schema() as update:
                update.add_column("theirs", IntegerType())

    server.before_request = moved
    with pytest.raises(applier.SnapshotError, match="the catalog has changed meanwhile"):
        publish()
    assert "theirs" in opened(server).load_table(("d", "u")).schema().column_names


def test_names_are_swapped_and_made_anew(server, log, publish):
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    publish()
    log.query("RENAME TABLE t TO x, u TO t, x TO u", "d")
    renamed = publish()
    assert {(table.renamed_from, table.name) for table in renamed.tables} == {("d.u", "d.t"), ("d.t", "d.u")}
    assert (renamed.together, renamed.rows_together) == (False, server.transactions)
    assert (rows(server, "t"), rows(server, "u")) == (["(7,)"], ["(1, 'a')", "(2, 'b')"])
    log.query("DROP TABLE t", "d")
    log.query("CREATE TABLE t (id INT PRIMARY KEY)", "d")
    with log.transaction():
        log.insert("d.t", {"id": [8]})
    publish()
    assert rows(server, "t") == ["(8,)"]
    log.query("DROP TABLE u", "d")
    assert changes(publish())["d.u"] == ("dropped", 0, 0) and rows(server, "u") is None


def test_some_tables_only(server, log, publish):
    """The namespace does not say then that all stand there."""
    publish()
    change_both(log)
    publish()
    assert complete(server) == "true"
    published(server, 1, tables="d.u")
    assert complete(server) == "false"
    published(server, 1)
    assert complete(server) == "true"


def test_the_command(server, log, publish, capsys):
    publish()
    change_both(log)
    publish()
    assert cli.main(["publish", str(server.folder / "out1"), "--iceberg", server.uri]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ("all tables at once" if server.transactions else "one table after the other") in said
    assert cli.main(["publish", str(server.folder / "out1"), "--iceberg", "http://127.0.0.1:1"]) == 2
    assert "the catalog cannot be opened" in " ".join(capsys.readouterr().err.split())
