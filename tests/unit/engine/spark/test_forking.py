"""Workers are forked with everything loaded, from a process without threads."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def test_no_thread_lives_when_it_forks():
    code = ("import os; from applier.engine.spark import forking; forking.preload(); "
            "print(len(os.listdir('/proc/self/task')))")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("1\n", "")


def test_a_module_that_cannot_be_imported_is_told_and_left_out():
    code = ("import sys; from applier.engine.spark import forking; forking.preload(('no.such.module', 'wave')); "
            "print('wave' in sys.modules)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n" and "No module named 'no'" in run.stderr


def test_kernels_are_loaded_from_the_cache_and_never_compiled(tmp_path):
    def run(code):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    def compiled():
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}

    load = "from applier.engine.spark import forking; print(forking.load_kernels())"
    before = int(run(load).stdout)
    eager = compiled()
    run("import pyarrow as pa; from keysearch.keybytes import encode_keys; encode_keys([pa.array([1, 2])])")
    kept = compiled()
    assert before == 0 and len(kept) > len(eager)
    assert int(run(load).stdout) == len(kept) - len(eager)
    assert compiled() == kept
