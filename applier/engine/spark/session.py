"""Starts Spark for work that is done in Python: quiet, and quick to start.

A process has one Spark context: the user's, if there is one, or one that is started here. Our queries run in a session
of their own in it, since they need settings that are not the user's to have.
"""

import atexit
import re
from collections.abc import Callable
from concurrent.futures import Future
from importlib.util import find_spec
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeGuard

from applier.engine import left_out
from applier.engine.spark import java, settings, spark_private
from applier.engine.spark.settings import TASK_ATTEMPTS, Conf, is_local
from applier.errors import ApplierError, NotInstalled, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_WARMED = 1024
"""Tasks of the job that starts workers: those of more cores start with their first task."""

_booted: java.Gateway | None = None  # a JVM that no session uses yet
_gateway: java.Gateway | None = None
_warm: "SparkSession | None" = None
_ours: "tuple[SparkSession, str | None, Conf] | None" = None  # with the Spark Connect server and the settings it has
_starting = Lock()


def start(master: str | None = None, *, conf: Conf = (), app_name: str = "applier") -> "SparkSession":
    """Return a session for our queries: of the process's Spark context, which is started if there is none.

    master: a Spark master URL, None for all local cores; or sc://HOST:PORT, a Spark Connect server, on whose workers
    this package must be installed. A running context stays unchanged, with its master and its sessions. conf: settings
    by name; they take precedence over the user's configuration files (applier.engine.spark.settings).

    Raises ApplierError if pyspark or Java is missing, Java is too old, or Spark does not start, and UsageError for
    settings that a running context does not take.
    """
    global _ours
    left_out.open_again()
    _check_installed(master)
    with _starting:
        if _is_connect(master):
            if _ours is None or _ours[1:] != (master, conf) or getattr(_ours[0], "is_stopped", False):
                _ours = _connected(master, conf, app_name), master, conf
            return _ours[0]
        if not spark_private.has_context():
            _start_context(master, conf, app_name)
        from pyspark.sql import SparkSession

        from applier.engine.spark import running

        with running.explain_spark_errors():
            users = SparkSession.builder.getOrCreate()
            if _ours is None or _ours[1:] != (None, conf) or _ours[0].sparkContext is not users.sparkContext:
                _ours = _session_for_queries(users, conf), None, conf
        spark = _ours[0]
    if _gateway is not None and _gateway.recording_lock is not None:
        warm_up(spark)  # classes that this first JVM has not loaded are missing from the archive for the next ones
    return spark


def _start_context(given: str | None, conf: Conf, app_name: str) -> None:
    """Start the process's Spark context, with the default session of later callers."""
    master = with_retries(given or "local[*]")
    local = is_local(master)
    _connect(settings.of_launch(conf, local=local))
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException

    try:
        spark_private.connect(conf)
        known = SparkConf()  # the user's settings that the JVM has: spark-defaults.conf, spark-submit's arguments
        ours = settings.of_context(local=local, named=given is not None, py_files=known.get("spark.submit.pyFiles", ""))
        for name, value in ours.items():
            known.setIfMissing(name, value)
        if known.get("spark.app.name", spark_private.NO_NAME) == spark_private.NO_NAME:
            known.setAppName(app_name)
            known.set(settings.CONSOLE_PROGRESS, ours[settings.CONSOLE_PROGRESS])  # Spark's launcher has set it
        known.setMaster(master)
        known.setAll(list(conf))
        with settings.python_of_workers(known.get("spark.pyspark.python"), local=local):
            SparkContext(conf=known)
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
        spark_private.withdraw()


def _session_for_queries(users: "SparkSession", conf: Conf) -> "SparkSession":
    """Return a new session beside the user's, which keeps its settings. Raises UsageError for settings that can only be
    made before the context starts."""
    started_with = users.sparkContext.getConf()
    spark = users.newSession()
    for name, value in settings.OF_SESSION.items():
        if not started_with.contains(name):
            spark.conf.set(name, value)
    for name, value in conf:
        if settings.NEEDED.get(name, value) != value:
            raise UsageError(f"{name} must be {settings.NEEDED[name]}: results depend on it", hint="leave it out")
        if started_with.get(name) != value:
            if not spark.conf.isModifiable(name):
                raise UsageError(f"Spark is running in this process already, and {name} cannot be changed",
                                 hint="set it where the Spark session is created, or stop that session first")
            spark.conf.set(name, value)
    for name, value in settings.NEEDED.items():
        spark.conf.set(name, value)
    return spark


def master_in_use(master: str | None) -> str | None:
    """Return the master of the context that `start` with this master takes: one that is running wins."""
    return master if _is_connect(master) else spark_private.master_of_context() or master


def boot(master: str | None = None, conf: Conf = ()) -> None:
    """Start Java for a later `start` with the same arguments, while the caller imports modules."""
    global _booted
    left_out.open_again()
    _check_installed(master)
    if _is_connect(master):
        return
    _booted = _launched(settings.of_launch(conf, local=is_local(master)))


def start_in_background(master: str | None = None, conf: Conf = ()) -> "Future[SparkSession]":
    """Call `start` on a thread of its own: Java starts while the caller does something else.

    Once the session exists, it also runs a first small job, so that Python workers are forked and have loaded what they
    need, and Java its classes, while the caller plans its first job.

    Raises NotInstalled at once; other errors are the session's.
    """
    left_out.open_again()
    _check_installed(master)
    future: Future[SparkSession] = Future()

    def run() -> None:
        try:
            spark = start(master, conf=conf)
        except BaseException as error:
            future.set_exception(error)
            return
        future.set_result(spark)
        if not _is_connect(master):
            warm_up(spark)

    Thread(target=run, name="spark-start", daemon=True).start()
    return future


def wait_for(session: "Future[SparkSession]", say: Callable[[str], None]) -> "SparkSession":
    """The session that `start_in_background` gives; `say` that it is waited for, if it is."""
    if not session.done():
        say("waiting for Spark to start")
    return session.result()


def warm_up(spark: "SparkSession") -> None:
    """Once a session, run an empty job on every core, and again if executors have registered meanwhile. Cores that are
    not there yet are not asked for. Fails silently: the next job reports the error."""
    global _warm
    if _warm is spark:
        return
    _warm = spark
    from applier.engine.spark import running, stages

    try:
        with running.awaited_at_exit():
            n_warm = 0
            while (n := min(spark.sparkContext.defaultParallelism, _MOST_WARMED)) > n_warm:
                stages.map_tasks(spark, _nothing, range(n), name="start Python workers")
                n_warm = n
    except Exception:
        return
    if _gateway is not None:
        _gateway.mark_archive_usable()


def _is_connect(master: str | None) -> TypeGuard[str]:
    return master is not None and master.startswith("sc://")


def _check_installed(master: str | None) -> None:
    """Raise NotInstalled where packages are missing that a session with this master takes."""
    if not _is_connect(master):
        java.spark_home()
    elif find_spec("pyspark") is None or find_spec("grpc") is None:
        raise NotInstalled(f"--master {master} needs the packages of Spark Connect",
                           hint="pip install 'mysql-binlog-applier[connect]'")


def _connected(master: str, conf: Conf, app_name: str) -> "SparkSession":
    """Start a session of a Spark Connect server beside the user's; the server configures its JVM."""
    import grpc
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        SparkSession.builder.remote(master).getOrCreate()  # else ours would be the one that others get
        spark = SparkSession.builder.remote(master).appName(app_name).create()
        ours = [(name, settings.OF_SESSION[name]) for name in settings.OF_CONNECT]
        for name, value in [*ours, *conf, *settings.NEEDED.items()]:
            spark.conf.set(name, value)
        atexit.register(spark.stop)  # a process with two open sessions of Spark Connect does not end
    except (PySparkException, grpc.RpcError) as error:
        raise ApplierError(f"Spark did not start with master {master}: {str(error).splitlines()[0]}") from None
    return spark


def _nothing(_: int) -> None:
    return None


def _launched(launch: dict[str, str]) -> java.Gateway | None:
    """A JVM for pyspark to find; None if there is one already, or Spark is configured to start in another way."""
    home = java.plain_spark_home()
    executable = java.find_java()
    if home is None or spark_private.has_jvm():  # pyspark is not imported here: the JVM starts while that happens
        return None
    return java.launch(executable, home, launch)


def _connect(launch: dict[str, str]) -> None:
    """Tell pyspark where its JVM is: the one already started, or one that is launched now."""
    global _booted, _gateway
    gateway, _booted = _booted or _launched(launch), None
    if gateway is None:
        return
    import pyspark.sql  # noqa: F401  (takes as long as the JVM does)

    port, secret = gateway.connection()
    _gateway = gateway
    spark_private.offer(port, secret)


def with_retries(master: str) -> str:
    """Local masters try a task once unless told otherwise; a killed worker should cost a task, not the run."""
    if master == "local":
        return f"local[1,{TASK_ATTEMPTS}]"
    return re.sub(r"^local\[([^,\]]+)\]$", rf"local[\1,{TASK_ATTEMPTS}]", master)
