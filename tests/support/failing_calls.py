"""failing_calls.c, for processes that preload it: a call of the operating system fails, or is the last one."""

import os
import subprocess
from pathlib import Path


def built(folder: Path) -> Path:
    """Compile it into a folder; the path of the library."""
    made = folder / "failing_calls.so"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", str(made),
                    str(Path(__file__).with_suffix(".c")), "-ldl"], check=True)
    return made
