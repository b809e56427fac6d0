"""A spill buffer gives payloads back by key, from memory and from its file alike."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.engine.spill_buffer import SharedArrivals, SharedFile, SpillBuffer
from applier.errors import UsageError
from applier.io.disk.temporary import spill_directory
from tests.support.examples import examples

pairs = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 50)), st.binary(max_size=40), max_size=20)


@settings(max_examples=examples(60))
@given(pairs, st.integers(0, 200))
def test_payloads_come_back_in_the_order_of_their_keys(given_pairs, memory_bytes):
    with SpillBuffer(memory_bytes) as buffer:
        for key, payload in given_pairs.items():
            buffer.add(key, pa.py_buffer(payload))
        assert [(key, bytes(payload)) for key, payload in buffer.in_order()] == sorted(given_pairs.items())


def test_buffers_outlive_the_spill_buffer():
    with SpillBuffer(0) as buffer:
        buffer.add(1, pa.py_buffer(b"x" * 100_000))
        [(_, payload)] = buffer.in_order()
    assert bytes(payload) == b"x" * 100_000


@pytest.mark.parametrize("memory_bytes", [0, 1 << 20])
def test_file_lies_in_sparks_directory_and_has_no_name(memory_bytes, tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/nowhere")
    with SpillBuffer(memory_bytes) as buffer:
        buffer.add(1, pa.py_buffer(b"abc"))
        assert list(tmp_path.iterdir()) == []
        assert [bytes(payload) for _, payload in buffer.in_order()] == [b"abc"]


@pytest.fixture
def shared_arrivals(tmp_path):
    """What receivers get of two payloads that a sender has put into a file of a directory."""
    with SharedFile(str(tmp_path)) as file:
        sent = [file.put(pa.py_buffer(payload)) for payload in (b"", b"some payload")]
    with SharedArrivals() as arrivals:
        for number, place in enumerate(sent):
            arrivals.add(number, pa.py_buffer(place))
        yield arrivals


def test_payloads_in_a_shared_directory(shared_arrivals, tmp_path):
    assert [bytes(payload) for _, payload in shared_arrivals.in_order()] == [b"", b"some payload"]
    with SharedFile(str(tmp_path)):
        assert len([*tmp_path.iterdir()]) == 1, "a sender without payloads makes no file"


def test_a_directory_that_receivers_do_not_share(shared_arrivals, tmp_path):
    """A file that is shorter than it should be, or is not there, or cannot be made: an error, and no other payload."""
    [file] = tmp_path.iterdir()
    for data in (file.read_bytes()[:-1], None):
        file.unlink()
        if data is not None:
            file.write_bytes(data)
        with pytest.raises(UsageError, match="do not share the directory") as error:
            [*shared_arrivals.in_order()]
        assert error.value.file == str(file) and "--shared-dir" in error.value.hint
    with SharedFile(f"{tmp_path}/missing") as elsewhere, pytest.raises(UsageError, match="no such file or directory"):
        elsewhere.put(pa.py_buffer(b"x"))


def test_a_driver_in_a_container_of_yarn_has_yarns_directory(tmp_path, monkeypatch):
    """Its environment does not name Spark's, which that of a Python worker does."""
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    monkeypatch.setenv("LOCAL_DIRS", f"{tmp_path},/nowhere")
    assert spill_directory() is None
    monkeypatch.setenv("CONTAINER_ID", "container_1")
    assert spill_directory() == str(tmp_path)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/of/spark,/nowhere")
    assert spill_directory() == "/of/spark"
