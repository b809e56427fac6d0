"""The modules that the process that forks Spark's Python workers loads first, so that the workers have them.

A worker forked from a bare interpreter spends 1-5 s on imports; one forked from here has them already and shares their
memory pages with its siblings. No other thread may run at a fork, so NumPy's BLAS and pyarrow's jemalloc are configured
to start none when they are imported.
"""

import gc
import importlib
import os
import sys
import traceback

from applier.engine.spark import spark_private

PRELOADED = (
    "numpy",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pandas",  # needed by imports of a worker
    *spark_private.PRELOADED,
    "applier.engine.spark.stages",
    "applier.apply.routes.task",
)


def start_no_threads() -> None:
    """Set the environment so that libraries imported later start no threads, and this process can be forked."""
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"


def preload(modules: tuple[str, ...] = PRELOADED) -> None:
    """Import `modules`, and exempt all objects made so far from garbage collection in the forked workers.

    A module that cannot be imported is reported on stderr and left out: the task that needs it fails by itself, with
    the reason in its traceback, where a daemon that dies says nothing that reaches the driver.
    """
    start_no_threads()
    gc.disable()  # everything made here is permanent
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:
            traceback.print_exc(file=sys.stderr)
    try:
        load_kernels()
    except Exception:
        traceback.print_exc(file=sys.stderr)
    # pyspark collects garbage after every task; without this, each time over every object of every module (~30 ms).
    gc.collect()
    gc.freeze()
    gc.enable()


def load_kernels() -> int:
    """Load all compiled kernels from Numba's cache, without calling or compiling any; returns their number.

    Calling them would start threads here. A kernel that is not in the cache yet is left to the task that needs it.
    """
    from applier.kernels.catalogue import kernels
    from keysearch.numba_private import load_kept

    return sum(map(load_kept, kernels()))
