"""The lowest versions of numba and pyarrow that setup.cfg allows: all modules can be imported, and kernels compiled."""

import configparser
import os
import re
import subprocess
import sys
import sysconfig

import pytest

from tests.support.folders import ROOT

PACKAGES = ("numba", "pyarrow")
PROGRAM = """
import importlib.metadata, pkgutil, sys
import applier, jsondiff, keysearch
for package in (applier, jsondiff, keysearch):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            __import__(module.name)
from keysearch.collation import equality_keys
import pyarrow
assert equality_keys(pyarrow.array(["a", "A"]), "utf8mb4_general_ci")[0] is not None
print(*[f"{name}=={importlib.metadata.version(name)}" for name in sys.argv[1:]])
"""


def lowest():
    """Requirements by setup.cfg, each with its lowest version alone."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    needed = config["options"]["install_requires"]
    versions = {name: re.search(rf"^{name}>=([0-9.]+)", needed, re.MULTILINE)[1] for name in PACKAGES}
    return [f"{name}=={version}{'.0' * (2 - version.count('.'))}" for name, version in versions.items()]


@pytest.mark.slow
@pytest.mark.thorough
def test_they_can_be_imported(tmp_path):
    """In an environment of their own; what else is needed is as it is here."""
    python = tmp_path / "environment" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python.parents[1])], check=True)
    installed = subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet",
                                "--only-binary", ":all:", *lowest()], capture_output=True, text=True,
                               env=os.environ | {"PYTHONPATH": ""})
    if installed.returncode:
        pytest.skip(f"this Python has no such wheels, or there is no network: {installed.stderr[-200:]}")
    [packages] = (python.parents[1]).glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    done = subprocess.run([str(python), "-c", PROGRAM, *PACKAGES], capture_output=True, text=True, cwd=tmp_path,
                          env=os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == lowest()
