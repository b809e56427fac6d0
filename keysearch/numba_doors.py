"""What Numba has and does not promise: its cache of compiled kernels on disk, and helpers of its code generator.

All of it that these packages use is here. A version of Numba that changed it is found by test_numba_doors, which names
what is gone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias

import numba
from numba.core import cgutils
from numba.core.caching import NullCache, UserProvidedCacheLocator
from numba.core.dispatcher import Dispatcher
from numba.core.lowering import BaseLower
from numba.core.registry import CPUDispatcher

_NUMBAS_LOCATORS = "UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator"
_SETTINGS = vars(numba.config)

Kernel: TypeAlias = Dispatcher
"""A function that Numba compiles."""
CompiledKernel = CPUDispatcher
"""The class of those that this machine's processor runs."""
global_constant: Any = cgutils.global_constant
"""(module or IR builder, name, llvmlite constant) -> a pointer to that constant in the code that is made."""


class SourceLocator(UserProvidedCacheLocator):
    """Tells Numba in which directory the kernels of a source file are kept."""

    def __init__(self, py_func: FunctionType, py_file: str) -> None:
        self._py_file = py_file
        self._lineno = py_func.__code__.co_firstlineno
        self._cache_path = self.directory_of(py_file)

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> SourceLocator | None:
        """What Numba asks each locator for; None leaves the function to the next."""
        if not cls.is_for(py_file):
            return None
        numbas: Any = super(UserProvidedCacheLocator, cls)
        found: SourceLocator | None = numbas.from_function(py_func, py_file)
        return found

    @staticmethod
    def is_for(file: str) -> bool:
        """Whether the kernels of this file are kept by this class."""
        raise NotImplementedError

    @staticmethod
    def directory_of(file: str) -> str:
        """The directory of this file's kernels."""
        raise NotImplementedError


def ask_first(locator: type[SourceLocator]) -> None:
    """Have Numba ask this locator before all others."""
    own = f"{locator.__module__}.{locator.__name__}"
    others = _SETTINGS["CACHE_LOCATOR_CLASSES"]
    if own not in others:
        _SETTINGS["CACHE_LOCATOR_CLASSES"] = f"{own},{others or _NUMBAS_LOCATORS}"


def wanted_directory() -> str:
    """The directory of all kernels that NUMBA_CACHE_DIR names; "" where it does not."""
    return str(_SETTINGS["CACHE_DIR"])


def is_kept(thing: Any) -> bool:
    """Whether it is a function that Numba compiles and keeps on disk."""
    return isinstance(thing, CPUDispatcher) and not isinstance(_cache(thing), NullCache)


def load_kept(kernel: Kernel) -> int:
    """Load what is kept of a function on disk, without a call and without compiling; for how many types it was."""
    cache, codegen = _cache(kernel), _codegen(kernel)
    kept = cache._cache_file._load_index() or {}
    signatures = [signature for signature, *_ in kept if cache._index_key(signature, codegen) in kept]
    for signature in signatures:
        kernel.compile(signature)
    return len(signatures)


def place_in_source() -> tuple[str, int, str]:
    """The file, line and function whose code is generated just now; for code generators that kernels call."""
    lower = _lower()
    return lower.loc.filename, lower.loc.line, lower.func_ir.func_id.func_qualname


def generate_raise(context: Any, builder: Any, error: type[Exception], arguments: tuple[Any, ...]) -> None:
    """Generate the raising of an exception with these constants, at the place in the source."""
    lower = _lower()
    context.call_conv.return_user_exc(builder, error, arguments, lower.loc, lower.func_ir.func_id.func_qualname)


def compare_indices_by(generate: Callable[..., None]) -> None:
    """Have Numba generate the comparison of an index with an array's length (`boundscheck`) by this function:
    (context, builder, index, length, axis)."""
    vars(cgutils)["do_boundscheck"] = generate


def _lower() -> Any:
    """What generates the code of a function just now: its `loc` is the statement. Code generators are not told."""
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get("self"), BaseLower):
        assert frame.f_back is not None, "Numba generates no code here"
        frame = frame.f_back
    return frame.f_locals["self"]


def _cache(kernel: Any) -> Any:
    return kernel._cache


def _codegen(kernel: Any) -> Any:
    return kernel.targetctx.codegen()
