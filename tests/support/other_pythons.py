"""Environments of Python beside this one: with all of its packages but this project, which is installed here as a
checkout."""

import subprocess
import sys
import sysconfig
from pathlib import Path


def make(folder: Path) -> Path:
    """Make an environment in a folder; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages_of(folder) / "others.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


def packages_of(folder: Path) -> Path:
    """Where an environment has packages of its own."""
    [packages] = folder.glob("lib/python*/site-packages")
    return packages
