"""The archive of the classes that Spark's JVMs load, made before the tests start many: `python -m
tests.support.spark_classes`.

The first JVM records it as it ends (applier.engine.spark.java). Without this, that is one that serves a whole run of
the tests, and all others beside it load and verify thousands of classes from jars.
"""

import subprocess
import sys
import time

from applier.engine.spark import java
from tests.support.folders import ROOT
from tests.support.spark_servers import HOME

START = "from applier.engine.spark import session\nsession.start('local[1]').stop()\n"
SECONDS = 60.0


def main() -> None:
    """Start a JVM if there is no archive, and wait until it has written one."""
    archive = java.class_archive(java.find_java(), HOME)
    if archive is None or archive.exists():
        return
    print("recording the classes of Spark", file=sys.stderr)
    if subprocess.run([sys.executable, "-c", START], cwd=ROOT, check=False).returncode:
        sys.exit("Spark does not start")
    deadline = time.monotonic() + SECONDS
    while not archive.exists() and time.monotonic() < deadline:
        time.sleep(0.2)


if __name__ == "__main__":
    main()
