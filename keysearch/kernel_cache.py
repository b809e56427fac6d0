"""Where compiled kernels are kept: in a directory that belongs to exactly the sources that they were compiled from.

Numba invalidates a cached kernel when its own file changes, but not when another module does whose functions it inlines
or whose constants it holds. So the directory's name has a digest of all modules that define kernels, and of all that
these import.
"""

import hashlib
import os
import re
from pathlib import Path

import numba

_PACKAGES = ("keysearch", "jsondiff", "applier")
_IMPORT = re.compile(rb"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


def directory() -> str:
    """The directory for the sources as they are now; it may not be there yet."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for name, text in kernel_sources(Path(__file__).resolve().parents[1]).items():
        digest.update(name.encode() + b"\0" + text)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "mysql-binlog-applier", f"kernels-{digest.hexdigest()}")


def kernel_sources(root: Path) -> dict[str, bytes]:
    """The text of every module below a folder that compiled code depends on, by its name, in the order of names."""
    modules = {".".join(file.relative_to(root).with_suffix("").parts): file.read_bytes()
               for package in _PACKAGES for file in (root / package).rglob("*.py")}
    todo = [name for name, text in modules.items() if b"@kernel" in text or b"@inline" in text]
    found = set(todo)
    while todo:
        for module, names in _IMPORT.findall(modules[todo.pop()]):
            package = module.decode()
            imported = {package, *(f"{package}.{name.decode()}" for name in re.findall(rb"\w+", names))}
            todo += (imported & modules.keys()) - found
            found |= imported & modules.keys()
    return {name: modules[name] for name in sorted(found)}
