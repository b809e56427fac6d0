"""Foreign keys followed by value (AP-FK) against a dict that does what InnoDB does, row after row, and against the
engine that applies all tables together, which logs of real servers have judged (test_cascades)."""

import tempfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.apply.tables import table_walk
from applier.binlog.events.format import NO_FOREIGN_KEY_CHECKS_FLAG
from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import cascades, units
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.row_encoder import STATEMENT_END, RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.examples import examples
from tests.support.foreign_key_engines import ENGINES, both_engines, engine_of

PARENTS = {key: f"CREATE TABLE d.p (id INT NOT NULL PRIMARY KEY, name VARCHAR(9), {key} (name))"
           for key in ("UNIQUE KEY", "KEY")}
"""By a second unique key the parent is one unit, and walked for on either route; else it may have several."""
CHILDREN = {"int": "k INT NOT NULL PRIMARY KEY", "bytes": "k VARCHAR(9) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY"}
COLUMNS = "id INT DEFAULT 2, name VARCHAR(9), v INT"
ACTIONS = ("", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE CASCADE ON UPDATE CASCADE",
           "ON DELETE SET NULL ON UPDATE CASCADE", "ON UPDATE CASCADE", "ON DELETE CASCADE ON UPDATE SET NULL")
TYPES = {"id": pa.int32(), "name": pa.binary(), "v": pa.int32()}
DEFAULTS = {"id": 2, "name": None, "v": None}
IDS, NAMES = st.integers(1, 4), st.sampled_from(("a", "A", "b", "c"))


class Unchecked(RowChanges):
    """Changes of a session with foreign_key_checks=0."""

    def header(self, table_id, flags=STATEMENT_END):
        return super().header(table_id, flags | NO_FOREIGN_KEY_CHECKS_FLAG)


def folded(value):
    return value.casefold() if isinstance(value, str) else value


class Model:
    """The parent's rows and the child's as dicts by key, and how many rows foreign keys have changed."""

    def __init__(self, links):
        self.parents, self.children, self.links, self.made = {}, {}, links, 0

    def delete(self, key):
        self._cascade(self.parents.pop(key), None)

    def update(self, key, row):
        old = self.parents.pop(key)
        self.parents[row["id"]] = row
        self._cascade(old, row)

    def _cascade(self, old, new):
        for column, action in self.links:
            if old[column] is None or (new is not None and new[column] == old[column]):
                continue
            event = "ON DELETE " if new is None else "ON UPDATE "
            for key, child in list(self.children.items()):
                if folded(child[column]) != folded(old[column]) or event not in action:
                    continue
                self.made += 1
                if action.split(event)[1].startswith("SET NULL"):
                    child[column] = None
                elif new is not None:
                    child[column] = new[column]
                else:
                    del self.children[key]


class History:
    """A log of random changes, and what it comes to, at its end and in its middle."""

    def __init__(self, draw, folder, key):
        self.draw, self.keys = draw, st.integers(1, 6)
        self.links = [(column, draw(st.sampled_from(ACTIONS))) for column in ("id", "name")]
        self.model, self.to_key = Model(self.links), (int if key == "int" else str)
        clauses = [f"FOREIGN KEY ({column}) REFERENCES d.p ({column}) {action}" for column, action in self.links]
        child = f"CREATE TABLE d.c ({CHILDREN[key]}, {COLUMNS}, {', '.join(clauses)})"
        self.key_type = pa.int32() if key == "int" else pa.binary()
        with BinlogWriter(folder / "binlog.000001") as self.log:
            self.log.query("CREATE DATABASE d")
            parent = PARENTS[draw(st.sampled_from(sorted(PARENTS)))]
            for sql in (parent, child):
                self.log.query(sql)
            self.parent, self.child = (parse_statement(sql)[0].definition for sql in (parent, child))
            steps, self.middle = draw(st.integers(2, 30)), None
            for step in range(steps):
                if step == steps // 2:
                    self.middle = self.log.position, self.state()
                changes = draw(st.sampled_from((self.of_parent, self.of_child, self.of_child)))()
                if changes is not None:
                    with self.log.transaction():
                        self.log.rows(changes)

    def state(self):
        children = sorted((key, *row.values()) for key, row in self.model.children.items())
        return sorted(tuple(row.values()) for row in self.model.parents.values()), children, self.model.made

    def rows(self):
        return range(self.draw(st.integers(1, 3)))

    def changes(self, table, before, after):
        """Rows (dicts with the same keys) as changes."""
        types = TYPES | {"k": self.key_type}

        def image(rows):
            if not rows:
                return None
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            return {name: pa.array([str(value).encode() if types[name] == pa.binary() and value is not None else value
                                    for value in values], types[name]) for name, values in columns.items()}

        return RowChanges(table, before=image(before), after=image(after))

    def of_parent(self):
        """An event of inserts, deletes or updates of parents."""
        model, before, after = self.model, [], []
        kind = self.draw(st.sampled_from("iud")) if model.parents else "i"
        checked = self.draw(st.integers(0, 4)) > 0
        for _ in self.rows():
            if kind != "i" and not model.parents:
                break
            old = None if kind == "i" else dict(model.parents[self.draw(st.sampled_from(sorted(model.parents)))])
            new = {"id": self.draw(IDS), "name": self.draw(st.none() | NAMES)}
            others = [row for key, row in model.parents.items() if old is None or key != old["id"]]
            if kind != "d" and (new["id"] in {row["id"] for row in others} or (new["name"] is not None and folded(
                    new["name"]) in {folded(row["name"]) for row in others})):
                new = old
                if kind == "i":
                    continue
            before += [old] if old else []
            after += [new] if kind != "d" else []
            kept = model.links
            model.links = kept if checked else []
            if kind == "i":
                model.parents[new["id"]] = dict(new)
            elif kind == "u":
                model.update(old["id"], dict(new))
            else:
                model.delete(old["id"])
            model.links = kept
        if not before and not after:
            return None
        changes = self.changes(self.parent, before, after)
        return changes if checked else Unchecked(changes.table, changes.before, changes.after)

    def of_child(self):
        """An event of inserts, deletes or updates of children, with any images."""
        children, before, after = self.model.children, [], []
        kind = self.draw(st.sampled_from("iiud"))
        given = [name for name in ("k", *TYPES) if (name == "k" and kind == "i") or self.draw(st.integers(0, 2))]
        if kind == "u" and not given:
            given = ["v"]
        full = self.draw(st.booleans())
        for _ in self.rows():
            key = self.to_key(self.draw(self.keys))
            if kind == "i":
                if key in children:
                    continue
                new = {"id": self.draw(st.none() | IDS), "name": self.draw(st.none() | NAMES), "v": 1}
                children[key] = {name: new[name] if name in given else DEFAULTS[name] for name in TYPES}
                after.append({name: ({"k": key} | new)[name] for name in given})
                continue
            if key not in children:
                continue
            old = children.pop(key)
            before.append({"k": key} | (old if full else {}))
            if kind == "u":
                to = self.to_key(self.draw(self.keys))
                to = key if to in children else to
                new = {"id": self.draw(st.none() | IDS), "name": self.draw(st.none() | NAMES), "v": 2}
                children[to if "k" in given else key] = {name: (new if name in given else old)[name] for name in TYPES}
                after.append({name: ({"k": to} | new)[name] for name in given})
        if before or after:
            return self.changes(self.child, before, after)
        return None


def replayed(binlog, output, **options):
    return replay_with(ThisProcess(2), ReplayOptions((str(binlog),), str(output), **options))


def held(result, output):
    """What a snapshot has of both tables, and how many rows foreign keys have changed."""
    tables = []
    for name in ("p", "c"):
        files = [pq.read_table(output / file.path) for file in manifest.load(str(output)).table("d", name).files]
        tables.append(sorted(tuple(row.values()) for file in files for row in file.to_pylist()))
    return *tables, result.by_foreign_keys


@pytest.mark.parametrize("key", CHILDREN)
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_children_change_when_their_parents_do(key, data):
    """AP-FK: whatever happens to parents by either of two keys, one of them text that compares by its collation, and to
    children by full or partial images, in many units or one, from nothing or a base, by both routes and engines."""
    with tempfile.TemporaryDirectory() as name, mock.patch.multiple(units, LEAST_UNIT_BYTES=64), \
            mock.patch.multiple(table_walk, BATCH_ROWS=data.draw(st.sampled_from((2, 64)))):
        folder = Path(name)
        history = History(data.draw, folder, key)
        place, middle = history.middle
        routes = data.draw(st.permutations(("walk", "shuffle")))
        for engine in ENGINES:
            with engine_of(engine):
                output, base, rest = (folder / f"{engine} {part}" for part in ("all", "base", "rest"))
                log = folder / "binlog.000001"
                assert held(replayed(log, output, route=routes[0]), output) == history.state(), engine
                assert held(replayed(log, base, stop_position=(log.name, place), route=routes[1]), base) == middle, \
                    engine
                *tables, made = held(replayed(log, rest, base=str(base), route=routes[1]), rest)
                assert (*tables, made + middle[2]) == history.state(), engine


class Log:
    """A log of a parent and a child with one row each, whose parent goes in the end."""

    def __init__(self, folder, clause="FOREIGN KEY (id) REFERENCES d.p (id) ON DELETE CASCADE", columns=""):
        child = f"CREATE TABLE d.c (k INT PRIMARY KEY, {COLUMNS}, {columns} {clause})"
        self.path = folder / "binlog.000001"
        self.writer = BinlogWriter(self.path)
        self.writer.query("CREATE DATABASE d")
        for sql in (PARENTS["KEY"], child):
            self.writer.query(sql)
        self.parent, self.child = (parse_statement(sql)[0].definition for sql in (PARENTS["KEY"], child))
        self.add(self.parent, None, {"id": 1})
        self.add(self.child, None, {"k": 5, "id": 1})
        self.add(self.parent, {"id": 1}, None)

    def add(self, table, before, after):
        """A transaction of one row; where it begins."""
        begin = self.writer.position
        images = [image and {name: pa.array([value], pa.int32()) for name, value in image.items()}
                  for image in (before, after)]
        with self.writer.transaction():
            self.writer.rows(RowChanges(table, *images))
        return begin

    def replayed(self, engine, output, **options):
        """The result of a replay by one of the engines."""
        self.writer.close()
        with engine_of(engine):
            return replayed(self.path, output, **options)


@pytest.mark.by_turns("route", "engine")
@both_engines
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("before, after, number", [({"k": 5}, {"v": 1}, 1032), ({"k": 5}, None, 1032),
                                                   (None, {"k": 6}, 1062)])
def test_a_row_that_went_with_its_parent_is_not_there(engine, route, before, after, number, tmp_path):
    """AP-FK, 1032, 1062: a key is free again when the parent has gone, and not before."""
    log = Log(tmp_path)
    log.add(log.child, None, {"k": 6, "id": 1})
    if number == 1062:
        log.add(log.child, None, {"k": 5, "id": 1})
    begin = log.add(log.child, before, after)
    with pytest.raises(ReplayStopped) as stopped:
        log.replayed(engine, tmp_path / engine, route=route)
    assert stopped.value.mysql_errno == number and f"--stop-position binlog.000001:{begin}" in stopped.value.hint


@pytest.mark.parametrize("clause, columns, followed", [
    ("FOREIGN KEY (id) REFERENCES d.p (id) ON DELETE CASCADE", "", True),
    ("FOREIGN KEY (id) REFERENCES d.p (id) ON DELETE SET NULL ON UPDATE CASCADE", "", True),
    ("FOREIGN KEY (id) REFERENCES d.p (id)", "", False),  # nothing to follow
    ("FOREIGN KEY (id) REFERENCES d.p (id) ON DELETE CASCADE", "UNIQUE KEY (v),", False),
    ("FOREIGN KEY (k) REFERENCES d.p (id) ON DELETE CASCADE", "", False),
    ("FOREIGN KEY (id) REFERENCES d.p (id) ON DELETE CASCADE, FOREIGN KEY (v) REFERENCES d.c (k) ON DELETE CASCADE", "",
     False)])
def test_what_is_followed_by_value(clause, columns, followed, tmp_path):
    """AP-FK: tables with one key whose foreign keys do not change it; not where the child has children itself."""
    log = Log(tmp_path, clause, columns)
    found = []
    real = cascades.links_by_value
    with mock.patch.object(cascades, "links_by_value", lambda *given: found.append(real(*given)) or found[0]):
        log.replayed("planned", tmp_path / "out")
    assert any(found) == followed
