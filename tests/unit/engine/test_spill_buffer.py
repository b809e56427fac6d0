"""A spill buffer gives payloads back by key, from memory and from its file alike."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.engine.spill_buffer import SpillBuffer
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


def test_a_driver_in_a_container_of_yarn_has_yarns_directory(tmp_path, monkeypatch):
    """Its environment does not name Spark's, which that of a Python worker does."""
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    monkeypatch.setenv("LOCAL_DIRS", f"{tmp_path},/nowhere")
    assert spill_directory() is None
    monkeypatch.setenv("CONTAINER_ID", "container_1")
    assert spill_directory() == str(tmp_path)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/of/spark,/nowhere")
    assert spill_directory() == "/of/spark"
