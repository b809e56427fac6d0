"""Kernels are compiled for a level that many processors have, so that compiled kernels can travel."""

import os
import subprocess
import sys

import pytest

from keysearch import numba_private
from keysearch.processor import LEVELS, Processor, level_of
from tests.support.folders import ROOT

V3, V2 = LEVELS


def test_the_highest_level_that_a_processor_has():
    assert level_of(LEVELS[V3] | {"avx512f", "vaes"}) is V3
    assert level_of(LEVELS[V2] | {"avx"}) is V2
    for missing in LEVELS[V3] - LEVELS[V2]:
        assert level_of(LEVELS[V3] - {missing}) is V2
    for missing in LEVELS[V2]:
        assert level_of(LEVELS[V3] - {missing}) is None


def test_what_code_for_a_level_may_use():
    """No more than the level has, whatever this processor has; of others, what Numba was given."""
    assert V2.has("pclmul", "ssse3") and not V2.has("avx2") and V3.has("avx2")
    assert Processor("znver4", "+avx2,-pclmul").has("avx2") and not Processor("znver4", "+avx2,-pclmul").has("pclmul")
    assert not Processor("x86-64-v2", "").has("pclmul")


def chosen(before="", **environment):
    """The processor that a process compiles for, its name for what it keeps, and if CRC32 has carry-less multiply."""
    code = (f"{before}\nimport keysearch.memory\nfrom keysearch import kernel_cache, processor\n"
            "from applier.kernels.crc32 import HAS_CARRYLESS_MULTIPLY\n"
            "print(processor.chosen().model, kernel_cache.directory(), HAS_CARRYLESS_MULTIPLY)")
    without = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "APPLIER_KERNELS"))}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                          env=without | environment)
    assert done.returncode == 0, done.stderr
    model, directory, carryless = done.stdout.split()
    return model, os.path.basename(directory).partition("llvmlite-")[2].partition("-")[2], carryless == "True"


@pytest.mark.skipif(level_of(numba_private.host_features()) is not V3, reason="this processor has a lower level")
def test_a_process_compiles_for_the_level_unless_numba_knows_better():
    assert chosen() == ("x86-64-v3", "x86-64-v3", True)
    assert chosen(NUMBA_ENABLE_AVX="0") == ("x86-64-v2", "x86-64-v2", True)
    assert chosen(NUMBA_CPU_NAME="x86-64-v2", NUMBA_CPU_FEATURES="+pclmul") == ("x86-64-v2", "x86-64-v2", True)
    model, kept_for, carryless = chosen(NUMBA_CPU_NAME="x86-64-v2", NUMBA_CPU_FEATURES="+popcnt")
    assert model == "x86-64-v2" and kept_for.startswith("x86-64-v2-") and not carryless
    begun = chosen("import numba; numba.njit(lambda: 1)")
    assert begun[0] == begun[1].rpartition("-")[0] == processor_of_this_machine()


def processor_of_this_machine():
    import llvmlite.binding

    return llvmlite.binding.get_host_cpu_name()
