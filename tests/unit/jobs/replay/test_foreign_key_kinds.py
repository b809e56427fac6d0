"""AP-FK as classes: what happens × how tables refer to each other × flavour × image × route × engine × tasks."""

import itertools
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.foreign_key_engines import ENGINES, engine_of

pytestmark = pytest.mark.slow

ACTIONS = ("ON DELETE CASCADE", "ON DELETE SET NULL", "ON UPDATE CASCADE", "ON UPDATE SET NULL")
SHAPES = {  # tables, the rows of each, the row of the first one that goes or gets the key 9, what there is then
    "one level": (
        {"p": "id INT PRIMARY KEY, d INT",
         "c": "id INT PRIMARY KEY, r INT, d INT, FOREIGN KEY (r) REFERENCES d.p (id) {}"},
        {"p": [(1, 5), (2, 6)], "c": [(1, 1, 0), (2, 2, 0), (3, 1, 0), (4, None, 0)]},
        {"CASCADE": {"c": [(2, 2, 0), (4, None, 0)]},
         "NULL": {"c": [(1, None, 0), (2, 2, 0), (3, None, 0), (4, None, 0)]},
         "NEW": {"c": [(1, 9, 0), (2, 2, 0), (3, 9, 0), (4, None, 0)]}}),
    "two children, and one by another key": (
        {"p": "id INT PRIMARY KEY, d INT",
         "c": "id INT PRIMARY KEY, r INT, d INT, FOREIGN KEY (r) REFERENCES d.p (id) {}",
         "e": "id INT PRIMARY KEY, u INT UNIQUE, r INT, FOREIGN KEY (r) REFERENCES d.p (id) {}"},
        {"p": [(1, 5), (2, 6)], "c": [(1, 1, 0), (2, 2, 0)], "e": [(1, 7, 1), (2, 8, 2)]},
        {"CASCADE": {"c": [(2, 2, 0)], "e": [(2, 8, 2)]},
         "NULL": {"c": [(1, None, 0), (2, 2, 0)], "e": [(1, 7, None), (2, 8, 2)]},
         "NEW": {"c": [(1, 9, 0), (2, 2, 0)], "e": [(1, 7, 9), (2, 8, 2)]}}),
    "two levels": (
        {"p": "id INT PRIMARY KEY, d INT",
         "c": "id INT PRIMARY KEY, r INT UNIQUE, FOREIGN KEY (r) REFERENCES d.p (id) {}",
         "g": "id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES d.c (r) {}"},
        {"p": [(1, 5), (2, 6)], "c": [(1, 1), (2, 2)], "g": [(1, 1), (2, 2)]},
        {"CASCADE": {"c": [(2, 2)], "g": [(2, 2)]},
         "NULL": {"c": [(1, None), (2, 2)], "g": [(1, None), (2, 2)]},
         "NEW": {"c": [(1, 9), (2, 2)], "g": [(1, 9), (2, 2)]}}),
    "self reference": (
        {"p": "id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES d.p (id) {}"},
        {"p": [(1, None), (2, 1), (3, 2), (4, None)]},
        {"CASCADE": {"p": [(4, None)]}, "NULL": {"p": [(2, None), (3, 2), (4, None)]}}),
    "composite key": (
        {"p": "id INT, b INT, d INT, PRIMARY KEY (id, b)",
         "c": "id INT PRIMARY KEY, r INT, s INT, FOREIGN KEY (r, s) REFERENCES d.p (id, b) {}"},
        {"p": [(1, 5, 0), (2, 6, 0)], "c": [(1, 1, 5), (2, 2, 6), (3, 1, None)]},
        {"CASCADE": {"c": [(2, 2, 6), (3, 1, None)]}, "NULL": {"c": [(1, None, None), (2, 2, 6), (3, 1, None)]},
         "NEW": {"c": [(1, 9, 5), (2, 2, 6), (3, 1, None)]}}),
}
REFUSED = {("self reference", "ON UPDATE CASCADE"), ("self reference", "ON UPDATE SET NULL"),
           ("two levels", "ON DELETE SET NULL")}
"""What InnoDB does not do: the statement fails."""
KINDS = [pytest.param(shape, action, id=f"{shape}-{action}") for shape in SHAPES for action in ACTIONS
         if (shape, action) not in REFUSED]


def image(definition, row, names=None):
    """One row as an image, with all columns or those in `names`."""
    columns = [column.name for column in definition.columns]
    return {name: pa.array([value], pa.int32()) for name, value in zip(columns, row, strict=True)
            if names is None or name in names}


def write_rows(log, tables, rows, flavour):
    """Make tables, given what stands in the parentheses, with these rows; their definitions."""
    log.query("CREATE DATABASE d")
    definitions = {}
    for name, columns in tables.items():
        sql = f"CREATE TABLE d.{name} ({columns}) ENGINE=InnoDB"
        log.query(sql)
        definitions[name] = parse_statement(sql, flavour=flavour)[0].definition
    for name, inserted in rows.items():
        with log.transaction():
            for row in inserted:
                log.rows(RowChanges(definitions[name], after=image(definitions[name], row)))
    return definitions


def write(path, shape, action, flavour, minimal):
    """A log: rows are inserted, and then the first row of p goes, or gets another key."""
    tables, rows, _ = SHAPES[shape]
    with BinlogWriter(path, flavour=flavour) as log:
        made = {name: columns.format(action, action) for name, columns in tables.items()}
        definitions = write_rows(log, made, rows, flavour)
        parent, first = definitions["p"], rows["p"][0]
        keys = {part.column for part in parent.primary_key.parts} if minimal else None
        before, after = image(parent, first, keys), None
        if "UPDATE" in action:
            after = image(parent, (9, *first[1:]), {"id"} if minimal else None)
        with log.transaction():
            log.rows(RowChanges(parent, before, after))


def expected(shape, action):
    """The tables' rows in the end."""
    _, rows, ends = SHAPES[shape]
    kind = action.rpartition(" ")[2]
    end = rows | ends["NEW" if action == "ON UPDATE CASCADE" else kind]
    if "p" not in ends[kind if kind in ends else "CASCADE"]:
        end["p"] = [(9, *rows["p"][0][1:])] * ("UPDATE" in action) + rows["p"][1:]
    return {name: sorted(held, key=repr) for name, held in end.items()}


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("shape, action", KINDS)
def test_what_foreign_keys_do(shape, action, tmp_path):
    """AP-FK: by both routes and engines, with one task and with several, for all flavours and images."""
    wanted = expected(shape, action)
    for flavour, minimal in itertools.product(("mysql", "mariadb"), (False, True)):
        log = tmp_path / f"{flavour}-{minimal}.000001"
        write(log, shape, action, flavour, minimal)
        cores = 1 if (flavour == "mysql") == minimal else 4
        for route, engine in itertools.product(("walk", "shuffle"), ENGINES):
            output = tmp_path / f"{log.name} {route} {engine}"
            with engine_of(engine):
                assert held(log, output, cores, route) == wanted, output.name


def held(log, output, cores, route, **options):
    """The rows of a replay, by table."""
    replay_with(ThisProcess(cores), ReplayOptions((str(log),), str(output), route=route, **options))
    return {table.name: sorted((tuple(row.values()) for file in table.files
                                for row in pq.read_table(output / file.path).to_pylist()), key=repr)
            for table in manifest.load(str(output)).tables}


RENAMED = {  # the table that goes to another name, which is filtered out; what the others have in the end
    "p": {"c": [(2, 2), (3, 3)], "g": [(2, 2), (3, 3)]},
    "c": {"p": [(3,)], "g": [(2, 2), (3, 3)]},
    "g": {"p": [(3,)], "c": [(3, 3)]},
}


@pytest.mark.parametrize("other", ["d.away", "e.away"])
@pytest.mark.parametrize("table", RENAMED)
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_tables_that_are_renamed_to_an_ignored_name(flavour, table, other, tmp_path):
    """AP-FK, AP-FILT: from there on the foreign keys of the table and to it do nothing, as if it was never there."""
    tables = {"p": "id INT PRIMARY KEY",
              "c": "id INT PRIMARY KEY, r INT UNIQUE, FOREIGN KEY (r) REFERENCES d.p (id) ON DELETE CASCADE",
              "g": "id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES d.c (r) ON DELETE CASCADE"}
    with BinlogWriter(tmp_path / "binlog.000001", flavour=flavour) as log:
        below = [(1, 1), (2, 2), (3, 3)]
        definitions = write_rows(log, tables, {"p": [(1,), (2,), (3,)], "c": below, "g": below}, flavour)
        with log.transaction():
            log.rows(RowChanges(definitions["p"], image(definitions["p"], (1,))))
        log.query("CREATE DATABASE e")
        log.query(f"RENAME TABLE d.{table} TO {other}")
        database, name = other.split(".")
        parent = replace(definitions["p"], database=database, name=name) if table == "p" else definitions["p"]
        with log.transaction():
            log.rows(RowChanges(parent, image(parent, (2,))))
    for route in ("walk", "shuffle"):
        assert held(tmp_path / "binlog.000001", tmp_path / route, 2, route,
                    filter=TableFilter(ignored=((database, name),))) == RENAMED[table]


ONE_COLUMN = ("id INT PRIMARY KEY, r INT, CONSTRAINT {1} FOREIGN KEY (r) REFERENCES d.p (id) ON DELETE SET NULL, "
              "CONSTRAINT {0} FOREIGN KEY (r) REFERENCES d.p (id) ON DELETE CASCADE")
TWO_INDEXES = ("id INT PRIMARY KEY, r INT, CONSTRAINT {0} FOREIGN KEY (r) REFERENCES d.p (u) ON DELETE CASCADE, "
               "CONSTRAINT {1} FOREIGN KEY (r) REFERENCES d.p (id) ON DELETE SET NULL")
BELOW = {
    "p": "id INT PRIMARY KEY",
    "c": "id INT PRIMARY KEY, r INT, UNIQUE KEY (r, id), "
         "CONSTRAINT {0} FOREIGN KEY (r) REFERENCES d.p (id) ON DELETE CASCADE",
    "g": "id INT PRIMARY KEY, r INT, s INT, CONSTRAINT x FOREIGN KEY (r, s) REFERENCES d.c (r, id) ON DELETE CASCADE, "
         "CONSTRAINT {1} FOREIGN KEY (r) REFERENCES d.p (id) ON DELETE SET NULL"}
TURNS = {  # tables, rows, what is left of the last table where the first of the two names comes first, and where last
    "two of one column": ({"p": "id INT PRIMARY KEY", "c": ONE_COLUMN}, {"p": [(1,)], "c": [(1, 1)]}, [], [(1, None)]),
    "of two indexes": ({"p": "id INT, u INT, UNIQUE KEY (u), PRIMARY KEY (id)", "c": TWO_INDEXES},
                       {"p": [(1, 1)], "c": [(1, 1)]}, [(1, None)], [(1, None)]),
    "of two levels": (BELOW, {"p": [(1,)], "c": [(1, 1)], "g": [(1, 1, 1), (3, 1, None)]},
                      [(3, None, None)], [(1, None, 1), (3, None, None)]),
}


@pytest.mark.by_turns("route", "flavour")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("case", TURNS)
def test_which_foreign_key_acts_first(case, flavour, route, tmp_path):
    """AP-FK: foreign keys with a column in common, as MySQL 9.7 and MariaDB 10.11 take them: index by index, then by
    name; and what one of them changes is followed down before the next one acts."""
    tables, rows, *ends = TURNS[case]
    for names, end in zip((("a", "b"), ("b", "a")), ends, strict=True):
        path = tmp_path / f"{names[0]}.000001"
        with BinlogWriter(path, flavour=flavour) as log:
            made = {name: columns.format(*names) for name, columns in tables.items()}
            definitions = write_rows(log, made, rows, flavour)
            with log.transaction():
                log.rows(RowChanges(definitions["p"], before=image(definitions["p"], rows["p"][0])))
        assert held(path, tmp_path / names[0], 2, route)[list(tables)[-1]] == end, names


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_row_that_comes_to_refer_to_the_key_that_it_loses(flavour, tmp_path):
    """AP-FK: no row of the table that is updated is changed by that: neither the row itself, which InnoDB does not find
    by its new values yet."""
    path = tmp_path / "own.000001"
    with BinlogWriter(path, flavour=flavour) as log:
        table = {"p": "id INT, r INT, KEY (id), FOREIGN KEY (r) REFERENCES d.p (id) ON UPDATE SET NULL"}
        definition = write_rows(log, table, {"p": [(3, None), (4, None), (4, 3)]}, flavour)["p"]
        with log.transaction():
            log.rows(RowChanges(definition, image(definition, (4, 3)), image(definition, (3, 4))))
    assert held(path, tmp_path / "out", 2, "walk") == {"p": [(3, 4), (3, None), (4, None)]}
