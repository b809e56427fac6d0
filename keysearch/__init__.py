"""The key that finds a row, keys as bytes, and collations. Independent: imports nothing of the applier.

The names of README.md's examples can be imported from here. Each is loaded on first use: choosing a key
needs neither Arrow nor kernels, encoding keys needs both.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "AccessPath", "ColumnInfo", "KeyBytes", "KeyInfo", "addresses", "caches", "checked", "choose",
    "choose_access_path", "collation", "encode_keys", "equality_keys", "find_ranges", "is_exact", "is_ordered",
    "kernel_cache", "keybytes", "keybytes_kernel", "keyrules", "memory", "numba_private", "processor",
    "records",
]

if TYPE_CHECKING:
    from keysearch.choose import AccessPath, ColumnInfo, KeyInfo, choose_access_path
    from keysearch.collation import equality_keys, is_exact, is_ordered
    from keysearch.keybytes import KeyBytes, encode_keys, find_ranges

_HOMES = {
    "AccessPath": "choose", "ColumnInfo": "choose", "KeyInfo": "choose", "choose_access_path": "choose",
    "equality_keys": "collation", "is_exact": "collation", "is_ordered": "collation",
    "KeyBytes": "keybytes", "encode_keys": "keybytes", "find_ranges": "keybytes",
}
"""The module of each name that is not a module itself."""


def __getattr__(name: str) -> Any:
    """A name of `_HOMES`, from its module. Raises AttributeError for any other."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
