"""What several test files share: one Spark session for the whole run, as a session costs seconds, and one cluster."""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

import keysearch.memory  # noqa: F401  it names the cache of kernels: jsondiff's tests by themselves would have another

N_WORKERS = 2


@pytest.fixture(scope="session")
def spark():
    """A local session on two cores."""
    from applier.spark import session

    started = session.start("local[2]")
    yield started
    started.stop()


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory):
    """The master URL of a standalone cluster: a master and two workers of one core each, as processes of their own.

    A driver for it must be another process than the one of the `spark` fixture: Spark has one session a process.
    """
    import pyspark

    directory = tmp_path_factory.mktemp("cluster")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(directory)}
    processes = []

    def run(name, *arguments):
        command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        log = directory / f"{len(processes)}.log"
        with open(log, "wb") as output:
            processes.append(subprocess.Popen([*command, *arguments], env=environment, stdout=output, stderr=output))
        return log

    def wait_for(log, text, times):
        deadline = time.monotonic() + 120
        while log.read_text().count(text) < times:
            failed = [process.args for process in processes if process.poll() is not None]
            assert not failed and time.monotonic() < deadline, f"{failed}\n{log.read_text()}"
            time.sleep(0.1)

    try:
        master = run("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        wait_for(master, "New state: ALIVE", 1)
        for _ in range(N_WORKERS):
            run("worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(directory),
                f"spark://127.0.0.1:{port}")
        wait_for(master, "Registering worker", N_WORKERS)
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(30)
