"""Numbers of columns: one for the life of a column, and never again for another one."""

from types import SimpleNamespace

import pytest

from applier.schema.history.history import SchemaHistory

CONTEXT = {"mysql": {"charset_server": 255, "default_collation_for_utf8mb4": 255, "sql_mode": 0},
           "mariadb": {"charset_server": 8}}


@pytest.fixture(params=["mysql", "mariadb"])
def log(request):
    """Statements of a log, one after the other, after which tables have these numbers."""
    history, offset = SchemaHistory(request.param, files=["binlog.000001"]), iter(range(100, 10_000, 100))

    def run(sql):
        at = next(offset)
        history.apply(SimpleNamespace(sql=sql, database="d", context=CONTEXT[request.param], timestamp=0, gtid=None,
                                      sequences=()), (0, at), (0, at + 50))
        return {f"{table.name}.{column.name}": column.id for table in history.definitions() for column in table.columns}

    run.history = history
    return run


def test_they_stay_over_names_and_places(log):
    log("CREATE TABLE t (a INT, b INT)")
    assert log("ALTER TABLE t RENAME COLUMN a TO c, ADD COLUMN n INT FIRST") == {"t.n": 3, "t.c": 1, "t.b": 2}
    assert log("ALTER TABLE t MODIFY n INT AFTER c, RENAME TO u") == {"u.c": 1, "u.n": 3, "u.b": 2}
    assert log("RENAME TABLE u TO v") == {"v.c": 1, "v.n": 3, "v.b": 2}
    assert log("TRUNCATE TABLE v") == {"v.c": 1, "v.n": 3, "v.b": 2}


def test_what_is_made_anew_has_new_ones(log):
    """Also where its name, and all that is said of it, was there before."""
    log("CREATE TABLE t (a INT, b INT)")
    assert log("ALTER TABLE t DROP COLUMN b") == {"t.a": 1}
    assert log("ALTER TABLE t ADD COLUMN b INT") == {"t.a": 1, "t.b": 3}
    assert log("ALTER TABLE t DROP COLUMN b, ADD COLUMN b INT") == {"t.a": 1, "t.b": 4}
    log("DROP TABLE t")
    assert log("CREATE TABLE t (a INT)") == {"t.a": 5}
    assert log("CREATE TABLE u LIKE t") == {"t.a": 5, "u.a": 6}


def test_a_type_that_readers_do_not_take_for_the_old_one(log):
    """Iceberg widens int to long, float to double and a decimal's precision; nothing else."""
    log("CREATE TABLE t (a TINYINT, b INT, c FLOAT, d DECIMAL(5,2), e VARCHAR(5), f INT, g DECIMAL(5,2), h DATE)")
    same = log("ALTER TABLE t MODIFY a INT, MODIFY b BIGINT, MODIFY c DOUBLE, MODIFY d DECIMAL(9,2), MODIFY e TEXT")
    assert list(same.values()) == [1, 2, 3, 4, 5, 6, 7, 8]
    other = log("ALTER TABLE t MODIFY b INT, MODIFY f VARCHAR(9), MODIFY g DECIMAL(9,3), MODIFY h DATETIME")
    assert list(other.values()) == [1, 9, 3, 4, 5, 10, 11, 12]


def test_tables_that_are_left_out_take_none():
    """So a replay in one go and one in steps, whose base knows nothing of them, give the same numbers."""
    history = SchemaHistory("mysql", wanted=lambda _, table: table != "other")
    for number, table in enumerate(("other", "t")):
        history.apply(SimpleNamespace(sql=f"CREATE TABLE {table} (a INT)", database="d", context=CONTEXT["mysql"],
                                      timestamp=0, gtid=None, sequences=()),
                      (0, number * 100 + 4), (0, number * 100 + 50))
    assert [[column.id for column in table.columns] for table in history.definitions()] == [[0], [1]]
    assert history.last_column_id == 1


def test_elements_of_a_vector_have_one_of_their_own():
    history = SchemaHistory("mysql")
    history.load_schema_file("CREATE TABLE d.t (a VECTOR(3), b INT)")
    assert [column.id for column in next(iter(history.definitions())).columns] == [1, 3]
