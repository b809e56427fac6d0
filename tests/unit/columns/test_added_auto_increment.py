"""AUTO_INCREMENT columns added to existing rows."""

from collections import namedtuple
from dataclasses import replace

import pyarrow as pa
import pytest

from applier.apply.output.altered_rows import altered_rows
from applier.columns.alter.rows import RowConverter
from applier.errors import SchemaError
from applier.mysql.sequences import SequenceState
from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import table_schema
from applier.schema.history.conversion import RowConversion
from applier.schema.history.history import SchemaHistory
from tests.support.passed_rows import PassedRows

Statement = namedtuple("Statement", "sql database context timestamp gtid sequences", defaults=[()])


def converter(statement):
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({columns})") for columns in (
        "a INT", "a INT, id INT NOT NULL AUTO_INCREMENT PRIMARY KEY"))
    return RowConverter(RowConversion(old.definition, new.definition, (0, None), sql=statement, file="b", position=4,
                                       gtid="u:7"))


def test_rows_are_numbered_in_their_order_over_all_chunks():
    convert = converter("ALTER TABLE t ADD id INT NOT NULL AUTO_INCREMENT PRIMARY KEY").convert
    chunk = pa.table({"a": pa.array([7, 8], pa.int32())})
    assert [convert(chunk).column("id").to_pylist() for _ in range(2)] == [[1, 2], [3, 4]]


@pytest.mark.parametrize(("options", "numbers"), [
    ("AUTO_INCREMENT=100", [100, 101, 102]), ("auto_increment 100", [100, 101, 102]), ("AUTO_INCREMENT = 0", [1, 2, 3]),
    ("AUTO_INCREMENT=9, COMMENT 'x', AUTO_INCREMENT=7", [7, 8, 9]), ("COMMENT='AUTO_INCREMENT=5'", [1, 2, 3])])
def test_where_the_numbers_begin(options, numbers):
    """Seen on MySQL 9.7 and MariaDB 10.11; the option may stand before the column, too."""
    added = "ADD id INT AUTO_INCREMENT PRIMARY KEY"
    for actions in (f"{added}, {options}", f"{options}, {added}"):
        history = SchemaHistory("mysql")
        history.load_schema_file("CREATE DATABASE d; CREATE TABLE d.t (a INT);")
        history.load_schema_file(f"ALTER TABLE d.t {actions};")
        rows = pa.table({"a": pa.array([7, 8, 9], pa.int32())})
        [converted] = [version.conversion for version in history.versions() if version.conversion is not None]
        assert RowConverter(converted).convert(rows).column("id").to_pylist() == numbers


@pytest.mark.parametrize(("increment", "offset", "options", "numbers"), [
    (3, 2, "", [5, 8, 11]), (3, 2, ", ALGORITHM=COPY", [2, 5, 8]), (3, 2, ", AUTO_INCREMENT=10", [11, 14, 17]),
    (3, 2, ", AUTO_INCREMENT=10, ALGORITHM=COPY", [11, 14, 17]), (3, 5, "", [3, 6, 9]), (1, 2, "", [1, 2, 3]),
    (2, 2, "", [6, 8, 10]), (2, 2, ", AUTO_INCREMENT=1", [4, 6, 8]), (2, 2, ", ALGORITHM=COPY", [2, 4, 6]),
    (3, 3, "", [9, 12, 15]), (1, 2, ", AUTO_INCREMENT=1", [2, 3, 4]), (1, 5, ", AUTO_INCREMENT=10", [11, 12, 13]),
    (1, 2, ", ALGORITHM=COPY", [1, 2, 3]), (1, 5, ", AUTO_INCREMENT=10, ALGORITHM=COPY", [10, 11, 12])])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_numbers_go_in_steps(flavour, increment, offset, options, numbers):
    """As MySQL 9.7 and MariaDB 10.5 to 11.8 number them: in place they begin one step later than in a copy, and an
    increment of 1 leaves the offset out."""
    convert = in_steps(f"ALTER TABLE d.t ADD id INT AUTO_INCREMENT UNIQUE{options}", increment, offset, flavour)
    assert convert(pa.table({"a": pa.array([7, 8, 9], pa.int32())})).column("id").to_pylist() == numbers


def in_steps(statement, increment, offset, flavour="mysql"):
    context = {"auto_increment_increment": increment, "auto_increment_offset": offset}
    history = SchemaHistory(flavour, files=["b"])
    history.load_schema_file("CREATE DATABASE d; CREATE TABLE d.t (a INT);")
    history.apply(Statement(statement, "d", context, 0, "u:7"), (0, 4), (0, 9))
    return RowConverter(history.versions()[-1].conversion).convert


def test_rows_without_a_number_get_one_in_steps():
    """As MySQL 9.7 and MariaDB 10.11 number them."""
    convert = in_steps("ALTER TABLE d.t MODIFY a INT AUTO_INCREMENT, ADD KEY (a)", 3, 2)
    rows = convert(pa.table({"a": pa.array([0, 5, None, 0, 1], pa.int32())}))
    assert rows.column("a").to_pylist() == [2, 5, 8, 11, 1]


def test_an_offset_above_the_increment_stops_the_replay_of_a_copy():
    """A server gives 1, 4, 5 with auto_increment_increment=3 and auto_increment_offset=5."""
    convert = in_steps("ALTER TABLE d.t ADD id INT AUTO_INCREMENT UNIQUE, ALGORITHM=COPY", 3, 5)
    with pytest.raises(SchemaError, match="offset 5 and auto_increment_increment 3") as stopped:
        convert(pa.table({"a": pa.array([7], pa.int32())}))
    assert stopped.value.where == {"file": "b", "position": 4, "gtid": "u:7", "table": "d.t"}


@pytest.mark.parametrize(("flavour", "column", "alters", "expected"), [
    ("mysql", "SERIAL NULL", "", [None, None]), ("mysql", "SERIAL NULL", ", ALGORITHM=COPY", [None, None]),
    ("mysql", "INT NULL AUTO_INCREMENT UNIQUE", "", [1, 2]),
    ("mysql", "INT AUTO_INCREMENT NULL UNIQUE", "", [None, None]),
    ("mariadb", "INT AUTO_INCREMENT NULL UNIQUE", "", [None, None]),
    ("mariadb", "INT AUTO_INCREMENT NULL UNIQUE", ", ALGORITHM=COPY", [1, 2]),
])
def test_a_column_that_may_be_null_has_no_numbers(flavour, column, alters, expected):
    """As MySQL 9.7, MariaDB 10.5, 10.11 and 11.8 add it; NULL counts behind AUTO_INCREMENT only."""
    convert = in_steps(f"ALTER TABLE d.t ADD id {column}{alters}", 1, 1, flavour)
    assert convert(pa.table({"a": pa.array([7, 8], pa.int32())})).column("id").to_pylist() == expected


@pytest.mark.parametrize(("flavour", "nullable", "expected"), [
    ("mysql", "NULL", [None, 2, None]), ("mysql", "", [1, 2, 3]), ("mariadb", "NULL", [1, 2, 3]),
    ("mariadb", "", [1, 2, 3])])
def test_nulls_that_may_stay_use_up_numbers_on_mysql(flavour, nullable, expected):
    """As MySQL 9.7, MariaDB 10.11 and 11.8 modify it."""
    convert = in_steps(f"ALTER TABLE d.t MODIFY a INT AUTO_INCREMENT {nullable} UNIQUE", 1, 1, flavour)
    assert convert(pa.table({"a": pa.array([None, 0, None], pa.int32())})).column("a").to_pylist() == expected


def numbered(old, new, sources, rows, flavour="mysql"):
    """The values of `a` in the order of the numbers that the rows get."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({table}", flavour=flavour) for table in (old, new))
    conversion = RowConversion(old.definition, new.definition, sources, sql="ALTER")
    chunk = pa.table({"a": rows}, table_schema(old.definition))
    found = altered_rows(conversion, PassedRows(chunk), None).rows
    return found.sort_by("id").column("a").to_pylist()


@pytest.mark.parametrize(("key", "order"), [
    ("a ENUM('b','a') PRIMARY KEY)", ["b", "a"]), ("a SET('b','a') PRIMARY KEY)", ["b", "a"]),
    ("a VARCHAR(9), PRIMARY KEY (a DESC))", ["b", "a"]), ("a VARCHAR(9) PRIMARY KEY)", ["a", "b"]),
    ("a VARCHAR(9) PRIMARY KEY) PARTITION BY LIST COLUMNS (a) (PARTITION p VALUES IN ('b'), PARTITION q VALUES IN "
     "('a'))", ["b", "a"])])
def test_rows_are_numbered_in_the_order_of_their_primary_key(key, order):
    """Of an ENUM's numbers, backwards, one partition after the other."""
    later = key.replace(" PRIMARY KEY)", " PRIMARY KEY, id INT NOT NULL AUTO_INCREMENT UNIQUE)") if "DESC" not in key \
        else "a VARCHAR(9), id INT NOT NULL AUTO_INCREMENT UNIQUE, PRIMARY KEY (a DESC))"
    assert numbered(key, later, (0, None), ["a", "b"]) == order


@pytest.mark.parametrize(("kind", "rows"), [
    ("VARCHAR(9) COLLATE utf8mb4_bin", ["\u00e4c1", "aa2"]), ("VARBINARY(9)", [b"\xe4c1", b"aa2"]),
    ("BLOB", [b"\xe4c1", b"aa2"])])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_primary_key_over_prefixes_is_the_order_of_the_rows(kind, rows, flavour):
    """As MySQL 9.7 and MariaDB 10.11 number them, though there is a unique key of whole columns."""
    table = f"a {kind} NOT NULL, b INT NOT NULL"
    keys = "PRIMARY KEY (a(2)), UNIQUE (b))"
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({table}, {more}{keys}", flavour=flavour)
                    for more in ("", "id INT NOT NULL AUTO_INCREMENT UNIQUE, "))
    conversion = RowConversion(old.definition, new.definition, (0, 1, None), sql="ALTER")
    chunk = pa.table({"a": rows, "b": [1, 2]}, table_schema(old.definition))
    found = altered_rows(conversion, PassedRows(chunk), None).rows
    assert found.sort_by("id").column("a").to_pylist() == rows[::-1]


@pytest.mark.parametrize(("flavour", "table"), [
    ("mysql", "a VARCHAR(9) COLLATE latin2_czech_cs PRIMARY KEY)"),
    ("mariadb", "a TEXT NOT NULL, UNIQUE (a))"), ("mysql", "a TEXT NOT NULL, UNIQUE (a(9)))"),
    ("mysql", "a VARCHAR(9) COLLATE gbk_chinese_ci NOT NULL) PARTITION BY KEY (a) PARTITIONS 2"),
    ("mysql", "a VARCHAR(9) NOT NULL PRIMARY KEY) ENGINE=MyISAM"),
])
def test_rows_in_an_order_that_the_snapshot_does_not_keep_are_not_numbered(flavour, table):
    """A collation whose order is unknown, a unique key over long text, of which MariaDB has a hash, one over
    prefixes; partitions by a hash that is not known, and an engine that puts rows where there is room."""
    later = "id INT NOT NULL AUTO_INCREMENT UNIQUE, " + table
    assert numbered(table, later, (None, 0), ["a"], flavour) == ["a"]
    with pytest.raises(SchemaError, match="in an order that a snapshot does not keep"):
        numbered(table, later, (None, 0), ["a", "b"], flavour)


@pytest.mark.parametrize(("collations", "order"), [
    ("gbk_chinese_ci gb2312_chinese_ci", ["a\t", "A", "a!", "x", "Y", "yz", "z", "]", "[", "\\", "^", "`", "\x7f"]),
    ("gbk_chinese_nopad_ci", ["A", "a\t", "a ", "a!", "x~", "Y{", "z", "]", "[", "\\", "`"]),
    ("big5_chinese_ci", ["a\t", "A", "a!", "d", "E", "`f", "~", "z", "]", "[", "\\", "^", "_", "{"]),
    ("sjis_japanese_ci ujis_japanese_ci cp932_japanese_ci eucjpms_japanese_ci euckr_korean_ci gb18030_chinese_ci",
     ["\t", "", "a\t", "A", "a!", "y", "Z", "[", "\\", "]", "^", "_", "`", "{", "|", "}", "~", "\x7f"]),
    ("latin7_general_ci", ["a'", "a-", "a", "a!", "a.", "a[", "a+", "a0", "AA", "t", "T", "u\x7f", "U'", "u"]),
    ("latin7_general_nopad_ci", ["a", "a'", "a-", "a ", "a!", "t", "T"]),
    ("latin2_hungarian_ci", ["a\x7f", "a\t", "A", "\u00e1!", "aa", "\u0151", "z", "["]),
    ("cp1250_czech_cs", ["A", "a", "a!", "c", "cd", "d", "h", "CH", "Ch", "ch", "i", "["]),
    ("tis620_thai_ci", ["", "!", "[", "`", "a", "A!", "Ab", "z", "{"])])
def test_the_order_of_text_in_collations_of_one_character_set(collations, order):
    """As MySQL 9.7 and MariaDB 10.5 to 11.8 read a key, in sjis one with the byte 5C: a tab sorts before the end of a
    text, which spaces pad, except in MariaDB's collations with NO PAD."""
    for collation in collations.split():
        table = f"a VARCHAR(9) COLLATE {collation} PRIMARY KEY"
        new = f"id INT NOT NULL AUTO_INCREMENT UNIQUE, {table})"
        assert numbered(f"{table})", new, (None, 0), sorted(order), flavour_of(collation)) == order


def flavour_of(collation):
    return "mariadb" if "_nopad_" in collation else "mysql"


@pytest.mark.parametrize(("collation", "rows"), [
    ("gbk_chinese_ci", ["a", "\u65e5"]), ("cp1250_czech_cs", ["a", "a\t"]), ("cp1250_czech_cs", ["a", "\u010d"]),
    ("tis620_thai_ci", ["a", "a\x7f"]), ("tis620_thai_ci", ["a", "\u0e01"]), ("latin2_czech_cs", ["a", "b"])])
def test_text_of_unknown_order(collation, rows):
    table = f"a VARCHAR(9) COLLATE {collation} PRIMARY KEY"
    with pytest.raises(SchemaError, match=f"by the collation {collation} of a, whose order is not known"):
        numbered(f"{table})", f"id INT NOT NULL AUTO_INCREMENT UNIQUE, {table})", (None, 0), rows)


def test_numbers_that_go_on_from_another_column_are_not_guessed():
    """Where a column stops being AUTO_INCREMENT in the same statement, its counter is the new one's."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({columns})") for columns in (
        "a INT NOT NULL AUTO_INCREMENT UNIQUE", "a BIGINT NOT NULL UNIQUE, id INT NOT NULL AUTO_INCREMENT UNIQUE"))
    convert = RowConverter(RowConversion(old.definition, new.definition, (0, None), sql="ALTER")).convert
    with pytest.raises(SchemaError, match="continues the numbers"):
        convert(pa.table({"a": pa.array([7], pa.int32())}))


def test_numbers_begin_anew_where_the_column_that_had_some_is_dropped():
    """Recorded on MySQL 9.7: ALTER TABLE t DROP COLUMN my_row_id, ADD id … AUTO_INCREMENT PRIMARY KEY."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({columns})") for columns in (
        "my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY, v INT",
        "v INT, id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY"))
    convert = RowConverter(RowConversion(old.definition, new.definition, (1, None), sql="ALTER")).convert
    rows = convert(pa.table({"my_row_id": pa.array([1, 3], pa.decimal128(20)), "v": pa.array([5, 7], pa.int32())}))
    assert [tuple(map(int, row.values())) for row in rows.to_pylist()] == [(5, 1), (7, 2)]


def test_numbers_of_a_sequence_need_its_state():
    """Seen on MariaDB 10.5, 10.11 and 11.8: a replica continues behind the numbers that the log says are reserved."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({columns})", flavour="mariadb") for columns in (
        "a INT PRIMARY KEY", "a INT PRIMARY KEY, b INT DEFAULT NEXTVAL(s), c INT DEFAULT (NEXT VALUE FOR `d`.`s`)"))
    rows = pa.table({"a": pa.array([7, 8], pa.int32())})
    conversion = RowConversion(old.definition, new.definition, (0, None, None))
    with pytest.raises(SchemaError, match=r"gets numbers of the sequence d\.s, and it is not known where"):
        RowConverter(conversion).convert(rows)
    known = replace(conversion, sequences=(SequenceState("d", "s", 4, 1001, 1, 1010, 2),))
    made = RowConverter(known).convert(rows)
    assert [made.column(name).to_pylist() for name in "bc"] == [[1001, 1005], [1003, 1007]]
    with pytest.raises(SchemaError, match="gets more numbers than the sequence"):
        RowConverter(replace(known, sequences=(SequenceState("d", "s", 4, 1001, 1, 1006, 2),))).convert(rows)


@pytest.mark.parametrize(("create", "between", "limits"), [
    ("CREATE OR REPLACE SEQUENCE s START 9 INCREMENT BY 3 MAXVALUE 5000 CACHE 2", "CREATE TABLE d.u (a INT)",
     (1, 5000, 3)),
    ("CREATE SEQUENCE s INCREMENT = -2", "CREATE TABLE d.u (a INT)", (-2**63 + 1, -1, -2)),
    ("CREATE SEQUENCE s AS INT", "CREATE TABLE d.u (a INT)", (0, 0, 0)),
    ("CREATE SEQUENCE s", "ALTER SEQUENCE s INCREMENT BY 3", (0, 0, 0)),
    ("CREATE SEQUENCE r", "RENAME TABLE r TO s", (0, 0, 0))])
def test_a_minimal_row_of_a_sequence_needs_the_statement_that_made_it(create, between, limits):
    """Recorded on MariaDB 10.5, 10.11 and 11.8; the row has the next number only."""
    history = SchemaHistory("mariadb", files=["b"])
    history.load_schema_file("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY);")
    history.apply(Statement(create, "d", {}, 0, "0-1-1"), (0, 4), (0, 9))
    history.apply(Statement(between, "d", {}, 0, "0-1-2"), (0, 9), (0, 20))
    history.apply(Statement("ALTER TABLE t ADD b INT DEFAULT NEXTVAL(s)", "d", {}, 0, "0-1-3",
                            (SequenceState("d", "s", 30, 1001),)), (0, 40), (0, 50))
    [state] = history.versions()[-1].conversion.sequences
    assert (state.next_value, (state.minimum, state.maximum, state.step)) == (1001, limits)


def test_what_depends_on_the_session_is_not_kept_where_it_cannot_be_computed():
    """MariaDB computes STORED columns again where it copies the rows."""
    columns = "a INT, b BIGINT AS (UNIX_TIMESTAMP(CONVERT_TZ('2020-01-01', 'x', 'y'))) STORED"
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({words})", flavour="mariadb")
                    for words in (columns, columns + ", c INT"))
    rows = pa.table({"a": pa.array([7], pa.int32()), "b": pa.array([946598400], pa.int64())})
    conversion = RowConversion(old.definition, new.definition, (0, 1, None), time_zone="Europe/Rome",
                               sql="ALTER TABLE t ADD c INT, ALGORITHM=COPY")
    with pytest.raises(SchemaError, match="column b is generated from"):
        RowConverter(conversion).convert(rows)
