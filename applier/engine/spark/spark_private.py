"""Internals of pyspark and Spark: how a driver's JVM is started and found, and how Python workers are
forked.

All internals that this package uses are here. If a version of Spark changes one, test_spark_private names
it. Nothing here imports pyspark before it is called: the JVM boots while it is imported.
"""

import importlib.util
import os
import re
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

GATEWAY_PORT, GATEWAY_SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
"""The variables by which pyspark finds a running JVM (pyspark.java_gateway)."""
CONFIGURED = frozenset({"SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", GATEWAY_PORT})
"""The variables by which people have Spark started in another way."""
CONNECTION_FILE = "_PYSPARK_DRIVER_CONN_INFO_PATH"
"""The variable that tells the JVM where to write its port and its secret."""
PRELOADED = ("pyspark.worker", "pyspark.sql.pandas.serializers")
"""Modules that each Python worker imports."""
SETTINGS = {
    "spark.python.daemon.module": "applier.engine.spark.daemon",
    "spark.python.unix.domain.socket.enabled": "true",  # TCP's delayed acknowledgements cost 40 ms a task
}
"""Settings that Spark has and does not document."""
LAUNCHER = ("org.apache.spark.launcher.Main", "org.apache.spark.deploy.SparkSubmit")
"""Java's classes behind spark-submit: the first prints the command that runs the second."""
_CONNECT = "pyspark.sql.connect"
_ACTIVE_SESSION = threading.Lock()
"""Held by the thread that changes the active session: in Python, all threads have one."""
NO_NAME = "pyspark-shell"
"""The program that spark-submit runs for pyspark, and the name of its application unless the user gives it one."""


def home() -> Path | None:
    """The Spark that came with pyspark, which is not imported; None where there is none."""
    found = importlib.util.find_spec("pyspark")
    return None if found is None or found.origin is None else Path(found.origin).parent


def version(pyspark_home: Path) -> tuple[int, int] | None:
    """The first two numbers of a pyspark's version; None where it does not say it. pyspark is not imported."""
    try:
        found = re.search(r"__version__\b.*?(\d+)\.(\d+)", (pyspark_home / "version.py").read_text())
    except OSError:
        return None
    return (int(found[1]), int(found[2])) if found else None


def jars(spark_home: Path) -> Path:
    """Where a Spark's jars are."""
    return spark_home / "jars"


def scala_version(spark_home: Path) -> str:
    """The version of Scala that a Spark is made with, which its launcher wants to know; "" where no jar says it."""
    return next((match[1] for jar in jars(spark_home).iterdir()
                 if (match := re.match(r"spark-core_([\d.]+)-", jar.name))), "")


def launcher_command(java: Path, spark_home: Path, settings: dict[str, str]) -> list[str]:
    """Return a command that prints the command of a driver's JVM with these settings."""
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return [str(java), "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars(spark_home)}/*", *LAUNCHER, *options,
            NO_NAME]


def printed_command(printed: str) -> list[str]:
    """The words of the command that the launcher printed behind a line for messages; one at most where it did not."""
    return printed.partition("\0\n")[2].rstrip("\0").split("\0")


def launcher_environment(spark_home: Path) -> dict[str, str]:
    """Return the environment of the launcher."""
    return {"SPARK_HOME": str(spark_home), "SPARK_SCALA_VERSION": scala_version(spark_home)}


def driver_environment(spark_home: Path, connection_file: str) -> dict[str, str]:
    """Return the environment of the driver's JVM."""
    return {CONNECTION_FILE: connection_file, "SPARK_HOME": str(spark_home), "SPARK_CONNECT_MODE": "0"}


def connection_of(told: bytes) -> tuple[int, str]:
    """The port and the secret that a JVM has written to its connection file."""
    port, length = struct.unpack_from(">ii", told)
    return port, told[8 : 8 + length].decode()


def offer(port: int, secret: str) -> None:
    """Have pyspark take the JVM at this port when it asks for one."""
    os.environ[GATEWAY_PORT], os.environ[GATEWAY_SECRET] = str(port), secret


def withdraw() -> None:
    """No JVM is to be taken any more."""
    for name in (GATEWAY_PORT, GATEWAY_SECRET):
        os.environ.pop(name, None)


def has_jvm() -> bool:
    """Return whether pyspark has a JVM, or another thread is about to have one: it still imports pyspark."""
    pyspark = sys.modules.get("pyspark")
    if pyspark is None:
        return False
    context = getattr(pyspark, "SparkContext", None)
    return context is None or context._gateway is not None


def has_context() -> bool:
    """Return whether this process has a Spark context that is running."""
    return master_of_context() is not None


def master_of_context() -> str | None:
    """The master of this process's Spark context; None if there is none. pyspark is not imported for it."""
    pyspark = sys.modules.get("pyspark")
    context = getattr(getattr(pyspark, "SparkContext", None), "_active_spark_context", None)
    master: str | None = None if context is None else context.master
    return master


def has_executors(session: Any) -> bool:
    """Return whether a cluster's session of this process has executors."""
    managers: int = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
    return managers > 1  # the driver has a block manager, too


def connect(conf: Iterable[tuple[str, str]]) -> None:
    """Connect pyspark to the JVM that is offered, or have it start one with these settings. Afterwards a SparkConf has
    the configuration that the JVM was started with."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll(list(conf)))


@contextmanager
def active_session_kept(session: object) -> Iterator[None]:
    """Run the block, and restore the active session: createDataFrame makes its own session the active one, which
    `SparkSession.getActiveSession` and `builder.getOrCreate` would give to others. A session that another thread has
    made the active one meanwhile stays it."""
    if is_of_connect(session):
        yield
        return
    from pyspark.sql import SparkSession

    jvm = session._jvm  # type: ignore[attr-defined]  # it is no session of Connect
    of_java = jvm.org.apache.spark.sql.SparkSession if is_before_4() else \
        SparkSession._get_j_spark_session_class(jvm)
    with _ACTIVE_SESSION:
        before, java_before = SparkSession._activeSession, of_java.getActiveSession()
        try:
            yield
        finally:
            if SparkSession._activeSession is session:
                SparkSession._activeSession = before
            if java_before.isDefined():
                of_java.setActiveSession(java_before.get())
            else:
                of_java.clearActiveSession()


def is_before_4() -> bool:
    """True for Spark 3."""
    import pyspark

    return pyspark.__version__.startswith("3.")


def is_of_connect(session: object) -> bool:
    """Return whether a session is one of a Spark Connect server."""
    return type(session).__module__.startswith(_CONNECT)


def serve_forks() -> None:
    """Serve forks as pyspark's own daemon does, until SystemExit. Its protocol goes over stdin and stdout."""
    from pyspark.daemon import manager

    manager()


class PushFilters:
    """A reader's `pushFilters`, which Spark calls where spark.sql.python.filterPushdown.enabled is true. Where it is
    not, which is the default, Spark refuses a reader whose method is not that of DataSourceReader: so this seems to
    be it."""

    def __init__(self, push: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        self._push = push

    @property
    def __func__(self) -> object:
        from pyspark.sql.datasource import DataSourceReader

        return DataSourceReader.pushFilters

    def __call__(self, filters: Sequence[Any]) -> Sequence[Any]:
        return self._push(filters)
