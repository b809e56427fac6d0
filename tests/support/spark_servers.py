"""Spark's own servers, as processes beside the test: they choose their ports, and their logs say which."""

import contextlib
import ctypes
import functools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from applier.engine.spark import java, spark_private
from tests.support.folders import ROOT

HOME = spark_private.home()
PYTHONPATH = f"{ROOT}:{HOME.parent}"
"""Of drivers: this checkout, and the pyspark of this process, which may be an older one (older_sparks)."""
N_WORKERS = 2
ENVIRONMENT = {"SPARK_LOCAL_IP": "127.0.0.1", "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""For servers and drivers that live for seconds, whose hot code is not Java."""


_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl


def _end_with_the_tests() -> None:
    """In a new process: be ended when the one that started it ends, also where that runs nothing at its end, as a run
    that is killed or a process of xdist that a first failure ends (Linux; programs that replace this one keep it)."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextlib.contextmanager
def started(log: Path, *command: str, **environment: str) -> Iterator[subprocess.Popen]:
    """A server that writes to the log, in the log's folder; it is ended afterwards, and with this process."""
    with open(log, "wb") as output:
        server = subprocess.Popen(command, cwd=log.parent, env=os.environ | ENVIRONMENT | environment, stdout=output,
                                  stderr=output, preexec_fn=_end_with_the_tests)
    try:
        yield server
    finally:
        server.terminate()
        server.wait()


def awaited(server: subprocess.Popen, log: Path, line: str, times: int = 1) -> re.Match:
    """Return the match of `line`, once it is that often in the server's log."""
    while len(found := list(re.finditer(line, said := log.read_text()))) < times:
        assert server.poll() is None, said
        time.sleep(0.1)
    return found[0]


@functools.cache
def _java_command() -> tuple[str, ...]:
    """Return the command of Spark's own scripts, up to the class: a JVM of its own prints it, which would be one more
    per server."""
    done = subprocess.run(spark_private.launcher_command(java.find_java(), HOME, {}), stdout=subprocess.PIPE, text=True,
                          env=os.environ | spark_private.launcher_environment(HOME), check=True)
    words = spark_private.printed_command(done.stdout)
    return tuple(words[:words.index(spark_private.LAUNCHER[1])])


@contextlib.contextmanager
def _spark_server(log: Path, *words: str, **environment: str) -> Iterator[subprocess.Popen]:
    """One of Spark's servers, given its class and its arguments. It and the executors that it starts read most of
    Spark's classes from the archive that drivers have made, if there is one yet."""
    archive = java.class_archive(java.find_java(), HOME)
    options = f"{ENVIRONMENT['JAVA_TOOL_OPTIONS']} -XX:SharedArchiveFile={archive} -Xshare:auto"
    with started(log, *_java_command(), *words, **spark_private.launcher_environment(HOME),
                 **{"JAVA_TOOL_OPTIONS": options, "PYTHONHASHSEED": "0"} | environment) as server:
        yield server


@contextlib.contextmanager
def cluster(directory: Path, *of_workers: dict[str, str], cores: int = 1) -> Iterator[str]:
    """The master URL of a standalone cluster: a master, and workers with `cores` cores each; `of_workers` are
    additional variables of their environments."""
    def node(name: str, *arguments: str, **environment: str) -> contextlib.AbstractContextManager[subprocess.Popen]:
        return _spark_server(directory / f"{name}.log", *arguments, SPARK_LOCAL_DIRS=str(directory), **environment)

    log = directory / "master.log"
    with contextlib.ExitStack() as nodes:
        master = nodes.enter_context(node("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
                                          "--port", "0", "--webui-port", "0"))
        url = awaited(master, log, r"Starting Spark master at (spark://[\d.]+:\d+)\n")[1]
        awaited(master, log, "New state: ALIVE")
        for number, environment in enumerate(of_workers or [{}] * N_WORKERS):
            nodes.enter_context(node(f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--cores",
                                     str(cores),
                                     "--memory", "1g", "--webui-port", "0", "--work-dir", str(directory), url,
                                     **environment))
        awaited(master, log, "Registering worker", len(of_workers) or N_WORKERS)
        yield url


@contextlib.contextmanager
def connect_server(directory: Path) -> Iterator[str]:
    """The URL of a Spark Connect server with two workers of its own."""
    log = directory / "log"
    with _spark_server(log, spark_private.LAUNCHER[1], "--master", "local[2]",
                       "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
                       "--conf", "spark.connect.grpc.binding.port=0", "--conf", "spark.ui.enabled=false",
                       "--conf", f"spark.executorEnv.PYTHONPATH={ROOT}", "spark-internal",
                       PYSPARK_PYTHON=sys.executable) as server:
        port = awaited(server, log, r"Spark Connect server started at: .*:(\d+)\n")[1]
        yield f"sc://127.0.0.1:{port}"


def submitted(master: str, folder: Path, python: Path, options: list[object], conf: dict[str, object],
              replay: list[object], **environment: str) -> None:
    """A replay that `spark-submit` runs with this Python, whose path has nothing of this checkout."""
    (folder / "job.py").write_text("import sys\nfrom applier import cli\nsys.exit(cli.main(sys.argv[1:]))\n")
    settings = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    done = subprocess.run(
        [*map(str, (HOME / "bin" / "spark-submit", "--master", master, *options, *settings, folder / "job.py", "replay",
                    "--master", master, *replay))], cwd=folder, capture_output=True, text=True,
        env=os.environ | ENVIRONMENT | {"PYTHONPATH": "", "SPARK_HOME": str(HOME), "PYSPARK_PYTHON": str(python),
                                        "PYTHONDONTWRITEBYTECODE": "1"} | environment)
    assert done.returncode == 0, done.stdout + done.stderr
