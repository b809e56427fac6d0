"""Processes in which a read or a write past the end of a block of memory is a crash (guard.c)."""

import os
import shutil
import subprocess
from pathlib import Path


class NoCompiler(Exception):
    """There is no C compiler."""


def environment(folder: Path) -> dict[str, str]:
    """The environment for such a process; the allocator is compiled into the folder. Raises NoCompiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise NoCompiler("a C compiler is needed (cc, or CC), for the allocator that finds reads past the end")
    library = folder / "guard.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(Path(__file__).with_name("guard.c"))],
                   check=True)
    return os.environ | {"LD_PRELOAD": str(library), "ARROW_DEFAULT_MEMORY_POOL": "system"}
