"""1032 and 1062 by every way of finding rows: the error names the key, whatever the images have (APP-R6, APP-R7).

Rows are found by one key, by several, by what images hold, as whole images, and in tables that foreign keys connect;
keys are over plain columns, over generated ones, over VIRTUAL ones made of VIRTUAL ones, and over a foreign key's.
"""

import itertools

import pyarrow.parquet as pq
import pytest

from applier.errors import ReplayStopped
from tests.support.planted_faults import Log, replayed

TABLES = {
    "an integer key": ("id INT NOT NULL PRIMARY KEY, n INT", lambda i, n: (i, n), ("id",)),
    "a key of bytes": ("id VARCHAR(9) NOT NULL PRIMARY KEY, n INT", lambda i, n: (f"k{i}", n), ("id",)),
    "several keys": ("id INT NOT NULL PRIMARY KEY, n INT, UNIQUE KEY u (n)", lambda i, n: (i, n), ("id",)),
    "a STORED key": ("id INT NOT NULL PRIMARY KEY, n INT, g INT AS (n + 1) STORED, UNIQUE KEY u (g)",
                     lambda i, n: (i, n, n + 1), ("id",)),
    "a VIRTUAL key": ("id INT NOT NULL PRIMARY KEY, n INT, v INT AS (n * 2) VIRTUAL, UNIQUE KEY u (v)",
                      lambda i, n: (i, n, 2 * n), ("id",)),
    "a key of VIRTUAL of VIRTUAL": (
        "id INT NOT NULL PRIMARY KEY, n INT, v INT AS (n * 2) VIRTUAL, x INT AS (v + 1) VIRTUAL, UNIQUE KEY u (x)",
        lambda i, n: (i, n, 2 * n, 2 * n + 1), ("id",)),
    "a VIRTUAL key alone": ("id INT, n INT, v INT AS (n * 2) VIRTUAL, UNIQUE KEY u (v)",
                            lambda i, n: (i, n, 2 * n), ()),
    "a key that is not unique": ("id INT, n INT, KEY k (id)", lambda i, n: (i, n), ()),
    "no key": ("id INT, n INT", lambda i, n: (i, n), ()),
}
"""The columns, what a row with an id and a number holds, and the columns of the primary key."""
UNIQUE = [name for name in TABLES if name not in ("a key that is not unique", "no key")]
WITH_SECOND_KEY = [name for name in UNIQUE if name not in ("an integer key", "a key of bytes")]
REFUSALS = {"update": 1032, "delete": 1032, "insert": 1062, "update to a key": 1062}
CASES = [case for case in itertools.product(TABLES, REFUSALS)
         if case[1] in ("update", "delete") or case[0] in (UNIQUE if case[1] == "insert" else WITH_SECOND_KEY)]


def _refused(log, name, refusal, image):
    """Two rows, (1, 10) and (2, 20), and a change of `refusal` kind."""
    _, row, key = TABLES[name]
    names = [column.name for column in log.definitions["t"].columns]
    before, after = (None, None) if image == "full" else (key or names, [column for column in names if column != "id"])
    for numbers in ((1, 10), (2, 20)):
        log.change(after=row(*numbers))
    match refusal:
        case "update":
            log.change(row(9, 90), row(9, 91), names=before, after_names=after)
        case "delete":
            log.change(before=row(9, 90), names=before)
        case "insert":
            log.change(after=row(1, 10))
        case "update to a key":
            log.change(row(2, 20), row(2, 10), names=before, after_names=after)


@pytest.mark.by_turns("flavour", "image", "in_group")
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("image", ["full", "minimal"])
@pytest.mark.parametrize("in_group", [False, True], ids=["alone", "with foreign keys"])
@pytest.mark.parametrize(("name", "refusal"), CASES)
def test_a_refused_change(name, refusal, in_group, image, flavour, tmp_path):
    columns, _, key = TABLES[name]
    with Log(tmp_path / "binlog.000001", flavour) as log:
        if in_group:
            log.table("id INT NOT NULL PRIMARY KEY", "p")
            for number in (10, 20, 90, 91):
                log.change(after=(number,), name="p")
            columns += ", CONSTRAINT f FOREIGN KEY (n) REFERENCES d.p (id) ON UPDATE CASCADE ON DELETE CASCADE"
        log.table(columns)
        if in_group:
            log.change(before=(10,), after=(11,), name="p")
            log.change(before=(11,), after=(10,), name="p")
        _refused(log, name, refusal, image)
    # LIMITS: a key over a generated column is not compared where foreign keys change what it is made of
    is_compared = not (in_group and "VIRTUAL" in name and (
        refusal == "update to a key" or (refusal == "insert" and not key)))
    for route in ("walk", "shuffle"):
        if not is_compared:
            replayed(log.path, tmp_path / f"not compared {route}", route=route)
            continue
        with pytest.raises(ReplayStopped) as error:
            replayed(log.path, tmp_path / "out", route=route)
        assert error.value.mysql_errno == REFUSALS[refusal] and error.value.table == "d.t"
        assert error.value.key
        replayed(log.path, tmp_path / f"idempotent {route}", route=route, exec_mode="idempotent", witness="off")
        [conflict] = pq.read_table(tmp_path / f"idempotent {route}" / "_conflicts.parquet").to_pylist()
        assert conflict["table"] == "d.t" and conflict["values"]
