"""`applier.undo` of statements that empty or drop partitions: the rows come back, and the partitions."""

import pytest

import applier
from tests.unit.api.test_undo import SOURCE, Log, rows

pytestmark = pytest.mark.slow

YEARS = ("CREATE TABLE t (id INT, y INT, n INT, PRIMARY KEY (id, y)) PARTITION BY RANGE (y) (PARTITION p24 VALUES LESS "
         "THAN (2025) COMMENT = 'a', PARTITION p25 VALUES LESS THAN (2026) COMMENT = 'it''s', "
         "PARTITION p26 VALUES LESS THAN MAXVALUE)")
AGAIN = YEARS[YEARS.index("PARTITION p25"):-1]
LISTS = ("CREATE TABLE t (id INT, y INT, n INT) PARTITION BY LIST (y) (PARTITION p24 VALUES IN (2024), PARTITION p25 "
         "VALUES IN (2025, NULL), PARTITION p26 VALUES IN (2026))")


def row(id, year, n=0):
    return {"id": id, "y": year, "n": n}


def log_of(folder, table, *statements, flavour="mysql"):
    """A row a year, and then statements and transactions; `gtids` are theirs."""
    log = Log(folder, table, flavour=flavour)
    log.transaction(insert(row(1, 2024), row(2, 2025), row(3, 2026), row(4, 2025)))
    log.gtids = []
    for one in statements:
        if isinstance(one, str):
            log.n += 1
            log.writer.query(one, "d")
        else:
            log.transaction(one)
        log.gtids.append(log.gtid(log.n))
    return log


def insert(*found):
    return ("insert", "t", {name: [one[name] for one in found] for name in found[0]})


def update(id, year, n):
    return ("update", "t", {"id": [id], "y": [year]}, {"n": [n]})


def delete(id, year):
    return ("delete", "t", {"id": [id], "y": [year]})


def definition(snapshot):
    """The table in a snapshot."""
    return applier.Snapshot(snapshot).tables["d.t"].definition


def up_to(log, number):
    """Where a transaction or statement after the CREATE TABLE ends."""
    return f"{SOURCE}:1-{log.n_statements + number}"


@pytest.mark.parametrize("table", [YEARS, LISTS])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_of_a_partition_that_was_emptied_come_back(tmp_path, table, flavour):
    """UNDO-CHAIN. Others have changed other rows since, before and after, and put new ones there."""
    log = log_of(tmp_path, table, update(2, 2025, 5), "ALTER TABLE t TRUNCATE PARTITION p25", update(1, 2024, 7),
                 insert(row(9, 2025)), flavour=flavour)
    [made] = log.undo(gtids=log.gtids[1]).tables
    assert (made.inserted, made.deleted, made.updated, made.partitions, made.rows_after) == (2, 0, 0, (), 5)
    assert log.undone() == rows(row(1, 2024, 7), row(2, 2025, 5), row(3, 2026), row(4, 2025), row(9, 2025))


@pytest.mark.parametrize(("names", "statements"), [
    ("p25", ["REORGANIZE PARTITION `p26` INTO (PARTITION `p25` VALUES LESS THAN (2026) COMMENT = 'it''s', PARTITION "
             "`p26` VALUES LESS THAN MAXVALUE)"]),
    ("p26", ["ADD PARTITION (PARTITION `p26` VALUES LESS THAN MAXVALUE)"]),
    ("p26, p25", ["ADD PARTITION (PARTITION `p25` VALUES LESS THAN (2026) COMMENT = 'it''s')",
                  "ADD PARTITION (PARTITION `p26` VALUES LESS THAN MAXVALUE)"])])
def test_partitions_of_ranges_come_back(tmp_path, names, statements):
    """UNDO-PARTITION: with names, values and comments, out of the one that has the range now, or at the end."""
    log = log_of(tmp_path, YEARS, f"ALTER TABLE t DROP PARTITION {names}", insert(row(8, 2024)))
    found = log.undo(gtids=log.gtids[0])
    [made] = found.tables
    assert list(made.partitions) == [f"ALTER TABLE `d`.`t` {statement}" for statement in statements]
    assert log.undone() == rows(*(row(id, y) for id, y in ((1, 2024), (2, 2025), (3, 2026), (4, 2025), (8, 2024))))
    before = applier.replay(log.path, tmp_path / "before", stop=up_to(log, 1))
    assert definition(f"{tmp_path}/undone") == definition(before.snapshot.uri)


def test_partitions_of_lists_come_back(tmp_path):
    """UNDO-PARTITION: at the end; NULL is a value as others are."""
    log = log_of(tmp_path, LISTS, insert({"id": 6, "y": None, "n": 1}), "ALTER TABLE t DROP PARTITION p25")
    [made] = log.undo(gtids=log.gtids[1]).tables
    assert made.partitions == ("ALTER TABLE `d`.`t` ADD PARTITION (PARTITION `p25` VALUES IN (2025,NULL))",)
    assert log.undone() == rows(row(1, 2024), row(2, 2025), row(3, 2026), row(4, 2025), row(6, None, 1))


def test_what_no_partition_takes_is_taken_by_the_one_that_comes_back(tmp_path):
    """MariaDB's DEFAULT has the rows now. It is named first: else the server puts all of its rows elsewhere."""
    log = log_of(tmp_path, LISTS.replace("IN (2026)", "IN (2026), PARTITION pd DEFAULT"),
                 "ALTER TABLE t DROP PARTITION p24", insert(row(7, 2024)), flavour="mariadb")
    [made] = log.undo(gtids=log.gtids[0]).tables
    assert made.partitions == ("ALTER TABLE `d`.`t` REORGANIZE PARTITION `pd` INTO (PARTITION `pd` DEFAULT, PARTITION "
                               "`p24` VALUES IN (2024))",)


def test_statements_stand_before_the_transaction(tmp_path):
    """UNDO-GUARD: they would end it. Subpartitions keep their names, and files their places."""
    log = log_of(tmp_path, YEARS.replace("(y) (", "(y) SUBPARTITION BY HASH (id) (", 1)
                 .replace("COMMENT = 'a'", "(SUBPARTITION a, SUBPARTITION b)")
                 .replace("COMMENT = 'it''s'", "(SUBPARTITION c DATA DIRECTORY = '/disk2', SUBPARTITION d)")
                 .replace("MAXVALUE)", "MAXVALUE (SUBPARTITION e, SUBPARTITION f))"),
                 "ALTER TABLE t TRUNCATE PARTITION c", "ALTER TABLE t DROP PARTITION p25")
    log.undo(gtids=",".join(log.gtids), format="sql")
    text = (tmp_path / "undo.000001").read_text()
    made = text.index("(SUBPARTITION `c` DATA DIRECTORY = '/disk2', SUBPARTITION `d`)")
    assert made < text.index("START TRANSACTION")
    assert text.count("INSERT INTO") == 2


def test_rows_that_others_touched_since(tmp_path):
    """UNDO-KEY, UNDO-CHAIN: as where a table was emptied. Others may also have emptied the partition."""
    log = log_of(tmp_path, YEARS, delete(4, 2025), "ALTER TABLE t TRUNCATE PARTITION p25", insert(row(2, 2025, 9)),
                 "ALTER TABLE t TRUNCATE PARTITION p25")
    with pytest.raises(applier.UndoRefused, match=r"d.t id=4, y=2025: its table or partition was .* by \S+:7 at"):
        log.undo(gtids=log.gtids[0])
    with pytest.raises(applier.UndoRefused, match=r"d.t id=2, y=2025: .* by \S+:7 at"):
        log.undo(gtids=log.gtids[1])
    words = r"d.t id=2, y=2025: created again with the same PRIMARY since by \S+:6 at"
    with pytest.raises(applier.UndoRefused, match=words):
        log.undo(gtids=log.gtids[1], until=up_to(log, 4))


def test_rows_go_on_over_statements_of_others(tmp_path):
    """UNDO-CHAIN: what others drop or empty elsewhere is in nobody's way, nor how they divide it; updates of rows that
    stayed are taken back."""
    log = log_of(tmp_path, YEARS, update(1, 2024, 5), "ALTER TABLE t DROP PARTITION p25", update(3, 2026, 6),
                 "ALTER TABLE t REORGANIZE PARTITION p26 INTO (PARTITION q VALUES LESS THAN (2030), PARTITION p26 "
                 "VALUES LESS THAN MAXVALUE)", "ALTER TABLE t TRUNCATE PARTITION q", update(1, 2024, 8))
    [made] = log.undo(gtids=f"{log.gtids[0]},{log.gtids[5]}").tables
    assert (made.inserted, made.deleted, made.rows_after, made.in_conflict) == (1, 1, 1, 0)
    assert log.undone() == rows(row(1, 2024))
    with pytest.raises(applier.UndoRefused, match=r"d.t id=3, y=2026: deleted since"):
        log.undo(gtids=log.gtids[2], name="second")


@pytest.mark.parametrize(("table", "later", "what"), [
    (YEARS, ["REORGANIZE PARTITION p26 INTO (PARTITION q VALUES LESS THAN (2026), PARTITION p26 VALUES LESS THAN "
             "MAXVALUE)"], "partition p25, which the undo restores, had a range that is divided in another way since"),
    (YEARS, ["REORGANIZE PARTITION p26 INTO (PARTITION p25 VALUES LESS THAN (2027), PARTITION p26 VALUES LESS THAN "
             "MAXVALUE)"], "partition p25, .* is a different one now"),
    (YEARS, ["REMOVE PARTITIONING"], "partition p25, .* is of a table that is divided in another way since"),
    (YEARS, [f"REORGANIZE PARTITION p26 INTO ({AGAIN})", "DROP PARTITION p25"],
     "partition p25, .* was dropped again since"),
    (LISTS, ["ADD PARTITION (PARTITION q VALUES IN (NULL))"], "partition p25, .* had values that partition q has"),
    (YEARS, ["ADD COLUMN z INT"], "a later statement changed the table")])
def test_a_partition_that_has_no_place_is_refused(tmp_path, table, later, what):
    """UNDO-PARTITION: where others have divided it since so that it cannot be what it was."""
    log = log_of(tmp_path, table, "ALTER TABLE t DROP PARTITION p25", *(f"ALTER TABLE t {one}" for one in later))
    with pytest.raises(applier.SchemaError, match=what):
        log.undo(gtids=log.gtids[0])
    assert not (tmp_path / "undo.000001").exists()


def test_a_partition_that_others_made_again(tmp_path):
    """UNDO-PARTITION: only the rows come back then."""
    log = log_of(tmp_path, YEARS, "ALTER TABLE t DROP PARTITION p25",
                 f"ALTER TABLE t REORGANIZE PARTITION p26 INTO ({AGAIN})")
    [made] = log.undo(gtids=log.gtids[0]).tables
    assert (made.inserted, made.partitions) == (2, ())


def test_rows_that_no_partition_takes_any_more(tmp_path):
    """UNDO-PARTITION: others have redivided the table while it had no such rows."""
    log = log_of(tmp_path, LISTS, delete(3, 2026), "ALTER TABLE t REORGANIZE PARTITION p26 INTO (PARTITION p26 VALUES "
                 "IN (2027))")
    with pytest.raises(applier.UndoRefused, match=r"d.t id=3, y=2026, n=0: no partition takes it now"):
        log.undo(gtids=log.gtids[0])


@pytest.mark.parametrize("statement", [
    "REMOVE PARTITIONING", "REORGANIZE PARTITION p24, p25 INTO (PARTITION p VALUES IN (2024, 2025, NULL))",
    "ENGINE = InnoDB, ORDER BY n"])
def test_rows_without_a_key_after_a_statement_that_moved_them(tmp_path, statement):
    """UNDO-CHAIN: others have put the rows in another order."""
    log = log_of(tmp_path, LISTS, delete(3, 2026), f"ALTER TABLE t {statement}", insert(row(9, 2025)))
    assert log.undo(gtids=log.gtids[0]).tables[0].inserted == 1
    assert log.undone() == rows(row(1, 2024), row(2, 2025), row(3, 2026), row(4, 2025), row(9, 2025))


def test_what_a_statement_would_have_taken_of_a_partition_that_comes_back(tmp_path):
    """UNDO-CHAIN: others emptied the partition that has its range now, not this one."""
    log = log_of(tmp_path, YEARS, "ALTER TABLE t DROP PARTITION p25", "ALTER TABLE t TRUNCATE PARTITION p26")
    assert log.undo(gtids=log.gtids[0]).tables[0].inserted == 2
    assert log.undone() == rows(row(1, 2024), row(2, 2025), row(4, 2025))


def test_a_table_that_was_dropped_with_fewer_partitions(tmp_path):
    """UNDO-PARTITION: it is made as it was before both statements."""
    log = log_of(tmp_path, YEARS, "ALTER TABLE t DROP PARTITION p25", "DROP TABLE t")
    [made] = log.undo(gtids=",".join(log.gtids)).tables
    assert (made.inserted, made.recreated, made.partitions) == (4, True, ())
    assert "`p25`" in (tmp_path / "undo.000001").read_bytes().decode("latin-1")


@pytest.mark.parametrize("statement", ["ADD KEY (n)", "ADD PARTITION (PARTITION q VALUES IN (2030))",
                                       "COALESCE PARTITION 1", "ADD COLUMN z INT"])
def test_other_statements_are_not_taken_back(tmp_path, statement):
    """The hint names the snapshot to restore."""
    table = LISTS if "IN (" in statement else "CREATE TABLE t (id INT, y INT, n INT) PARTITION BY HASH (y) PARTITIONS 3"
    log = log_of(tmp_path, table, f"ALTER TABLE t {statement}")
    with pytest.raises(applier.SchemaError, match="a statement that creates or alters a table cannot be") as error:
        log.undo(gtids=log.gtids[0])
    assert 'replay with `stop="binlog.000001:' in error.value.hint
