"""Older versions of Spark to run tests on, each in a folder of the user's cache: `python -m tests.support.older_sparks`
installs those that are missing. A folder has pyspark alone; all other packages are those of this environment.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from keysearch import caches
from tests.support.folders import ROOT

VERSIONS = ("3.5.9", "4.0.5")
_HERE = Path(caches.user_folder("applier", "spark"))


def folder_of(version: str) -> Path:
    """Where this version is, if it is installed: a folder to put in front of the path of Python's modules."""
    return _HERE / version


def install(version: str) -> bool:
    """Install a version atomically, if it is missing. False without a network, with a note."""
    if folder_of(version).is_dir():
        return True
    log = ROOT / "build" / f"spark-{version}.log"
    for folder in (log.parent, _HERE):
        folder.mkdir(parents=True, exist_ok=True)
    print(f"installing Spark {version} for tests (once)", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=_HERE) as made, open(log, "wb") as output:
        pip = [sys.executable, "-m", "pip", "install", "--no-cache-dir", "--no-compile", "--target", f"{made}/new"]
        if subprocess.run([*pip, f"pyspark=={version}"], stdout=output, stderr=output, check=False).returncode:
            print(f"no Spark {version} ({log.relative_to(ROOT)} says why): no test runs on it", file=sys.stderr)
            return False
        os.rename(f"{made}/new", folder_of(version))
    return True


if __name__ == "__main__":
    for each in VERSIONS:
        install(each)
