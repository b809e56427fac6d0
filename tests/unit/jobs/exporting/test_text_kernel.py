"""Text of rows and of spans of time."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.jobs.exporting import cells
from applier.jobs.exporting.cells import cells_of
from applier.mysql.types import ColumnType
from applier.mysql.values.zero_dates import ZERO_DAY
from applier.schema.table_parts import Column


def written(columns, values, sql, head=b"INSERT\n"):
    held = [cells_of(column, array) for column, array in zip(columns, values, strict=True)]
    return bytes(cells.rows_text(held, len(values[0]), sql, np.frombuffer(head, np.uint8)))


TEXTS, BYTES = Column("t", ColumnType("text")), Column("b", ColumnType("blob"))


def test_escapes():
    """What a literal, and what LOAD DATA with its default options, takes for something else."""
    values = [pa.array(["a'b\\\n\r\t\0\x1aé", None, ""]), pa.array([b"\x00\xff'", b"", None], pa.binary())]
    assert written([TEXTS, BYTES], values, True) == (
        b"INSERT\n('a''b\\\\\\n\\r\t\\0\\Z\xc3\xa9',x'00FF27'),\n(NULL,x''),\n('',NULL);\n")
    assert written([TEXTS, BYTES], values, False) == (
        b"a'b\\\\\\n\\r\\t\\0\x1a\xc3\xa9\t00FF27\n\\N\t\n\t\\N\n")


def test_statements_end_at_their_size(monkeypatch):
    """Each begins with the head; a row is never cut."""
    monkeypatch.setattr(cells, "STATEMENT_BYTES", 30)
    text = written([TEXTS], [pa.array(["x" * 9] * 5)], True)
    assert text == b"INSERT\n('xxxxxxxxx'),\n('xxxxxxxxx');\n" * 2 + b"INSERT\n('xxxxxxxxx');\n"


@pytest.mark.parametrize("microseconds, text", [
    (0, "00:00:00.000000"), (-1, "-00:00:00.000001"), (3_020_399_000_000, "838:59:59.000000"),
    (-3_020_399_999_999, "-838:59:59.999999"), (359_999_000_000, "99:59:59.000000")])
def test_spans(microseconds, text):
    """TIME goes to 838 hours, either way."""
    held = cells_of(Column("t", ColumnType("time", fsp=6)), pa.array([None, microseconds], pa.duration("us"))[1:])
    assert bytes(held.data).decode() == text


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_come_back(numbers):
    """A server reads a double, which must be none over the largest float, and rounds it."""
    held = cells_of(Column("f", ColumnType("float")), pa.array(numbers, pa.float32()))
    held_texts = [bytes(held.data[start:end]) for start, end in zip(held.offsets, held.offsets[1:], strict=False)]
    doubles = np.array([float(text) for text in held_texts])
    assert np.abs(doubles).max() <= np.finfo(np.float32).max
    assert doubles.astype(np.float32).tobytes() == np.array(numbers, np.float32).tobytes()


def test_years_zero_dates_and_vectors():
    """'0' would be 2000."""
    row = [Column("y", ColumnType("year")), Column("d", ColumnType("date"), nullable=False),
           Column("v", ColumnType("vector", length=2))]
    values = [pa.array([0], pa.int16()), pa.array([ZERO_DAY], pa.date32()),
              pa.array([[0.0, 0.0], None, [1.0, -2.0]], pa.list_(pa.float32()))[2:]]
    assert written(row, values, True) == b"INSERT\n('0000','0000-00-00',x'0000803F000000C0');\n"
