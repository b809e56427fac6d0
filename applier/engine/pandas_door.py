"""Keeps pandas out of a program that does not need it.

pyarrow imports pandas, where it is there, with the first value that it converts: 0.3 s of CPU. Only Spark needs it.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class _Door(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out of this program", name="pandas")


_DOOR = _Door()


def shut() -> None:
    """Have imports of pandas fail from now on. For a program of its own: pyarrow looks for pandas once, and has no
    nulls of pandas then."""
    sys.meta_path.insert(0, _DOOR)


def open_again() -> None:
    """Have pandas imported by whoever needs it."""
    if _DOOR in sys.meta_path:
        sys.meta_path.remove(_DOOR)
