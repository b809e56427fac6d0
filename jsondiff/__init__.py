"""MySQL's JSON: binary documents, their text, paths, and partial updates. Independent: imports nothing of the applier.

The names of README.md's examples can be imported from here. Each is loaded on first use: single documents
need neither Arrow nor kernels, columns of documents need both.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "Applied", "Diff", "DiffError", "DocumentError", "Opaque", "Operation", "Unsigned", "apply", "apply_diffs",
    "binary", "compute", "decode", "diff", "encode", "explain", "from_text", "kernels", "normalize", "path", "sql",
    "text", "to_sql", "to_text", "values", "wire",
]

if TYPE_CHECKING:
    from jsondiff.apply import Applied, apply_diffs, explain
    from jsondiff.diff import Diff, DiffError, Operation
    from jsondiff.sql import to_sql
    from jsondiff.text import from_text, to_text
    from jsondiff.values import DocumentError, Opaque, Unsigned

_HOMES = {
    "Applied": "apply", "apply_diffs": "apply", "explain": "apply",
    "Diff": "diff", "DiffError": "diff", "Operation": "diff",
    "to_sql": "sql",
    "from_text": "text", "to_text": "text",
    "DocumentError": "values", "Opaque": "values", "Unsigned": "values",
}
"""The module of each name that is not a module itself."""


def __getattr__(name: str) -> Any:
    """A name of `_HOMES`, from its module. Raises AttributeError for any other."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
