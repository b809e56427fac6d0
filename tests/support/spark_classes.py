"""Archives of the classes that Spark's JVMs load, made before the tests start many: `python -m
tests.support.spark_classes`.

The first JVM of each class path records one as it ends (applier.engine.spark.java). Without these, that is one that
serves a whole run of the tests, and all others beside it load and verify thousands of classes from jars.
"""

import subprocess
import sys
import time

from applier.engine.spark import java
from tests.support.folders import ROOT
from tests.support.spark_servers import HOME

START = "from applier.engine.spark import session\n{boot}session.start('local[1]').stop()\n"
SECONDS = 60.0


def main() -> None:
    """Start a JVM of each kind whose archive is not there, and wait until it has written it."""
    executable = java.find_java()
    archives = {archive: boot for minimal, boot in ((False, ""), (True, "session.boot('local[1]')\n"))
                if (archive := java.class_archive(executable, HOME, minimal=minimal)) and not archive.exists()}
    if archives:
        print("recording the classes of Spark", file=sys.stderr)
    runs = [subprocess.Popen([sys.executable, "-c", START.format(boot=boot)], cwd=ROOT) for boot in archives.values()]
    for run in runs:
        if run.wait():
            sys.exit("Spark does not start")
    deadline = time.monotonic() + SECONDS
    while not all(archive.exists() for archive in archives) and time.monotonic() < deadline:
        time.sleep(0.2)


if __name__ == "__main__":
    main()
