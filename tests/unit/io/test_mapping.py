"""Mapped files: shared while they do not change, copied where they are far."""

import errno
import os
import tempfile

import numpy as np
import pytest
from pyarrow import fs

from applier.errors import ArchiveError
from applier.io import mapping, relayed
from keysearch.addresses import address_of


def test_a_file_is_mapped_once_until_it_changes(tmp_path):
    path = tmp_path / "binlog.000001"
    path.write_bytes(b"\xfebin" + bytes(100))
    mapped = mapping.map_file(str(path))
    assert mapped.size == 104 and bytes(mapped.array[:4]) == b"\xfebin" and mapped.address == address_of(mapped.array)
    assert mapping.map_file(str(path)) is mapped
    path.write_bytes(b"\xfebin" + bytes(200))
    longer = mapping.map_file(str(path))
    assert longer.size == 204 and mapping.map_file(str(path)) is longer
    longer.close()
    assert mapping.map_file(str(path)) is not longer
    assert bytes(mapped.array[:4]) == b"\xfebin"  # what was mapped before lives as long as it is used


def test_a_copy_that_keeps_size_and_times_is_another_file(tmp_path):
    """As `rsync -t` and `cp -p` make it, of a file that was damaged and is copied again."""
    path, again = tmp_path / "binlog.000001", tmp_path / "again"
    path.write_bytes(b"\xfebin" + bytes(100))
    mapping.map_file(str(path))
    again.write_bytes(b"\xfebin" + b"x" * 100)
    os.utime(again, ns=(0, path.stat().st_mtime_ns))
    os.replace(again, path)
    assert bytes(mapping.map_file(str(path)).array[4:]) == b"x" * 100


def test_thousands_of_files_are_mapped(tmp_path):
    """What was checked of each is remembered, of the last ones."""
    path = tmp_path / "binlog.000001"
    for number in range(4100):
        path.write_bytes(b"\xfebin%d" % number)
        mapping.map_file(str(path)).close()
    assert bytes(mapping.map_file(str(path)).array[4:]) == b"4099"


def test_it_cannot_be_written(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    with pytest.raises(ValueError):
        mapping.map_file(str(tmp_path / "f")).array[0] = 1


def test_a_far_file_is_copied_and_leaves_nothing(tmp_path, monkeypatch):
    """A filesystem that is not local: pyarrow's SubTreeFileSystem stands for one."""
    data = np.random.default_rng(1).integers(0, 256, 20 << 20, np.uint8).tobytes()
    (tmp_path / "far").mkdir()
    (tmp_path / "far/binlog.000001").write_bytes(data)
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    far = fs.SubTreeFileSystem(str(tmp_path / "far"), fs.LocalFileSystem())
    for module in (mapping, relayed):
        monkeypatch.setattr(module, "resolve", lambda uri: (far, uri.removeprefix("far://")))
    mapped = mapping.map_file("far://binlog.000001")
    assert mapped.array.tobytes() == data
    mapped.close()
    del mapped
    assert os.listdir(folder) == []


@pytest.mark.parametrize("make, says", [(lambda path: None, "no such file"), (lambda path: path.touch(), "empty"),
                                        (lambda path: path.mkdir(), "a directory")])
def test_what_cannot_be_mapped(tmp_path, make, says):
    path = tmp_path / "binlog.000001"
    make(path)
    with pytest.raises(ArchiveError, match=says) as caught:
        mapping.map_file(str(path))
    assert caught.value.file == str(path)


def test_a_limit_on_addresses_is_explained(tmp_path, monkeypatch):
    """spark.executor.pyspark.memory is one: it bounds what a worker maps, and not what it takes."""
    def full(*arguments, **options):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    (tmp_path / "log").write_bytes(b"log")
    monkeypatch.setattr(mapping.mmap, "mmap", full)
    with pytest.raises(ArchiveError, match="Cannot allocate memory") as error:
        mapping.map_file(str(tmp_path / "log"))
    assert "spark.executor.pyspark.memory" in error.value.hint
