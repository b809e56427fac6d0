"""The types of arguments that kernels are called with, so that they can be compiled before they are called.

They are in signatures.txt, a line for each kernel and its types, as Numba writes types, what takes longest to compile
first; `python -m tests.support.exercise` records them again.
"""

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from keysearch.numba_private import as_dtype, is_compiled

TABLE = Path(__file__).with_suffix(".txt")
_LINE = re.compile(r"([\w.]+)\.(\w+)\((.*)\)")


class Signature(NamedTuple):
    """A kernel, and the types of arguments that it is called with."""

    kernel: Any
    types: tuple[Any, ...]

    @property
    def is_compiled(self) -> bool:
        return is_compiled(self.kernel, self.types)

    def __str__(self) -> str:
        return f"{self.kernel.__module__}.{self.kernel.__name__}({', '.join(map(_text, self.types))})"


@cache
def modules() -> tuple[str, ...]:
    """Return the existing modules of kernels in the table, without importing them."""
    root = Path(__file__).parents[2]
    named = dict.fromkeys(match[1] for match in map(_LINE.fullmatch, _lines()) if match)
    return tuple(name for name in named if (root / name.replace(".", "/")).with_suffix(".py").exists())


def signatures(wanted: tuple[str, ...]) -> list[Signature]:
    """The signatures of these modules' kernels, in the order of the table. Kernels that are gone, until it is recorded
    again, are left out."""
    found = []
    for line in _lines():
        match = _LINE.fullmatch(line)
        assert match, line
        name, kernel, arguments = match.groups()
        module = importlib.import_module(name) if name in wanted else None
        if hasattr(module, kernel):
            names = vars(types) | vars(module) | {"readonly": _readonly, "of": _named, "record": _record}
            found.append(Signature(getattr(module, kernel), eval(f"({arguments},)", names)))
    return found


def _lines() -> list[str]:
    return TABLE.read_text().splitlines()


def _text(numbas: Any) -> str:
    """A type as the table has it."""
    if isinstance(numbas, types.NamedTuple | types.NamedUniTuple):
        return f"of({numbas.instance_class.__name__}, {', '.join(map(_text, numbas.types))})"
    if isinstance(numbas, types.Record):
        made: Any = as_dtype(numbas)
        fields = {name: (made[name].str, made.fields[name][1]) for name in made.names}
        return f"record({fields}, {made.itemsize}, {numbas.aligned})"
    if not isinstance(numbas, types.Array):
        return {"bool": "boolean"}.get(str(numbas), str(numbas))
    assert numbas.layout == "C", numbas
    plain = f"{_text(numbas.dtype)}[{':, ' * (numbas.ndim - 1)}::1]"
    return plain if numbas.mutable else f"readonly({plain})"


def _record(fields: dict[str, tuple[str, int]], size: int, is_aligned: bool) -> Any:
    formats, offsets = zip(*fields.values())
    return from_dtype(np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": size},
                               align=is_aligned))


def _readonly(array: Any) -> Any:
    return array.copy(readonly=True)


def _named(kind: Any, *fields: Any) -> Any:
    made: Any = types.BaseTuple
    return made.from_types(fields, kind)
