"""Keeps packages out of a program that does not need them, although packages that it needs import them if installed.

pyarrow imports pandas and dateutil with the first value that it converts, and only Spark needs them; Numba imports
coverage, cffi and yaml, for services that are not used here. If they are installed, a replay of a small log takes 1.7 s
of CPU without them and 2.0 s with them. (None in sys.modules, Python's own way, is a module to Cython.) If coverage
measures a program, it is imported before.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

_PACKAGES = ("pandas", "dateutil", "coverage", "cffi", "yaml")


class _Door(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname in _PACKAGES:
            raise ModuleNotFoundError(f"{fullname} is left out of this program", name=fullname)


_DOOR = _Door()


def shut() -> None:
    """Have imports of these packages fail from now on. For a program of its own: pyarrow looks for pandas once, and has
    no nulls of pandas then."""
    sys.meta_path.insert(0, _DOOR)


def open_again() -> None:
    """Let any module import them again."""
    if _DOOR in sys.meta_path:
        sys.meta_path.remove(_DOOR)
