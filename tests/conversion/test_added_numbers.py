"""AUTO_INCREMENT columns added to rows that are there."""

import pyarrow as pa
import pytest

from applier.conversion.rows import RowConverter
from applier.errors import SchemaError
from applier.schema.conversion import RowConversion
from applier.schema.ddl import parse_statement


def converter(statement):
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({columns})") for columns in (
        "a INT", "a INT, id INT NOT NULL AUTO_INCREMENT PRIMARY KEY"))
    return RowConverter(RowConversion(old.definition, new.definition, (0, None), sql=statement, file="b", position=4,
                                       gtid="u:7"))


def test_rows_are_numbered_in_their_order_over_all_chunks():
    convert = converter("ALTER TABLE t ADD id INT NOT NULL AUTO_INCREMENT PRIMARY KEY").convert
    chunk = pa.table({"a": pa.array([7, 8], pa.int32())})
    assert [convert(chunk).column("id").to_pylist() for _ in range(2)] == [[1, 2], [3, 4]]


@pytest.mark.parametrize("option", ["AUTO_INCREMENT=100", "auto_increment 100", "AUTO_INCREMENT = 100"])
def test_another_start_of_numbers_stops_the_replay(option):
    """A wrong number would be a wrong row; where the numbers begin then is not followed yet."""
    rows = pa.table({"a": pa.array([7], pa.int32())})
    with pytest.raises(SchemaError, match="numbers the rows") as stopped:
        converter(f"ALTER TABLE t ADD id INT AUTO_INCREMENT PRIMARY KEY, {option}").convert(rows)
    assert stopped.value.where == {"file": "b", "position": 4, "gtid": "u:7", "table": "d.t"}


@pytest.mark.parametrize("key", ["ENUM('b','a')", "SET('b','a')", "VARCHAR(9) COLLATE utf8mb4_hr_0900_ai_ci"])
def test_rows_in_an_order_that_the_snapshot_does_not_keep_are_not_numbered(key):
    """The server numbers them in the order of their primary key: of an ENUM's numbers, of a collation."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({columns})") for columns in (
        f"a {key} PRIMARY KEY", f"a {key} PRIMARY KEY, id INT NOT NULL AUTO_INCREMENT UNIQUE"))
    convert = RowConverter(RowConversion(old.definition, new.definition, (0, None), sql="ALTER")).convert
    with pytest.raises(SchemaError, match="in the order of a"):
        convert(pa.table({"a": pa.array(["a", "b"])}))


def test_numbers_that_go_on_from_another_column_are_not_guessed():
    """Where a column stops being AUTO_INCREMENT in the same statement, its counter is the new one's."""
    [old], [new] = (parse_statement(f"CREATE TABLE d.t ({columns})") for columns in (
        "a INT NOT NULL AUTO_INCREMENT UNIQUE", "a BIGINT NOT NULL UNIQUE, id INT NOT NULL AUTO_INCREMENT UNIQUE"))
    convert = RowConverter(RowConversion(old.definition, new.definition, (0, None), sql="ALTER")).convert
    with pytest.raises(SchemaError, match="goes on with the numbers"):
        convert(pa.table({"a": pa.array([7], pa.int32())}))
