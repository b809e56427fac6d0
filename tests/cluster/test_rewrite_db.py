"""Databases under other names, from the command line on (AP-FILT)."""

import dataclasses

import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from tests.support.small_logs import ITEM, commit, images, insert, new_log, update

pytestmark = pytest.mark.usefixtures("spark")

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])


def replayed(log, output, route, *options):
    return cli.main(["replay", "--binlogs", str(log.path), "--output", str(output), "--master", "local[2]",
                     "--route", route, *options])


def tables(snapshot):
    """{name: rows} of a snapshot."""
    held = {}
    for table in manifest.load(str(snapshot)).tables:
        rows = [tuple(row.values()) for file in table.files for row in pq.read_table(snapshot / file.path).to_pylist()]
        held[f"{table.database}.{table.name}"] = rows
    return held


def into(database, rows, name="item"):
    """Rows into a table like shop.item."""
    return RowChanges(dataclasses.replace(ITEM, database=database, name=name), after=images(rows))


@both_routes
def test_rows_and_ddl(tmp_path, route):
    """Default databases, names in DDL, CREATE DATABASE and row events; another database keeps its name. The renamed
    snapshot is a base for more of the same log."""
    log = new_log(tmp_path)
    log.query("CREATE DATABASE crm", "crm")
    log.query("CREATE TABLE `shop`.`other` LIKE shop.item", "crm")
    log.query("CREATE TABLE crm.item LIKE shop.item", "shop")
    commit(log, insert([(1, 1, "a"), (2, 2, "b")]), into("shop", [(7, 7, "o")], "other"), into("crm", [(1, 0, "c")]))
    log.query("RENAME TABLE other TO shop.older", "shop")
    log.query("ALTER TABLE shop.item ADD COLUMN more INT DEFAULT 5", "crm")
    middle = log.position
    log.query("ALTER TABLE item DROP COLUMN more", "shop")
    commit(log, update([(1, 1, "a")], [(3, 1, "a")]))
    log.query("TRUNCATE TABLE `shop`.older", "crm")
    log.close()
    renamed = ("--rewrite-db", "shop=archive")
    base, output = tmp_path / "base", tmp_path / "out"
    assert replayed(log, base, route, *renamed, "--stop-position", f"binlog.000001:{middle}") == 0
    assert tables(base) == {"archive.item": [(1, 1, "a", 5), (2, 2, "b", 5)], "archive.older": [(7, 7, "o")],
                            "crm.item": [(1, 0, "c")]}
    assert manifest.load(str(base)).source.options["rewrite_db"] == ["shop=archive"]
    assert replayed(log, output, route, *renamed, "--base", str(base)) == 0
    assert tables(output) == {"archive.item": [(2, 2, "b"), (3, 1, "a")], "archive.older": [],
                              "crm.item": [(1, 0, "c")]}


@both_routes
def test_filters_see_the_new_names(tmp_path, route):
    """As a replica has it: --replicate-rewrite-db before --replicate-do-table and the like. Databases may change names,
    and become one."""
    log = new_log(tmp_path)
    for database in ("a", "b", "archive"):
        log.query(f"CREATE TABLE {database}.item LIKE shop.item", "x")
    log.query("CREATE TABLE b.extra LIKE shop.item", "x")
    commit(log, insert([(1, 1, "shop")]), into("a", [(2, 2, "a")]), into("b", [(3, 3, "b")]),
           into("b", [(4, 4, "extra")], "extra"), into("archive", [(5, 5, "archive")]))
    log.close()
    chosen = ("--rewrite-db", "shop=archive,archive=shop", "--rewrite-db", "b=c", "--tables", "arch*.item,c,shop.%",
              "--ignore-tables", "c.e*")
    assert replayed(log, tmp_path / "out", route, *chosen) == 0
    assert tables(tmp_path / "out") == {"archive.item": [(1, 1, "shop")], "c.item": [(3, 3, "b")],
                                        "shop.item": [(5, 5, "archive")]}


@both_routes
def test_two_databases_as_one(tmp_path, route):
    """Tables of one name become one table, which has the rows of both in log order."""
    log = new_log(tmp_path)
    log.query("CREATE TABLE IF NOT EXISTS copy.item LIKE shop.item", "copy")
    commit(log, insert([(1, 1, "shop")]))
    commit(log, into("copy", [(2, 2, "copy")]))
    commit(log, update([(2, 2, "copy")], [(3, 3, "shop")]))
    log.close()
    assert replayed(log, tmp_path / "out", route, "--rewrite-db", "copy=shop") == 0
    assert tables(tmp_path / "out") == {"shop.item": [(1, 1, "shop"), (3, 3, "shop")]}
