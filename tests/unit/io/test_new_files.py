"""Files that are made on condition that there are none."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from applier.io.disk import new_files
from tests.support.object_store import object_store


def test_a_file_is_made_once(tmp_path):
    path = tmp_path / "new"
    assert new_files.can_make(str(path)) and new_files.make(str(path), b"1")
    assert not new_files.make(str(path), b"2")
    assert path.read_bytes() == b"1" and os.listdir(tmp_path) == ["new"]


def test_of_many_at_once_one_makes_it(tmp_path):
    path = str(tmp_path / "new")
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda number: new_files.make(path, b"%d" % number), range(64)))
    assert made.count(True) == 1
    assert open(path, "rb").read() == b"%d" % made.index(True)


def test_where_it_cannot_be_made(tmp_path):
    """A file that was not made leaves nothing; stores without a way are told."""
    with pytest.raises(OSError, match="absent"):
        new_files.make(str(tmp_path / "absent" / "new"), b"1")
    assert not os.listdir(tmp_path)
    assert not new_files.can_make("gs://bucket/new") and new_files.can_make("s3://bucket/new")


@pytest.mark.slow
def test_a_store_is_that_of_the_environment_now(monkeypatch):
    """Not that of an earlier one, in a process that has credentials renewed, or reads of two stores in turn."""
    for _ in range(2):
        with object_store("lake"):
            assert new_files.make("s3://lake/a", b"1") and new_files.make("s3://lake/a", b"1")
            assert not new_files.make("s3://lake/a", b"2")
