"""The list of all kernels, for code that loads them all or checks that all are compiled."""

import importlib
from pathlib import Path

from keysearch.numba_private import Kernel, is_kept

PACKAGES = ("keysearch", "jsondiff", "applier")


def kernels() -> list[Kernel]:
    """All functions that Numba compiles on a call from Python and caches, in the order of their modules."""
    found: list[Kernel] = []
    for name in modules():
        module = importlib.import_module(name)
        found += [thing for thing in vars(module).values() if is_kept(thing) and thing.__module__ == name]
    return found


def modules() -> list[str]:
    """The names of the modules that have them, in order, found without importing them."""
    root = Path(__file__).resolve().parents[2]
    files = [file for name in PACKAGES for file in sorted((root / name).rglob("*.py"))]
    with_kernels = (file for file in files if b"\n@kernel\n" in file.read_bytes())
    return [".".join(file.relative_to(root).with_suffix("").parts) for file in with_kernels]
