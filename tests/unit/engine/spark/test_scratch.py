"""Directories for sockets: what killed processes left goes with the next one's, and nothing else does."""

import os
import subprocess
import sys
import tempfile
import time

import pytest

from applier.engine.spark.scratch import OLD_SECONDS, Scratch, shared_scratch
from applier.errors import UsageError

KILLED = """
import os, signal
from applier.engine.spark.scratch import Scratch
kept = Scratch()
print(kept.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def age(path):
    then = time.time() - OLD_SECONDS - 1
    os.utime(path, (then, then))


def test_it_is_removed_and_nobody_else_may_look_into_it(temporary):
    with Scratch() as path:
        assert os.path.dirname(path) == str(temporary) and os.stat(path).st_mode & 0o777 == 0o700
    assert os.listdir(temporary) == []


def test_what_a_killed_process_left_goes_when_no_java_can_want_it_any_more(temporary):
    run = subprocess.run([sys.executable, "-c", KILLED], env=os.environ | {"TMPDIR": str(temporary)}, text=True,
                         stdout=subprocess.PIPE, check=False)
    left = run.stdout.strip()
    with Scratch():
        assert os.path.isdir(left)
    age(left)
    with Scratch():
        assert not os.path.exists(left)


def test_what_is_in_use_or_is_not_ours_stays(temporary):
    with Scratch() as living:
        others = [temporary / name for name in ("applier-backup", "applier-1-", "applier-12-0123456789abcdef")]
        for other in others:
            other.mkdir()
            age(other)
        age(living)
        with Scratch():
            assert os.path.isdir(living) and all(other.is_dir() for other in others)


def test_on_a_file_system_of_several_machines_only_this_ones_directories_are_removed(temporary):
    """Other machines' locks may not be seen here."""
    with shared_scratch(str(temporary)) as made:
        start = os.path.basename(made).rsplit("-", 2)[0]
        assert os.path.isdir(made) and start != "applier"
    dead, elsewhere = (temporary / f"{name}-7-0123456789ab" for name in (start, "applier-0badb007"))
    for folder in (dead, elsewhere):
        folder.mkdir()
        age(folder)
    with shared_scratch(str(temporary)):
        assert (dead.exists(), elsewhere.exists()) == (False, True)


def test_a_shared_directory_that_cannot_be_used(temporary):
    (temporary / "file").touch()
    with pytest.raises(UsageError, match="cannot make a directory in --shared-dir"):
        shared_scratch(str(temporary / "file"))
