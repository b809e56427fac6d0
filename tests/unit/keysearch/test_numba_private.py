"""Every part of Numba that it does not promise, and these packages use, is as they use it; each test names one."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from keysearch import kernel_cache, keybytes_kernel, memory, numba_private

AS_USUAL = {"APPLIER_KERNELS": ""}
ROOT = Path(__file__).resolve().parents[3]
DOORS = (
    "numba.config.CACHE_DIR",
    "numba.config.CACHE_LOCATOR_CLASSES",
    "numba.config.CPU_FEATURES",
    "numba.config.CPU_NAME",
    "numba.core.caching.NullCache",
    "numba.core.caching.UserProvidedCacheLocator.get_cache_path",
    "numba.core.caching.UserProvidedCacheLocator.get_source_stamp",
    "numba.core.caching.FunctionCache._index_key",
    "numba.core.caching.FunctionCache._load_overload",
    "numba.core.caching.FunctionCache._save_overload",
    "numba.core.caching.FunctionCache.load_overload",
    "numba.core.caching.IndexDataCacheFile._load_index",
    "numba.core.caching.IndexDataCacheFile.load",
    "numba.core.callconv.CPUCallConv.return_user_exc",
    "numba.core.cgutils.do_boundscheck",
    "numba.core.cgutils.global_constant",
    "numba.core.codegen.CPUCodegen.magic_tuple",
    "numba.core.codegen.JITCodeLibrary._get_module_for_linking",
    "numba.core.codegen.JITCodeLibrary.finalize",
    "numba.core.codegen.JITCodeLibrary.get_pointer_to_function",
    "numba.core.codegen.JITCPUCodegen._module_pass_manager",
    "numba.core.codegen.JITCPUCodegen.set_env",
    "numba.core.codegen.get_host_cpu_features",
    "numba.core.compiler.Compiler._compile_core",
    "numba.core.compiler.Compiler.define_pipelines",
    "numba.core.lowering.BaseLower",
    "numba.core.registry.CPUDispatcher.compile",
    "numba.core.registry.cpu_target._toplevel_target_context",
    "numba.core.runtime.rtsys.initialize",
    "numba.np.numpy_support.as_dtype",
)
_PRIVATE = re.compile(r"numba\.core|numba\.np\b|numba\.config|\._cache\b|_cache_file|\._load_index|\._index_key|"
                      r"\.targetctx")


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_there(door):
    parts = door.split(".")
    thing = importlib.import_module(parts[0])
    for at, part in enumerate(parts[1:], 2):
        if not hasattr(thing, part):
            importlib.import_module(".".join(parts[:at]))
        assert hasattr(thing, part), f"Numba {numba.__version__} has no {'.'.join(parts[:at])}"
        thing = getattr(thing, part)


def test_a_kernel_is_kept_where_the_locator_says():
    cache = keybytes_kernel.put_words._cache
    kept_at = cache._cache_path
    assert kept_at == kernel_cache.KernelLocator.directory_of(keybytes_kernel.__file__), "Dispatcher._cache._cache_path"


def test_what_is_kept_is_told_from_what_is_compiled_into_others():
    assert numba_private.is_kept(keybytes_kernel.put_words), "a kernel has no cache: Dispatcher._cache"
    inlined = memory.inline(lambda number: number)
    assert not numba_private.is_kept(inlined), "a function without a cache has no NullCache"
    assert not numba_private.is_kept(keybytes_kernel)


def test_what_is_kept_is_loaded_without_compiling():
    kernel = memory.kernel(keybytes_kernel.find_ranges.py_func)
    keybytes_kernel.find_ranges.compile("(int64[::1], int64, int64[::1], int64, int64[::1])")
    assert numba_private.load_kept(kernel) > 0, "nothing was found: Cache._cache_file._load_index, ._index_key"
    assert kernel.stats.cache_misses == {}, "it was compiled: Dispatcher.compile"


def test_what_is_kept_is_loaded_without_the_code_generator():
    """And Numba still compiles what is called then for the first time."""
    keybytes_kernel.find_ranges.compile("(int64[::1], int64, int64[::1], int64, int64[::1])")
    code = ("import numba, sys; from keysearch import keybytes_kernel\n"
            "print(numba_private.load_kept(keybytes_kernel.find_ranges) > 0, 'numba.np.linalg' in sys.modules)\n"
            "print(numba.njit(lambda number: number + 1)(1), 'numba.np.linalg' in sys.modules)")
    assert run(code) == ["True False", "2 True"]


def run(code, **environment):
    """What a process prints that compiles as usual, whichever build this one has."""
    done = subprocess.run([sys.executable, "-c", f"from keysearch import numba_private, processor\n{code}"], cwd=ROOT,
                          capture_output=True, text=True, env=os.environ | AS_USUAL | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_numba_compiles_for_the_processor_that_it_is_told():
    code = "numba_private.compile_for('x86-64-v2', '+pclmul'); print(*numba_private.compiled_for())"
    assert run(code) == ["x86-64-v2 +pclmul"]


def test_whether_numba_has_begun():
    code = "print(numba_private.has_begun()); numba_private.compiled_for(); print(numba_private.has_begun())"
    assert run(code) == ["False", "True"]


def test_whether_numba_was_told_a_processor():
    code = "print(numba_private.is_told_processor())"
    assert run(code) == ["False"]
    assert run(code, NUMBA_CPU_NAME="x86-64-v2") == run(code, NUMBA_CPU_FEATURES="+pclmul") == ["True"]


def test_kernels_are_python_where_numba_is_told_so():
    code = "from keysearch import memory; print(memory.kernel(lambda number: number + 1)(1))"
    assert run(code, NUMBA_DISABLE_JIT="1") == ["2"]


def test_what_only_kernels_call_has_no_machine_code():
    """It is linked into its callers; called from Python, as tests do, it is compiled like a kernel."""
    if memory.checked.ON:
        pytest.skip("the checked build compiles each function by itself")
    twice = memory.inline(lambda number: number * 2)
    kernel = numba.njit(lambda number: twice(number) + 1)
    assert kernel(4) == 9
    assert twice(4) == 8
    (compiled,) = twice.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


def test_the_doors_are_opened_in_two_modules():
    files = [file for package in ("applier", "jsondiff", "keysearch") for file in (ROOT / package).rglob("*.py")]
    found = {str(file.relative_to(ROOT)) for file in files if _PRIVATE.search(file.read_text())}
    assert found == {"keysearch/kernel_compiler.py", "keysearch/numba_private.py"}
