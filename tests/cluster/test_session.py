"""Sessions: what a master URL becomes, quiet terminals, a session in the background, and orderly failure."""

import os
import subprocess
import sys

import pytest

from applier.engine.spark import session, stages
from applier.engine.spark.forking import PRELOADED
from tests.support.folders import ROOT


@pytest.mark.parametrize("given, used", [
    ("local", "local[1,4]"), ("local[*]", "local[*,4]"), ("local[2]", "local[2,4]"), ("local[3,1]", "local[3,1]"),
    ("spark://h:7077", "spark://h:7077"), ("yarn", "yarn"), ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
])
def test_local_masters_retry_tasks(given, used):
    assert session.with_retries(given) == used


def test_there_is_one_session_a_process(spark):
    assert session.start("local[2]") is spark
    assert session.start_in_background("local[2]").result() is spark
    assert not {"PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"} & os.environ.keys()


def test_workers_come_with_their_modules(spark):
    def loaded(names):
        import gc
        import sys

        return [name for name in names if name not in sys.modules], gc.get_freeze_count()

    [(missing, frozen)] = stages.map_tasks(spark, loaded, [PRELOADED])
    assert missing == []
    assert frozen > 10_000


def program(code, directory, **environment):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run([sys.executable, "-c", code], cwd=directory, env=environment, capture_output=True, text=True)


def test_a_program_outside_the_checkout_says_only_what_it_says(tmp_path):
    """Also through a fault in a task, of which Spark's own logs are long; and no file is left in the directory."""
    run = program("from applier.engine.spark import running, session, stages\n"
                  "spark = session.start_in_background('local[2]').result()\n"
                  "try:\n    stages.map_tasks(spark, lambda item: 1 // 0, [1])\n"
                  "except running.TaskFailed as error:\n    print(str(error).splitlines()[-1])\n", tmp_path)
    assert run.stdout == "ZeroDivisionError: integer division or modulo by zero\n"
    assert (run.stderr, run.returncode) == ("", 0)
    assert list(tmp_path.iterdir()) == []


def test_missing_java_is_an_error_of_the_future(tmp_path):
    run = program("from applier.engine.spark import session\nfrom applier.errors import UsageError\n"
                  "try:\n    session.start_in_background().result()\n"
                  "except UsageError as error:\n    print(error.message)\n", tmp_path, JAVA_HOME=str(tmp_path))
    assert "no bin/java" in run.stdout


def test_a_command_after_one_that_failed_at_once(tmp_path):
    """The first one's session is still starting then, and may be importing pyspark."""
    run = program("from applier import cli\nfor turn in range(3):\n"
                  "    print(cli.main(['replay', '--binlogs', 'nowhere', '--output', 'out']))\n", tmp_path)
    assert run.stdout == "2\n2\n2\n" and run.stderr.count("no such file or directory") == 3


def test_a_master_that_cannot_be_is_explained(tmp_path):
    run = program("from applier.engine.spark import session\nfrom applier.errors import ApplierError\n"
                  "try:\n    session.start('nonsense')\n"
                  "except ApplierError as error:\n    print(error.message)\n", tmp_path)
    assert "Spark did not start with master nonsense" in run.stdout and "org.apache" not in run.stdout


def test_a_program_may_end_while_a_job_runs(tmp_path):
    """The job's thread reads what Java sends, in Arrow's C++: had it come back to an interpreter that is gone, the
    process would have been aborted."""
    run = program("""if True:
        import time
        from threading import Event, Thread
        from applier.engine.spark import session, stages
        def slow(item):
            import time
            time.sleep(0.3)
        spark, begun = session.start("local[2]"), Event()
        job = lambda: stages.map_tasks(spark, slow, range(100), on_progress=lambda done, of: done and begun.set())
        Thread(target=job, daemon=True).start()
        begun.wait()
        print("ends")
    """, tmp_path)
    assert (run.stdout, run.returncode) == ("ends\n", 0), run.stderr
