"""Starts Spark for work that is done in Python: quiet, quick to start, one session a process."""

import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeGuard

from applier.engine import left_out
from applier.engine.spark import forking, java, prefork, spark_doors
from applier.errors import ApplierError, NotInstalled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASK_ATTEMPTS = 4

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.liveUpdate.period": "0s",  # else a task that ends soon after another began counts at the next heartbeat
    "spark.log.level": "ERROR",
    "spark.sql.codegen.wholeStage": "false",  # a plan's few rows are not worth 0.4 s of the Java compiler
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",  # partitions are exactly our tasks; nothing to adapt
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    "spark.shuffle.sort.bypassMergeThreshold": "1000",  # few, large payloads: straight into files, never sorted
    "spark.driver.maxResultSize": "0",
    "spark.locality.wait": "0s",
    "spark.task.maxFailures": str(TASK_ATTEMPTS),
} | spark_doors.SETTINGS

_SETTINGS_OF_A_QUERY = ["spark.sql.adaptive.enabled", "spark.sql.execution.arrow.maxRecordsPerBatch",
                        "spark.sql.execution.arrow.maxBytesPerBatch"]
"""What a session of a Spark Connect server may set for itself, and needs."""

_booted: java.Gateway | None = None  # a JVM that no session uses yet
_gateway: java.Gateway | None = None
_warm: "SparkSession | None" = None
_starting = Lock()


def start(master: str | None = None, *, app_name: str = "applier") -> "SparkSession":
    """The process's Spark session, started if there is none; `master` is a Spark master URL, all local cores if None,
    or sc://HOST:PORT, a Spark Connect server, on whose workers this package must be installed.

    Raises ApplierError where pyspark or Java is missing, Java is too old, or Spark does not start.
    """
    left_out.open_again()
    _check_installed(master)
    if _is_connect(master):
        return _connected(master, app_name)
    master = with_retries(master or "local[*]")
    driver = _driver_settings(master)
    local = prefork.settings() if is_local(master) else {}
    with _starting:
        _connect(driver)
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        builder = SparkSession.builder.appName(app_name).master(master)
        for name, value in (SETTINGS | _python_path() | driver | local).items():
            builder = builder.config(name, value)
        try:
            spark = builder.getOrCreate()
        except (PySparkException, Py4JError, OSError, EOFError) as error:
            from applier.engine.spark import running

            if running.is_silence(error) or (_gateway is not None and _gateway.process.poll() is not None):
                raise running.java_is_gone(" while Spark was starting") from None
            if isinstance(error, OSError | EOFError):
                raise
            of_java = re.search(r"^: [\w.$]+: (.*)", str(error), re.MULTILINE)
            reason = of_java[1] if of_java else str(error)
            raise ApplierError(f"Spark did not start with master {master}: {reason}") from None
        finally:
            spark_doors.withdraw()
    if _gateway is not None and _gateway.recording_lock is not None:
        _warm_up(spark)  # classes that this first JVM has not loaded are missing from the archive for the next ones
    return spark


def boot(master: str | None = None) -> None:
    """Start Java for a later `start` with the same `master`, while the caller imports what it needs.

    For a command line, before it has imported anything that may start threads (see `prefork`).
    """
    global _booted
    left_out.open_again()
    _check_installed(master)
    if _is_connect(master):
        return
    _booted = _launched(_driver_settings(with_retries(master or "local[*]")), minimal=is_local(master))
    if is_local(master):
        forking.start_no_threads()


def start_in_background(master: str | None = None, *, app_name: str = "applier") -> "Future[SparkSession]":
    """Call `start` on a thread of its own: Java starts while the caller does something else.

    Once the session is there it also runs a first small job, so that the Python workers of a local master are forked
    and have loaded what they need, and Java its classes, before the caller's first job.

    Raises NotInstalled at once; other errors are the session's.
    """
    left_out.open_again()
    _check_installed(master)
    future: Future[SparkSession] = Future()

    def run() -> None:
        try:
            spark = start(master, app_name=app_name)
        except BaseException as error:
            future.set_exception(error)
            return
        future.set_result(spark)
        if is_local(master) and not prefork.settings():  # preforked workers are ready
            _warm_up(spark)

    Thread(target=run, name="spark-start", daemon=True).start()
    return future


def wait_for(session: "Future[SparkSession]", say: Callable[[str], None]) -> "SparkSession":
    """The session that `start_in_background` gives; `say` that it is waited for, if it is."""
    if not session.done():
        say("waiting for Spark to start")
    return session.result()


def _warm_up(spark: "SparkSession") -> None:
    """Once a session, run an empty job on every core. Fails silently: the next job reports the error."""
    global _warm
    if _warm is spark:
        return
    _warm = spark
    from applier.engine.spark import running, stages

    try:
        with running.awaited_at_exit():
            stages.map_tasks(spark, _nothing, range(spark.sparkContext.defaultParallelism))
    except Exception:
        return
    if _gateway is not None:
        _gateway.mark_archive_usable()


def is_local(master: str | None) -> bool:
    """True if the executors run in the driver's own process."""
    return master is None or master == "local" or master.startswith("local[")


def _is_connect(master: str | None) -> TypeGuard[str]:
    return master is not None and master.startswith("sc://")


def _check_installed(master: str | None) -> None:
    """Raise NotInstalled where packages are missing that a session with this master takes."""
    if not _is_connect(master):
        java.spark_home()
    elif find_spec("pyspark") is None or find_spec("grpc") is None:
        raise NotInstalled(f"--master {master} needs the packages of Spark Connect",
                           hint="pip install 'mysql-binlog-applier[connect]'")


def _connected(master: str, app_name: str) -> "SparkSession":
    """Start a session of a Spark Connect server; the server configures its JVM."""
    import grpc
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        spark = SparkSession.builder.remote(master).appName(app_name).getOrCreate()
        for name in _SETTINGS_OF_A_QUERY:
            spark.conf.set(name, SETTINGS[name])
    except (PySparkException, grpc.RpcError) as error:
        raise ApplierError(f"Spark did not start with master {master}: {str(error).splitlines()[0]}") from None
    return spark


def _nothing(_: int) -> None:
    return None


def _launched(driver: dict[str, str], *, minimal: bool = False) -> java.Gateway | None:
    """A JVM for pyspark to find; None if there is one already, or Spark is configured to start in another way."""
    home = java.plain_spark_home()
    executable = java.find_java()
    if home is None or spark_doors.has_jvm():  # pyspark is not imported here: the JVM starts while that happens
        return None
    return java.launch(executable, home, driver, minimal=minimal)


def _connect(driver: dict[str, str]) -> None:
    """Tell pyspark where its JVM is: the one already started, or one that is launched now."""
    global _booted, _gateway
    gateway, _booted = _booted or _launched(driver), None
    if gateway is None:
        return
    import pyspark.sql  # noqa: F401  (takes as long as the JVM does)

    port, secret = gateway.connection()
    _gateway = gateway
    spark_doors.offer(port, secret)


def with_retries(master: str) -> str:
    """Local masters try a task once unless told otherwise; a killed worker should cost a task, not the run."""
    if master == "local":
        return f"local[1,{TASK_ATTEMPTS}]"
    return re.sub(r"^local\[([^,\]]+)\]$", rf"local[\1,{TASK_ATTEMPTS}]", master)


def _python_path() -> dict[str, str]:
    """Where workers find this package when it runs from a checkout; an installed package needs nothing."""
    root = Path(__file__).parents[3]
    if root.name in ("site-packages", "dist-packages"):
        return {}
    return {"spark.executorEnv.PYTHONPATH": str(root)}


def _driver_settings(master: str) -> dict[str, str]:
    """What the driver's JVM itself must start with."""
    if not is_local(master):
        return {}
    half_of_memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 21
    return {
        # Short runs spend more on the optimising compiler than it saves: the hot code here is not Java.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.memory": f"{min(2048, half_of_memory)}m",
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
    }
