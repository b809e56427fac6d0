"""How Numba compiles kernels, and the functions that only kernels call, with internals of its compiler.
test_numba_private finds a version of Numba that changed them, and names what is missing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, cast

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import DumpParforDiagnostics, InlineOverloads, NopythonRewrites
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)

_UNNEEDED_PASSES = (DumpParforDiagnostics, FindLiterallyCalls, InlineClosureLikes, InlineInlinables, InlineOverloads,
                    LiteralPropagationSubPipelinePass, LiteralUnroll, MakeFunctionToJitFunction, NopythonRewrites,
                    RewriteDynamicRaises, WithLifting)


class _LinkedCode(JITCodeLibrary):
    """The code of a function that only kernels call. It is linked into its callers.

    Numba would optimize it and generate its machine code and wrappers for calls from Python, and the same again for
    all that it calls: a third of the time that kernels take to compile.
    """

    _SMALL = 40
    """The most functions in code that is optimized before it is linked. The outline is 7 % slower where all is left to
    the kernel, finding keys of bytes 10 % where this is 14; without a limit, kernels take 10 % longer to compile."""

    def finalize(self) -> None:
        """Link the functions that this one calls, and optimize them together if they are few."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if sum(not function.is_declaration for function in self._final_module.functions) <= self._SMALL:
            codegen: Any = self._codegen
            passes, builder = codegen._module_pass_manager()
            passes.run(self._final_module, builder)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return null: there is no machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """Set the function's environment, which only its machine code would have."""
        return _NoEnvironment


class _NoEnvironment:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing."""


class _KernelCompiler(Compiler):
    """Numba's compiler without the passes for what kernels do not contain: closures made in them, `with`, `raise`,
    literal_unroll, overloads that are inlined, expressions of whole arrays."""

    def define_pipelines(self) -> Any:
        """Return Numba's pipelines without these passes."""
        numbas: Any = super()
        pipelines = numbas.define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [one for one in pipeline.passes if one[0] not in _UNNEEDED_PASSES]
        return pipelines


class _LinkingCompiler(_KernelCompiler):
    """The compiler of functions that only kernels call."""

    def _compile_core(self) -> Any:
        numbas: Any = super()
        state = self.state
        linked: Any = _LinkedCode
        state.library = linked(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        return numbas._compile_core()


class _LinkedFunction(CPUDispatcher):
    """A function that only kernels call. Tests call it from Python: then it is compiled once more, as a kernel."""

    def __call__(self, *arguments: Any) -> Any:
        return _callable(self.py_func, frozenset(self.targetoptions.items()))(*arguments)


@cache
def _callable(function: FunctionType, options: frozenset[tuple[str, Any]]) -> Any:
    kept = {name: value for name, value in options if name not in ("nopython", "pipeline_class")}
    return numba.njit(**kept)(function)


def compile_kernels(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of functions that Python calls, with these options of `numba.njit`."""
    decorator: Any = numba.njit(pipeline_class=_KernelCompiler, **options)
    return cast(Callable[[Callable[..., Any]], Any], decorator)


def link_into_kernels(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of functions that only kernels call, with these options of `numba.njit`."""
    def decorate(function: Callable[..., Any]) -> Any:
        made: Any = numba.njit(pipeline_class=_LinkingCompiler, **options)(function)
        if isinstance(made, CPUDispatcher):  # with NUMBA_DISABLE_JIT it is Python's
            made.__class__ = _LinkedFunction
        return made

    return decorate
