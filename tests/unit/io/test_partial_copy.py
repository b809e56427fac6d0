"""Parts of a far file come when they are asked for, once for all threads and processes of a user."""

import errno
import gc
import multiprocessing
import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from applier.errors import ArchiveError, StoreUnavailable
from applier.io import copies, partial_copy, transient
from applier.io.partial_copy import CHUNK_BYTES, PartialCopy

DATA = np.random.default_rng(1).integers(0, 256, 10 * CHUNK_BYTES + 1000, np.uint8).tobytes()


class Far:
    """A file that counts what is read of it."""

    def __init__(self, data=DATA, errors=()):
        self.data, self.errors, self.reads, self.lock = data, list(errors), [], threading.Lock()

    def read_at(self, n, at):
        with self.lock:
            self.reads.append((at, n))
            if self.errors:
                raise self.errors.pop()
        return self.data[at:at + n]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where copies are, which are gone when the test ends."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    monkeypatch.setattr(partial_copy, "PART_BYTES", 4 * CHUNK_BYTES)
    monkeypatch.setattr(transient.time, "sleep", lambda seconds: None)
    yield tmp_path
    gc.collect()
    assert os.listdir(tmp_path) == []


@pytest.fixture
def copy_of():
    made = []

    def copy(far):
        made.append(PartialCopy("f" * 32, len(DATA), "s3://bucket/log", lambda: far))
        return made[-1]

    yield copy
    for partial in made:
        drop = partial.drop
        del partial.array
        drop()


def test_only_what_is_asked_for_comes(copy_of):
    """In whole chunks, and in parts of a few of them."""
    far = Far()
    copy = copy_of(far)
    assert not copy.array.any()
    at = 3 * CHUNK_BYTES
    copy.fetch(at + 10, at + 20)
    assert far.reads == [(at, CHUNK_BYTES)] and copy.array[at:at + CHUNK_BYTES].tobytes() == DATA[at:at + CHUNK_BYTES]
    assert not copy.array[:at].any() and not copy.array[at + CHUNK_BYTES:].any()
    copy.fetch(at, at + 1)
    copy.fetch(0, len(DATA) + 5)
    assert copy.array.tobytes() == DATA and copy.fetched_bytes == len(DATA)
    assert sorted(far.reads) == [(0, at), (at, CHUNK_BYTES), (4 * CHUNK_BYTES, 4 * CHUNK_BYTES),
                                 (8 * CHUNK_BYTES, 2 * CHUNK_BYTES + 1000)]


def test_threads_fetch_each_byte_once(copy_of):
    far = Far()
    shared = [copy_of(far), copy_of(far)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: shared[number % 2].fetch(number * 100, len(DATA)), range(16)))
    assert sum(n for _, n in far.reads) == len(DATA)
    assert all(copy.array.tobytes() == DATA for copy in shared)


def test_processes_share_what_is_here(copy_of):
    """What another process fetched is not fetched again."""
    far = Far()
    copy = copy_of(far)
    context = multiprocessing.get_context("fork")
    other = context.Process(target=lambda: PartialCopy("f" * 32, len(DATA), "", Far).fetch(0, 5 * CHUNK_BYTES))
    other.start()
    other.join()
    assert other.exitcode == 0
    copy.fetch(0, 6 * CHUNK_BYTES)
    assert far.reads == [(5 * CHUNK_BYTES, CHUNK_BYTES)] and copy.array[:6 * CHUNK_BYTES].tobytes() == \
        DATA[:6 * CHUNK_BYTES]


def test_a_file_that_is_shorter_now(copy_of):
    with pytest.raises(ArchiveError, match="shrank"):
        copy_of(Far(DATA[:5000])).fetch(0, len(DATA))


def test_a_full_disk(copy_of, monkeypatch):
    monkeypatch.setattr(copies, "room", lambda: CHUNK_BYTES)
    copy = copy_of(Far())
    copy.fetch(0, 1)
    with pytest.raises(OSError) as caught:
        copy.fetch(0, len(DATA))
    assert caught.value.errno == errno.ENOSPC


BUSY = "When reading … AWS Error SLOW_DOWN during GetObject operation: Please reduce your request rate."


@pytest.mark.parametrize("error", [OSError(BUSY), OSError("AWS Error UNKNOWN (HTTP status 503)"),
                                   OSError("AWS Error NETWORK_CONNECTION during GetObject: curlCode: 7"),
                                   OSError("google::cloud::Status(UNAVAILABLE: try later)"), ConnectionResetError()])
def test_a_busy_store_is_asked_again(copy_of, error):
    far = Far(errors=[error] * (transient.ATTEMPTS - 1))
    copy = copy_of(far)
    copy.fetch(0, 10)
    assert copy.array[:10].tobytes() == DATA[:10] and len(far.reads) == transient.ATTEMPTS
    far.errors = [error] * transient.ATTEMPTS
    with pytest.raises(StoreUnavailable, match="the store did not answer") as caught:
        copy.fetch(5 * CHUNK_BYTES, 6 * CHUNK_BYTES)
    assert (caught.value.file, caught.value.exit_code) == ("s3://bucket/log", 75)


@pytest.mark.parametrize("error", [OSError("AWS Error ACCESS_DENIED during GetObject operation (HTTP status 403)"),
                                   OSError("AWS Error NO_SUCH_KEY (HTTP status 404)"), PermissionError(13, "denied")])
def test_what_does_not_pass_is_not_asked_again(copy_of, error):
    far = Far(errors=[error] * 2)
    with pytest.raises(OSError):
        copy_of(far).fetch(0, 10)
    assert len(far.reads) == 1
    assert transient.is_forbidden(error) == ("404" not in str(error))
