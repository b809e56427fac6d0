"""A signal that comes while the program starts."""

import signal
import subprocess
import sys

import pytest

STARTS = """
import os, signal, sys
class Ender:
    def find_spec(self, name, path=None, target=None):
        if name == "applier.cli":
            os.kill(os.getpid(), signal.{number})
sys.meta_path.insert(0, Ender())
sys.argv = ["applier", *{words}]
from applier.__main__ import run
run()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("words", [["archive"], ["-q", "archive", "--source", "mysql://h"], ["sync", "--lake", "x"]])
def test_archive_and_sync_end_with_0(words, number):
    """As they do later: it is how they are ended."""
    done = subprocess.run([sys.executable, "-c", STARTS.format(number=number.name, words=words)], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_other_verbs_end_by_the_signal():
    words = ["replay", "archive"]
    done = subprocess.run([sys.executable, "-c", STARTS.format(number="SIGTERM", words=words)], capture_output=True)
    assert done.returncode == -signal.SIGTERM
