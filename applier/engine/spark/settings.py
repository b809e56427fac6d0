"""Spark's settings: ours, and how they give way to the user's.

    NEEDED                                                      of our session, always
    --conf                                                      of the user
    spark-defaults.conf, PYSPARK_SUBMIT_ARGS, spark-submit      of the user
    OF_CONTEXT, OF_SESSION                                      ours; the first ones only of a context that we start
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from applier import archived
from applier.engine.room import memory_bytes
from applier.engine.spark import spark_private

Conf = tuple[tuple[str, str], ...]
"""Settings of Spark that a user gives: names and values."""
TASK_ATTEMPTS = 4

CONSOLE_PROGRESS = "spark.ui.showConsoleProgress"

OF_CONTEXT = {
    CONSOLE_PROGRESS: "false",
    "spark.ui.liveUpdate.period": "0s",  # else a task that ends soon after another began counts at the next heartbeat
    "spark.port.maxRetries": "64",  # the number of runs on one machine that may have a UI
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.shuffle.sort.bypassMergeThreshold": "1000",  # few, large payloads: straight into files, never sorted
    "spark.driver.maxResultSize": "0",
    "spark.locality.wait": "0s",
    "spark.task.maxFailures": str(TASK_ATTEMPTS),
} | spark_private.SETTINGS
OF_SESSION = {
    "spark.sql.codegen.wholeStage": "false",  # a plan's few rows are not worth 0.4 s of the Java compiler
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",  # payloads, most of which have a megabyte at most
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}
OF_CONNECT = ("spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.maxBytesPerBatch")
"""Those of OF_SESSION that a session of a Spark Connect server may set for itself."""
NEEDED = {
    "spark.sql.adaptive.enabled": "false",  # partitions are exactly our tasks
    "spark.sql.execution.arrow.useLargeVarTypes": "false",  # the types of our batches
}
_OF_LAUNCH = ("spark.driver.", "spark.jars")
"""How names of settings begin that a JVM has to know when it starts."""
_PYTHON = "PYSPARK_PYTHON"


def is_local(master: str | None) -> bool:
    """True if the executors run in the driver's own process."""
    return master is None or master == "local" or master.startswith("local[")


def of_context(*, local: bool, named: bool, py_files: str = "") -> dict[str, str]:
    """Return our settings of a context. local: its executors run in the driver's own process. named: the user has named
    its master, and may look at its UI. py_files: what spark-submit sends to executors, as spark.submit.pyFiles."""
    settings = OF_CONTEXT | _python_path(py_files)
    if not named:
        settings["spark.ui.enabled"] = "false"
    if local:
        settings |= {"spark.driver.host": "localhost", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def of_launch(conf: Conf, *, local: bool) -> dict[str, str]:
    """Return what the driver's JVM itself must start with; `local` as in `of_context`."""
    given = {name: value for name, value in conf if name.startswith(_OF_LAUNCH)}
    if not local:
        return given
    half_of_memory = memory_bytes() >> 21
    return {
        # Short runs spend more on the optimising compiler than it saves: the hot code here is not Java.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.memory": f"{min(2048, half_of_memory)}m",
    } | given


@contextmanager
def python_of_workers(configured: str | None, *, local: bool) -> Iterator[None]:
    """Set the variable by which a new context learns which Python its workers run, and set it back: on this machine the
    one that runs this, on a cluster the one that the user has configured, or else one with the same path."""
    before = os.environ.get(_PYTHON)
    os.environ[_PYTHON] = sys.executable if local else configured or before or sys.executable
    try:
        yield
    finally:
        if before is None:
            del os.environ[_PYTHON]
        else:
            os.environ[_PYTHON] = before


def _python_path(py_files: str) -> dict[str, str]:
    """Where the process that forks workers finds this package. Spark puts `py_files` into an executor's working
    directory, and on the path of Python only in workers, which are forked later. A checkout, or an archive that is not
    among the files, has to have the same path there. An installed package needs nothing."""
    sent = [os.path.basename(file) for file in py_files.split(",") if file]
    root = Path(archived.source or Path(__file__).parents[3])
    if root.name not in ("site-packages", "dist-packages", *sent):
        sent.append(str(root))
    return {"spark.executorEnv.PYTHONPATH": os.pathsep.join(sent)} if sent else {}
