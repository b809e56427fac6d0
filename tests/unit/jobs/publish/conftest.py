"""A log, and snapshots of what is in it, each with the one before as its base: what publications are made of."""

import pytest

import applier.binlog


@pytest.fixture
def log(tmp_path):
    with applier.binlog.Writer(tmp_path / "binlog.000001") as writer:
        writer.query("CREATE DATABASE d")
        writer.query("CREATE TABLE t (id INT PRIMARY KEY COMMENT 'who', v VARCHAR(9))", "d")
        writer.query("CREATE TABLE u (id INT PRIMARY KEY)", "d")
        with writer.transaction():
            writer.insert("d.t", {"id": [1, 2], "v": ["a", "b"]})
        yield writer


@pytest.fixture
def replayed(tmp_path, log):
    """Replays what the log has now, and gives the number of the snapshot: it is in `out{number}`."""
    numbers = iter(range(100))

    def run():
        number = next(numbers)
        files = [tmp_path / f"binlog.{n + 1:06}" for n in range(number + 2)]
        log.rotate(files.pop())
        applier.replay(files, tmp_path / f"out{number}", base=tmp_path / f"out{number - 1}" if number else None)
        return number

    return run
