"""AP-FK as classes: what happens × how tables refer to each other × flavour × image × route × engine × tasks."""

import itertools

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from foreign_key_engines import ENGINES, engine_of

from applier.apply.executor import ThisProcess
from applier.binlog.row_encoder import RowChanges
from applier.binlog.writer import BinlogWriter
from applier.options import ReplayOptions
from applier.replay import replay_with
from applier.schema.ddl import parse_statement
from applier.snapshot import manifest

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


def write(path, shape, action, flavour, minimal):
    """A log: rows are inserted, and then the first row of p goes, or gets another key."""
    tables, rows, _ = SHAPES[shape]
    with BinlogWriter(path, flavour=flavour) as log:
        log.query("CREATE DATABASE d")
        definitions = {}
        for name, columns in tables.items():
            sql = f"CREATE TABLE d.{name} ({columns.format(action, action)}) ENGINE=InnoDB"
            log.query(sql)
            definitions[name] = parse_statement(sql, flavour=flavour)[0].definition
        for name, inserted in rows.items():
            with log.transaction():
                for row in inserted:
                    log.rows(RowChanges(definitions[name], after=image(definitions[name], row)))
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
                replay_with(ThisProcess(cores), ReplayOptions((str(log),), str(output), route=route))
            held = {table.name: sorted((tuple(row.values()) for file in table.files
                                        for row in pq.read_table(output / file.path).to_pylist()), key=repr)
                    for table in manifest.load(str(output)).tables}
            assert held == wanted, output.name
