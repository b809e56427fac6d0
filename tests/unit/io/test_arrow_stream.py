"""Errors inside streams: ours as they are for who iterates, a line that names them for other readers of Arrow."""

import gc

import duckdb
import polars
import pyarrow as pa
import pytest

import applier
from applier.api.streams import Stream

WHAT = "can't find record: the row to update or delete does not exist"
SAID = f"{WHAT} (at binlog.000001:4, table d.t) [MySQL error 1032]. hint: use a base"


class Feed:
    schema = pa.schema([("id", pa.int64())])
    notes = ()

    def __init__(self, error=None):
        self.error, self.closed = error, 0

    def batches(self):
        try:
            yield pa.RecordBatch.from_pydict({"id": [1, 2]}, self.schema)
            if self.error is not None:
                raise self.error
        finally:
            self.closed += 1


@pytest.fixture
def failing():
    return Stream(Feed(applier.ReplayStopped(WHAT, file="binlog.000001", position=4,
                                             table="d.t", errno=1032, hint="use a base")))


@pytest.mark.parametrize("read", [list, Stream.to_arrow, Stream.to_pandas, lambda stream: stream.reader().read_all(),
                                  lambda stream: list(stream.reader())])
def test_an_error_keeps_its_kind(failing, read):
    with pytest.raises(applier.ReplayStopped) as caught:
        read(failing)
    assert (str(caught.value), caught.value.mysql_errno) == (SAID, 1032)


@pytest.mark.parametrize(("read", "kind", "before"), [
    (pa.table, pa.ArrowInvalid, ""),
    (lambda stream: pa.table(stream, schema=pa.schema([("id", pa.int32())])), pa.ArrowInvalid, ""),
    (lambda stream: polars.DataFrame(stream), polars.exceptions.ComputeError, "got external error: "),
    (lambda stream: duckdb.sql("SELECT sum(id) FROM stream").fetchall(), duckdb.InvalidInputException,
     "Invalid Input Error: arrow_scan: get_next failed(): Invalid: ")], ids=["pyarrow", "cast", "Polars", "DuckDB"])
def test_other_readers_say_in_one_line_what_it_was(failing, read, kind, before):
    with pytest.raises(kind) as caught:
        read(failing)
    assert str(caught.value) == f"{before}ReplayStopped: {SAID}"


def test_what_an_error_lists_is_in_its_line():
    error = applier.UsageError("two things", hint="look at")
    error.listed += ("a", "b")
    with pytest.raises(pa.ArrowInvalid, match=r"^UsageError: two things. hint: look at a b$"):
        pa.table(Stream(Feed(error)))


def test_a_fault_of_the_program_keeps_its_traceback():
    with pytest.raises(pa.ArrowInvalid, match=r"(?s)bad thing.*Traceback.*in batches"):
        pa.table(Stream(Feed(ValueError("bad thing"))))


def test_streams_are_released_read_or_not():
    feed = Feed()
    stream = Stream(feed)
    assert pa.table(stream).num_rows == polars.DataFrame(stream).height == 2
    reader = pa.RecordBatchReader.from_stream(stream)
    next(iter(reader))
    del reader
    stream.__arrow_c_stream__()
    gc.collect()
    assert feed.closed == 3
