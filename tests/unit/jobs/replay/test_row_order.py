"""A table without a key whose rows are not in the server's order is known as one in later replays, too (AUTO_INCREMENT
numbers rows in that order)."""

import pytest

import applier.binlog
from applier.errors import SchemaError


def write(folder, partitioned, flavour="mysql"):
    """A log of a table, and the ends of its parts: rows, a statement, a row; and at last it gets numbers."""
    ends = []
    with applier.binlog.Writer(folder / "binlog.000001", flavour=flavour) as log:
        log.query("CREATE DATABASE d")
        log.query(f"CREATE TABLE t (id INT, v INT) {'PARTITION BY HASH (id) PARTITIONS 2' * partitioned}", "d")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2, 3, 4], "v": [1, 2, 3, 4]})
        ends.append(log.position)
        log.query("ALTER TABLE t REMOVE PARTITIONING" if partitioned else "ALTER TABLE t MODIFY v BIGINT", "d")
        ends.append(log.position)
        with log.transaction():
            log.insert("d.t", {"id": [5], "v": [5]})
        ends.append(log.position)
        log.query("ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT PRIMARY KEY", "d")
    return [(file.rpartition("/")[2], offset) for file, offset in ends]


def replayed(folder, stops, **options):
    """The lake that rounds make, which end there, and at the end of the log."""
    for stop in [*stops, None]:
        made = applier.replay(folder / "binlog.000001", lake=folder / "lake", stop=stop, lower_case_table_names=0,
                              **options)
    return made.snapshot


ROUNDS = [[], [0], [1], [2], [0, 1, 2]]


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_of_former_partitions_are_numbered_in_a_later_round(tmp_path, flavour, rounds, merges):
    """A server has those of one partition after those of the other. Whatever rounds a lake is made in."""
    ends = write(tmp_path, True, flavour)
    made = replayed(tmp_path, [ends[number] for number in rounds], merge_on_read=merges)
    assert made.tables["d.t"].to_arrow().sort_by("n").column("id").to_pylist() == [2, 4, 1, 3, 5]


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_of_partitions_are_numbered_in_a_later_round(tmp_path, flavour, rounds, merges):
    """Partition by partition, and in each in the order of insertion."""
    ends = []
    with applier.binlog.Writer(tmp_path / "binlog.000001", flavour=flavour) as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (id INT, v INT) PARTITION BY HASH (id) PARTITIONS 2", "d")
        with log.transaction():
            log.insert("d.t", {"id": [4, 1, 3, 2], "v": [1, 2, 3, 4]})
        ends.append(log.position)
        log.query("ALTER TABLE t TRUNCATE PARTITION p0", "d")
        ends.append(log.position)
        with log.transaction():
            log.insert("d.t", {"id": [8, 6], "v": [5, 5]})
        ends.append(log.position)
        log.query("ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT, ADD KEY (n)", "d")
    stops = [(file.rpartition("/")[2], offset) for file, offset in map(ends.__getitem__, rounds)]
    rows = replayed(tmp_path, stops, merge_on_read=merges).tables["d.t"].to_arrow().sort_by("n")
    assert rows.column("id").to_pylist() == [8, 6, 1, 3]


@pytest.mark.parametrize("rounds", [[], [0]])
def test_rows_that_updates_may_have_moved_are_not_numbered_in_a_later_round(tmp_path, rounds):
    """An update may put a row behind those of another partition."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (id INT, v INT) PARTITION BY HASH (id) PARTITIONS 2", "d")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2], "v": [1, 2]})
            log.update("d.t", {"id": [1], "v": [1]}, {"id": [4]})
        file, offset = log.position
        log.query("ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT, ADD KEY (n)", "d")
    with pytest.raises(SchemaError, match="or that updates moved them to"):
        replayed(tmp_path, [(file.rpartition("/")[2], offset)] * len(rounds))


@pytest.mark.parametrize("copies", [["ALTER TABLE t REMOVE PARTITIONING", "ALTER TABLE t ENGINE=MyISAM"],
                                    ["ALTER TABLE t REMOVE PARTITIONING, ENGINE=MyISAM"]])
def test_an_engine_that_appends_has_rows_of_former_partitions_in_their_order(tmp_path, copies):
    """Both servers number 3, 1, 4, 2."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (id INT, v INT) PARTITION BY HASH (id) PARTITIONS 2", "d")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2, 3, 4], "v": [1, 2, 3, 4]})
        for statement in [*copies, "ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT PRIMARY KEY"]:
            log.query(statement, "d")
    assert replayed(tmp_path, []).tables["d.t"].to_arrow().sort_by("id").column("n").to_pylist() == [3, 1, 4, 2]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("statements", [["ALTER TABLE t ENGINE=InnoDB"], ["ALTER TABLE t RENAME COLUMN v TO w"],
                                        ["ALTER TABLE t ADD KEY (id)", "ALTER TABLE t ENGINE=InnoDB, ADD x INT"]])
def test_rows_that_filled_room_are_not_numbered(tmp_path, statements, route):
    """All servers number 3 before 2: a row takes the room that was freed last."""
    with applier.binlog.Writer(tmp_path / "binlog.000001", flavour="mariadb") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (id INT, v INT) ENGINE=MyISAM", "d")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2], "v": [1, 2]})
            log.delete("d.t", {"id": [1], "v": [1]})
            log.insert("d.t", {"id": [3], "v": [3]})
        for statement in [*statements, "ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT PRIMARY KEY"]:
            log.query(statement, "d")
    with pytest.raises(SchemaError, match="AUTO_INCREMENT numbers the rows in an order"):
        applier.replay(tmp_path / "binlog.000001", tmp_path / "out", lower_case_table_names=0, route=route)


def with_room(tmp_path, engine, columns, *statements):
    """The ids of a table in the order of their numbers: 1, 2 and 3 are inserted, 2 and 1 deleted, 4, 5 and 6
    inserted after these statements."""
    with applier.binlog.Writer(tmp_path / "binlog.000001", flavour="mariadb") as log:
        log.query("CREATE DATABASE d")
        log.query(f"CREATE TABLE t (id INT PRIMARY KEY, {columns}) ENGINE={engine}", "d")
        rows = [{"id": [number], "c": [None]} for number in range(7)]
        with log.transaction():
            log.insert("d.t", {"id": [1, 2, 3], "c": [None] * 3})
        with log.transaction():
            log.delete("d.t", rows[2])
            log.delete("d.t", rows[1])
        for statement in statements:
            log.query(statement, "d")
        with log.transaction():
            log.insert("d.t", {"id": [6, 5, 4], "c": [None] * 3})
        log.query("ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT UNIQUE", "d")
    return replayed(tmp_path, []).tables["d.t"].to_arrow().sort_by("n").column("id").to_pylist()


@pytest.mark.parametrize(("engine", "columns"), [("MyISAM", "c CHAR(9)"), ("MEMORY", "c VARCHAR(9)")])
def test_a_row_fills_the_room_that_was_freed_last(tmp_path, engine, columns):
    """As all servers number them, and replicas that apply one transaction after another."""
    assert with_room(tmp_path, engine, columns) == [6, 5, 3, 4]


@pytest.mark.parametrize(("columns", "statements"), [
    ("c VARCHAR(9)", []), ("c CHAR(9)", ["OPTIMIZE TABLE t"]), ("c CHAR(9)", ["REPAIR TABLE t"]),
    ("c CHAR(9)", ["ALTER TABLE t ADD KEY (c)"]), ("c CHAR(9)", ["ALTER TABLE t FORCE"]),
    ("c CHAR(9)", ["ALTER TABLE t ALTER c SET DEFAULT 'a'"])])
def test_room_that_may_have_gone_or_have_another_length_is_not_filled(tmp_path, columns, statements):
    """A statement may have written the rows anew. MyISAM divides a long freed room, and puts two together."""
    with pytest.raises(SchemaError, match="they lie where MyISAM had room for them"):
        with_room(tmp_path, "MyISAM", columns, *statements)


def test_a_copied_table_has_no_freed_room(tmp_path):
    """As all servers number them."""
    statements = ["ALTER TABLE t ADD x INT", "ALTER TABLE t DROP x"]
    assert with_room(tmp_path, "MyISAM", "c VARCHAR(9)", *statements) == [3, 6, 5, 4]


def test_rows_sorted_by_a_statement_are_not_numbered(tmp_path):
    """Both servers number by v, and it is not known which of two equal values comes first."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (id INT, v INT)", "d")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2], "v": [2, 1]})
        log.query("ALTER TABLE t ORDER BY v", "d")
        log.query("ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT PRIMARY KEY", "d")
    with pytest.raises(SchemaError, match="AUTO_INCREMENT numbers the rows in an order"):
        replayed(tmp_path, [])


def with_counters(tmp_path, engine, statements, changes, flavour="mysql"):
    """The numbers that a table has in column n after these statements; a change comes before the statement with its
    number."""
    with applier.binlog.Writer(tmp_path / "binlog.000001", flavour=flavour) as log:
        log.query("CREATE DATABASE d")
        log.query(f"CREATE TABLE t (id INT PRIMARY KEY, a INT AUTO_INCREMENT UNIQUE) ENGINE={engine}", "d")
        with log.transaction():
            log.insert("d.t", {"id": [2, 8], "a": [5, 9]})
        for number, statement in enumerate(statements):
            if number in changes:
                with log.transaction():
                    changes[number](log)
            log.query(statement, "d")
    return sorted(map(int, replayed(tmp_path, []).tables["d.t"].to_arrow().column("n").to_pylist()))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("statements", "myisam", "innodb"), [
    (["MODIFY a INT", "ADD x INT", "ADD n SERIAL"], [10, 11], [1, 2]),
    (["MODIFY a VARCHAR(9)", "DROP a", "ADD n SERIAL"], [10, 11], [1, 2]),
    (["DROP a", "ADD n SERIAL"], [1, 2], [1, 2]),
    (["MODIFY a INT", "AUTO_INCREMENT = 4", "ADD n SERIAL"], [4, 5], [1, 2]),
    (["MODIFY a INT, AUTO_INCREMENT = 4", "ADD n SERIAL"], [4, 5], [1, 2]),
    (["MODIFY a INT", "ADD n SERIAL, AUTO_INCREMENT = 4"], [4, 5], [4, 5]),
    (["MODIFY a INT", "ENGINE = InnoDB", "ENGINE = MyISAM", "ADD n SERIAL"], [1, 2], [1, 2]),
    (["MODIFY a INT, ENGINE = MyISAM", "ADD n SERIAL"], [10, 11], [10, 11]),
    (["MODIFY a INT, MODIFY id INT AUTO_INCREMENT", "MODIFY id INT, ADD n SERIAL"], [10, 11], [10, 11]),
    (["MODIFY a INT", "MODIFY id INT AUTO_INCREMENT", "MODIFY id INT, ADD n SERIAL"], [10, 11], [9, 10]),
    (["MODIFY a INT, MODIFY id INT AUTO_INCREMENT, AUTO_INCREMENT = 7", "MODIFY id INT, ADD n SERIAL"], [9, 10],
     [9, 10]),
    (["MODIFY a INT, MODIFY id INT AUTO_INCREMENT", "AUTO_INCREMENT = 7", "MODIFY id INT, ADD n SERIAL"], [9, 10],
     [9, 10]),
    (["MODIFY a INT, MODIFY id INT AUTO_INCREMENT", "DROP PRIMARY KEY, DROP id", "ADD n SERIAL"], [1, 2], [1, 2])])
def test_a_table_keeps_its_counter(tmp_path, flavour, statements, myisam, innodb):
    """As MySQL 9.7 and MariaDB 10.5 to 11.8 number the rows; MEMORY and Aria are like MyISAM."""
    for engine, numbers in (("MyISAM", myisam), ("InnoDB", innodb)):
        path = tmp_path / engine
        path.mkdir()
        assert with_counters(path, engine, [f"ALTER TABLE t {actions}" for actions in statements], {},
                             flavour) == numbers


@pytest.mark.parametrize(("engine", "statements", "numbers"), [
    ("MyISAM", ["MODIFY a INT", "ADD n SERIAL, ADD k INT NOT NULL, ADD UNIQUE (k)"], [10]),
    ("MyISAM", ["MODIFY a INT, AUTO_INCREMENT = 50", "ADD n SERIAL, ADD k INT NOT NULL, ADD UNIQUE (k)"], [50]),
    ("InnoDB", ["MODIFY a INT NOT NULL, ADD n SERIAL, ADD k INT NOT NULL, ADD UNIQUE (k)"], [10])])
def test_rows_that_ignore_leaves_are_numbered_on(tmp_path, engine, statements, numbers):
    """As MariaDB 10.5 to 11.8 number them."""
    statements = [f"ALTER IGNORE TABLE t {actions}" for actions in statements]
    assert with_counters(tmp_path, engine, statements, {}, "mariadb") == numbers


@pytest.mark.parametrize(("change", "numbers"), [
    (lambda log: log.insert("d.t", {"id": [3], "a": [400]}), [10, 11, 12]),
    (lambda log: log.delete("d.t", {"id": [8], "a": [9]}), [10])])
def test_rows_do_not_change_a_counter_without_a_column(tmp_path, change, numbers):
    """As all servers number them."""
    statements = ["ALTER TABLE t MODIFY a INT", "ALTER TABLE t ADD n SERIAL"]
    assert with_counters(tmp_path, "MyISAM", statements, {1: change}) == numbers


def test_truncate_forgets_a_counter(tmp_path):
    """As all servers number them."""
    statements = ["ALTER TABLE t MODIFY a INT", "TRUNCATE t", "ALTER TABLE t ADD n SERIAL"]
    assert with_counters(tmp_path, "MyISAM", statements, {
        2: lambda log: log.insert("d.t", {"id": [3], "a": [400]})}) == [1]


def test_a_row_that_asks_for_a_number_gets_that_of_the_counter(tmp_path):
    """As all servers number them, though another column has had the counter so far."""
    statements = ["ALTER TABLE t MODIFY a INT, MODIFY id INT AUTO_INCREMENT", "ALTER TABLE t CHANGE id n INT"]
    assert with_counters(tmp_path, "InnoDB", statements, {
        0: lambda log: log.insert("d.t", {"id": [0], "a": [60]})}) == [2, 8, 61]


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY", "InnoDB"])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("statements", "change", "numbers"), [
    (["MODIFY a INT, ADD n SERIAL"], lambda log: log.delete("d.t", {"id": [8], "a": [9]}), [10]),
    (["MODIFY a INT, ADD n SERIAL"],
     lambda log: log.update("d.t", {"id": [8], "a": [9]}, {"id": [8], "a": [3]}), [10, 11]),
    (["MODIFY a INT, ADD n SERIAL"],
     lambda log: [log.update("d.t", {"id": [8], "a": [9]}, {"id": [8], "a": [30]}),
                  log.update("d.t", {"id": [8], "a": [30]}, {"id": [8], "a": [9]})], [31, 32]),
    (["MODIFY a BIGINT AUTO_INCREMENT", "MODIFY a INT, ADD n SERIAL"],
     lambda log: log.delete("d.t", {"id": [8], "a": [9]}), [10]),
    (["MODIFY a INT, MODIFY id INT AUTO_INCREMENT", "MODIFY id INT, ADD n SERIAL"],
     lambda log: log.delete("d.t", {"id": [2], "a": [5]}), [10])])
def test_a_counter_stays_above_numbers_that_are_gone(tmp_path, engine, flavour, statements, change, numbers):
    """As all servers number them."""
    statements = [f"ALTER TABLE t {actions}" for actions in statements]
    assert with_counters(tmp_path, engine, statements, {0: change}, flavour) == numbers


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY", "InnoDB"])
def test_ignore_keeps_a_counter(tmp_path, engine):
    """As MariaDB 10.5 to 11.8 number them."""
    statements = ["ALTER IGNORE TABLE t ADD UNIQUE (id)", "ALTER TABLE t MODIFY a INT NOT NULL, ADD n SERIAL"]
    gone = {0: lambda log: log.delete("d.t", {"id": [8], "a": [9]})}
    assert with_counters(tmp_path, engine, statements, gone, "mariadb") == [10]


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY", "InnoDB"])
def test_rows_that_ignore_leaves_get_the_numbers_that_they_ask_for(tmp_path, engine):
    """As MariaDB 10.5 to 11.8 number them, if no row is removed."""
    statements = ["ALTER IGNORE TABLE t MODIFY a INT NOT NULL, MODIFY id INT AUTO_INCREMENT",
                  "ALTER TABLE t CHANGE id n INT"]
    assert with_counters(tmp_path, engine, statements, {
        0: lambda log: log.insert("d.t", {"id": [0], "a": [60]})}, "mariadb") == [2, 8, 61]


@pytest.mark.parametrize("statements", [
    ["MODIFY a INT", "ADD n SERIAL, AUTO_INCREMENT = 0"], ["MODIFY a INT", "AUTO_INCREMENT = 0", "ADD n SERIAL"]])
def test_a_counter_that_rows_do_not_tell_is_not_guessed(tmp_path, statements):
    """What AUTO_INCREMENT = 0 does depends on the engine."""
    with pytest.raises(SchemaError, match="column n continues the numbers of another column"):
        with_counters(tmp_path, "MEMORY", [f"ALTER TABLE t {actions}" for actions in statements], {})


def test_a_column_that_may_still_count_is_not_guessed(tmp_path):
    """MariaDB leaves the column to MyISAM as it was, unless it copies the rows: the next number is 401."""
    statements = [f"ALTER TABLE t {actions}" for actions in ("MODIFY a INT NOT NULL", "ADD n SERIAL")]
    with pytest.raises(SchemaError, match="column n continues the numbers of another column"):
        with_counters(tmp_path, "MyISAM", statements, {1: lambda log: log.insert("d.t", {"id": [3], "a": [400]})},
                      "mariadb")


def test_numbers_that_innodb_reserved_are_not_guessed(tmp_path):
    """All servers reserve more numbers than they give to rows that ask for them, and continue after these."""
    statements = ["ALTER TABLE t MODIFY a INT, MODIFY id INT AUTO_INCREMENT",
                  "ALTER TABLE t MODIFY id INT, ADD n SERIAL"]
    with pytest.raises(SchemaError, match="column n continues the numbers of another column"):
        with_counters(tmp_path, "InnoDB", statements, {0: lambda log: log.insert("d.t", {"id": [0], "a": [60]})})


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_numbers_that_innodb_reserves_by_an_estimate_are_not_guessed(tmp_path, flavour):
    """Where MariaDB 10.5 to 11.8 copied 10 rows, and estimated 9, the next number was 12; where MySQL and MariaDB add
    the column in place, it is that of the rows."""
    statements = ["ALTER TABLE t MODIFY a INT, MODIFY id INT, ADD n SERIAL, ADD s INT AS (id) STORED",
                  "ALTER TABLE t MODIFY n INT, ADD m SERIAL"]
    with pytest.raises(SchemaError, match="column m continues the numbers of another column"):
        with_counters(tmp_path, "InnoDB", statements, {}, flavour)


def test_a_counter_that_a_repair_may_forget_is_not_guessed(tmp_path):
    """All servers begin with 1 again."""
    statements = ["ALTER TABLE t MODIFY a INT", "REPAIR TABLE t USE_FRM", "ALTER TABLE t ADD n SERIAL"]
    with pytest.raises(SchemaError, match="column n continues the numbers of another column"):
        with_counters(tmp_path, "MyISAM", statements, {})


def test_a_counter_of_groups_is_not_guessed(tmp_path):
    """All servers begin with 1: as a later part of a key, a column has no number of the whole table."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (g INT, a INT AUTO_INCREMENT, PRIMARY KEY (g, a)) ENGINE=MyISAM", "d")
        with log.transaction():
            log.insert("d.t", {"g": [1, 1, 2], "a": [1, 2, 1]})
        log.query("ALTER TABLE t MODIFY a INT", "d")
        log.query("ALTER TABLE t ADD n SERIAL", "d")
    with pytest.raises(SchemaError, match="column n continues the numbers of another column"):
        replayed(tmp_path, [])


def test_a_counter_goes_with_its_column(tmp_path):
    """Both servers continue with 11: AUTO_INCREMENT=100 was forgotten."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT) AUTO_INCREMENT=100", "d")
        with log.transaction():
            log.insert("d.t", {"a": [1, 2, 9]})
        log.query("ALTER TABLE t MODIFY a INT NOT NULL", "d")
        log.query("ALTER TABLE t MODIFY a INT NOT NULL AUTO_INCREMENT", "d")
        with log.transaction():
            log.insert("d.t", {"a": [10]})
        log.query("ALTER TABLE t MODIFY a INT NOT NULL, ADD n INT NOT NULL AUTO_INCREMENT UNIQUE", "d")
    rows = applier.replay(tmp_path / "binlog.000001", tmp_path / "out", lower_case_table_names=0)
    assert rows.snapshot.tables["d.t"].to_arrow().column("n").to_pylist() == [11, 12, 13, 14]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_rows_of_a_table_without_partitions_are_numbered_in_a_later_round(tmp_path, rounds):
    ends = write(tmp_path, False)
    rows = replayed(tmp_path, [ends[number] for number in rounds]).tables["d.t"].to_arrow().select(["id", "n"])
    assert rows.sort_by("n").to_pylist() == [{"id": number, "n": number} for number in range(1, 6)]


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize(("table", "statement", "known"), [
    ("id VARCHAR(9) NOT NULL, v INT, UNIQUE (id(3)))", "MODIFY id VARCHAR(9)", ([], [1], [2])),
    ("id VARCHAR(9) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, v INT) ENGINE=MyISAM", "DROP PRIMARY KEY", ([],))])
def test_rows_of_a_former_key_that_did_not_order_them_are_numbered_as_they_arrived(
        tmp_path, table, statement, known, rounds):
    """A key over prefixes, or of an engine that appends rows, is gone: a server has the rows as they were inserted. A
    replay that has not seen them arrive does not know how, and a base of MyISAM not whether there was room."""
    ends = []
    with applier.binlog.Writer(tmp_path / "binlog.000001", flavour="mariadb") as log:
        log.query("CREATE DATABASE d")
        log.query(f"CREATE TABLE t ({table}", "d")
        with log.transaction():
            log.insert("d.t", {"id": ["c", "a"], "v": [1, 2]})
        ends.append(log.position)
        log.query(f"ALTER TABLE t {statement}", "d")
        ends.append(log.position)
        with log.transaction():
            log.insert("d.t", {"id": ["b"], "v": [3]})
        ends.append(log.position)
        log.query("ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT, ADD KEY (n)", "d")
    stops = [(file.rpartition("/")[2], offset) for file, offset in map(ends.__getitem__, rounds)]
    if rounds in known:
        rows = replayed(tmp_path, stops).tables["d.t"].to_arrow()
        assert rows.sort_by("n").column("id").to_pylist() == ["c", "a", "b"]
        return
    with pytest.raises(SchemaError, match="in an order that a snapshot does not keep"):
        replayed(tmp_path, stops)
