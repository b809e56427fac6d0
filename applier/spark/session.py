"""Starting Spark for work that is done in Python: quiet, quick to start, one session a process."""

import os
import shutil
import sys
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from applier.errors import ApplierError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
TASK_ATTEMPTS = 4

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",  # partitions are exactly our tasks; nothing to adapt
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    "spark.shuffle.sort.bypassMergeThreshold": "1000",  # few, large payloads: straight into files, never sorted
    "spark.driver.maxResultSize": "0",
    "spark.locality.wait": "0s",
    "spark.task.maxFailures": str(TASK_ATTEMPTS),
    "spark.python.daemon.module": "applier.spark.daemon",
}


def start(master: str | None = None, *, app_name: str = "applier") -> "SparkSession":
    """The process's Spark session, started if there is none; `master` is a Spark master URL, by default all local cores.

    Raises ApplierError where Java is missing or too old or the master does not answer.
    """
    find_java()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(app_name).master(_with_retries(master or "local[*]"))
    for name, value in (SETTINGS | _python_path() | _local_settings(master)).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def start_in_background(master: str | None = None, *, app_name: str = "applier") -> "Future[SparkSession]":
    """`start` on a thread of its own: Java boots while the caller does something else."""
    future: Future[SparkSession] = Future()

    def run() -> None:
        try:
            future.set_result(start(master, app_name=app_name))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="spark-start", daemon=True).start()
    return future


def is_local(master: str | None) -> bool:
    """Whether the executors live in the driver's own process."""
    return master is None or master == "local" or master.startswith("local[")


def find_java() -> Path:
    """The `java` that Spark will run, from JAVA_HOME, else the PATH; UsageError where it is missing or too old."""
    hint = f"install a Java {OLDEST_JAVA} runtime or newer (Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME"
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home, "bin", "java")
        if not java.is_file():
            raise UsageError(f"JAVA_HOME is {home}, where there is no bin/java", hint=hint)
    elif found := shutil.which("java"):
        java = Path(found)
    else:
        raise UsageError("Spark needs Java, and there is no java on the PATH", hint=hint)
    version = _java_version(java)
    if version is not None and version < OLDEST_JAVA:
        raise UsageError(f"Spark needs Java {OLDEST_JAVA} or newer, and {java} is Java {version}", hint=hint)
    return java


def _java_version(java: Path) -> int | None:
    """The major version out of the runtime's `release` file (asking java itself would cost a start of it)."""
    try:
        lines = (java.resolve().parent.parent / "release").read_text().splitlines()
    except OSError:
        return None
    text = next((line.partition("=")[2].strip('"') for line in lines if line.startswith("JAVA_VERSION=")), "")
    numbers = text.split(".")
    major = numbers[1] if numbers[0] == "1" and len(numbers) > 1 else numbers[0]  # 1.8.0_392 is Java 8
    return int(major) if major.isdigit() else None


def _with_retries(master: str) -> str:
    """Local masters try a task once unless told otherwise; a killed worker should cost a task, not the run."""
    if master == "local":
        return f"local[1,{TASK_ATTEMPTS}]"
    if master.startswith("local[") and "," not in master:
        return f"{master[:-1]},{TASK_ATTEMPTS}]"
    return master


def _python_path() -> dict[str, str]:
    """Where workers find this package when it runs from a checkout; an installed package needs nothing."""
    root = Path(__file__).parents[2]
    if root.name in ("site-packages", "dist-packages"):
        return {}
    return {"spark.executorEnv.PYTHONPATH": str(root)}


def _local_settings(master: str | None) -> dict[str, str]:
    if not is_local(master):
        return {}
    # Short runs spend more on the optimising compiler than it gives back: what is hot here is not Java.
    return {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
    }
