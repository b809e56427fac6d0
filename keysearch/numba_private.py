"""Internals of Numba: its cache of compiled kernels on disk, the processor that it compiles for, and helpers of its
code generator.

All internals that these packages use are here. test_numba_private finds a version of Numba that changed them, and names
what is missing.
"""

from __future__ import annotations

import contextlib
import fcntl
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeAlias

import numba
from numba.core import cgutils
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache, UserProvidedCacheLocator
from numba.core.codegen import get_host_cpu_features
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.lowering import BaseLower
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys
from numba.np.numpy_support import as_dtype as as_dtype

from keysearch import caches

_NUMBAS_LOCATORS = "UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator"
_SETTINGS = vars(numba.config)

Kernel: TypeAlias = Dispatcher
"""A function that Numba compiles."""
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
        """Answer Numba, which asks each locator for a function; None leaves it to the next one. The directory is made
        when something is kept there."""
        return cls(py_func, py_file) if cls.is_for(py_file) else None

    @staticmethod
    def is_for(file: str) -> bool:
        """Return whether the kernels of this file are kept by this class."""
        raise NotImplementedError

    @staticmethod
    def directory_of(file: str) -> str:
        """The directory of this file's kernels."""
        raise NotImplementedError


class _Cache(FunctionCache):
    """Where a kernel is looked for: in a directory that is only read, then in its own, where it is kept."""

    def __init__(self, function: FunctionType, shipped: str | None) -> None:
        numbas: Any = super()
        numbas.__init__(function)
        self._files: list[Any] = [self._cache_file]
        if shipped is not None:
            made: Any = IndexDataCacheFile
            stamp = self._impl.locator.get_source_stamp()
            self._files.insert(0, made(shipped, self._impl.filename_base, stamp))

    def indexes(self) -> Iterator[tuple[Any, Any]]:
        """Yield each file of compiled code, and the keys of its contents; nothing for a directory that cannot be
        read."""
        for file in self._files:
            with contextlib.suppress(OSError):
                yield file, file._load_index()

    def key(self, signature: Any, codegen: Any) -> Any:
        """Return the key of compiled code for arguments of these types."""
        numbas: Any = self
        return numbas._index_key(signature, codegen)

    def has(self, signature: Any, codegen: Any) -> bool:
        """Return whether there is compiled code for arguments of these types."""
        key = self.key(signature, codegen)
        return any(key in keys for _, keys in self.indexes())

    @contextlib.contextmanager
    def lock(self, wait: bool) -> Iterator[bool]:
        """Hold this kernel's lock, by which processes take turns; False if another has it and `wait` says not to. Where
        the directory cannot be written, or has no locks, no process waits for another."""
        mode = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
        with contextlib.ExitStack() as stack:
            try:
                caches.make(self._cache_path)
                file = stack.enter_context(open(f"{self._cache_path}/{self._impl.filename_base}.lock", "a"))
                fcntl.flock(file, mode)
            except BlockingIOError:
                yield False
                return
            except OSError:
                pass
            yield True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code that is kept for arguments of these types, None if there is none. It needs Numba's runtime,
        but not its code generator's support for Python, NumPy and the rest, which takes 0.1 s to import."""
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        key = self.key(sig, target_context.codegen())
        for file, keys in self.indexes():
            data = file.load(key) if key in keys else None
            if data is not None:
                return self._impl.rebuild(target_context, data)
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        numbas: Any = super()
        with contextlib.suppress(OSError):  # it can be run all the same
            numbas._save_overload(sig, data)


class CompiledKernel(CPUDispatcher):
    """A kernel that is kept. Of processes that need it at the same time, one compiles it and the others load it."""

    def compile(self, sig: Any) -> Any:
        numbas: Any = super()
        if _cache(self).has(sig, _codegen(self)):
            return numbas.compile(sig)
        with global_compiler_lock, _cache(self).lock(wait=True):  # in this order, as one kernel may call another
            return numbas.compile(sig)


def keep(kernel: Any, shipped: Callable[[str], str | None]) -> Any:
    """Have Numba look for a function's compiled code in a directory that is only read, `shipped` of its source file, if
    there is one; then in that which its locator names, where it keeps compiled code. Returns the function."""
    function = getattr(kernel, "py_func", None)
    if function:  # with NUMBA_DISABLE_JIT it is Python's
        kernel._cache = _Cache(function, shipped(function.__code__.co_filename))
        kernel.__class__ = CompiledKernel
    return kernel


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
    """Return whether it is a function that Numba compiles and keeps on disk."""
    return isinstance(thing, CPUDispatcher) and not isinstance(_cache(thing), NullCache)


def load_kept(kernel: Kernel) -> int:
    """Load the compiled code of a function from disk, without a call and without compiling; return for how many
    types."""
    cache, codegen = _cache(kernel), _codegen(kernel)
    kept = {signature for _, keys in cache.indexes() for signature, *_ in keys
            if cache.key(signature, codegen) in keys}
    for signature in kept:
        kernel.compile(signature)
    return len(kept)


def is_compiled(kernel: Kernel, types: tuple[Any, ...]) -> bool:
    """Return whether there is compiled code of a function for arguments of these types."""
    return bool(_cache(kernel).has(types, _codegen(kernel)))


def compile_unless_busy(kernel: Kernel, types: tuple[Any, ...]) -> None:
    """Compile a function for arguments of these types, if it is not yet, and no other process does just now."""
    numbas: Any = CPUDispatcher
    with _cache(kernel).lock(wait=False) as is_mine:
        if is_mine and not is_compiled(kernel, types):
            numbas.compile(kernel, types)


def host_features() -> frozenset[str]:
    """The instructions that this processor has and Numba may use, by LLVM's names of them."""
    ask: Any = get_host_cpu_features
    return frozenset(feature[1:] for feature in ask().split(",") if feature.startswith("+"))


def is_told_processor() -> bool:
    """Return whether Numba has a configured processor, by its environment variables or in its configuration."""
    return _SETTINGS["CPU_NAME"] is not None or _SETTINGS["CPU_FEATURES"] is not None


def has_begun() -> bool:
    """Return whether this process has a code generator for this processor already: it is made for the first
    function."""
    return "_toplevel_target_context" in vars(cpu_target)


def compile_for(model: str, features: str) -> None:
    """Have Numba compile for this processor, with LLVM's names; before it has begun."""
    _SETTINGS.update(CPU_NAME=model, CPU_FEATURES=features)


def compiled_for() -> tuple[str, str]:
    """The model and the features of the processor that Numba compiles for."""
    _, model, features = cpu_target.target_context.codegen().magic_tuple()
    return model, features


def source_line() -> tuple[str, int, str]:
    """The file, line and function whose code is generated just now; for code generators that kernels call."""
    lower = _lower()
    return lower.loc.filename, lower.loc.line, lower.func_ir.func_id.func_qualname


def generate_raise(context: Any, builder: Any, error: type[Exception], arguments: tuple[Any, ...]) -> None:
    """Generate the raising of an exception with these constants, at the statement in the source."""
    lower = _lower()
    context.call_conv.return_user_exc(builder, error, arguments, lower.loc, lower.func_ir.func_id.func_qualname)


def compare_indices_by(generate: Callable[..., None]) -> None:
    """Have Numba generate the comparison of an index with an array's length (`boundscheck`) by this function:
    (context, builder, index, length, axis)."""
    vars(cgutils)["do_boundscheck"] = generate


def _lower() -> Any:
    """Return the current code generator of a function: its `loc` is the statement. Code generators do not get it."""
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get("self"), BaseLower):
        assert frame.f_back is not None, "Numba generates no code here"
        frame = frame.f_back
    return frame.f_locals["self"]


def _cache(kernel: Any) -> Any:
    return kernel._cache


def _codegen(kernel: Any) -> Any:
    return kernel.targetctx.codegen()
