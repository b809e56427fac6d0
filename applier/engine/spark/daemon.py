"""The process on each Spark node that forks its Python workers: it loads their modules once, before it forks.

On a node without compiled kernels (no earlier replay, no wheel) the first daemon compiles
them, and others there wait for it: workers would each wait for one kernel after the other.

Spark starts it by its name (spark_private.SETTINGS).
"""

import sys
import traceback

from applier.engine.spark import forking, spark_private
from applier.errors import UsageError


def main() -> None:
    """Compile, load and serve."""
    forking.start_no_threads()
    compile_kernels()
    forking.preload()
    spark_private.serve_forks()


def compile_kernels() -> None:
    """Have the kernels of a replay compiled. If they cannot be kept, workers compile the ones that they need."""
    from applier.engine import compiling

    try:
        compiling.ensure("replay")
    except UsageError:
        traceback.print_exc(file=sys.stderr)


if __name__ == "__main__":
    main()
